/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call trees of spans; see spans_tree.h.
 *
 * The idea: each thread and each custom track points to the frame of its innermost open span. A
 * begin moves the pointer to the frame inside of that name, an end adds the self time and moves it
 * back. So one pass is enough, and no span is kept.
 */
#include "analysis/spans/spans_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define FRAMES_MAX 200000 /* the spans of further stacks count for the frame around them */

struct tree_place {
	struct spans_frame *frame; /* of the innermost open span; at first the thread's */
	unsigned beyond;           /* open spans that have no frame */
};

struct spans_tree {
	int64_t begin_ns, end_ns;
	struct spans_frame root;
	struct map places; /* (thread or track, which) -> struct tree_place */
	struct map frames; /* (frame around it, name) -> struct spans_frame */
	unsigned count;
	bool failed;
};

static struct spans_frame *frame_new(struct spans_tree *tree, struct spans_frame *parent,
				     const struct spans_event *event)
{
	struct spans_frame *frame = calloc(1, sizeof(*frame));

	if (!frame) {
		tree->failed = true;
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
	tree->count++;
	return frame;
}

static struct tree_place *place_of(struct spans_tree *tree, const struct spans_event *event)
{
	const uint64_t key = event->track ? event->track->index : event->thread->index;
	struct tree_place *place = map_at(&tree->places, key, event->track ? 1 : 0, sizeof(*place));

	if (place && !place->frame)
		place->frame = frame_new(tree, &tree->root, event);
	if (!place || !place->frame) {
		tree->failed = true;
		return NULL;
	}
	return place;
}

static void on_begin(void *context, const struct spans_event *event)
{
	struct spans_tree *tree = context;
	struct tree_place *place = place_of(tree, event);
	struct spans_frame *frame;

	if (!place)
		return;
	frame = place->beyond
			? NULL
			: map_get(&tree->frames, (uintptr_t)place->frame, event->name->index);
	if (!frame && !place->beyond && tree->count < FRAMES_MAX) {
		frame = frame_new(tree, place->frame, event);
		if (frame) {
			frame->name = event->name;
			tree->failed |= map_put(&tree->frames, (uintptr_t)place->frame,
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
	struct spans_tree *tree = context;
	struct tree_place *place = place_of(tree, event);

	if (!place)
		return;
	if (event->begin_ns >= tree->begin_ns &&
	    event->begin_ns <= tree->end_ns) {
		place->frame->self_ns += event->self_ns;
		place->frame->spans += !place->beyond;
	}
	if (place->beyond)
		place->beyond--;
	else if (place->frame->name)
		place->frame = place->frame->parent;
}

static const struct spans_listener span_listener = { .begin = on_begin, .end = on_end };

/* ---- the tree ---- */

struct labelled {
	struct spans_frame *frame;
	unsigned place; /* frames of one label keep their order */
	char *label;
};

static int by_label(const void *a, const void *b)
{
	const struct labelled *x = a, *y = b;
	const int order = strcmp(x->label, y->label);

	return order ? order : (x->place > y->place) - (x->place < y->place);
}

static void link_sorted(struct spans_frame *frame, const struct labelled *list, unsigned count)
{
	struct spans_frame **at = &frame->first;

	for (unsigned i = 0; i < count; i++) {
		*at = list[i].frame;
		at = &list[i].frame->next;
		frame->last = list[i].frame;
	}
	*at = NULL;
}

/* The frames inside in the order of their names, so that two graphs of a program look alike. */
static void sort(struct spans_tree *tree, struct spans_frame *frame)
{
	struct labelled *list;
	unsigned count = 0, filled = 0;
	char label[512];

	for (struct spans_frame *inner = frame->first; inner; inner = inner->next)
		count++;
	if (count < 2)
		return;
	list = calloc(count, sizeof(*list));
	for (struct spans_frame *inner = frame->first; list && inner; inner = inner->next) {
		list[filled] = (struct labelled){ inner, filled, NULL };
		list[filled].label = strdup(spans_frame_label(inner, label, sizeof(label)));
		if (!list[filled++].label)
			break;
	}
	if (list && list[filled - 1].label) {
		qsort(list, count, sizeof(*list), by_label);
		link_sorted(frame, list, count);
	} else {
		tree->failed = true;
	}
	for (unsigned i = 0; list && i < filled; i++)
		free(list[i].label);
	free(list);
}

/* SPANS_DEPTH_MAX bounds the recursion. */
static void add_up(struct spans_tree *tree, struct spans_frame *frame, const struct loops *loops)
{
	sort(tree, frame);
	frame->total_ns = frame->self_ns;
	for (struct spans_frame *inner = frame->first; inner; inner = inner->next) {
		inner->is_sleep =
			inner->name && loops_is_sleep(loops, inner->thread->process, inner->name);
		if (inner->is_sleep)
			continue;
		add_up(tree, inner, loops);
		frame->total_ns += inner->total_ns;
	}
}

static void free_frames(struct spans_frame *frame)
{
	struct spans_frame *next;

	for (struct spans_frame *inner = frame->first; inner; inner = next) {
		next = inner->next;
		free_frames(inner);
		free(inner);
	}
}

char *spans_frame_label(const struct spans_frame *frame, char *buffer, size_t size)
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

const struct spans_frame *spans_tree_root(struct spans_tree *tree, const struct loops *loops)
{
	add_up(tree, &tree->root, loops);
	return tree->failed ? NULL : &tree->root;
}

/* ---- life cycle ---- */

static void spans_tree_destroy(struct spans_tree *tree)
{
	if (!tree)
		return;
	free_frames(&tree->root);
	map_free_all(&tree->places);
	map_free(&tree->frames);
	free(tree);
}

int spans_tree_create(struct spans_tree **out, struct spans *spans, int64_t begin_ns,
		      int64_t end_ns, struct kymo_err *err)
{
	struct spans_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return err_no_memory(err);
	tree->begin_ns = begin_ns;
	tree->end_ns = end_ns;
	if (spans_listen(spans, &span_listener, tree, err)) {
		free(tree);
		return -1;
	}
	*out = tree;
	return 0;
}

PASS_LISTENER(spans_tree);
