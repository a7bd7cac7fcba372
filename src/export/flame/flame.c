/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of a flame graph, and the tree as folded stacks.
 *
 * The idea: each thread and each custom track points to the frame of its innermost open span. A
 * begin moves the pointer to the frame inside of that name, an end adds the self time and moves it
 * back. So one pass is enough, and no span is kept.
 */
#include "export/flame/flame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pass/pass.h"
#include "base/map.h"
#include "export/flame/flame_internal.h"

#define FRAMES_MAX 200000 /* the spans of further stacks count for the frame around them */

struct place {
	struct flame_frame *frame; /* of the innermost open span; at first the thread's */
	unsigned beyond;           /* open spans that have no frame */
};

struct flame {
	const struct flame_options *options;
	struct flame_result *result;
	struct flame_frame root;
	struct map places; /* (thread or track, which) -> struct place */
	struct map frames; /* (frame around it, name) -> struct flame_frame */
	unsigned count;
	bool failed;
};

static struct flame_frame *frame_new(struct flame *flame, struct flame_frame *parent,
				     const struct spans_event *event)
{
	struct flame_frame *frame = calloc(1, sizeof(*frame));

	if (!frame) {
		flame->failed = true;
		return NULL;
	}
	frame->parent = parent;
	frame->thread = event->thread;
	frame->track = event->track;
	frame->depth = parent->depth + 1;
	if (parent->last)
		parent->last->next = frame;
	else
		parent->first = frame;
	parent->last = frame;
	flame->count++;
	return frame;
}

static struct place *place_of(struct flame *flame, const struct spans_event *event)
{
	const uint64_t key = event->track ? event->track->index : event->thread->index;
	struct place *place = map_at(&flame->places, key, event->track ? 1 : 0, sizeof(*place));

	if (place && !place->frame)
		place->frame = frame_new(flame, &flame->root, event);
	if (!place || !place->frame) {
		flame->failed = true;
		return NULL;
	}
	return place;
}

static void on_begin(void *context, const struct spans_event *event)
{
	struct flame *flame = context;
	struct place *place = place_of(flame, event);
	struct flame_frame *frame;

	if (!place)
		return;
	frame = place->beyond
			? NULL
			: map_get(&flame->frames, (uintptr_t)place->frame, event->name->index);
	if (!frame && !place->beyond && flame->count < FRAMES_MAX) {
		frame = frame_new(flame, place->frame, event);
		if (frame) {
			frame->name = event->name;
			flame->failed |= map_put(&flame->frames, (uintptr_t)place->frame,
						 event->name->index, frame) != 0;
		}
	}
	if (frame)
		place->frame = frame;
	else
		place->beyond++;
}

static void on_end(void *context, const struct spans_event *event)
{
	struct flame *flame = context;
	struct place *place = place_of(flame, event);

	if (!place)
		return;
	if (event->begin_ns >= flame->options->begin_ns &&
	    event->begin_ns <= flame->options->end_ns) {
		place->frame->self_ns += event->self_ns;
		place->frame->spans += !place->beyond;
	}
	if (place->beyond)
		place->beyond--;
	else if (place->frame->name)
		place->frame = place->frame->parent;
}

static const struct spans_listener span_listener = { .begin = on_begin, .end = on_end };

static void on_loss(void *context, const struct model_loss *loss)
{
	struct flame *flame = context;

	flame->result->lost_events += loss->events;
	flame->result->lost_packets += loss->packets;
}

static const struct model_listener loss_listener = { .loss = on_loss };

/* ---- the tree ---- */

static int by_label(const struct flame_frame *a, const struct flame_frame *b)
{
	char one[512], other[512];

	return strcmp(flame_label(a, one, sizeof(one)), flame_label(b, other, sizeof(other)));
}

/* The frames inside in the order of their names, so that two graphs of a program look alike. */
static void sort(struct flame_frame *frame)
{
	struct flame_frame *sorted = NULL, **at, *next;

	for (struct flame_frame *inner = frame->first; inner; inner = next) {
		next = inner->next;
		for (at = &sorted; *at && by_label(*at, inner) <= 0;)
			at = &(*at)->next;
		inner->next = *at;
		*at = inner;
	}
	frame->first = sorted;
}

