/* SPDX-License-Identifier: Apache-2.0 */
/* Architectures: memory, paths in one line, searching. */
#include "caret/paths/architecture.h"

#include <stdlib.h>
#include <string.h>

struct architecture *architecture_new(void)
{
	return calloc(1, sizeof(struct architecture));
}

void architecture_free(struct architecture *architecture)
{
	if (!architecture)
		return;
	pool_free(&architecture->pool);
	free(architecture);
}

/* ---- a path in one line ---- */

/* A path has fewer places. */
#define PLACES_MAX 257

/* Splits @text at the arrows. Return: the number of places; 0: one is empty. */
static unsigned split(char *text, char *place[PLACES_MAX])
{
	unsigned count = 0;
	char *next;

	for (; text && count < PLACES_MAX; text = next) {
		size_t length;

		next = strstr(text, "->");
		if (next) {
			*next = '\0';
			next += 2;
		}
		text += strspn(text, " \t");
		for (length = strlen(text); length && strchr(" \t", text[length - 1]); length--)
			;
		text[length] = '\0';
		if (!length)
			return 0;
		place[count++] = text;
	}
	return text ? 0 : count;
}

static int add_path(struct architecture *a, const char *text, char *const *place, unsigned count)
{
	unsigned hops = (count + 1) / 2;
	struct arch_path *paths = pool_new(&a->pool, (a->paths + 1) * sizeof(*paths));
	struct arch_hop *hop = pool_new(&a->pool, hops * sizeof(*hop));
	const char *name = pool_text(&a->pool, text, strlen(text));

	if (!paths || !hop || !name)
		return -1;
	for (unsigned i = 0; i < hops; i++) {
		hop[i].node = place[2 * i];
		hop[i].subscribe_topic = i ? place[2 * i - 1] : "";
		hop[i].publish_topic = i + 1 < hops ? place[2 * i + 1] : "";
	}
	if (a->paths)
		memcpy(paths, a->path, a->paths * sizeof(*paths));
	paths[a->paths] = (struct arch_path){ name, hop, hops };
	a->path = paths;
	a->paths++;
	return 0;
}

int architecture_path(struct architecture *architecture, const char *text, struct kymo_err *err)
{
	char *place[PLACES_MAX], *copy = pool_text(&architecture->pool, text, strlen(text));
	unsigned count;

	if (!copy)
		return err_no_memory(err);
	count = split(copy, place);
	if (count < 3 || count % 2 == 0)
		return err_set(err, KYMO_EXIT_USAGE, "'%s' is not a path; write nodes and topics in turn, as in "
			       "'/camera -> /image -> /detector'", text);
	if (add_path(architecture, text, place, count))
		return err_no_memory(err);
	return 0;
}

/* ---- searching ---- */

const struct arch_path *architecture_find_path(const struct architecture *architecture,
					       const char *name)
{
	for (unsigned i = 0; i < architecture->paths; i++)
		if (strcmp(architecture->path[i].name, name) == 0)
			return &architecture->path[i];
	return NULL;
}

const struct arch_node *architecture_find_node(const struct architecture *architecture,
					       const char *name)
{
	for (unsigned i = 0; i < architecture->nodes; i++)
		if (strcmp(architecture->node[i].name, name) == 0)
			return &architecture->node[i];
	return NULL;
}

const struct arch_callback *architecture_find_callback(const struct arch_node *node,
						       const char *name)
{
	for (unsigned i = 0; i < node->callbacks; i++)
		if (strcmp(node->callback[i].name, name) == 0)
			return &node->callback[i];
	return NULL;
}

const struct arch_context *architecture_find_context(const struct arch_node *node,
						     const struct arch_hop *hop)
{
	for (unsigned i = 0; i < node->contexts; i++) {
		const struct arch_context *context = &node->context[i];

		if (strcmp(context->subscription_topic, hop->subscribe_topic) == 0 &&
		    strcmp(context->publisher_topic, hop->publish_topic) == 0 &&
		    context->subscription_order == hop->subscription_order &&
		    context->publisher_order == hop->publisher_order)
			return context;
	}
	return NULL;
}
