/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules in a traced program's environment: CARET's variables, for users of CARET, and
 * $KYMO_FILTER, with which `kymo run --node ...` passes its rules on. The environment with which
 * the program was started counts. Where that cannot be read because the program has ended, or sets
 * none of these variables, the recorder's own environment counts.
 */
#include <stdlib.h>

#include "recorder/filter/filter_internal.h"
#include "recorder/runtime/alive.h"
#include "recorder/runtime/say.h"

struct listener {
	const struct sayer *sayer;
	const char *name;		/* of the process */
	int pid;
};

static void say(void *context, const char *text)
{
	const struct listener *listener = context;

	say_text(listener->sayer, "process %d (%s): %s", listener->pid, listener->name, text);
}

static struct filter_caret *caret_of(const struct filter_regex *regex, const char *environment,
				     size_t size, struct listener *listener)
{
	const char *value[CARET_LISTS];
	bool some = false;

	for (unsigned i = 0; i < CARET_LISTS; i++) {
		value[i] = environment_value(environment, size,
					     filter_caret_variable((enum filter_caret_list)i));
		some |= value[i] != NULL;
	}
	for (unsigned i = 0; i < CARET_LISTS && !some; i++)
		value[i] = getenv(filter_caret_variable((enum filter_caret_list)i));
	return filter_caret_create(regex, value, say, listener);
}

void filter_read_environment(struct filter_process *mine, const struct sayer *sayer)
{
	const struct filter_subject *process = &mine->process;
	struct listener listener = { sayer, process->region->procname, (int)process->region->pid };
	size_t size = 0;
	char *environment = process->dead ? NULL : environment_read(process->host_pid, &size);
	const char *rules = environment_value(environment, size, "KYMO_FILTER");
	struct kymo_err err;

	if (!rules)
		rules = getenv("KYMO_FILTER");
	if (rules && filter_rules_text(&mine->own, rules, &err) < 0) {
		(void)err_wrap(&err, "KYMO_FILTER");
		say(&listener, err.text);
	}
	if (mine->filter->regex)
		mine->caret = caret_of(mine->filter->regex, environment, size, &listener);
	free(environment);
}
