/* SPDX-License-Identifier: Apache-2.0 */
/* What `kymo flow` answers: the chains of a trace, or one message's path, as tables. */
#ifndef KYMO_REPORT_FLOW_H
#define KYMO_REPORT_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/capture/capture.h"
#include "analysis/simclock/simclock.h"
#include "base/err.h"
#include "base/selection.h"
#include "base/table/table.h"
#include "ctf/read/reader.h"

struct flow_options {
	enum table_format format;
	const char *pattern;		/* as `kymo why` takes it; NULL: every chain */
	const struct selection *selection;	/* chains that touch it; NULL: all */
	uint64_t limit;			/* chains; 0: 20 as text, all otherwise */
	uint64_t chain;			/* only this one, from 1; 0: all */
	unsigned worst;			/* arrivals per chain */
	bool all_topics, latest;
	bool unfolded;			/* a row for each of many chains of one name */
	bool suggest;			/* instead of chains: links that the times suggest */
	/* of what begins, as @reader gives times; INT64_MIN, INT64_MAX: not limited */
	int64_t begin_ns, end_ns;
	uint64_t message;		/* follow this publication; 0: none */
	int64_t at_ns;			/* or the first chain from here on; INT64_MIN: none */
	/* that @reader was attached to; NULL: times are those of the system */
	const struct simclock *clock;
	bool several;			/* traces: there is no path that names all of them */
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
};

/**
 * flow_run() - read the trace and write its chains into @table
 * @path: of the trace, as the user named it
 * @lost: set to whether events were lost
 *
 * Context: allocates and blocks. Reads the trace twice when it has very many paths.
 * Return: KYMO_EXIT_OK; KYMO_EXIT_EMPTY when there was nothing to show (the output says why); -1
 * with @err.
 */
int flow_run(struct kymo_ctf_reader *reader, const char *path, const struct flow_options *options,
	     struct table *table, bool *lost, struct kymo_err *err);

#endif
