/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's events beside a session's: kernel/ in its trace directory. What goes wrong is said, and recording goes on. */
#ifndef KYMO_RECORDER_RECORD_KERNEL_H
#define KYMO_RECORDER_RECORD_KERNEL_H

#include "kernel/kernel.h"
#include "recorder/session.h"

/** record_kernel_begin() - *@kernel stays NULL when it cannot be. */
void record_kernel_begin(struct kernel **kernel, const struct session *session, const struct session_options *options);

/** record_kernel_poll() - *@kernel may be NULL. Return: @wait_ms, or less: when to come back. */
int record_kernel_poll(struct kernel **kernel, const struct session_options *options, int wait_ms);

/** record_kernel_end() - @stats: zero without @kernel. */
void record_kernel_end(struct kernel *kernel, const struct session_options *options, struct kernel_stats *stats);

#endif
