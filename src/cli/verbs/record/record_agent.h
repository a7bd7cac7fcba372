/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo record --agent`: an agent that lives as long as the recording; and hints for users of CARET
 * who have none. */
#ifndef KYMO_CLI_RECORD_AGENT_H
#define KYMO_CLI_RECORD_AGENT_H

#include <sys/types.h>

#include "base/err.h"

/* Zeroed: no agent was begun. */
struct record_agent {
	pid_t pid;
};

/**
 * record_agent_begin() - start `kymo agent`, and wait until it can be reached
 * @verb: that says that an agent runs already, which is then used
 *
 * It also ends when this process dies. Return: 0; -1 with @err. Context: blocks; forks.
 */
int record_agent_begin(struct record_agent *agent, const char *verb, struct kymo_err *err);

/** record_agent_end() - end what record_agent_begin() started. Context: blocks until it has ended.
 */
void record_agent_end(struct record_agent *agent);

/**
 * record_agent_hint() - say what "ros2 caret record" will not find, because no agent runs
 * @what: "this program"; if "ros2 caret" is not installed, nothing is said
 * @remedy: what to do
 */
void record_agent_hint(const char *verb, const char *what, const char *remedy);

/** record_agent_hint_waits() - say that a recording waits for a Start that nobody receives, if no
 * agent runs. */
void record_agent_hint_waits(const char *verb);

#endif
