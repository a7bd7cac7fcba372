/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that name processes: see report_ways.h. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/report_ways.h"

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

const char *report_ways_in(const char *text)
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

bool report_ways_split(const char *text, char *name, size_t size, char *ways, size_t ways_size)
{
	const char *begin = text ? report_ways_in(text) : NULL;

	*ways = '\0';
	if (!begin || (size_t)(begin - text) >= size)
		return false;
	(void)snprintf(ways, ways_size, "%s", begin + 2);
	(void)snprintf(name, size, "%.*s", (int)(begin - text), text);
	return true;
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

bool report_ways_is(const char *ways, const struct model_process *process)
{
	return !*ways || is_process(ways, process);
}

/* Is @process, or one of its name, among @ways? */
static bool is_named(const char *ways, const struct model_process *process)
{
	const size_t length = strlen(process->name);

	for (const char *at = ways; at; at = strstr(at, ", ")) {
		at += strncmp(at, ", ", 2) == 0 ? 2 : 0;
		if (strncmp(at, process->name, length) == 0 && at[length] == ' ')
			return true;
	}
	return false;
}

unsigned report_ways_leads(const char *ways, const struct chains_path *path)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	const struct model_process *last = NULL;
	const unsigned steps = chains_steps(path, step);
	const char *at = *ways ? ways : NULL;
	bool others = false;

	for (unsigned i = 0; *ways && i < steps; i++) {
		if (!step[i]->callback || step[i]->callback->process == last ||
		    !is_named(ways, step[i]->callback->process))
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

/* ---- what can be typed instead ---- */

void report_typed_add(struct report_typed *typed, const char *name, const char *ways)
{
	char one[REPORT_TYPED_MAX], word[REPORT_TYPED_MAX];
	const size_t used = strlen(typed->text);

	(void)snprintf(one, sizeof(one), *ways ? "%s (%s)" : "%s", name, ways);
	text_shell(word, sizeof(word), one);
	if (strstr(typed->text, word))
		return;
	if (typed->count++ < REPORT_TYPED_SHOWN && used + strlen(word) + 2 < sizeof(typed->text))
		(void)snprintf(typed->text + used, sizeof(typed->text) - used, "%s%s",
			       used ? ", " : "", word);
}

void report_typed_chains(const struct model *model, const struct chains *chains,
			 const char *pattern, struct report_typed *typed)
{
	char ways[1024];

	for (unsigned i = 0; i < chains_path_count(chains); i++) {
		const struct chains_path *path = chains_path(chains, i);

		if (path->stats && path->stats->total.count && chains_is_chain(chains, path))
			report_typed_add(typed, pattern,
					 report_ways_chain(model, path, true, ways, sizeof(ways)));
	}
}

const char *report_typed_text(const struct report_typed *typed, const char *name, const char *ways,
			      char *buffer, size_t size)
{
	(void)snprintf(buffer, size, "'%s' did not run in (%s. What ran: %s%s", name, ways,
		       typed->text, typed->count > REPORT_TYPED_SHOWN ? ", and others." : ".");
	return buffer;
}
