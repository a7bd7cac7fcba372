/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stream classes metadata declare, and which their events ask for, seen while the metadata come in pieces.
 *
 * A tracer writes events and the streams that they belong to in the order of their coming, which may be
 *
 *   piece 1   trace, clock, event (stream_id = 0), event (stream_id = 0)      readers refuse it: no stream 0
 *   piece 2   stream (id = 0)                                               whole: both together can be read
 *
 * so a piece alone is shown to nobody. Only what is between the outermost braces is looked at: this is no parser, and of
 * what it does not understand (other ids, packets across pieces) it says that all is declared.
 */
#ifndef KYMO_RELAY_DECLARED_H
#define KYMO_RELAY_DECLARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECLARED_ALL	UINT64_MAX
#define DECLARED_WORD	24u

/* All zeros: nothing came. */
struct declared {
	uint64_t streams, wanted;	/* bits by id; DECLARED_ALL: any */
	unsigned depth;			/* braces that are open */
	bool has_blocks;		/* it looks like TSDL */
	char word[DECLARED_WORD], key[DECLARED_WORD];	/* the one that is being read; the one before = */
	unsigned length;		/* of word */
	enum { BLOCK_OTHER, BLOCK_STREAM, BLOCK_EVENT } block;
	bool has_id;			/* of the block */
	enum { TEXT, TEXT_STRING, TEXT_LINE, TEXT_COMMENT } in;
	char before;			/* the character before */
};

/**
 * declared_add() - a piece: packets of metadata, or plain text
 *
 * Context: any thread; neither allocates nor blocks.
 */
void declared_add(struct declared *declared, const uint8_t *bytes, size_t size);

/** declared_streams() - bits by id; DECLARED_ALL: any. */
uint64_t declared_streams(const struct declared *declared);

/**
 * declared_is_whole() - no declaration is begun, each event's stream is declared, and one at least
 *
 * Streams name the clock: babeltrace2 fails when it is given a time before there is one.
 */
bool declared_is_whole(const struct declared *declared);

#endif
