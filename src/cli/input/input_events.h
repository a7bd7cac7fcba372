/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a trace that the options choose, one after the other: between --begin and --end, of
 * --node, --topic and --process. Shows the progress on the terminal.
 *
 *   struct events events = { .reader = reader, .selection = &o.selection, .times = o.times };
 *   if (!events_open(&events, &err))
 *       while ((more = events_next(&events, &event, &err)) > 0) ...
 *   events_close(&events);
 *
 * Context: not thread-safe; allocates and blocks.
 */
#ifndef KYMO_CLI_INPUT_EVENTS_H
#define KYMO_CLI_INPUT_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/concern/concern.h"
#include "analysis/simclock/simclock.h"
#include "base/err.h"
#include "base/selection.h"
#include "cli/common/common.h"
#include "cli/common/progress.h"
#include "ctf/read/reader.h"

struct events {
	struct kymo_ctf_reader *reader;
	const struct selection *selection;
	int64_t begin_ns,
		end_ns; /* events between these, both included; INT64_MIN, INT64_MAX: all */
	/* that the reader is attached to; NULL: times are those of the system */
	const struct simclock *clock;
	bool growing;			/* the trace is still recorded, see kymo_ctf_growing() */
	bool quiet;			/* no progress */

	/* Its own. */
	struct concern *concern;	/* NULL: nothing is selected */
	struct progress progress;
	uint64_t count;			/* read so far */
};

/* Between which times events were lost. */
struct events_loss {
	int64_t begin_ns, end_ns;
};
struct events_loss events_loss(const struct events *events, const struct kymo_ctf_event *event);

/** events_limited() - do the options leave out anything? */
bool events_limited(const struct events *events);

/**
 * events_open() - read what the options say, and what has to be known before
 *
 * Call kymo_ctf_threads() and kymo_ctf_growing() before. Return: 0, or -1 with @err filled.
 */
int events_open(struct events *events, struct kymo_err *err);

/** events_next() - as kymo_ctf_next(); also returns losses that overlap the window. */
int events_next(struct events *events, struct kymo_ctf_event *event, struct kymo_err *err);

/** events_close() - also after events_open() failed. The reader stays open. */
void events_close(struct events *events);

#endif
