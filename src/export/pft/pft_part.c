/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a Perfetto trace opens alone.
 *
 *   | uuid | block | block | ... | marker | block | block | ... | marker | ...      | uuid | block ...
 *   |      generation 0          |      generation 1            |                   | part 2
 *
 * A generation says again, before its first event, what a track is and below what, and starts its
 * sequence again. Nothing is open or closed by that: who reads all of it sees no difference, who reads
 * from a marker on misses nothing that begins behind it. From any other block on (they are packets, when
 * deflated) what belongs to a sequence that has not yet started there is left out by readers. Each block
 * begins with the clocks, without which no start packet is understood.
 *
 * A part is a file of its own, and a new generation. What is open is closed at its end and begins again
 * with the next. Any number of parts in a row open, too.
 */
#include "export/pft/pft_internal.h"

#include <errno.h>
#include <stdlib.h>

/* Room for one more slice that is open on @track. Return: NULL: memory is out. */
struct pft_open *pft_open_slice(struct pft_track *track)
{
	struct pft_open *open;
	uint32_t room;

	if (track->depth == track->open_room) {
		room = track->open_room ? 2 * track->open_room : 8;
		open = reallocarray(track->open, room, sizeof(*open));
		if (!open) {
			pft_fail(track->pft, ENOMEM, "Writing failed");
			return NULL;
		}
		track->open = open;
		track->open_room = room;
	}
	return &track->open[track->depth];
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
	pft_flush(pft);
	pft_put_marker(pft);
	next_generation(pft);
}

uint64_t pft_part_bytes(const struct pft *pft)
{
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
			pft_put_begin(track, begin_ns, &(struct pft_event){ .name = track->open[i].name,
								      .category = track->open[i].category });
	}
}
