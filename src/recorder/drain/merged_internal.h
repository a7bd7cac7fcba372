/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of a merged drain share; drain_merged.c says how they go together.
 *
 * Context of all functions: as drain.h.
 */
#ifndef KYMO_RECORDER_DRAIN_MERGED_INTERNAL_H
#define KYMO_RECORDER_DRAIN_MERGED_INTERNAL_H

#include "recorder/drain/merge.h"
#include "recorder/drain/slice.h"

/* Clocks of threads differ, and stores need a moment to be seen. */
#define ORDER_NS 100000ull
/* Of one packet at most; more than the largest record of a ring needs. */
#define BUFFER_BYTES (256u << 10)

static_assert(BUFFER_BYTES > KYMO_BLOCK_MAX + sizeof(struct merge_context), "any record fits");

/* One ring with something to take. */
struct merged_cursor {
	unsigned ring;
	uint64_t word, lastts;     /* as read from the ring */
	uint64_t at;               /* position up to which all is in a part */
	uint32_t block_records;    /* as ring.block_records, there */
	uint64_t records;          /* in the parts of this batch */
	uint64_t left_out_message; /* ring.left_out_message, at ring.taken */
	unsigned thread;           /* account of the owner of the span */
	struct slice span;         /* what merge.c has of it; its begin moves with the part */
	bool complete;             /* the span ends its block */
	const char *wrong;         /* why the ring is to be refused; NULL: it is sound */
};

/* How far a ring advances with a part. */
struct step {
	uint64_t to;
	uint64_t records; /* including those of the ring's earlier parts */
	uint32_t block_records;
	uint32_t left_out; /* in the part */
};

struct merged {
	struct merge merge;
	struct drained_process *process; /* whose records are merged */
	struct merged_cursor *cursor;
	unsigned count, room;
	struct sink_packet *part;
	uint64_t *dropped; /* [parts] */
	struct step *step; /* [parts] */
	unsigned parts, parts_room;
	uint64_t horizon;
	uint64_t unread; /* bytes */
	bool due, full;  /* full: some ring is more than half full */
	uint8_t buffer[BUFFER_BYTES];
};

/**
 * merged_read() - read the positions of all rings of a process and compute the horizon
 * Return: 1: something is to be taken now; 0: not yet; -errno.
 */
int merged_read(struct merged *m, struct drained_process *process, struct drain *drain,
		uint64_t clock_ns);

/** merged_slice() - find what is left of the block at cursor->at. Return: false: nothing more, or
 * the block is wrong. */
bool merged_slice(const struct drained_process *process, struct merged_cursor *cursor);

/** merged_hand_over() - the sinks get the buffer, if it has records; the rings advance. Return: 0;
 * -errno. */
int merged_hand_over(struct merged *m, struct drained_process *process, struct drain *drain,
		     const struct merge_out *out);

#endif
