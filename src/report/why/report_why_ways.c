/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo why` of one of several processes of one name: "/scan -> /cmd_vel (filter 4711)", as findings
 * and labels of the summary say it; of several, "(driver 4710, filter 4711 @left)".
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/report_ways.h"
#include "report/why/report_why_internal.h"

/* The length of the process at @text, "filter 4711" or "filter 4711 @left"; 0: it is none. */
static size_t process_length(const char *text)
{
	const size_t length = strcspn(text, ",)");
	const char *at = memmem(text, length, " @", 2);
	const char *end = at ? at : text + length, *digit = end;

	while (digit > text && isdigit((unsigned char)digit[-1]))
		digit--;
	return digit < end && digit - text > 1 && digit[-1] == ' ' ? length : 0;
}

/* What follows the process at @text, ", " or the end; NULL: no process is there. */
static const char *process_end(const char *text)
{
	const size_t length = process_length(text);

	return length ? text + length : NULL;
}

const char *why_ways_in(const char *text)
{
	const char *begin = NULL, *at;

	for (at = strstr(text, " ("); at; at = strstr(at + 1, " ("))
		begin = at;
	if (!begin)
		return NULL;
	for (at = process_end(begin + 2); at && !strncmp(at, ", ", 2);)
		at = process_end(at + 2);
	return at && strcmp(at, ")") == 0 ? begin : NULL;
}

void why_ways_take(struct why_answer *answer, const char *text)
{
	const char *begin = why_ways_in(text);

	*answer->ways = '\0';
	if (begin)
		(void)snprintf(answer->ways, sizeof(answer->ways), "%s", begin + 2);
}

static bool is_process(const char *text, const struct model_process *process)
{
	const size_t length = process_length(text);
	char name[512];
	int used;

	used = snprintf(name, sizeof(name), "%s %" PRId32 " @%s", process->name, process->pid,
			process->hostname);
	return used > 0 && (size_t)used < sizeof(name) && strncmp(text, name, length) == 0 &&
	       (name[length] == '\0' || strncmp(name + length, " @", 2) == 0);
}

bool why_ways_is(const char *ways, const struct model_process *process)
{
	return !*ways || is_process(ways, process);
}

void why_ways_asked(struct why_answer *answer)
{
	const struct why_options *o = answer->options;
	const char *text = o->pattern ? o->pattern : o->callback;
	const char *begin = text ? why_ways_in(text) : NULL;

	if (!begin || (size_t)(begin - text) >= sizeof(answer->ask))
		return;
	why_ways_take(answer, text);
	(void)snprintf(answer->ask, sizeof(answer->ask), "%.*s", (int)(begin - text), text);
	answer->chosen = *o;
	*(o->pattern ? &answer->chosen.pattern : &answer->chosen.callback) = answer->ask;
	answer->options = &answer->chosen;
}

/* Is @process, or one of its name, among those asked for? */
static bool is_named(const struct why_answer *answer, const struct model_process *process)
{
	const size_t length = strlen(process->name);

	for (const char *at = answer->ways; at; at = strstr(at, ", ")) {
		at += strncmp(at, ", ", 2) == 0 ? 2 : 0;
		if (strncmp(at, process->name, length) == 0 && at[length] == ' ')
			return true;
	}
	return false;
}

bool why_ways_callback(const struct why_answer *answer, const struct model_callback *callback)
{
	return why_ways_is(answer->ways, callback->process);
}

unsigned why_ways_chain(const struct why_answer *answer, const struct chains_path *path)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	const struct model_process *last = NULL;
	const unsigned steps = chains_steps(path, step);
	const char *at = *answer->ways ? answer->ways : NULL;
	bool others = false;

	for (unsigned i = 0; *answer->ways && i < steps; i++) {
		if (!step[i]->callback || step[i]->callback->process == last ||
		    !is_named(answer, step[i]->callback->process))
			continue;
		last = step[i]->callback->process;
		if (at && is_process(at, last)) {
			at = strstr(at, ", ");
			at = at ? at + 2 : NULL;
		} else {
			others = true;
		}
	}
	return at ? 0 : others ? 1 : 2;
}

char *why_ways_of(const struct why_answer *answer, bool is_chain, uint32_t index, bool typed,
		  char *buffer, size_t size)
{
	return is_chain ? report_ways_chain(answer->model, chains_path(answer->chains, index),
					    typed, buffer, size)
			: report_ways_callback(answer->model, model_callback(answer->model, index),
					       typed, buffer, size);
}

char *why_ways_text(const struct why_answer *answer, char *buffer, size_t size)
{
	return why_ways_of(answer, answer->target.is_chain, answer->target.index, false, buffer,
			   size);
}
