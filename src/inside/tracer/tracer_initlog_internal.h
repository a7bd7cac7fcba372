/* SPDX-License-Identifier: Apache-2.0 */
/* What writing and cleaning of the init log share. Private to src/tracer. */
#ifndef KYMO_TRACER_INITLOG_INTERNAL_H
#define KYMO_TRACER_INITLOG_INTERNAL_H

#include "inside/tracer/tracer_initlog.h"
#include "inside/tracer/tracer_process.h"

#define LOG_HEADER sizeof(struct kymo_log_record)

/* Who may use up how much: cleaning must be able to begin in a log that is full. */
enum log_writer { LOG_FACT, LOG_GONE, LOG_CLEANER };

/** kymo_log_take() - move log_tail over @size bytes inside one chunk. Return: position; UINT64_MAX: full. @ns: time of the move. */
uint64_t kymo_log_take(struct kymo_process *process, struct kymo_thread *thread, uint64_t size,
		       enum log_writer writer, uint64_t *ns);

static inline struct kymo_log_record *kymo_log_at(struct kymo_process *process, uint64_t position)
{
	return (struct kymo_log_record *)
		(process->log_chunk[position / KYMO_LOG_CHUNK % KYMO_LOG_CHUNKS_MAX].at + position % KYMO_LOG_CHUNK);
}

/* After so long a record that is not finished is none any more; tests do not wait. */
extern uint64_t kymo_log_patience_ns;

/** kymo_log_clean_if_due() - forget what no longer holds, if the log has grown enough since the last time. */
void kymo_log_clean_if_due(struct kymo_process *process, struct kymo_thread *thread);

/** kymo_log_clean_if_full() - the same for a log that is full. Return: there may be room now. */
bool kymo_log_clean_if_full(struct kymo_process *process, struct kymo_thread *thread);

#endif
