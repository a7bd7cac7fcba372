/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the writer (tracer_initlog.c) and the cleaner (tracer_initlog_clean.c) of the init log,
 * and by what decides when the log is cleaned (tracer_initlog_due.c). Private to src/inside/tracer.
 */
#ifndef KYMO_TRACER_INITLOG_INTERNAL_H
#define KYMO_TRACER_INITLOG_INTERNAL_H

#include "inside/tracer/tracer_initlog.h"
#include "inside/tracer/tracer_process.h"

#define LOG_HEADER sizeof(struct kymo_log_record)

/*
 * Kinds of writers. Facts leave KYMO_LOG_SPARE free chunks, records of destroyed objects leave one,
 * the cleaner may use all: so the cleaner can still copy in a full log.
 */
enum log_writer { LOG_FACT, LOG_GONE, LOG_CLEANER };

/**
 * kymo_log_take() - reserve @size bytes inside one chunk. @ns: time of the record. Return:
 * position; UINT64_MAX: the log is full.
 */
uint64_t kymo_log_take(struct kymo_process *process, struct kymo_thread *thread, uint64_t size,
		       enum log_writer writer, uint64_t *ns);

static inline struct kymo_log_record *kymo_log_at(struct kymo_process *process, uint64_t position)
{
	return (struct kymo_log_record
			*)(process->log_chunk[position / KYMO_LOG_CHUNK % KYMO_LOG_CHUNKS_MAX].at +
			   position % KYMO_LOG_CHUNK);
}

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Time after which an incomplete record counts as abandoned; tests set a shorter time. */
extern uint64_t kymo_log_patience_ns;

/** kymo_log_is_claimed() - may a writer still complete the record at @position? */
bool kymo_log_is_claimed(const struct kymo_process *process, struct kymo_thread *thread,
			 uint64_t position);

struct log_cleaned {
	uint64_t tail;    /* of the log when it was cleaned */
	uint64_t blocked; /* 1 + position of a record that a thread writes, which ended the
			     cleaning; 0: none */
};

/**
 * kymo_log_clean() - forget facts that no longer hold, if at least one in @share records can be
 * forgotten; else leave the log as it is
 * Context: the caller has log_cleaning, and no signal handler of @thread cleans.
 */
struct log_cleaned kymo_log_clean(struct kymo_process *process, struct kymo_thread *thread,
				  unsigned share);

/**
 * kymo_log_clean_if_due() - forget facts that no longer hold, if the log has grown enough since the
 * last cleaning.
 */
void kymo_log_clean_if_due(struct kymo_process *process, struct kymo_thread *thread);

/**
 * kymo_log_clean_if_full() - clean a log that is full
 * Context: may wait for a thread that writes a fact or cleans. Return: true: the log may have room
 * now.
 */
bool kymo_log_clean_if_full(struct kymo_process *process, struct kymo_thread *thread);

#endif
