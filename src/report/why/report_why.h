/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `kymo why` answers: the worst instances of a chain or a callback, taken apart, and one
 * sentence.
 */
#ifndef KYMO_REPORT_WHY_H
#define KYMO_REPORT_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/align/align.h"
#include "analysis/capture/capture.h"
#include "analysis/simclock/simclock.h"
#include "base/err.h"
#include "base/table/table.h"
#include "ctf/read/reader.h"

#define WHY_WORST_MAX 100u

struct summary;

struct why_options {
	enum table_format format;
	const char *pattern;		/* a chain; NULL: none was named */
	const char *callback;		/* glob: node, or "/node timer 10 ms"; NULL: none was named */
	/* the chain that this publication is in; 0: none was named */
	uint64_t message;
	/* explain what is under way then rather than the worst; 0: not */
	int64_t at_ns;
	/* with pattern: the instance at at_ns took this long when it fired a trigger, with the
	 * callback that received its last message; 0: not known */
	int64_t fired_ns;
	unsigned worst;			/* instances to take apart, 1 to WHY_WORST_MAX */
	bool all_topics, latest;	/* as for flow */
	int64_t begin_ns, end_ns;	/* of what begins; INT64_MIN, INT64_MAX: not limited */
	/* that @reader was attached to; NULL: times are those of the system */
	const struct simclock *clock;
	/* how the clocks of the hosts compare; NULL: there is one */
	const struct align *align;
	/* what was on the wire meanwhile; NULL: not known */
	const struct captures *captures;
	uint64_t told_lost;		/* events lost as the recorder counted them; 0: not known */
	const char *operand; /* what commands name the trace, as a shell takes it; NULL or "": they
				need not */
	/* Called now and then with how far the reading is; events 0: it is over. May be NULL. */
	void (*progress)(void *context, uint64_t events, uint64_t clock_ns);
	void *context;
	/* Called with the summary of all, if one was made; may be NULL. */
	void (*summarized)(void *context, const struct summary *summary);
	void *summarized_context;
};

/**
 * why_run() - read the trace three times (whose instances, which of them, what ran meanwhile) and
 * write the answer
 * @path: of the trace, as the user named it
 * @lost: set to whether events were lost
 *
 * Context: allocates and blocks.
 * Return: KYMO_EXIT_OK; KYMO_EXIT_EMPTY when there was nothing to show (the output says why); -1
 * with @err.
 */
int why_run(struct kymo_ctf_reader *reader, const char *path, const struct why_options *options,
	    struct table *table, bool *lost, struct kymo_err *err);

/**
 * why_flow_spans() - what `kymo flow` shows of a program of kymo.h: the worst instances of a loop
 * or span, with each span inside
 * @options: callback is the loop or span; NULL: the worst loop, else the worst span
 *
 * Context: allocates and blocks.
 * Return: 1; 0: there is no such loop or span, and nothing was written; 2: none ran at at_ns (the
 * output says so); -1 with @err.
 */
int why_flow_spans(struct kymo_ctf_reader *reader, const char *path,
		   const struct why_options *options, struct table *table, struct kymo_err *err);

/**
 * why_flow_goals() - what `kymo flow` shows of an action: the worst goals, step by step
 * @options: callback is the name of the action, or "action NAME"
 *
 * Context: allocates and blocks.
 * Return: as why_flow_spans(): 0: the trace has no goals of such an action.
 */
int why_flow_goals(struct kymo_ctf_reader *reader, const char *path,
		   const struct why_options *options, struct table *table, struct kymo_err *err);

/* The worst instance in words; both are "" if the trace has none. */
struct why_said {
	char worst[4096]; /* the chain or the callback */
	char why[2048];   /* "51.1 ms, usually 436 us: ..." */
	/* The instance itself; total_ns 0: it is of a goal, a loop or a span. */
	int64_t begin_ns, total_ns;
	uint64_t message; /* of a chain: its latest publication; 0: it is of a callback */
};

/**
 * why_say() - the sentence of why_run(), without a table
 *
 * Context: allocates and blocks.
 * Return: 0, or -1 with @err.
 */
int why_say(struct kymo_ctf_reader *reader, const struct why_options *options,
	    struct why_said *said, struct kymo_err *err);

#endif
