/* SPDX-License-Identifier: Apache-2.0 */
/* Which field gives a sequence its length, and a variant its choice. */
#ifndef KYMO_CTF_LAYOUT_REFER_H
#define KYMO_CTF_LAYOUT_REFER_H

#include "ctf/read/layout.h"

/* The structure being made around the present field. */
struct layout_frame {
	const struct layout_frame *outer;
	struct ctf_node *node;
	uint32_t made;			/* its children that exist already */
};

/** layout_failed() - the error @what about the field @name. Return: -1. */
int layout_failed(struct layout *l, const char *what, const char *name);

/**
 * layout_refer() - find the field that @node, inside @inner, refers to, and give it a slot
 *
 * Return: 0, with @target; -1 with the error set.
 */
int layout_refer(struct layout *l, const struct layout_frame *inner, struct ctf_node *node,
		 struct ctf_node **target);

#endif
