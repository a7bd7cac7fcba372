/* SPDX-License-Identifier: Apache-2.0 */
/* The list of the parts of an instance; see why.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/why/why.h"
#include "base/array.h"

const char *why_kind_name(enum why_kind kind)
{
	static const char *const names[] = {
		[WHY_EXECUTING] = "executing",
		[WHY_PUBLISH] = "publish",
		[WHY_TRANSPORT] = "transport",
		[WHY_QUEUED] = "queued",
		[WHY_TAKE] = "take",
		[WHY_LATE] = "late",
		[WHY_CACHED] = "cached",
		[WHY_PREEMPTED] = "preempted",
		[WHY_BLOCKED] = "blocked",
		[WHY_PAGE_FAULT] = "page_fault",
		[WHY_DDS] = "dds",
		[WHY_NETWORK] = "network",
		[WHY_CACHE] = "cache",
		[WHY_GIL] = "gil",
		[WHY_AWAITED] = "awaited",
	};

	return names[kind];
}

bool why_is_same_await(const struct model_await *a, const struct model_await *b)
{
	return a->what == b->what && a->client == b->client && a->task == b->task;
}

static bool is_same(const struct why_part *a, const struct why_part *b)
{
	return a->hop == b->hop && a->kind == b->kind && a->callback == b->callback &&
	       a->is_group == b->is_group && why_is_same_await(&a->await, &b->await) &&
	       (a->by_tid == b->by_tid || a->kind == WHY_BLOCKED);
}

const struct why_part *why_part_in(const struct why_parts *parts, const struct why_part *part)
{
	for (unsigned i = 0; i < parts->count; i++)
		if (is_same(&parts->part[i], part))
			return &parts->part[i];
	return NULL;
}

int why_parts_add(struct why_parts *parts, struct why_part new)
{
	struct why_part *part = (struct why_part *)why_part_in(parts, &new);

	new.ns = new.end_ns - new.begin_ns;
	new.longest_ns = new.ns;
	new.pieces = 1;
	if (!new.ns && !(part && new.faults))
		return 0;
	if (part) {
		if (new.ns > part->longest_ns) {
			part->longest_ns = new.ns;
			part->by_tid = new.by_tid;
			part->call = new.call;
			/*
			 * The name may be later than before: a new thread changes its name shortly
			 * after its start.
			 */
			memcpy(part->by, new.by, sizeof(part->by));
		}
		part->pieces += part->end_ns != new.begin_ns;
		part->end_ns = new.end_ns;
		part->ns += new.ns;
		part->faults += new.faults;
		part->major += new.major;
		return 0;
	}
	return ARRAY_ADD(parts->part, parts->count, parts->size, new) ? 0 : -1;
}

int why_parts_copy(struct why_parts *out, const struct why_parts *parts)
{
	*out = (struct why_parts){ 0 };
	if (!parts->count)
		return 0;
	out->part = malloc(parts->count * sizeof(*out->part));
	if (!out->part)
		return -1;
	memcpy(out->part, parts->part, parts->count * sizeof(*out->part));
	out->count = out->size = parts->count;
	return 0;
}

void why_parts_free(struct why_parts *parts)
{
	free(parts->part);
	*parts = (struct why_parts){ 0 };
}
