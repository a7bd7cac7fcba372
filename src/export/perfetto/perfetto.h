/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ROS 2 trace as a Perfetto trace.
 *
 *   process and thread tracks   a slice per callback (category "callback"), as many as the report
 *                               counts; callbacks whose end is not in the trace (category
 *                               "unfinished") as an instant, or open when they ran at the end
 *   "ROS 2" / node / ...        an instant per publish, take and dropped message on the track of
 *                               its publisher or subscription; lifecycle states, runs of timers,
 *                               service calls as slices
 *   "ROS 2 topics" / topic      counters of rate, latency, waiting, dropped messages
 *   "executor of ..."           what an executor's thread did, as slices, if asked for: they are
 *                               most of all slices, and say little that the callbacks do not
 *   arrows                      callback -> publish -> take -> callback, one per subscription;
 *                               callback -> request -> serve -> callback -> response; message links
 *   spans of programs           slices on their threads or custom tracks (below their process),
 *                               their fields as arguments, flows as arrows; instants and
 *                               tracepoints of their own likewise; counters as counter tracks below
 *                               the process
 *   "Behaviour" / name          a slice for each activity, region and state of a user's model
 *   "Lost events"               instants "TRACE DATA LOST"; if a single thread lost the events,
 *                               they are on its track instead
 *
 * Readers draw arrows within a machine. All below "ROS 2" belongs to the first host, so callbacks
 * of other hosts are also shown there: a slice per run, with the arrows.
 *
 * What a window, a node or a topic leaves out is not counted in struct perfetto_result either;
 * arrows to and from it are not drawn.
 *
 * One pass over the trace; memory grows with its objects, not with its events.
 */
#ifndef KYMO_EXPORT_PERFETTO_H
#define KYMO_EXPORT_PERFETTO_H

#include <stdint.h>

#include "analysis/simclock/simclock.h"
#include "base/err.h"
#include "base/selection.h"
#include "ctf/read/reader.h"
#include "export/pft/pft.h"

struct behaviours;

struct perfetto_options {
	int fd;                 /* where to write; stays the caller's */
	int level;              /* 0: not deflated; 1..9 */
	bool chrome;            /* Chrome's JSON instead */
	bool executors;         /* also what executors' threads did */
	const char *version;    /* of kymo */
	const char *trace_name; /* for people; NULL: none */
	uint64_t told_lost; /* events that the recorder counted as lost; the trace may show fewer */
	const struct pft_clocks *clock; /* the recorder's readings of the clocks, in order */
	unsigned clocks;                /* 0: only the offset of the trace's clock is known */
	int64_t begin_ns,
		end_ns; /* epoch; only what begins in between; INT64_MIN, INT64_MAX: all */
	const struct behaviours *behaviours; /* a user's model; NULL: none */
	const struct selection *selection;   /* NULL: all; what has no node or topic stays */
	uint32_t machine; /* the number of the trace's first host; others follow */
	/* Epoch minus the clock of the file; NULL: CLOCK_MONOTONIC of the host that booted
	 * first. */
	const int64_t *offset_ns;
	const struct simclock
		*simulation; /* that the reader is attached to: the clock of the file; NULL: none */
	uint64_t split;      /* bytes of a part, about; 0: all in one */
	/* Opens the file of the next part. Return: a descriptor, which stays the caller's; -1 with
	 * @err. */
	int (*part)(void *context, unsigned number, struct kymo_err *err);
	/*
	 * Called when all events that exist are read and written. Return: 1: there may be more now;
	 * 0: that was all; -1 with @err. NULL: the trace is complete.
	 */
	int (*more)(void *context, struct kymo_ctf_reader *reader, struct kymo_err *err);
	/* Called now and then with the progress; may be NULL. */
	void (*progress)(void *context, uint64_t events, uint64_t clock_ns);	/* trace clock */
	void *context;
};

/* What was found and written. */
struct perfetto_result {
	uint64_t events;		/* of the trace, all kinds */
	uint64_t callbacks;		/* slices of category "callback" */
	uint64_t unfinished;		/* callbacks without an end */
	uint64_t spans;			/* of programs, finished or not */
	uint64_t unfinished_spans;	/* of these: without an end */
	uint64_t instants, counters;	/* of programs, points with the instants; counter values */
	uint64_t lost_events, lost_packets;
	uint64_t bytes;			/* of the file */
};

/** perfetto_offset() - epoch minus CLOCK_MONOTONIC of the host of @reader that booted first, in
 * ns. */
int64_t perfetto_offset(const struct kymo_ctf_reader *reader);

/**
 * perfetto_export() - read @reader to its end and write it to @options->fd
 * @reader: open; is bound and rewound here
 * @result: filled also on failure, as far as it came
 *
 * Context: allocates, blocks.
 * Return: 0, or -1 with @err filled.
 */
int perfetto_export(struct kymo_ctf_reader *reader, const struct perfetto_options *options,
		    struct perfetto_result *result, struct kymo_err *err);

#endif
