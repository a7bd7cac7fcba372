/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stream classes the metadata declares, and which ones its events need, found while the
 * metadata arrives in pieces.
 *
 * A tracer writes events and the streams that they belong to in the order of their appearance:
 *
 *   piece 1   trace, clock, event (stream_id = 0), event (stream_id = 0)      readers refuse it: no stream 0
 *   piece 2   stream (id = 0)                                               whole: both together can be read
 *
 * So viewers get pieces only when they are whole. This is not a parser: it reads only what is
 * between the outermost braces. Of metadata that it does not understand (other ids, packets across
 * pieces) it reports that all is declared.
 */
#ifndef KYMO_RELAY_DECLARED_H
#define KYMO_RELAY_DECLARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECLARED_ALL	UINT64_MAX
#define DECLARED_WORD	24u

/* All zeros: nothing arrived. */
struct declared {
	uint64_t streams, wanted;	/* bits by id; DECLARED_ALL: all */
	unsigned depth;			/* open braces */
	bool has_blocks;		/* it looks like TSDL */
	char word[DECLARED_WORD], key[DECLARED_WORD];	/* the word that is being read; the word before "=" */
	unsigned length;		/* of word */
	enum { BLOCK_OTHER, BLOCK_STREAM, BLOCK_EVENT } block;
	bool has_id;			/* of the block */
	enum { TEXT, TEXT_STRING, TEXT_LINE, TEXT_COMMENT } in;
	char before;			/* the previous character */
};

/**
 * declared_add() - the next piece: packets of metadata, or plain text
 *
 * Context: any thread; neither allocates nor blocks.
 */
void declared_add(struct declared *declared, const uint8_t *bytes, size_t size);

/** declared_streams() - bits by id; DECLARED_ALL: all. */
uint64_t declared_streams(const struct declared *declared);

/**
 * declared_is_whole() - no declaration is incomplete, each event's stream is declared, and at least
 * one stream is
 *
 * Streams refer to the clock, and babeltrace2 fails when it gets a time before it knows a clock.
 */
bool declared_is_whole(const struct declared *declared);

#endif
