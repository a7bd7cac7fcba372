/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is in the ROS graph. A node counts when its participant was discovered, told an enclave in
 * its user data, and introduced the node in ros_discovery_info: rmw_cyclonedds needs all three.
 */
#ifndef TESTS_CARET_GRAPH_H
#define TESTS_CARET_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GID_BYTES 16

struct graph;

struct graph *graph_new(void);
void graph_free(struct graph *graph);

/** graph_participant() - a participant is there; @data: its user data, may be NULL */
void graph_participant(struct graph *graph, const uint8_t gid[GID_BYTES], const void *data,
		       size_t size);
void graph_gone(struct graph *graph, const uint8_t gid[GID_BYTES]);

/** graph_nodes_begin() - the nodes of a participant are told again, each with a graph_node() */
void graph_nodes_begin(struct graph *graph, const uint8_t gid[GID_BYTES]);
void graph_node(struct graph *graph, const uint8_t gid[GID_BYTES], const char *namespace,
		const char *name);

/** graph_changed() - whether graph_names() are others than when this was last asked */
bool graph_changed(struct graph *graph);

/** graph_names() - full names, sorted; one that several participants have comes several times */
const char *const *graph_names(const struct graph *graph, unsigned *count);

#endif
