/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a traced process, as its init log has them. */
#ifndef KYMO_CARET_NODES_H
#define KYMO_CARET_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/runtime/region_view.h"

#define NODES_MAX 1024		/* of a process; more are left out */

struct nodes {
	struct node {
		uint64_t handle;
		char *name;		/* with its namespace: "/perception/camera" */
	} *node;
	unsigned count, room;
	uint64_t at;			/* the log before this position was read */
};

/**
 * nodes_read() - read the new part of the init log of @region. Zeroed nodes have read nothing.
 *
 * The log is untrusted: invalid entries are skipped, and so are those for which there is no memory.
 * Return: whether something changed. Context: allocates; the first call reads the whole log.
 */
bool nodes_read(struct nodes *nodes, struct region *region);

void nodes_free(struct nodes *nodes);

#endif
