/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two sides of a program's own sink share. Private to this folder.
 *
 * Context of all functions: allocate. own_pump() and own_forget() belong to the side of the
 * functions, one thread at a time; own_pump() waits up to @timeout_ms, below 0 without a limit.
 */
#ifndef KYMO_RECORDER_OWN_INTERNAL_H
#define KYMO_RECORDER_OWN_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "abi/points.h"
#include "abi/region.h"
#include "kymo/sink.h"
#include "recorder/drain/sink.h"

struct own_class {
	struct kymo_sink_class is;
	struct kymo_sink_field field[KYMO_FIELDS_MAX];
	char text[];
};

/* Created with a process, freed by the side of the functions after the last event. */
struct own_process {
	struct own_process *next; /* of the side of the functions */
	int pid;
	char name[CTF_PROCNAME_SIZE];
	struct own_class
		*class[KYMO_POINTS_MAX]; /* that side's; only what declare() was called for */
	/* The session's side. */
	uint64_t *discarded; /* [ring_count] as of the last packet */
	unsigned ring_count;
	uint64_t facts_discarded;
};

enum own_what { OWN_JOIN, OWN_CLASS, OWN_PACKET };

/* One entry of the queue. */
struct own_item {
	struct own_item *next;
	enum own_what what;
	struct own_process *process;
	struct own_class *class; /* OWN_CLASS */
	char thread[CTF_PROCNAME_SIZE];
	struct kymo_sink_packet packet; /* OWN_PACKET; its bytes follow the item */
	uint8_t bytes[];
};

struct kymo_sink {
	struct sink sink; /* first */
	struct kymo_sink_options options;
	char *name;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;
	struct own_item *first, **last;
	size_t waiting;         /* bytes of packets in the queue */
	bool attached, removed; /* by a session; it is over */
	bool threaded;          /* the thread runs, or has ended and was not joined */
	/* ---- the side of the functions ---- */
	pthread_t thread;
	bool begun, ended;
	struct own_process *processes;
	struct kymo_sink_totals totals;
};

/** own_class_of() - a copy of a description. Return: NULL: no memory. */
struct own_class *own_class_of(const struct kymo_point *point, unsigned id, int pid);

/** own_pump() - as kymo_sink_pump(). */
int own_pump(struct kymo_sink *own, int timeout_ms);

/** own_forget() - free processes, and what waits. */
void own_forget(struct kymo_sink *own);

#endif
