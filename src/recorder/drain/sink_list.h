/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sinks of a session, all of them: which there are, and what the session has them do.
 *
 * session_add_sink(session, sink, &err) and session_remove_sink(session, sink, &err) of session.h
 * add and remove one for a session: they drain first, and write the accounts. A session begins with
 * a CTF directory at session_options.output, with session_options.sink, or with both.
 *
 * Context of all functions: on the session's thread only; allocate and block.
 */
#ifndef KYMO_RECORDER_SINK_LIST_H
#define KYMO_RECORDER_SINK_LIST_H

#include "recorder/drain/sink.h"

/* ---- adding and removing ---- */

/**
 * sinks_add() - from now on @sink gets what is drained
 * @process: [@count] all of the session; those that are not finished join it
 *
 * Drain first, else the sink begins with what is still in the rings.
 * Return: 0; -ENOSPC: the session has SINKS_MAX; -ENOMEM. After a failure, the sink stays the
 * caller's.
 */
int sinks_add(struct drain *drain, struct sink *sink, struct drained_process **process,
	      unsigned count);

/**
 * sinks_complete() - put remaining drops into @sink, then leave for every process
 * @process: [@count] all of the session
 */
void sinks_complete(struct drain *drain, struct sink *sink, struct drained_process **process,
		    unsigned count);

/** sinks_detach() - take @sink out of the drain and free its struct sink_process. The caller calls
 * close(). */
void sinks_detach(struct drain *drain, struct sink *sink, struct drained_process **process,
		  unsigned count);

/**
 * sinks_turn() - @sink begins anew; drain before
 * @process: [@count] all of the session
 *
 * Nothing is lost or doubled by it. A failure is reported, and the turn tried again later.
 */
void sinks_turn(struct drain *drain, struct sink *sink, struct drained_process **process,
		unsigned count);

/**
 * sinks_mend() - sinks whose files were taken away begin anew, if they can
 * @process: [@count] all of the session
 * @now: check all of them at once
 */
void sinks_mend(struct drain *drain, struct drained_process **process, unsigned count, bool now);

/** sinks_join() - a new process joins all sinks. Return: 0; -ENOMEM. */
int sinks_join(struct drain *drain, struct drained_process *process);

/** sinks_process_free() - free what is kept for the sinks of @process. */
void sinks_process_free(struct drained_process *process);

/** sink_at() - what is kept for @sink of @process; NULL: the process had ended before the sink was
 * added. */
struct sink_process *sink_at(const struct drain *drain, const struct sink *sink,
			     const struct drained_process *process);

/* ---- rounds of draining, and the ends of processes ---- */

/** sinks_round_begin() - a sink that failed a moment ago is left out of the round, unless @all. */
void sinks_round_begin(struct drain *drain, bool all);

/** sinks_round_end() - report which sinks fail from now on, and which work again. */
void sinks_round_end(struct drain *drain);

/** sinks_rc() - 0 when some sink is up; else -errno of one that fails. */
int sinks_rc(const struct drain *drain);

/** sinks_take_batches() - all of them do: none is given parts, which contain what rules leave out,
 * too. */
bool sinks_take_batches(const struct drain *drain);

/** sinks_leave() - @process is finished: remaining drops, the ends of its streams in all sinks. */
void sinks_leave(struct drain *drain, struct drained_process *process);

/** sinks_reach_back() - events from @first_ns on, left by another recorder, are read next: the
 * sinks begin there. */
void sinks_reach_back(struct drain *drain, uint64_t first_ns);

#endif
