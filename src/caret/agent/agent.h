/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kymo agent: represents the traced processes of a runtime directory in the ROS graph, as if each
 * had CARET's node. It answers CARET's Start and End, and publishes the state of each process.
 *
 *   Start, End ──▶ speaker (DDS) ──▶ agent ──▶ machine: what to do for each process
 *   regions ─────▶ roster ─────────▶   │  ────▶ steer: makes the session record, or ends it
 *                                      └─────▶ speaker: Status, nodes in the graph
 */
#ifndef KYMO_CARET_AGENT_H
#define KYMO_CARET_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define AGENT_DOMAINS_MAX 16u

/*
 * Whether a tracing session is active on this host. CARET's rules need that: a Start without an
 * active session, and an End with one, are meant for other hosts.
 */
enum active_kind {
	ACTIVE_KYMO,  /* a session of kymo's: kymo record --wait */
	ACTIVE_LTTNG, /* a session of LTTng's, as `lttng list` reports: ros2 caret record created
		       * it */
	ACTIVE_FILE,  /* a file exists, as CARET does for containers */
	ACTIVE_ALWAYS, /* for each Start, and for no End: a Start begins a recording, an End ends
			* it */
};

struct active {
	enum active_kind kind;
	const char *file; /* of ACTIVE_FILE; NULL: caret_lttng_session_started in $TMPDIR or /tmp */
};

/**
 * active_elsewhere() - whether there is an active session that is not kymo's
 *
 * @starts: for a Start; else for an End
 *
 * Return: false for ACTIVE_KYMO. Context: blocks: for LTTng until `lttng list` has answered, five
 * seconds at most.
 */
bool active_elsewhere(const struct active *active, bool starts);

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
	unsigned sim_rate;  /* pairs of /clock a second, for each domain; 0: not recorded */
	const char *output; /* directory for recordings that a Start begins; NULL: kymo record's
			       default */
	const char *runtime_dir; /* NULL: as rundir_path() returns it */
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
 * At its end, the agent ends a recording that it began itself. If the agent is killed, the
 * recording continues, and the next agent adopts it.
 * Return: 0; -1 with @err: a domain cannot be joined, or another agent serves the directory.
 * Context: blocks; one call at a time; catches signals.
 */
int agent_run(const struct agent_options *options, struct kymo_err *err);

/*
 * Starting the program that uses DDS. CycloneDDS needs a dozen libraries; loading them would take
 * longer than all the rest of a verb. So there are two programs of the same sources: `kymo`, and
 * lib/kymo-dds, which is linked with src/caret/dds. A verb that needs DDS begins with
 * caret_enter().
 */
#define CARET_DDS_PROGRAM "kymo-dds"

/**
 * caret_enter() - continue in the program that uses DDS
 * @verb: and @argc, @argv: the verb's
 * @libdir: where that program is installed; may be NULL
 *
 * Return: 0: this is that program; -1 with @err: it does not exist; what to install. Otherwise it
 * does not return: the other program calls the verb's run(). Context: blocks; exec.
 */
int caret_enter(const char *verb, int argc, char **argv, const char *libdir, struct kymo_err *err);

#endif
