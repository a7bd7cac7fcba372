/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the operating system, for analyses of events that are not of ROS 2. Kernel events name
 * a thread by tid, user-space events by vtid. On one host both are the same thread, unless the
 * program runs in a pid namespace of its own.
 */
#ifndef KYMO_ANALYSIS_CPUTIME_THREAD_H
#define KYMO_ANALYSIS_CPUTIME_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "ctf/read/reader.h"

/* Limit of distinct threads; all further threads are counted as "(others)". */
#define OS_THREADS_MAX 1000000u

struct os_thread {
	uint32_t index;
	uint32_t host;
	int32_t tid;
	int32_t pid;			/* 0: unknown */
	char name[32];			/* latest name; "" when unknown */
};

/* A table of an analysis's records. Each record begins with a struct os_thread. */
struct os_threads {
	size_t size;			/* size of a record */
	void **record;
	uint32_t count, room;
	struct map map;			/* (tid, host) */
	uint32_t *host;			/* by trace: the first trace with the same host name */
	uint32_t traces;
	bool failed;
};

/**
 * os_threads_init() - records of @size bytes, zeroed when created
 * @reader: for the host of each trace; NULL: all traces are of one host
 */
void os_threads_init(struct os_threads *threads, size_t size, const struct kymo_ctf_reader *reader);
void os_threads_free(struct os_threads *threads);

/**
 * os_thread() - the record of @tid on the host of @trace, created if necessary.
 *
 * Return: NULL: out of memory.
 */
void *os_thread(struct os_threads *threads, uint32_t trace, int32_t tid);

/** os_thread_find() - the record, or NULL when it does not exist. */
void *os_thread_find(const struct os_threads *threads, uint32_t trace, int32_t tid);

/** os_thread_main() - the main thread of @thread's process, or NULL when it has no record. */
const struct os_thread *os_thread_main(const struct os_threads *threads,
				       const struct os_thread *thread);

/** os_fit() - in @table, leave out the fields that are read as text or bytes but declared with
 * another type: they are never present. */
void os_fit(const struct kymo_ctf_reader *reader, struct kymo_ctf_bind *table, unsigned count);

/**
 * os_bind() - kymo_ctf_bind(), without the fields of @table that are read as text or bytes but
 * declared with another type
 *
 * Context: allocates. Return: as kymo_ctf_bind().
 */
int os_bind(struct kymo_ctf_reader *reader, const struct kymo_ctf_bind *table, unsigned count,
	    struct kymo_err *err);

/**
 * os_thread_name() - set the thread's name and process if the event contains them; @name need not
 * be terminated.
 */
void os_thread_name(void *record, const char *name, size_t size, int32_t pid);

#endif
