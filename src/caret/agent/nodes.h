/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a traced process, as its init log tells them. */
#ifndef KYMO_CONTROL_NODES_H
#define KYMO_CONTROL_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/runtime/region_view.h"

#define NODES_MAX 1024		/* of a process; further ones are not told */

struct nodes {
	struct node {
		uint64_t handle;
		char *name;		/* with its namespace: "/perception/camera" */
	} *node;
	unsigned count, room;
	uint64_t at;			/* position in the log: what is before it was read */
};

/**
 * nodes_read() - take what is new in the init log of @region. Zeroed nodes have read nothing.
 *
 * The log is input: what makes no sense is passed over, and so is what finds no memory.
 * Return: whether something changed. Context: allocates; as long as the log is, at the first time.
 */
bool nodes_read(struct nodes *nodes, struct region *region);

void nodes_free(struct nodes *nodes);

#endif
