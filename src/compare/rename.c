/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/rename.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int compare_renames_add(struct compare_renames *renames, const char *text, struct kymo_err *err)
{
	const char *equals = strchr(text, '=');
	const unsigned at = renames->count;

	if (!equals || equals == text || !equals[1])
		return err_set(err, KYMO_EXIT_USAGE,
			       "--rename: '%s' is not OLD=NEW, such as /planner=/local_planner",
			       text);
	for (unsigned i = 0; i < at; i++)
		if (strlen(renames->old[i]) == (size_t)(equals - text) &&
		    !strncmp(renames->old[i], text, (size_t)(equals - text)))
			return err_set(err, KYMO_EXIT_USAGE,
				       "--rename: %s has two new names; leave one out",
				       renames->old[i]);
	for (unsigned i = 0; i < at; i++)
		if (!strcmp(renames->new[i], equals + 1))
			return err_set(err, KYMO_EXIT_USAGE,
				       "--rename: %s and %.*s both become %s; leave one out",
				       renames->old[i], (int)(equals - text), text, equals + 1);
	if (at == COMPARE_RENAMES_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "--rename: given more than %u times; leave some out",
			       COMPARE_RENAMES_MAX);
	renames->old[at] = strndup(text, (size_t)(equals - text));
	renames->new[at] = strdup(equals + 1);
	renames->count++;
	return renames->old[at] && renames->new[at] ? 0 : err_no_memory(err);
}

void compare_renames_free(struct compare_renames *renames)
{
	for (unsigned i = 0; i < renames->count; i++) {
		free(renames->old[i]);
		free(renames->new[i]);
	}
	renames->count = 0;
}

/* ---- parts of names ---- */

/* Is there the whole part @part at @at? Parts end as in "process: /node, /node" of executors. */
static bool is_part(const char *at, const char *part)
{
	const size_t length = strlen(part);
	const char *end = at + length;

	return !strncmp(at, part, length) &&
	       (!*end || *end == ' ' || ((*end == ',' || *end == ':') && end[1] == ' '));
}

static bool has_part(const char *name, const char *part)
{
	for (const char *at = name; (at = strstr(at, part)); at++)
		if ((at == name || at[-1] == ' ') && is_part(at, part))
			return true;
	return false;
}

static const char *rewrite(struct summary *summary, const struct compare_renames *renames,
			   const char *name)
{
	char *text = NULL;
	size_t size;
	FILE *out;
	bool has_any = false;

	for (unsigned i = 0; i < renames->count && !has_any; i++)
		has_any = has_part(name, renames->old[i]);
	if (!has_any)
		return name;
	out = open_memstream(&text, &size);
	for (const char *at = name; out && *at;) {
		unsigned i = 0;

		while (i < renames->count && !is_part(at, renames->old[i]))
			i++;
		if ((at == name || at[-1] == ' ') && i < renames->count) {
			fputs(renames->new[i], out);
			at += strlen(renames->old[i]);
		} else {
			fputc(*at++, out);
		}
	}
	if (!out || fclose(out)) {
		summary->failed = true;
		free(text);
		return "";
	}
	name = summary_text(summary, text);
	free(text);
	return name;
}

int compare_rename(struct summary *summary, const struct compare_renames *renames,
		   struct kymo_err *err)
{
	for (unsigned i = 0; renames->count && i < summary->entities; i++) {
		struct summary_entity *entity = summary->entity[i];

		entity->name = rewrite(summary, renames, entity->name);
		entity->of = rewrite(summary, renames, entity->of);
		entity->label = rewrite(summary, renames, entity->label);
		for (unsigned s = 0; s < entity->segments; s++) {
			entity->segment[s].who = rewrite(summary, renames, entity->segment[s].who);
			entity->segment[s].by = rewrite(summary, renames, entity->segment[s].by);
		}
	}
	return summary->failed ? err_no_memory(err) : 0;
}

/* ---- do the runs have these names? ---- */

static bool any_has(const struct summary *const *run, unsigned runs, const char *part)
{
	for (unsigned r = 0; r < runs; r++)
		for (unsigned i = 0; i < run[r]->entities; i++)
			if (has_part(run[r]->entity[i]->name, part))
				return true;
	return false;
}

static bool is_old(const struct compare_renames *renames, const char *name)
{
	for (unsigned i = 0; i < renames->count; i++)
		if (!strcmp(renames->old[i], name))
			return true;
	return false;
}

int compare_renames_check(const struct compare_renames *renames, const struct summary *const *base,
			  unsigned bases, const struct summary *const *new, unsigned news,
			  struct kymo_err *err)
{
	for (unsigned i = 0; i < renames->count; i++) {
		const char *was = renames->old[i], *is = renames->new[i];

		if (!any_has(base, bases, was))
			return err_set(err, KYMO_EXIT_USAGE,
				       "--rename %s=%s: nothing of the base side is called %s; "
				       "write a name that is listed as gone",
				       was, is, was);
		if (!any_has(new, news, is))
			return err_set(err, KYMO_EXIT_USAGE,
				       "--rename %s=%s: nothing of the new side is called %s; "
				       "write a name that is listed as new",
				       was, is, is);
		if (!is_old(renames, is) && any_has(base, bases, is))
			return err_set(err, KYMO_EXIT_USAGE,
				       "--rename %s=%s: the base side has %s, too, and two things "
				       "cannot have one name",
				       was, is, is);
	}
	return 0;
}
