/* SPDX-License-Identifier: Apache-2.0 */
/* The least a tracer must do: read the clock, store the record's bytes in a ring of its size. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <stdint.h>
#include <string.h>

#include "abi/region.h"
#include "inside/tracer/tracer_counter.h"

struct floor_ring {
	uint8_t *data;
	uint64_t pos, mask;
	uint64_t counter, ns, mult;	/* ns = ns + ((counter - counter) * mult >> 32) */
};

static inline __attribute__((always_inline))
uint8_t *floor_begin(struct floor_ring *ring, uint16_t id, size_t payload)
{
	uint8_t *at = ring->data + (ring->pos & ring->mask);
	uint64_t ticks = kymo_counter() - ring->counter;
	uint64_t ns = ring->ns + (uint64_t)((unsigned __int128)ticks * ring->mult >> 32);

	memcpy(at, &id, 2);
	memcpy(at + 2, &ns, 8);
	ring->pos += KYMO_RECORD_HEADER + payload;
	return at + KYMO_RECORD_HEADER;
}

static inline __attribute__((always_inline)) void floor_8(struct floor_ring *ring, const void *a)
{
	memcpy(floor_begin(ring, 1, 8), &a, 8);
}

static inline __attribute__((always_inline))
void floor_16(struct floor_ring *ring, const void *a, const void *b)
{
	uint8_t *at = floor_begin(ring, 1, 16);

	memcpy(at, &a, 8);
	memcpy(at + 8, &b, 8);
}

/* An empty string and one of 30 characters, whose lengths a tracer would have to find out. */
static inline __attribute__((always_inline))
void floor_string(struct floor_ring *ring, const void *a, const char *text)
{
	uint8_t *at = floor_begin(ring, 1, 8 + 1 + 31);

	memcpy(at, &a, 8);
	at[8] = 0;
	memcpy(at + 9, text, 31);
}

#endif
