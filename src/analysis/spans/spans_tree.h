/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spans of a trace as call trees: which spans, inside which, took the time. Threads and custom
 * tracks are the roots.
 *
 *   spans_tree_create(&tree, spans, INT64_MIN, INT64_MAX, &err);	before the pass
 *   root = spans_tree_root(tree, loops);				after it
 *
 * Memory depends on the number of different stacks, not on the number of spans.
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_SPANS_TREE_H
#define KYMO_ANALYSIS_SPANS_TREE_H

#include "analysis/spans/loops.h"
#include "analysis/spans/spans.h"

/* Spans of one name inside the same spans of the same thread or track. */
struct spans_frame {
	struct spans_frame *parent;
	const struct spans_name *name;     /* NULL: a thread or a track */
	const struct model_thread *thread; /* of the first span */
	const struct spans_track *track;   /* NULL: a thread */
	int64_t self_ns, total_ns;         /* total: with the frames inside */
	uint64_t spans;
	bool is_sleep; /* of a loop: not part of the total around it */
	unsigned depth;
	struct spans_frame *first, *last, *next; /* the frames inside */
};

struct spans_tree;

/**
 * spans_tree_create() - listen to @spans, which must stay valid
 * @begin_ns, @end_ns: only spans that begin in [begin, end] count; INT64_MIN, INT64_MAX for all
 * Return: 0, or -1 with @err filled.
 */
int spans_tree_create(struct spans_tree **tree, struct spans *spans, int64_t begin_ns,
		      int64_t end_ns, struct kymo_err *err);

/**
 * spans_tree_root() - the trace has been read: add up; call it once
 * @loops: of the same spans: their sleeps would be nearly all of the time, so they do not count
 * Return: the frame around all threads, valid as long as the tree; NULL: no memory.
 */
const struct spans_frame *spans_tree_root(struct spans_tree *tree, const struct loops *loops);

/** spans_frame_label() - "thread arm (1234)", or "control:plan". Return: @buffer. */
char *spans_frame_label(const struct spans_frame *frame, char *buffer, size_t size);

/* For pass_add(). */
extern const struct pass_ops spans_tree_pass;

#endif
