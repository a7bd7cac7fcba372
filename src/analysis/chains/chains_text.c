/* SPDX-License-Identifier: Apache-2.0 */
/* Names of steps and chains, as people read and type them. */
#include <stdio.h>

#include "analysis/chains/chains.h"

const char *chains_call_text(enum chains_call call)
{
	return call == CHAINS_REQUEST ? " request" : call == CHAINS_RESPONSE ? " response" : "";
}

char *chains_step_label(const struct chains_path *step, char *buffer, unsigned size)
{
	const struct model_node *node = step->callback ? model_callback_node(step->callback) : NULL;

	if (step->publisher)
		snprintf(buffer, size, "%s%s", step->publisher->topic->name,
			 chains_call_text(step->call));
	else if (step->parent && node)
		snprintf(buffer, size, "%s%s", node->full_name, step->is_loop ? " (again)" : "");
	else
		model_callback_label(step->callback, buffer, size);
	return buffer;
}

char *chains_label(const struct chains_path *path, char *buffer, unsigned size)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	unsigned count = chains_steps(path, step), i, used = 0;
	char label[CHAINS_LABEL_MAX];

	*buffer = '\0';
	for (i = 0; i < count && used < size; i++)
		used += (unsigned)snprintf(buffer + used, size - used, "%s%s",
					   !i                               ? ""
					   : step[i]->link == CHAINS_DIRECT ? " -> "
									    : " ~> ",
					   chains_step_label(step[i], label, sizeof(label)));
	return buffer;
}
