/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of what happened a moment ago, while a trace is still read: rates of events, processes and
 * topics, durations of callbacks, latencies of messages, losses. Each block is about the events
 * since the block before; its rates are of the trace's time, so that a block about a minute that
 * was read in a second tells the truth.
 *
 * Context of all functions: not thread-safe; memory depends on the number of objects, not of
 * events.
 */
#ifndef KYMO_REPORT_RUNNING_H
#define KYMO_REPORT_RUNNING_H

#include "base/err.h"
#include "base/selection.h"
#include "base/table/table.h"
#include "ctf/read/reader.h"

struct running;

/**
 * running_create() - bind @reader, which is rewound
 * @selection: rows of these nodes, topics and processes only; NULL: all
 * @all: also callbacks of /rosout and /parameter_events, and these topics; else they are counted in
 *       a note, unless something is selected
 *
 * Return: 0, or -1 with @err filled.
 */
int running_create(struct running **running, struct kymo_ctf_reader *reader,
		   const struct selection *selection, bool all, struct kymo_err *err);
void running_destroy(struct running *running);

/**
 * running_event() - the next event or loss of the reader. Return: 0, or -1 with @err: no memory.
 */
int running_event(struct running *running, const struct kymo_ctf_event *event,
		  struct kymo_err *err);

/** running_is_empty() - nothing came since the last block. */
bool running_is_empty(const struct running *running);

/** running_until() - time of the last event, epoch ns. */
int64_t running_until(const struct running *running);

/**
 * running_write() - a block; the next one begins
 * @rows: of a section, at most, if @lines is 0
 * @lines: of the terminal that it may take: what fits, the last sections are left out; 0: all
 *
 * Return: 0, or -1 with @err: no memory.
 */
int running_write(struct running *running, struct table *table, unsigned rows, unsigned lines,
		  struct kymo_err *err);

/** running_lost() - events and packets, since the beginning. */
uint64_t running_lost(const struct running *running);

/** running_begin() - count from @ns (epoch) on: what was counted is forgotten, names are kept. */
void running_begin(struct running *running, int64_t ns);

#endif