/* SPANS_DEPTH_MAX bounds the recursion. */
static void add_up(struct flame *flame, struct flame_frame *frame, const struct loops *loops)
{
	sort(frame);
	frame->total_ns = frame->self_ns;
	for (struct flame_frame *inner = frame->first; inner; inner = inner->next) {
		inner->is_sleep =
			inner->name && loops_is_sleep(loops, inner->thread->process, inner->name);
		if (inner->is_sleep)
			continue;
		add_up(flame, inner, loops);
		frame->total_ns += inner->total_ns;
	}
	flame->result->spans += frame->spans;
	flame->result->stacks += frame->self_ns > 0;
}

static void free_frames(struct flame_frame *frame)
{
	struct flame_frame *next;

	for (struct flame_frame *inner = frame->first; inner; inner = next) {
		next = inner->next;
		free_frames(inner);
		free(inner);
	}
}

char *flame_label(const struct flame_frame *frame, char *buffer, size_t size)
{
	if (frame->name)
		snprintf(buffer, size, "%s:%s", frame->name->category, frame->name->name);
	else if (frame->track)
		snprintf(buffer, size, "track %s", frame->track->name);
	else if (frame->thread)
		snprintf(buffer, size, "thread %s (%" PRId64 ")", frame->thread->name,
			 (int64_t)frame->thread->tid);
	else
		snprintf(buffer, size, "all");
	return buffer;
}

/* ---- folded stacks ---- */

/* A semicolon ends a frame, and a line end the stack. */
static void put_folded(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(*text == ';' ? ':' : (unsigned char)*text < ' ' ? '?' : *text, out);
}

static void put_stack(FILE *out, const struct flame_frame *frame)
{
	char label[512];

	if (frame->parent->parent) {
		put_stack(out, frame->parent);
		fputc(';', out);
	}
	put_folded(out, flame_label(frame, label, sizeof(label)));
}

static void folded(FILE *out, const struct flame_frame *frame)
{
	if (frame->parent && frame->self_ns > 0) {
		put_stack(out, frame);
		fprintf(out, " %" PRId64 "\n", frame->self_ns);
	}
	for (const struct flame_frame *inner = frame->first; inner; inner = inner->next)
		if (!inner->is_sleep)
			folded(out, inner);
}

/* ---- the pass ---- */

static int read_trace(struct flame *flame, struct passes *passes, struct kymo_ctf_reader *reader,
		      struct loops **loops, struct kymo_err *err)
{
	const struct pass_options progress = { .progress = flame->options->progress,
					       .context = flame->options->context };
	struct model *model;
	struct spans *spans;

	if (model_create(&model, err))
		return -1;
	pass_add(passes, &model_pass, model);
	if (spans_create(&spans, model, err))
		return -1;
	pass_add(passes, &spans_pass, spans);
	if (loops_create(loops, spans, INT64_MIN, INT64_MAX, err))
		return -1;
	pass_add(passes, &loops_pass, *loops);
	if (model_listen(model, &loss_listener, flame) ||
	    spans_listen(spans, &span_listener, flame))
		return err_no_memory(err);
	if (pass_run(passes, reader, &progress, err))
		return -1;
	return flame->failed ? err_no_memory(err) : 0;
}

int flame_export(struct kymo_ctf_reader *reader, FILE *out, const struct flame_options *options,
		 struct flame_result *result, struct kymo_err *err)
{
	struct flame flame = { .options = options, .result = result };
	struct passes passes = { 0 };
	struct loops *loops;
	int status;

	*result = (struct flame_result){ 0 };
	status = read_trace(&flame, &passes, reader, &loops, err);
	if (!status) {
		add_up(&flame, &flame.root, loops);
		if (options->folded)
			folded(out, &flame.root);
		else
			flame_svg(out, &flame.root, options->title);
		if (options->told_lost > result->lost_events)
			result->lost_events = options->told_lost;
	}
	free_frames(&flame.root);
	map_free_all(&flame.places);
	map_free(&flame.frames);
	passes_free(&passes);
	return status;
}
