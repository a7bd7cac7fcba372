/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flame graphs of a page: the spans of programs, and the functions of programs that were built with
 * -finstrument-functions or whose call stacks were sampled. A graph is a list of frames, outer ones
 * before inner ones; it keeps the longest PAGE_FRAMES.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/spans/spans_tree.h"
#include "base/array.h"
#include "report/page/page_internal.h"
#include "report/sections/profile_names.h"

#define LABEL_MAX 1024

struct flame_frame {
	unsigned depth;
	uint32_t parent; /* the frame around it; itself: none */
	int64_t self_ns, total_ns;
	uint64_t count;
	const void *of;
	const struct profile_thread *thread; /* of a function; of is NULL: the thread itself */
};

struct flame {
	struct page *page;
	struct flame_frame *frame;
	unsigned count, size;
	struct profile *profile; /* NULL: of spans */
};

/* ---- the frames ---- */

/* Return: its index; the frame before it where there is no memory. */
static uint32_t add(struct flame *flame, uint32_t parent, const struct flame_frame *frame)
{
	if (!ARRAY_ROOM(flame->frame, flame->count, flame->size)) {
		flame->page->failed = true;
		return parent;
	}
	flame->frame[flame->count] = *frame;
	flame->frame[flame->count].depth = flame->count ? flame->frame[parent].depth + 1 : 0;
	flame->frame[flame->count].parent = parent;
	return flame->count++;
}

/* SPANS_DEPTH_MAX bounds the recursion. */
static void add_spans(struct flame *flame, uint32_t parent, const struct spans_frame *frame)
{
	const struct flame_frame new = { .self_ns = frame->self_ns,
					 .count = frame->spans,
					 .of = frame };
	const uint32_t index = add(flame, parent, &new);

	for (const struct spans_frame *inner = frame->first; inner; inner = inner->next)
		if (!inner->is_sleep)
			add_spans(flame, index, inner);
}

/* PROFILE_DEPTH_MAX bounds the recursion. */
static void add_calls(struct flame *flame, uint32_t parent, const struct profile_thread *thread,
		      const struct profile_call *calls)
{
	for (const struct profile_call *call = calls; call; call = call->sibling) {
		const struct flame_frame new = { .self_ns = call->own_ns,
						 .count = flame->profile->sampled ? call->samples
										  : call->calls,
					   .of = call,
					   .thread = thread };

		uint32_t index = parent;

		/* The own time of what is around a callback is the callback's. */
		if (call->is_around)
			flame->frame[parent].self_ns += call->own_ns;
		else
			index = add(flame, parent, &new);
		add_calls(flame, index, thread, call->child);
	}
}

static void add_functions(struct flame *flame)
{
	const struct profile_thread *thread;
	const struct flame_frame all = { 0 };

	add(flame, 0, &all);
	for (unsigned i = 0; (thread = profile_thread(flame->profile, i)); i++) {
		const struct flame_frame new = { .thread = thread };

		if (thread->has_functions && thread->root)
			add_calls(flame, add(flame, 0, &new), thread, thread->root->child);
	}
}

/* ---- the longest ---- */

static int longest_first(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Add up, and find the shortest frame that is kept. A frame is never longer than the one around it,
 * so what is kept is one tree. */
static int64_t least_total(struct flame *flame)
{
	int64_t *total, least_ns = 1;

	for (unsigned i = flame->count; i-- > 0;) {
		struct flame_frame *frame = &flame->frame[i];

		frame->total_ns += frame->self_ns;
		if (frame->parent != i)
			flame->frame[frame->parent].total_ns += frame->total_ns;
	}
	if (flame->count <= PAGE_FRAMES)
		return least_ns;
	total = malloc(flame->count * sizeof(*total));
	if (!total) {
		flame->page->failed = true;
		return least_ns;
	}
	for (unsigned i = 0; i < flame->count; i++)
		total[i] = flame->frame[i].total_ns;
	qsort(total, flame->count, sizeof(*total), longest_first);
	/* Of frames that are as long as the first one that is left out, none is kept. */
	if (total[PAGE_FRAMES] >= least_ns)
		least_ns = total[PAGE_FRAMES] + 1;
	free(total);
	return least_ns;
}

/* ---- as data ---- */

static const char *label_of(const struct flame *flame, const struct flame_frame *frame, char *label)
{
	const struct report *report = flame->page->report;
	const struct profile_call *call = frame->of;
	const char *name, *file;

	if (!flame->profile)
		return spans_frame_label(frame->of, label, LABEL_MAX);
	if (!frame->thread)
		return "all";
	if (!call) {
		snprintf(label, LABEL_MAX, "thread %s (%" PRId32 ")", frame->thread->os.name,
			 frame->thread->os.tid);
		return label;
	}
	name = profile_name(report, flame->profile, frame->thread, call, &file, label, LABEL_MAX);
	if (name)
		return name;
	snprintf(label, LABEL_MAX, "0x%" PRIx64, call->address);
	return label;
}

/* Each frame: [depth, label, total, self, count] */
static void put_frame(const struct flame *flame, const struct flame_frame *frame)
{
	struct json_text *json = &flame->page->json;
	char label[LABEL_MAX];

	json_text_open(json, NULL, '[');
	json_text_u64(json, NULL, frame->depth);
	json_text_string(json, NULL, label_of(flame, frame, label));
	json_text_i64(json, NULL, frame->total_ns);
	json_text_i64(json, NULL, frame->self_ns);
	json_text_u64(json, NULL, frame->count);
	json_text_close(json, ']');
}

static void put_flame(struct flame *flame, const char *what)
{
	struct json_text *json = &flame->page->json;
	const int64_t least_ns = least_total(flame);
	unsigned left_out = 0;

	if (flame->count > 1 && flame->frame[0].total_ns > 0) {
		json_text_open(json, NULL, '{');
		json_text_string(json, "what", what);
		json_text_open(json, "frames", '[');
		for (unsigned i = 0; i < flame->count; i++) {
			if (!i || flame->frame[i].total_ns >= least_ns)
				put_frame(flame, &flame->frame[i]);
			else
				left_out++;
		}
		json_text_close(json, ']');
		json_text_u64(json, "left_out", left_out);
		json_text_close(json, '}');
	}
	free(flame->frame);
}

static void put_spans(struct page *page)
{
	struct report *report = page->report;
	const struct spans_frame *root = spans_tree_root(report->spans_tree, report->loops);
	struct flame flame = { .page = page };

	page->failed |= !root;
	if (root)
		add_spans(&flame, 0, root);
	put_flame(&flame, "spans");
}

/* These events are others than those of the model: the trace is read again. */
static int put_functions(struct page *page, bool sampled)
{
	struct report *report = page->report;
	struct passes passes = { 0 };
	struct profile profile;
	struct flame flame = { .page = page, .profile = &profile };
	int status;

	/* Calls are declared always, so the first reading looked for them. */
	if (sampled ? !profile_has(report->reader, true) : !report->series->has_functions)
		return 0;
	profile_init(&profile, report->reader, report->options->begin_ns, report->options->end_ns);
	profile.sampled = sampled;
	pass_add(&passes, &profile_pass, &profile);
	status = page_read(page, &passes);
	if (!status) {
		add_functions(&flame);
		put_flame(&flame, sampled ? "samples" : "functions");
	}
	profile_free(&profile);
	return status;
}

int page_put_flames(struct page *page)
{
	int status;

	json_text_open(&page->json, "flames", '[');
	put_spans(page);
	status = put_functions(page, false);
	if (!status)
		status = put_functions(page, true);
	json_text_close(&page->json, ']');
	return status;
}
