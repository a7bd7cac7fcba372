/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are the same in each run of a program, so that the summaries of two runs have the same
 * entities. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "summary/summary_collect_internal.h"

/* A callback without a name is the n-th of its process: an address says nothing about another run.
 */
char *summary_callback_name(const struct model_callback *callback, char *buffer, size_t size)
{
	if (callback->subscription || callback->timer || callback->service || *callback->symbol)
		return model_callback_label(callback, buffer, (unsigned)size);
	snprintf(buffer, size, "(unnamed %" PRIu32 ") of %s", callback->index + 1,
		 callback->process->name);
	return buffer;
}

const char *collect_callback_name(struct summary *summary, const struct model_callback *callback)
{
	char label[512];

	return summary_text(summary, summary_callback_name(callback, label, sizeof(label)));
}

const char *collect_node_name(struct summary *summary, const struct model_callback *callback)
{
	const struct model_node *node = model_callback_node(callback);

	return node ? summary_text(summary, node->full_name)
		    : collect_callback_name(summary, callback);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void summary_executor_name(const struct model *model, struct executor_view *view, unsigned executor,
			   char *buffer, size_t size)
{
	const char *node[256];
	unsigned nodes = 0, used = 0;

	for (int i = view_first_callback(view, executor); i >= 0 && nodes < COUNT_OF(node);
	     i = view_next_callback(view, i)) {
		const struct model_node *of =
			model_callback_node(model_callback(model, (unsigned)i));

		if (of)
			node[nodes++] = of->full_name;
	}
	qsort(node, nodes, sizeof(*node), by_text);
	snprintf(buffer, size, "%s:", model_thread(model, executor)->process->name);
	for (unsigned i = 0; i < nodes; i++) {
		if (i && strcmp(node[i], node[i - 1]) == 0)
			continue;
		if (used == 4) {
			(void)snprintf(buffer + strlen(buffer), size - strlen(buffer), ", ...");
			return;
		}
		(void)snprintf(buffer + strlen(buffer), size - strlen(buffer), "%s %s",
			       used++ ? "," : "", node[i]);
	}
}

char *collect_spans_name(const struct spans_name *name, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s:%s", name->category, name->name);
	return buffer;
}
