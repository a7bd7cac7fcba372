/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary for each window of time, in one pass over a trace. A trace that grows is read with
 * summary_windows_event() instead.
 *
 *   summary_windows_create(&windows, reader, &options, &err);
 *   summary_windows_read(windows, NULL, NULL, &err);	calls options.take() now and then
 *   summary_windows_free(windows);
 *
 * Windows begin at multiples of their length since the Unix epoch, so those of several robots are
 * the same. What begins in a window counts in it: a run that ends in the next one, a message that
 * is received there. So a window is complete only some time after its end: half its length, or five
 * seconds if that is less. What is still under way then is unfinished, or not yet received.
 *
 * The model of the trace is read once and stays. The analyses that count are created for each
 * window, a little before it begins, so that they know where messages in flight came from.
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_SUMMARY_WINDOWS_H
#define KYMO_SUMMARY_WINDOWS_H

#include "ctf/read/reader.h"
#include "summary/summary.h"

struct summary_windows;

struct summary_windows_options {
	int64_t length_ns;
	struct summary_limit *limit; /* of the entities, in all windows; NULL: none */
	unsigned objects_max;        /* of each kind, model_limit(); 0: no limit */
	/*
	 * A window is complete. @summary is valid during the call; @begin_ns: of the window, epoch.
	 * Windows without an event are left out. Return: 0, or -1 with @err.
	 */
	int (*take)(void *context, const struct summary *summary, int64_t begin_ns,
		    struct kymo_err *err);
	void *context;
};

#define SUMMARY_WINDOWS_LEAST_NS 100000000ll

/** summary_windows_create() - @reader has not given an event yet. Return: 0, or -1 with @err. */
int summary_windows_create(struct summary_windows **windows, struct kymo_ctf_reader *reader,
			   const struct summary_windows_options *options, struct kymo_err *err);

/** summary_windows_event() - the next event or loss of the reader. Return: 0, or -1 with @err. */
int summary_windows_event(struct summary_windows *windows, const struct kymo_ctf_event *event,
			  struct kymo_err *err);

/**
 * summary_windows_read() - all events of the reader, and then summary_windows_finish()
 * @progress: called from time to time with the events so far; may be NULL
 *
 * Return: 0, or -1 with @err.
 */
int summary_windows_read(struct summary_windows *windows,
			 void (*progress)(void *context, uint64_t events, uint64_t clock_ns),
			 void *context, struct kymo_err *err);

/** summary_windows_until() - take the windows that are complete, because no event before @ns will
 * come. Return: 0, or -1 with @err. */
int summary_windows_until(struct summary_windows *windows, int64_t ns, struct kymo_err *err);

/** summary_windows_cut() - take what exists, although more events of the same windows may come.
 * Return: 0, or -1 with @err. */
int summary_windows_cut(struct summary_windows *windows, struct kymo_err *err);

/** summary_windows_skip() - @skip: events are read for their names only and belong to no window. */
void summary_windows_skip(struct summary_windows *windows, bool skip);

/** summary_windows_has_new_kinds() - the reader has events of which the analyses were not told,
 * because a class with this name and these fields was declared later: begin again, with another
 * struct summary_windows. */
bool summary_windows_has_new_kinds(struct summary_windows *windows);

/** summary_windows_finish() - the trace has ended: take the rest. Return: 0, or -1 with @err. */
int summary_windows_finish(struct summary_windows *windows, struct kymo_err *err);

void summary_windows_free(struct summary_windows *windows);

#endif
