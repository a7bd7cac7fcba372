/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples call stacks together with a session: into stacks/ of its (first) trace directory, or of
 * each chunk. Errors after the beginning are reported, and the session continues.
 *
 * Context of all functions: as kernel/stacks.h.
 */
#ifndef KYMO_RECORDER_RECORD_STACKS_H
#define KYMO_RECORDER_RECORD_STACKS_H

#include "kernel/stacks.h"
#include "recorder/drain/sink.h"
#include "recorder/session/session.h"

#define RECORD_STACKS_DIR "stacks"

struct record_stacks {
	struct stacks *stacks; /* NULL: not requested, or ended */
	struct session *session;
	const struct session_options *options;
	struct sink *sink; /* in whose directory it is */
	struct sink_beside beside;
	struct stacks_stats stats; /* of all, when it has ended */
	unsigned followed;         /* processes of the session that were checked */
	bool told;                 /* that threads of a process are not sampled */
};

/** record_stacks_open() - before anything is created. @hz: samples per second; 0: none are wanted.
 * @options: must live on. Return: 0; -1 with @err. */
int record_stacks_open(struct record_stacks *record, unsigned hz,
		       const struct session_options *options, struct kymo_err *err);

/** record_stacks_begin() - @session must live on. */
void record_stacks_begin(struct record_stacks *record, struct session *session);

/** record_stacks_command() - sample process @pid, and all that it starts. */
void record_stacks_command(struct record_stacks *record, int pid);

/** record_stacks_poll() - Return: @wait_ms, or less: when to come back. */
int record_stacks_poll(struct record_stacks *record, int wait_ms);

/** record_stacks_end() - before session_end(), or if there is no session. @record must live on
 * until then. */
void record_stacks_end(struct record_stacks *record);

#endif
