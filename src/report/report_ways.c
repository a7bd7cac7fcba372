/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several processes of one name: see report_ways.h. */
#include "report/report_ways.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "summary/summary_collect.h"

#define NAME_MAX_SIZE 512

static void add_process(const struct model *model, const struct model_callback *callback,
			bool typed, char *list, size_t size)
{
	const struct model_process *process = callback->process;
	char label[NAME_MAX_SIZE], name[NAME_MAX_SIZE];
	bool hosts = false, several = false;
	const size_t used = strlen(list);

	summary_callback_name(callback, label, sizeof(label));
	for (unsigned i = 0; i < model_count(model, MODEL_CALLBACK); i++) {
		const struct model_callback *other = model_callback(model, i);

		if (other->process == process || strcmp(other->process->name, process->name) != 0 ||
		    strcmp(summary_callback_name(other, name, sizeof(name)), label) != 0)
			continue;
		several = true;
		hosts |= other->process->host != process->host;
	}
	if (several)
		(void)snprintf(list + used, size - used, "%s%s %s%" PRId32 "%s%s%s",
			       used ? ", " : "", process->name, typed ? "" : "(", process->pid,
			       typed ? "" : ")", hosts ? " @" : "", hosts ? process->hostname : "");
}

char *report_ways_callback(const struct model *model, const struct model_callback *callback,
			   bool typed, char *buffer, size_t size)
{
	*buffer = '\0';
	add_process(model, callback, typed, buffer, size);
	return buffer;
}

char *report_ways_chain(const struct model *model, const struct chains_path *path, bool typed,
			char *buffer, size_t size)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	const unsigned steps = chains_steps(path, step);
	const struct model_process *last = NULL;

	*buffer = '\0';
	for (unsigned i = 0; i < steps; i++) {
		bool again = !step[i]->callback || step[i]->callback->process == last;

		for (unsigned k = 0; k < i && !again && !typed; k++)
			again = step[k]->callback &&
				step[k]->callback->process == step[i]->callback->process;
		if (again)
			continue;
		last = step[i]->callback->process;
		add_process(model, step[i]->callback, typed, buffer, size);
	}
	return buffer;
}
