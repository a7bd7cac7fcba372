/* SPDX-License-Identifier: Apache-2.0 */
/* See graph.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

struct node {
	char *name;
	struct node *next;
};

struct participant {
	uint8_t gid[GID_BYTES];
	bool there, ros;		/* discovered; with an enclave */
	struct node *nodes;
	struct participant *next;
};

struct graph {
	struct participant *participants;
	char **names;			/* what was told last */
	unsigned count;
};

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

struct graph *graph_new(void)
{
	return calloc(1, sizeof(struct graph));
}

static void nodes_free(struct participant *participant)
{
	while (participant->nodes) {
		struct node *next = participant->nodes->next;

		free(participant->nodes->name);
		free(participant->nodes);
		participant->nodes = next;
	}
}

static void names_free(struct graph *graph)
{
	for (unsigned i = 0; i < graph->count; i++)
		free(graph->names[i]);
	free(graph->names);
	graph->names = NULL;
	graph->count = 0;
}

void graph_free(struct graph *graph)
{
	while (graph->participants) {
		struct participant *next = graph->participants->next;

		nodes_free(graph->participants);
		free(graph->participants);
		graph->participants = next;
	}
	names_free(graph);
	free(graph);
}

static struct participant *participant_of(struct graph *graph, const uint8_t gid[GID_BYTES])
{
	struct participant *one = graph->participants;

	while (one && memcmp(one->gid, gid, GID_BYTES) != 0)
		one = one->next;
	if (one)
		return one;
	one = must(calloc(1, sizeof *one));
	memcpy(one->gid, gid, GID_BYTES);
	one->next = graph->participants;
	graph->participants = one;
	return one;
}

void graph_participant(struct graph *graph, const uint8_t gid[GID_BYTES], const void *data,
		       size_t size)
{
	struct participant *participant = participant_of(graph, gid);
	char *text = must(calloc(1, size + 1));
	const char *key;

	if (size)
		memcpy(text, data, size);
	key = strstr(text, "enclave=");
	participant->there = true;
	participant->ros = key && (key == text || key[-1] == ';') && strchr(key, ';');
	free(text);
}

void graph_gone(struct graph *graph, const uint8_t gid[GID_BYTES])
{
	struct participant *participant = participant_of(graph, gid);

	participant->there = false;
	nodes_free(participant);
}

void graph_nodes_begin(struct graph *graph, const uint8_t gid[GID_BYTES])
{
	nodes_free(participant_of(graph, gid));
}

void graph_node(struct graph *graph, const uint8_t gid[GID_BYTES], const char *namespace,
		const char *name)
{
	struct participant *participant = participant_of(graph, gid);
	struct node *node = must(calloc(1, sizeof *node));
	size_t length = strlen(namespace);
	const char *slash = length && namespace[length - 1] == '/' ? "" : "/";

	if (asprintf(&node->name, "%s%s%s", namespace, slash, name) < 0)
		abort();
	node->next = participant->nodes;
	participant->nodes = node;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool graph_changed(struct graph *graph)
{
	char **names = NULL;
	unsigned count = 0;
	bool same;

	for (const struct participant *one = graph->participants; one; one = one->next)
		for (const struct node *node = one->nodes; node && one->there && one->ros;
		     node = node->next) {
			names = must(reallocarray(names, count + 1, sizeof *names));
			names[count++] = must(strdup(node->name));
		}
	if (count)
		qsort(names, count, sizeof *names, by_name);
	same = count == graph->count;
	for (unsigned i = 0; same && i < count; i++)
		same = strcmp(names[i], graph->names[i]) == 0;
	names_free(graph);
	graph->names = names;
	graph->count = count;
	return !same;
}

const char *const *graph_names(const struct graph *graph, unsigned *count)
{
	*count = graph->count;
	return (const char *const *)graph->names;
}
