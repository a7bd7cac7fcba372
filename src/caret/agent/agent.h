/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kymo agent: stands for all traced processes of a runtime directory in the ROS graph, as if there were
 * CARET's node in each of them, answers CARET's Start and End, and tells each one's state.
 *
 *   Start, End ──▶ speaker (DDS) ──▶ agent ──▶ machine: per process, what is to be done
 *   regions ─────▶ roster ─────────▶   │  ────▶ steer: makes the session record, or end
 *                                      └─────▶ speaker: Status, who is in the graph
 */
#ifndef KYMO_CONTROL_AGENT_H
#define KYMO_CONTROL_AGENT_H

#include <stdint.h>

#include "base/err.h"
#include "caret/agent/active.h"

#define AGENT_DOMAINS_MAX 16u

/* Which form of ros_discovery_info: a Gid has 24 bytes until Humble, and 16 from Iron on. */
enum agent_graph {
	AGENT_GRAPH_AUTO,	/* as the traced processes' tracetools, or else $ROS_DISTRO */
	AGENT_GRAPH_IRON,
	AGENT_GRAPH_HUMBLE,
};

struct agent_options {
	uint32_t domain[AGENT_DOMAINS_MAX];	/* ROS_DOMAIN_ID */
	unsigned domain_count;			/* at least 1 */
	struct active active;			/* what counts as an active session */
	enum agent_graph graph;
	unsigned sim_rate;		/* pairs of /clock a second, of each domain; 0: it is not heard */
	const char *output;		/* where recordings go that a Start begins; NULL: where kymo record puts them */
	const char *runtime_dir;	/* NULL: as rundir_path() has it */
	/* Called once, when it can be reached. */
	void (*ready)(void *context);
	/* Called with what happens: a Start came, and the like. May be NULL. */
	void (*tell)(void *context, const char *text);
	/* Called with a complete sentence about something that went wrong but is no failure. */
	void (*say)(void *context, const char *text);
	void *context;
};

/**
 * agent_run() - until SIGINT or SIGTERM
 *
 * A recording that it began itself ends with it. Where it was killed, the recording goes on, and the next
 * agent takes it for its own.
 * Return: 0; -1 with @err: a domain cannot be joined, or another agent serves the directory.
 * Context: blocks; one call at a time; catches signals.
 */
int agent_run(const struct agent_options *options, struct kymo_err *err);

#endif
