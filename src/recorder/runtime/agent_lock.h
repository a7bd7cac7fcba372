/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a runtime directory that a running `kymo agent` holds a lock on: who it is, and which
 * ROS domains it serves. */
#ifndef KYMO_RECORDER_AGENT_LOCK_H
#define KYMO_RECORDER_AGENT_LOCK_H

#include <stdbool.h>

#include "recorder/runtime/ros_domains.h"

#define AGENT_LOCK_NAME "agent" /* in the runtime directory */

/**
 * agent_lock_read() - the agent of the runtime directory @dir
 * @pid: set to its pid, 0: not known; may be NULL
 * @serves: set to its domains; may be NULL
 *
 * The file is untrusted. Return: whether one runs. Context: reads files.
 */
bool agent_lock_read(const char *dir, int *pid, struct ros_domains *serves);

#endif
