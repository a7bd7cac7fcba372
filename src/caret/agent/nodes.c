/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the nodes of a process from its init log. See roster.h. */
#include "base/array.h"
#include "caret/agent/roster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/points.h"
#include "recorder/runtime/initlog_cursor.h"

/* of a name or namespace; ROS 2 allows 255 for both together */
#define NAME_MAX_BYTES	256
#define HANDLES		(2 * sizeof(uint64_t))	/* node_handle and rmw_handle, before the names */

static struct roster_node *find(const struct nodes *nodes, uint64_t handle)
{
	for (unsigned i = 0; i < nodes->count; i++)
		if (nodes->node[i].handle == handle)
			return &nodes->node[i];
	return NULL;
}

static bool remove_node(struct nodes *nodes, uint64_t handle)
{
	struct roster_node *node = find(nodes, handle);

	if (!node)
		return false;
	free(node->name);
	*node = nodes->node[--nodes->count];
	return true;
}

/* Copies the text at @from. Return: its bytes with the NUL; 0: there is no NUL within @size. */
static size_t take_text(char text[NAME_MAX_BYTES], const uint8_t *from, size_t size)
{
	size_t length = strnlen((const char *)from, size);

	if (length == size)
		return 0;
	(void)snprintf(text, NAME_MAX_BYTES, "%.*s", (int)(length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES - 1),
		       (const char *)from);
	return length + 1;
}

/* A node was created, or is repeated because the log was compacted. */
static bool add_node(struct nodes *nodes, const uint8_t *payload, size_t size)
{
	char name[NAME_MAX_BYTES], space[NAME_MAX_BYTES], *full;
	uint64_t handle;
	size_t used;

	if (size < HANDLES)
		return false;
	memcpy(&handle, payload, sizeof handle);
	used = take_text(name, payload + HANDLES, size - HANDLES);
	if (!used || !take_text(space, payload + HANDLES + used, size - HANDLES - used) ||
	    asprintf(&full, "%s%s%s", space, *space && space[strlen(space) - 1] == '/' ? "" : "/", name) < 0)
		return false;
	(void)remove_node(nodes, handle);
	if (nodes->count == NODES_MAX || !ARRAY_ROOM(nodes->node, nodes->count, nodes->room)) {
		free(full);
		return false;
	}
	nodes->node[nodes->count++] = (struct roster_node){ handle, full };
	return true;
}

static bool take(struct nodes *nodes, const struct region *region, uint64_t position,
		 const struct log_place *place)
{
	uint8_t payload[HANDLES + 2 * NAME_MAX_BYTES];
	size_t size = place->head.payload_size < sizeof payload ? place->head.payload_size
								: sizeof payload;
	struct kymo_gone gone;

	memcpy(payload, place->payload, size);
	if (!log_holds(region, position))
		return false;
	if (place->head.id == KYMO_POINT_rcl_node_init)
		return add_node(nodes, payload, size);
	if (place->head.id != KYMO_LOG_GONE || size < sizeof gone)
		return false;
	memcpy(&gone, payload, sizeof gone);
	return remove_node(nodes, gone.handle);
}

bool nodes_read(struct nodes *nodes, struct region *region)
{
	struct log_bounds bounds = log_bounds(region);
	struct log_place place;
	bool changed = false;

	if (nodes->at <
	    bounds.head) /* entries that were compacted away were read, or are repeated */
		nodes->at = bounds.head;
	while (nodes->at < bounds.tail) {
		enum log_look look = log_look(region, nodes->at, bounds.tail, &place);

		if (look == LOG_HOLE || look == LOG_OVERTAKEN || look == LOG_END ||
		    place.next <= nodes->at)
			break;		/* the next call continues */
		if (look == LOG_RECORD)
			changed |= take(nodes, region, nodes->at, &place);
		nodes->at = place.next;
	}
	return changed;
}

void nodes_free(struct nodes *nodes)
{
	for (unsigned i = 0; i < nodes->count; i++)
		free(nodes->node[i].name);
	free(nodes->node);
	*nodes = (struct nodes){ 0 };
}
