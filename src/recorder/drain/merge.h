/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges records of many threads by time, from spans of ring bytes into one buffer, with a tree of
 * losers (merge.c):
 *
 *   in      | id u16 | ns u64 | payload |                                 of one thread, in time order
 *   out     | id u16 | ns u64 | vtid i32 | procname 17 | payload |        CTF_CLASS_MERGED
 *
 * merge_run() stops when its caller has to do something: hand out the buffer, or give an input its
 * next span. Spans are in shared memory, so each record is read once and checked. Records of equal
 * times come out in the order of the inputs.
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

/* One input: its present span, and what was taken of it. The caller reads it, and sets it to
 * zero. */
struct merge_input {
	const uint8_t *at, *end; /* what is left of the span */
	uint64_t ns;             /* of the record at `at`; UINT64_MAX: no record */
	uint32_t size;           /* of that record */
	uint16_t id;             /* of that record */
	bool fixed;              /* all records of this id have the same length */
	bool bad;                /* the record at `at` is invalid */
	uint32_t records;        /* taken of the span */
	uint32_t left_out;       /* not wanted, before `at` */
	size_t taken;            /* bytes of those that were taken */
	uint64_t first, last;    /* times of the first and last record taken, if records is not 0 */
	uint64_t floor;          /* no record of it may be older */
	uint32_t moved; /* times a little before their predecessor's, which were set to that */
	struct merge_context context;
};

struct merge {
	const struct classes *classes;
	struct merge_input *input;
	unsigned count, room;
	unsigned *loser;    /* [count]: the losers of each match; loser[0]: the winner, with the
			       earliest record */
	bool waits;         /* the winner was empty: it has to play again with its next span */
	uint64_t horizon;   /* no record younger than this is taken */
	uint64_t not_after; /* a record with a later time is invalid */
	/* Whether the record at `at` of input @index, which is valid, is wanted; NULL: all are. */
	bool (*wanted)(void *context, unsigned index, const struct merge_input *in);
	void *context;			/* of wanted */
};

struct merge_out {
	uint8_t *at;
	size_t room;			/* bytes */
	uint32_t records;
};

enum merge_stop {
	MERGE_DONE,		/* no record up to the horizon is left */
	MERGE_FULL,		/* the next record does not fit into the buffer */
	MERGE_EMPTY,		/* an input has no record left, or is bad */
};

/** merge_begin() - room for @count inputs, all without a span. Return: false without memory.
 * Context: allocates. */
bool merge_begin(struct merge *merge, const struct classes *classes, unsigned count);

/**
 * merge_span() - give input @index its first span, or another one after the last is used up
 * @size: bytes at @at; 0: no more is coming
 *
 * Sets the counts of the input to zero, and `bad` if the first record that is wanted is invalid, or
 * one before it. If no record is wanted, nothing is left of the span.
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
