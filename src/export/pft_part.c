/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a Perfetto trace. A part begins as a file does: readers know nothing, so it says again what
 * the tracks are, and each sequence starts again. Any part opens alone; so does any number of them in a
 * row. What is open is closed at the end of a part and begins again with the next.
 */
#include "export/pft_internal.h"

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
	pft_put_uuid(pft);
	if (pft->clocks_sent) {
		pft->clocks_sent = false;
		pft_clocks(pft, &pft->clocks);
	}
	for (track = pft->tracks; track; track = track->next)
		pft_describe(track);
	for (track = pft->tracks; track; track = track->next) {
		int64_t begin_ns = at(track, ns);

		track->started = false;
		for (uint32_t i = 0; i < track->depth; i++)
			pft_put_begin(track, begin_ns, &(struct pft_event){ .name = track->open[i].name,
								      .category = track->open[i].category });
	}
}
