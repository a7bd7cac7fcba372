/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How parts of a Perfetto trace open alone.
 *
 *   | uuid | block | block | ... | marker | block | block | ... | marker | ...      | uuid | block ...
 *   |      generation 0          |      generation 1            |                   | part 2
 *
 * In each generation, before its first event, a track is described again, with its parents, and its
 * sequence starts again. That opens and closes no slice: a reader of the whole file sees no
 * difference, and a reader that begins at a marker misses nothing that begins after it. A reader
 * that begins at any other block (a deflated block is a packet) leaves out events of sequences that
 * have not started yet. Each block begins with the clocks, which start packets need.
 *
 * A part is a file of its own, and a new generation. Open slices are closed at its end and begin
 * again in the next part. Any number of consecutive parts open together, too.
 */
#include "export/pft/pft_blocks.h"

#include <errno.h>

#include "base/array.h"

/* Room for one more open slice on @track. Return: NULL: out of memory. */
struct pft_open *pft_open_slice(struct pft_track *track)
{
	if (ARRAY_ROOM(track->open, track->depth, track->open_room))
		return &track->open[track->depth];
	pft_fail(track->pft, ENOMEM, "cannot write");
	return NULL;
}

static void next_generation(struct pft *pft)
{
	pft->generation++;
	pft->since_restart = pft->said = 0;
}

void pft_restart(struct pft *pft)
{
	if (pft->json)
		return;
	pft->since_restart = 0;
	pft_block_end(pft);
	pft_put_marker(pft);
	next_generation(pft);
}

uint64_t pft_part_bytes(struct pft *pft)
{
	pft_blocks_drain(pft);
	return pft->totals.bytes - pft->part_begin;
}

static int64_t at(const struct pft_track *track, int64_t ns)
{
	return track->started && track->last_ns > ns ? track->last_ns : ns;
}

void pft_part(struct pft *pft, int fd, int64_t ns)
{
	struct pft_track *track;

	for (track = pft->tracks; track; track = track->next)
		for (uint32_t i = 0; i < track->depth; i++)
			pft_put_end(track, at(track, ns));
	pft_flush(pft);
	pft->fd = fd;
	pft->part_begin = pft->totals.bytes;
	next_generation(pft);
	pft_put_uuid(pft);
	for (track = pft->tracks; track; track = track->next) {
		int64_t begin_ns = at(track, ns);

		track->started = false;
		for (uint32_t i = 0; i < track->depth; i++)
			pft_put_begin(track, begin_ns,
				      &(struct pft_event){ .name = track->open[i].name,
							   .category = track->open[i].category });
	}
}
