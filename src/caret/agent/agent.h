/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kymo agent: represents the traced processes of a runtime directory in the ROS graph, as if each had CARET's
 * node. It answers CARET's Start and End, and publishes the state of each process.
 *
 *   Start, End ──▶ speaker (DDS) ──▶ agent ──▶ machine: what to do for each process
 *   regions ─────▶ roster ─────────▶   │  ────▶ steer: makes the session record, or ends it
 *                                      └─────▶ speaker: Status, nodes in the graph
 */
#ifndef KYMO_CARET_AGENT_H
#define KYMO_CARET_AGENT_H

#include <stdint.h>

#include "base/err.h"
#include "caret/agent/active.h"

#define AGENT_DOMAINS_MAX 16u

/* The form of ros_discovery_info: a Gid has 24 bytes up to Humble, and 16 from Iron on. */
enum agent_graph {
	AGENT_GRAPH_AUTO,	/* as the tracetools of the traced processes, else as $ROS_DISTRO */
	AGENT_GRAPH_IRON,
	AGENT_GRAPH_HUMBLE,
};

struct agent_options {
	uint32_t domain[AGENT_DOMAINS_MAX];	/* ROS_DOMAIN_ID */
	unsigned domain_count;			/* at least 1 */
	struct active active;			/* when a session counts as active */
	enum agent_graph graph;
	unsigned sim_rate;		/* pairs of /clock a second, for each domain; 0: not recorded */
	const char *output;		/* directory for recordings that a Start begins; NULL: kymo record's default */
	const char *runtime_dir;	/* NULL: as rundir_path() returns it */
	/* Called once, when the agent can be reached. */
	void (*ready)(void *context);
	/* Called with what happens, such as the arrival of a Start. May be NULL. */
	void (*report)(void *context, const char *text);
	/* Called with a message about a problem that does not end the agent. */
	void (*say)(void *context, const char *text);
	void *context;
};

/**
 * agent_run() - run until SIGINT or SIGTERM
 *
 * At its end, the agent ends a recording that it began itself. If the agent is killed, the recording continues, and the
 * next agent adopts it.
 * Return: 0; -1 with @err: a domain cannot be joined, or another agent serves the directory.
 * Context: blocks; one call at a time; catches signals.
 */
int agent_run(const struct agent_options *options, struct kymo_err *err);

#endif
