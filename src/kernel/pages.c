/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of the kernel's trace ring buffer, as trace_pipe_raw gives them (events/header_page and
 * header_event in tracefs):
 *
 *   page    u64 time, long bytes that are used (its two highest bits of 32 are marks), records
 *   record  5 bits kind, 27 bits time since the one before, words
 *           1..28   that many words of data          0   u32 bytes that follow, including itself; data
 *           29      nothing: to the end, or as 0      30   u32 more bits of the time since     31   u32 ... of the time itself
 */
#include <string.h>

#include "base/array.h"
#include "kernel/kernel_source.h"

#define KIND_PADDING 29
#define KIND_TIME_EXTEND 30
#define KIND_TIME 31
#define TIME_BITS 59			/* of a time itself; the bits above are unchanged */

static uint32_t word_at(const struct kpages *pages, size_t at)
{
	uint32_t word;

	memcpy(&word, pages->data + pages->page * pages->size + at, sizeof(word));
	return word;
}

static uint32_t kind_of(uint32_t head)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? head & 0x1f : head >> 27;
}

static uint32_t delta_of(uint32_t head)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? head >> 5 : head & 0x7ffffff;
}

/* Return: false: there are no more pages. */
static bool enter_page(struct kpages *pages)
{
	const uint8_t *page = pages->data + pages->page * pages->size;
	long used;

	if (pages->page >= pages->count)
		return false;
	memcpy(&pages->ns, page, sizeof(pages->ns));
	memcpy(&used, page + sizeof(pages->ns), sizeof(used));
	pages->at = sizeof(pages->ns) + sizeof(used);
	pages->end = pages->at + ((size_t)used & 0x3fffffff);
	if (pages->end > pages->size)
		pages->end = pages->size;
	pages->inside = true;
	return true;
}

/* The record at `at`, whatever it is. Return: bytes of it; 0: the page's end. */
static size_t parse(struct kpages *pages)
{
	const size_t left = pages->end - pages->at;
	uint32_t head, kind, more;
	uint64_t time;
	size_t size;

	pages->known = false;
	if (left < sizeof(head))
		return 0;
	head = word_at(pages, pages->at);
	kind = kind_of(head);
	time = delta_of(head);
	if (kind >= 1 && kind < KIND_PADDING) {
		size = sizeof(head) + kind * 4u;
		pages->record.raw =
			pages->data + pages->page * pages->size + pages->at + sizeof(head);
		pages->record.raw_size = kind * 4u;
		pages->known = size <= left;
		pages->ns += time;
		return pages->known ? size : 0;
	}
	if ((kind == KIND_PADDING && !time) || left < 2 * sizeof(head))
		return 0;
	more = word_at(pages, pages->at + sizeof(head));
	if (kind == KIND_TIME_EXTEND) {
		pages->ns += ((uint64_t)more << 27) + time;
		return 2 * sizeof(head);
	}
	if (kind == KIND_TIME) {
		time += (uint64_t)more << 27;
		pages->ns =
			(pages->ns >> TIME_BITS << TIME_BITS) | (time & ((1ull << TIME_BITS) - 1));
		return 2 * sizeof(head);
	}
	pages->ns += time;
	if (more < sizeof(more) || more > left - sizeof(head))
		return 0;
	pages->record.raw = pages->data + pages->page * pages->size + pages->at + 2 * sizeof(head);
	pages->record.raw_size = more - (uint32_t)sizeof(more);
	pages->known = kind == 0;
	return sizeof(head) + (more + 3) / 4 * 4;
}

const struct krecord *pages_peek(struct kpages *pages)
{
	size_t size;

	if (pages->known)
		return &pages->record;
	for (;;) {
		if (!pages->inside && !enter_page(pages))
			return NULL;
		size = parse(pages);
		if (!size || size > pages->end - pages->at) {
			pages->known = pages->inside = false;
			pages->page++;
			continue;
		}
		pages->at += size;
		pages->record.ns = pages->ns;
		if (pages->known)
			return &pages->record;
	}
}

void pages_next(struct kpages *pages)
{
	pages->known = false;
}

uint8_t *pages_room(struct kpages *pages, unsigned limit)
{
	const size_t at = pages->known ? (size_t)(pages->record.raw - pages->data) : 0;
	uint8_t *grown;

	if (pages->count >= limit)
		return NULL;
	if (pages->count == pages->room) {
		grown = array_fit(pages->data, pages->count + 1, &pages->room, pages->size);
		if (!grown)
			return NULL;
		pages->data = grown;
		if (pages->known)
			pages->record.raw = grown + at;
	}
	return pages->data + (size_t)pages->count * pages->size;
}

void pages_forget(struct kpages *pages)
{
	const size_t gone = (size_t)pages->page * pages->size;

	if (!pages->page)
		return;
	memmove(pages->data, pages->data + gone,
		(size_t)(pages->count - pages->page) * pages->size);
	if (pages->known)
		pages->record.raw -= gone;
	pages->count -= pages->page;
	pages->page = 0;
}
