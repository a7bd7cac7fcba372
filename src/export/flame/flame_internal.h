/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by flame.c, flame_tree.c and flame_svg.c. */
#ifndef KYMO_EXPORT_FLAME_INTERNAL_H
#define KYMO_EXPORT_FLAME_INTERNAL_H

#include "analysis/spans/spans_tree.h"
#include "analysis/system/system_profile.h"
#include "base/pool.h"
#include "export/flame/flame.h"

/* A frame of the graph. The root is around all threads, and is not drawn as a stack. */
struct flame_box {
	struct flame_box *parent, *first, *last,
		*next; /* the frames inside: first, its next, ... */
	unsigned depth;
	int64_t total_ns, self_ns;
	uint64_t count;
	const char *label;
	const char *group; /* frames of one group have the same colour; NULL: grey */
};

/** flame_of_spans() - without the sleeps of loops. Return: NULL without memory. */
struct flame_box *flame_of_spans(struct pool *pool, const struct spans_frame *root);

/** flame_of_profile() - @model has the names of callbacks. Return: NULL without memory. */
struct flame_box *flame_of_profile(struct pool *pool, struct profile *profile,
				   const struct kymo_ctf_reader *reader, const struct model *model);

/** flame_svg() - @what the title says: "spans". */
void flame_svg(FILE *out, const struct flame_box *root, const char *what, const char *title);

#endif
