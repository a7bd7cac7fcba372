/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by flame.c (the tree) and flame_svg.c. */
#ifndef KYMO_EXPORT_FLAME_INTERNAL_H
#define KYMO_EXPORT_FLAME_INTERNAL_H

#include "analysis/spans/loops.h"
#include "analysis/spans/spans.h"
#include "export/flame/flame.h"

/* Spans of one name inside the same spans of the same thread or track. */
struct flame_frame {
	struct flame_frame *parent;
	const struct spans_name *name;     /* NULL: a thread or a track */
	const struct model_thread *thread; /* of the first span */
	const struct spans_track *track;   /* NULL: a thread */
	int64_t self_ns, total_ns; /* total: with the frames inside, once the trace was read */
	uint64_t spans;
	bool is_sleep; /* of a loop: not shown */
	unsigned depth;
	struct flame_frame *first, *last, *next; /* the frames inside */
};

/* "thread arm (1234)", or "control:plan". Return: @buffer. */
char *flame_label(const struct flame_frame *frame, char *buffer, size_t size);
void flame_svg(FILE *out, const struct flame_frame *root, const char *title);

#endif
