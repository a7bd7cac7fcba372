/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activities and regions as what flow and why ask for: a chain where begin and end are those of a
 * chain, else the callback or the span that they are the begin and the end of.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/behaviour/behaviour_internal.h"

#define OPERAND_MAX 1024u

/* The only condition of @rule in @role; NULL: there are several. */
static const struct condition *alone(const struct behaviours *all, unsigned rule, unsigned role)
{
	const struct condition *found = NULL;

	for (unsigned i = 0; i < all->conditions; i++) {
		if (all->condition[i].rule != rule || all->condition[i].role != role)
			continue;
		if (found)
			return NULL;
		found = &all->condition[i];
	}
	return found;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* '/planner /odom': the node and the topic; '/planner timer 96 ms': the node. */
static void of_label(char *text, size_t size, const char *label)
{
	const char *blank = strchr(label, ' ');
	const int node = blank ? (int)(blank - label) : (int)strlen(label);

	if (blank && blank[1] == '/')
		(void)snprintf(text, size, "%.*s:%s", node, label, blank + 1);
	else
		(void)snprintf(text, size, "%.*s", node, label);
}

/*
 * Where a chain begins or ends as @condition does; false: no chain does. A chain that begins with a
 * callback begins at its start, and one that ends with a callback ends at its end.
 */
static bool element(char *text, size_t size, const struct condition *condition, bool is_begin)
{
	const char *node = condition->node;

	if (condition->process)
		return false;
	switch (condition->kind) {
	case ON_PUBLISH:
		(void)snprintf(text, size, "%s%s%s", node ? node : "", node ? ":" : "",
			       condition->glob);
		return true;
	case ON_RECEIVE: /* without a node, the publication would match, too */
		(void)snprintf(text, size, "%s:%s", node ? node : "", condition->glob);
		return is_begin && node;
	case ON_START:
	case ON_END:
		of_label(text, size, condition->glob);
		return (condition->kind == ON_START) == is_begin && !node &&
		       *condition->glob == '/';
	default:
		return false;
	}
}

/* A callback or a span from its begin to its end. */
static bool is_whole(const struct condition *begin, const struct condition *end)
{
	return ((begin->kind == ON_START && end->kind == ON_END) ||
		(begin->kind == ON_SPAN_BEGIN && end->kind == ON_SPAN_END)) &&
	       same(begin->glob, end->glob) && !begin->node && !end->node && !begin->process &&
	       !end->process;
}

/* Return: enum behaviour_operand; -1: none. */
static int write_operand(struct behaviours *all, unsigned rule, const char **operand)
{
	const struct condition *begin = alone(all, rule, ROLE_BEGIN),
			       *end = alone(all, rule, ROLE_END);
	char from[OPERAND_MAX / 2 - 8], to[OPERAND_MAX / 2 - 8], text[OPERAND_MAX];
	int length;

	if (!begin || !end)
		return -1;
	if (is_whole(begin, end)) {
		*operand = begin->glob;
		return begin->kind == ON_START ? BEHAVIOUR_CALLBACK : BEHAVIOUR_SPAN;
	}
	if (!element(from, sizeof(from), begin, true) || !element(to, sizeof(to), end, false))
		return -1;
	length = snprintf(text, sizeof(text), "%s -> %s", from, to);
	*operand = pool_text(&all->pool, text, (size_t)length);
	return *operand ? BEHAVIOUR_CHAIN : -1;
}

static const struct behaviour_rule *rule_named(const struct behaviours *all, const char *name)
{
	for (unsigned i = 0; name && i < all->rules; i++)
		if (same(all->what[all->rule[i].first].name, name))
			return &all->rule[i];
	return NULL;
}

bool behaviours_has(const struct behaviours *all, const char *name)
{
	return rule_named(all, name) != NULL;
}

static int name_those(const struct behaviours *all, const char *name, struct kymo_err *err)
{
	char names[OPERAND_MAX] = "";
	size_t used = 0;

	for (unsigned i = 0; i < all->rules && used < sizeof(names); i++)
		if (all->rule[i].kind != BEHAVIOUR_STATE)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s'%s'",
						 used ? ", " : "", all->what[all->rule[i].first].name);
	if (!*names)
		return err_set(err, KYMO_EXIT_USAGE, "it has no activity or region");
	if (!name)
		return err_set(err, KYMO_EXIT_USAGE, "name an activity or a region of it: %s", names);
	return err_set(err, KYMO_EXIT_USAGE, "no activity or region '%.200s'; it has %s",
		       name, names);
}

int behaviours_operand(struct behaviours *all, const char *name, const char **operand,
		       struct kymo_err *err)
{
	const struct behaviour_rule *rule = rule_named(all, name);
	int kind;

	if (!rule)
		return name_those(all, name, err);
	if (rule->kind == BEHAVIOUR_STATE)
		return err_set(err, KYMO_EXIT_USAGE,
			       "'%.200s' is a group of states, and no message connects states; "
			       "kymo query --model FILE has their times",
			       name);
	kind = write_operand(all, (unsigned)(rule - all->rule), operand);
	return kind >= 0 ? kind
			: err_set(err, KYMO_EXIT_USAGE,
				  "no chain, callback or span begins and ends as '%.200s' does; "
				  "docs/answers/behaviour.md says which can be named",
				  name);
}
