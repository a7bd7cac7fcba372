/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules in a traced program's environment: CARET's variables, where CARET's users have them, and
 * $KYMO_FILTER, by which `kymo run --node ...` passes its own on. What the program had when it was started
 * counts. Where that cannot be read, since the program has ended, or has nothing of it, the recorder's own
 * environment does.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/filter_internal.h"

#define ENVIRONMENT_MAX (2u << 20)	/* bytes: what exec() takes by default, about */

/* /proc/PID/environ with a NUL behind it; NULL: cannot be read. */
static char *read_environment(int pid, size_t *size)
{
	char path[64], *text = NULL;
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/environ", pid);
	fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	text = malloc(ENVIRONMENT_MAX);
	*size = 0;
	while (text && *size < ENVIRONMENT_MAX - 1 &&
	       (got = read(fd, text + *size, ENVIRONMENT_MAX - 1 - *size)) > 0)
		*size += (size_t)got;
	(void)close(fd);
	if (text)
		text[*size] = 0;
	return text;
}

/* The value of @name among the NUL-ended entries; NULL: it is not there. */
static const char *value_of(const char *environment, size_t size, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = environment; at && at < environment + size; at += strlen(at) + 1)
		if (strncmp(at, name, length) == 0 && at[length] == '=')
			return at + length + 1;
	return NULL;
}

struct listener {
	const struct drain *drain;
	const char *name;		/* of the process */
	int pid;
};

static void say(void *context, const char *text)
{
	const struct listener *listener = context;

	drain_say(listener->drain, "process %d (%s): %s", listener->pid, listener->name, text);
}

static struct filter_caret *caret_of(const struct filter_regex *regex, const char *environment, size_t size,
				     struct listener *listener)
{
	const char *value[CARET_LISTS];
	bool some = false;

	for (unsigned i = 0; i < CARET_LISTS; i++) {
		value[i] = value_of(environment, size, filter_caret_variable((enum filter_caret_list)i));
		some |= value[i] != NULL;
	}
	for (unsigned i = 0; i < CARET_LISTS && !some; i++)
		value[i] = getenv(filter_caret_variable((enum filter_caret_list)i));
	return filter_caret_create(regex, value, say, listener);
}

void filter_environment(struct filter_process *mine, struct drain *drain)
{
	const struct process *process = mine->process;
	struct listener listener = { drain, process->region.procname, (int)process->region.pid };
	size_t size = 0;
	char *environment = process->alive == ALIVE_DEAD ? NULL : read_environment(process->host_pid, &size);
	const char *rules = value_of(environment, size, "KYMO_FILTER");
	struct err err;

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
