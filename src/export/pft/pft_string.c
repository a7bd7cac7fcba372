/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings of a Perfetto trace: each text has one number in the writer, and in each sequence a short number under which it was
 * sent. Events name strings by numbers, so writing an event hashes no text.
 */
#include "export/pft/pft_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"

#define STRINGS_MAX (1u << 29)		/* a number and its kind fit into 32 bits */

/* Copies @text into @out (PFT_TEXT_MAX bytes) as valid UTF-8. Return: bytes. */
static uint32_t sanitize(uint8_t *out, const char *text)
{
	size_t left = strnlen(text, PFT_TEXT_MAX), size = 0;

	while (left) {
		size_t length = text_utf8_length(text);
		size_t step = length && length <= left ? length : 1;

		memcpy(out + size, length == step ? text : "?", step);
		size += step;
		text += step;
		left -= step;
	}
	return (uint32_t)size;
}

static uint32_t hash_bytes(const uint8_t *data, uint32_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;	/* FNV-1a */

	for (uint32_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 0x100000001b3u;
	return (uint32_t)(hash ^ hash >> 32);
}

static bool slots_grow(struct pft *pft)
{
	uint32_t mask = pft->string_mask ? 2 * pft->string_mask + 1 : 63;
	uint32_t *slot = calloc((size_t)mask + 1, sizeof(*slot));

	if (!slot)
		return false;
	for (uint32_t i = 0; i < pft->string_count; i++) {
		uint32_t at = pft->string[i].hash & mask;

		while (slot[at])
			at = (at + 1) & mask;
		slot[at] = i + 1;
	}
	free(pft->string_slot);
	pft->string_slot = slot;
	pft->string_mask = mask;
	return true;
}

static bool strings_grow(struct pft *pft)
{
	if (pft->string_count == STRINGS_MAX || !ARRAY_ROOM(pft->string, pft->string_count, pft->string_room))
		return false;
	return 2 * (uint64_t)pft->string_count < pft->string_mask || slots_grow(pft);
}

uint32_t pft_string(struct pft *pft, const char *text)
{
	uint8_t clean[PFT_TEXT_MAX];
	uint32_t size, hash, at;
	char *copy;

	if (!text || !*text)
		return 0;
	size = sanitize(clean, text);
	hash = hash_bytes(clean, size);
	if (!strings_grow(pft))
		goto failed;
	for (at = hash & pft->string_mask; pft->string_slot[at]; at = (at + 1) & pft->string_mask) {
		const struct pft_string *known = &pft->string[pft->string_slot[at] - 1];

		if (known->hash == hash && known->size == size && !memcmp(known->text, clean, size))
			return pft->string_slot[at];
	}
	copy = malloc((size_t)size + 1);
	if (!copy)
		goto failed;
	memcpy(copy, clean, size);
	copy[size] = 0;
	pft->string[pft->string_count++] =
		(struct pft_string){ .text = copy, .size = size, .hash = hash };
	pft->string_slot[at] = pft->string_count;
	return pft->string_count;
failed:
	pft_fail(pft, ENOMEM, "cannot write");
	return 0;
}

void pft_strings_free(struct pft *pft)
{
	for (uint32_t i = 0; i < pft->string_count; i++)
		free(pft->string[i].text);
	free(pft->string);
	free(pft->string_slot);
}

/* ---- what a sequence has sent ---- */

static void define(struct pft_track *track, enum pft_interned kind, uint32_t string, uint32_t iid)
{
	/* Field of InternedData per kind; each entry is { iid 1, text 2 }. */
	static const uint8_t field[PFT_INTERNED_KINDS] = {
		[PFT_CATEGORY] = 1, [PFT_NAME] = 2, [PFT_ARG_NAME] = 3, [PFT_ARG_TEXT] = 29,
	};
	const struct pft_string *text = &track->pft->string[string - 1];
	struct pb *fresh = &track->pft->fresh;

	pb_open(fresh, field[kind]);
	pb_uint(fresh, 1, iid);
	pb_bytes(fresh, 2, text->text, text->size);
	pb_close(fresh);
}

uint32_t pft_intern(struct pft_track *track, enum pft_interned kind, uint32_t string)
{
	uint32_t iid = (uint32_t)(uintptr_t)map_get(&track->sent, string, kind);

	if (iid)
		return iid;
	iid = track->next_iid[kind] + 1;
	if (map_put(&track->sent, string, kind, (void *)(uintptr_t)iid) < 0) {
		pft_fail(track->pft, ENOMEM, "cannot write");
		return 0;
	}
	track->next_iid[kind] = iid;
	define(track, kind, string, iid);
	return iid;
}

void pft_intern_reset(struct pft_track *track)
{
	map_free(&track->sent);
	memset(track->next_iid, 0, sizeof(track->next_iid));
}
