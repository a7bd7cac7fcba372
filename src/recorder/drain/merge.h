/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges records of many threads by time, from spans of ring bytes into one buffer:
 *
 *   in      | id u16 | ns u64 | payload |                                 of one thread, in time order
 *   out     | id u16 | ns u64 | vtid i32 | procname 17 | payload |        CTF_CLASS_MERGED
 *
 * It stops where its caller has to do something: hand out the buffer, or give an input its next
 * span. Spans are in shared memory, so each record is read once and checked. Equal times come out
 * in the order of the inputs.
 *
 * Context of all functions: wait-free, but for merge_begin() and merge_free().
 */
#ifndef KYMO_RECORDER_MERGE_H
#define KYMO_RECORDER_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctf/format/framing.h"
#include "recorder/records/classes.h"

struct merge_context {
	int32_t vtid;
	char procname[CTF_PROCNAME_SIZE];
} __attribute__((packed));

/* What is taken of an input's present span: it is the caller's to look at, and to set anew. */
struct merge_input {
	const uint8_t *at, *end;	/* what is left of the span */
	uint64_t ns;			/* of the record at `at`; UINT64_MAX: there is none */
	uint32_t size;			/* of that record */
	uint16_t id;			/* of that record */
	bool fixed;			/* its length is known by its id */
	bool bad;			/* what is at `at` makes no sense */
	uint32_t records;		/* taken of the span */
	uint32_t left_out;		/* passed over, before `at` */
	size_t taken;			/* bytes of those that were taken */
	uint64_t first, last;		/* their times, where there are some */
	uint64_t floor;			/* no record of it may be older */
	uint32_t moved;			/* times that were a little before their predecessors', and were set to them */
	struct merge_context context;
};

struct merge {
	const struct classes *classes;
	struct merge_input *input;
	unsigned count, room;
	unsigned *loser;		/* [count]: a tree of those that are not first; loser[0] is */
	bool waits;			/* the first was left empty: its place is to be found again */
	uint64_t horizon;		/* no record younger than this is taken */
	uint64_t not_after;		/* a time later than this is none */
	/* Whether the record at `at` of input @index is wanted, asked once it is known to be sound; NULL: all are. */
	bool (*wanted)(void *context, unsigned index, const struct merge_input *in);
	void *context;			/* of wanted */
};

struct merge_out {
	uint8_t *at;
	size_t room;			/* bytes */
	uint32_t records;
};

enum merge_stop {
	MERGE_DONE,		/* nothing that is not younger than the horizon is left */
	MERGE_FULL,		/* the next record does not fit any more */
	MERGE_EMPTY,		/* an input has nothing left, or is bad */
};

/** merge_begin() - room for @count inputs, all without a span. Return: false without memory. Context: allocates. */
bool merge_begin(struct merge *merge, const struct classes *classes, unsigned count);

/**
 * merge_span() - give input @index its first span, or another one after the last is used up
 * @size: bytes at @at; 0: no more is coming
 *
 * Sets what the caller looks at to zero, and `bad` when the first record that is wanted makes no sense, or one
 * before it. When none is wanted, nothing is left of the span.
 */
void merge_span(struct merge *merge, unsigned index, const uint8_t *at, size_t size);

/** merge_ready() - after the first spans: put the inputs in order. */
void merge_ready(struct merge *merge);

/**
 * merge_run() - move records to @out
 * @empty: with MERGE_EMPTY, the input: merge_span() may give it another span before the next call
 */
enum merge_stop merge_run(struct merge *merge, struct merge_out *out, unsigned *empty);

void merge_free(struct merge *merge);

#endif
