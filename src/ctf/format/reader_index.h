/* SPDX-License-Identifier: Apache-2.0 */
/* Where the packets of a stream file are, by its index. */
#ifndef KYMO_CTF_READER_INDEX_H
#define KYMO_CTF_READER_INDEX_H

#include <stdbool.h>
#include <stdint.h>

struct packet_place {
	uint64_t offset;		/* bytes */
	uint64_t size, content;		/* bits */
	uint64_t begin, end;		/* clock values */
	uint64_t discarded, seq;
};

struct packet_index {
	struct packet_place *place;	/* one after the other, without a gap; `end` never decreases */
	uint32_t count;			/* at least 1 */
};

/**
 * index_read() - read the index that belongs to the stream file @stream_path
 * @stream_bytes: size of the stream file, which the entries must cover exactly
 *
 * Context: allocates, blocks.
 * Return: whether a plausible index exists; then free it with index_free().
 */
bool index_read(struct packet_index *index, const char *stream_path, uint64_t stream_bytes);
void index_free(struct packet_index *index);

#endif
