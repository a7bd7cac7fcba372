/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings of a Perfetto trace: each text has one number in the writer, and in each sequence a short
 * number under which it was sent. Events name strings by numbers, so writing an event hashes no
 * text.
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

static uint64_t hash_bytes(const uint8_t *data, uint32_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;	/* FNV-1a */

	for (uint32_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 0x100000001b3u;
	return hash;
}

/* A new string. Return: its number; 0: out of memory, or there are too many. */
static uint32_t add_string(struct pft *pft, const uint8_t *text, uint32_t size)
{
	char *copy = malloc((size_t)size + 1);

	if (!copy || pft->string_count == STRINGS_MAX ||
	    !ARRAY_ROOM(pft->string, pft->string_count, pft->string_room)) {
		free(copy);
		return 0;
	}
	memcpy(copy, text, size);
	copy[size] = 0;
	pft->string[pft->string_count++] = (struct pft_string){.text = copy, .size = size};
	return pft->string_count;
}

uint32_t pft_string(struct pft *pft, const char *text)
{
	uint8_t clean[PFT_TEXT_MAX];
	uint64_t hash, same = 0; /* same: how many other strings have this hash */
	uint32_t size, number;

	if (!text || !*text)
		return 0;
	size = sanitize(clean, text);
	hash = hash_bytes(clean, size);
	while ((number = (uint32_t)(uintptr_t)map_get(&pft->string_numbers, hash, same))) {
		const struct pft_string *known = &pft->string[number - 1];

		if (known->size == size && !memcmp(known->text, clean, size))
			return number;
		same++;
	}
	number = add_string(pft, clean, size);
	if (!number || map_put(&pft->string_numbers, hash, same, (void *)(uintptr_t)number) < 0) {
		pft_fail(pft, ENOMEM, "cannot write");
		return 0;
	}
	return number;
}

void pft_strings_free(struct pft *pft)
{
	for (uint32_t i = 0; i < pft->string_count; i++)
		free(pft->string[i].text);
	free(pft->string);
	map_free(&pft->string_numbers);
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

static uint32_t intern(struct pft_track *track, enum pft_interned kind, uint32_t string)
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

uint32_t pft_intern(struct pft_track *track, enum pft_interned kind, uint32_t string)
{
	const uint32_t what = string * PFT_INTERNED_KINDS + kind;
	struct pft_sent *recent = &track->recent[what % PFT_RECENT];

	if (!string || recent->what != what)
		*recent = (struct pft_sent){ what, intern(track, kind, string) };
	return recent->iid;
}

void pft_intern_reset(struct pft_track *track)
{
	map_free(&track->sent);
	memset(track->recent, 0, sizeof(track->recent));
	memset(track->next_iid, 0, sizeof(track->next_iid));
}
