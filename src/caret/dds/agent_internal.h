/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the agent share. Context of all functions: on the loop's thread. */
#ifndef KYMO_CARET_DDS_AGENT_INTERNAL_H
#define KYMO_CARET_DDS_AGENT_INTERNAL_H

#include <uv.h>

#include "caret/agent/agent.h"
#include "caret/agent/order.h"
#include "caret/dds/speaker.h"
#include "caret/agent/steer.h"
#include "recorder/runtime/elsewhere.h"

#define AGENT_SIGNALS 2
#define AGENT_ELSEWHERE_MAX 8

struct agent {
	const struct agent_options *options;
	struct roster roster;
	struct speaker *speaker[AGENT_DOMAINS_MAX];
	unsigned speaker_count;
	struct order order[AGENT_DOMAINS_MAX]; /* of the messages at each speaker */
	struct steer *steer;
	int lock;
	bool graph_changed;
	bool told_clock[AGENT_DOMAINS_MAX], told_torn[AGENT_DOMAINS_MAX];
	char elsewhere[AGENT_ELSEWHERE_MAX][512]; /* other runtime directories that were reported */
	unsigned elsewhere_count;
	bool stopping;
	unsigned updates;
	uv_loop_t loop;
	uv_timer_t timer;
	uv_async_t message;
	uv_fs_event_t watch;
	uv_signal_t signal[AGENT_SIGNALS];
};

/* ---- agent.c ---- */

__attribute__((format(printf, 2, 3))) void agent_report(const struct agent *agent,
							const char *format, ...);

/** agent_speaker() - the speaker of the process's domain; NULL: that domain is not served. */
struct speaker *agent_speaker(const struct agent *agent, const struct roster_process *process);

/** agent_deliver() - pass @input to a process's machine. Return: the actions that are left to the
 * caller. */
unsigned agent_deliver(struct agent *agent, struct roster_process *process,
		       enum machine_input input, bool active);

/** agent_update() - find out what has changed, and act on it. */
void agent_update(struct agent *agent, bool thorough);

/** agent_update_soon() - something is about to happen: update often until it has. */
void agent_update_soon(struct agent *agent);

/* ---- agent_graph.c ---- */

/** agent_publish_graph() - name the processes that are listed to each domain. */
void agent_publish_graph(struct agent *agent);

/* ---- agent_commands.c ---- */

/** agent_on_start() - a Start arrived at @speaker. @start is freed. */
void agent_on_start(struct agent *agent, struct speaker *speaker, struct start *start,
		    const struct order_sent *sent);

/** agent_on_end() - an End arrived at @speaker. */
void agent_on_end(struct agent *agent, struct speaker *speaker, const struct order_sent *sent);

#endif
