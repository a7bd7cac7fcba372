/* SPDX-License-Identifier: Apache-2.0 */
/* The tracks of a Perfetto trace: created once, described again at the beginning of each part that
 * opens alone. */
#include "export/pft/pft_internal.h"

#include <errno.h>
#include <stdlib.h>

static struct pft_track *track_new(struct pft *pft, enum pft_track_kind kind, uint32_t machine)
{
	struct pft_track *track = calloc(1, sizeof(*track));
	struct pb prefix = { 0 };
	size_t start_size;

	if (!track)
		goto failed;
	track->pft = pft;
	track->kind = kind;
	track->uuid = pft->track_count + 1;
	track->machine = machine;
	pb_uint(&prefix, F_SEQUENCE, PFT_SEQUENCE_TRACE + track->uuid);
	if (machine)
		pb_uint(&prefix, F_MACHINE, machine);
	start_size = prefix.size;
	/* Two bytes that deflate to next to nothing; else they would be a sixth of the file. */
	if (pft->level != PFT_LEVEL_NONE)
		pb_uint(&prefix, F_SEQUENCE_FLAGS, PFT_NEEDS_START);
	if (prefix.failed)
		goto failed;
	memcpy(track->prefix, prefix.data, prefix.size);
	track->prefix_size = (uint8_t)prefix.size;
	track->start_prefix_size = (uint8_t)start_size;
	pb_free(&prefix);
	pft->track_count++;
	if (pft->last_track)
		pft->last_track->next = track;
	else
		pft->tracks = track;
	pft->last_track = track;
	return track;
failed:
	pb_free(&prefix);
	free(track);
	pft_fail(pft, ENOMEM, "cannot write");
	return NULL;
}

void pft_tracks_free(struct pft *pft)
{
	while (pft->tracks) {
		struct pft_track *track = pft->tracks;

		pft->tracks = track->next;
		map_free(&track->sent);
		free(track->open);
		free(track);
	}
}

static void put_name(const struct pft_track *track, uint32_t field)
{
	const struct pft_string *name;

	if (!track->name)
		return;
	name = &track->pft->string[track->name - 1];
	pb_bytes(&track->pft->block, field, name->text, name->size);
}

/* The order of siblings: by name, or by rank. Readers may merge lanes only. */
static void put_look(const struct pft_track *track)
{
	enum { BY_NAME = 1, BY_RANK = 3, MERGE_NONE = 2, MERGE_BY_KEY = 3 };
	const struct pft_track *lanes = track->look.has_lanes ? track : track->look.lane_of;
	struct pb *pb = &track->pft->block;

	put_name(track, 2);
	if (track->kind == PFT_COUNTER) {
		pb_open(pb, 8);
		if (track->look.unit)
			pb_uint(pb, 3, track->look.unit);
		if (track->look.unit_name)
			pb_bytes(pb, 6, track->look.unit_name, strlen(track->look.unit_name));
		pb_close(pb);
	} else {
		pb_uint(pb, 11, track->look.ranked ? BY_RANK : BY_NAME);
	}
	if (track->look.rank)
		pb_uint(pb, 12, (uint64_t)track->look.rank);
	pb_uint(pb, 15, lanes ? MERGE_BY_KEY : MERGE_NONE);
	if (lanes)
		pb_uint(pb, 17, lanes->uuid);
}

/* Writes the packet that describes @track. */
static void describe(struct pft_track *track)
{
	struct pb *pb = &track->pft->block;
	size_t begin;

	track->described = track->pft->generation;
	if (track->pft->json) {
		pft_chrome_describe(track);
		return;
	}
	/* Not on the track's own sequence, which begins with its start packet. */
	pft_packet_begin(track->pft);
	begin = pb->size;
	pb_uint(pb, F_SEQUENCE, PFT_SEQUENCE_TRACE);
	if (track->machine)
		pb_uint(pb, F_MACHINE, track->machine);
	pb_open(pb, F_TRACK);
	pb_uint(pb, 1, track->uuid);
	if (track->parent)
		pb_uint(pb, 5, track->parent->uuid);
	if (track->kind == PFT_PROCESS) {
		pb_open(pb, 3);
		pb_uint(pb, 1, (uint64_t)track->pid);
		put_name(track, 6);
		pb_close(pb);
	} else if (track->kind == PFT_THREAD) {
		pb_open(pb, 4);
		pb_uint(pb, 1, (uint64_t)track->pid);
		pb_uint(pb, 2, (uint64_t)track->tid);
		put_name(track, 5);
		pb_close(pb);
	} else {
		put_look(track);
	}
	pb_close(pb);
	track->pft->said += pb->size - begin;
	pft_packet_end(track->pft);
}

void pft_describe_again(struct pft_track *track)
{
	if (track->described != track->pft->generation)
		pft_describe_anew(track);
}

void pft_describe_anew(struct pft_track *track)
{
	if (track->parent)
		pft_describe_again(track->parent);
	describe(track);
}

static void name_again(struct pft_track *track, const char *name)
{
	if (!track)
		return;
	track->name = pft_string(track->pft, name);
	describe(track);
}

void pft_process_name(struct pft_track *process, const char *name)
{
	name_again(process, name);
}

void pft_thread_name(struct pft_track *thread, const char *name)
{
	name_again(thread, name);
}

struct pft_track *pft_process(struct pft *pft, uint32_t machine, int32_t pid, const char *name)
{
	struct pft_track *track = track_new(pft, PFT_PROCESS, machine);

	if (!track)
		return NULL;
	track->pid = pid;
	name_again(track, name);
	return track;
}

struct pft_track *pft_thread(struct pft *pft, struct pft_track *process, int32_t tid,
			     const char *name)
{
	struct pft_track *track = process ? track_new(pft, PFT_THREAD, process->machine) : NULL;

	if (!track)
		return NULL;
	track->pid = process->pid;
	track->tid = tid;
	track->parent = process;
	name_again(track, name);
	return track;
}

struct pft_track *pft_track_like(struct pft *pft, struct pft_track *parent,
				 const struct pft_look *look)
{
	struct pft_track *track = track_new(pft, look->counter ? PFT_COUNTER : PFT_SLICES,
					    parent ? parent->machine : look->machine);

	if (!track)
		return NULL;
	track->parent = parent;
	track->look = *look;
	track->look.name = NULL;
	name_again(track, look->name);
	return track;
}

struct pft_track *pft_track(struct pft *pft, struct pft_track *parent, const char *name)
{
	return pft_track_like(pft, parent, &(struct pft_look){ .name = name });
}
