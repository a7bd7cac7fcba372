/* SPDX-License-Identifier: Apache-2.0 */
#include "caret/filter/caret_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS_MAX 1024		/* of one variable */

struct caret_list {
	char *value;
	bool all;		/* "*" */
	bool set;		/* it has an item */
	void **compiled;
	unsigned count;
};

struct filter_caret {
	const struct filter_regex *regex;
	struct caret_list list[CARET_LISTS];
};

static const char *const variable[CARET_LISTS] = {
	[CARET_SELECT_NODES] = "CARET_SELECT_NODES", [CARET_IGNORE_NODES] = "CARET_IGNORE_NODES",
	[CARET_SELECT_TOPICS] = "CARET_SELECT_TOPICS", [CARET_IGNORE_TOPICS] = "CARET_IGNORE_TOPICS",
	[CARET_IGNORE_PROCESSES] = "CARET_IGNORE_PROCESSES",
};

const char *filter_caret_variable(enum filter_caret_list list)
{
	return variable[list];
}

/* @item is not empty: a colon too many must not match everything. */
static void add_item(struct filter_caret *caret, enum filter_caret_list which, const char *item,
		     void (*say)(void *context, const char *text), void *context)
{
	struct caret_list *list = &caret->list[which];
	char error[128], text[512];
	void *compiled;

	list->set = true;
	if (strcmp(item, "*") == 0) {
		list->all = true;
		return;
	}
	compiled = caret->regex->compile(item, error);
	if (compiled) {
		list->compiled[list->count++] = compiled;
		return;
	}
	(void)snprintf(text, sizeof text, "%s: '%.200s' is not a regular expression (%s); it matches nothing",
		       variable[which], item, error);
	if (say)
		say(context, text);
}

static bool read_list(struct filter_caret *caret, enum filter_caret_list which, const char *value,
		      void (*say)(void *context, const char *text), void *context)
{
	struct caret_list *list = &caret->list[which];
	char *copy = strdup(value), *rest = copy, *item;

	list->value = strdup(value);
	list->compiled = calloc(ITEMS_MAX, sizeof *list->compiled);
	if (!copy || !list->value || !list->compiled) {
		free(copy);
		return false;
	}
	while ((item = strsep(&rest, ":")))
		if (*item && list->count < ITEMS_MAX)
			add_item(caret, which, item, say, context);
	free(copy);
	return true;
}

struct filter_caret *filter_caret_create(const struct filter_regex *regex,
					 const char *const value[CARET_LISTS],
					 void (*say)(void *context, const char *text),
					 void *context)
{
	struct filter_caret *caret = calloc(1, sizeof *caret);
	bool good = caret, some = false;

	if (caret)
		caret->regex = regex;
	for (unsigned i = 0; good && i < CARET_LISTS; i++)
		if (value[i]) {
			good = read_list(caret, (enum filter_caret_list)i, value[i], say, context);
			some |= caret->list[i].set;
		}
	if (good && some)
		return caret;
	filter_caret_free(caret);
	return NULL;
}

void filter_caret_free(struct filter_caret *caret)
{
	if (!caret)
		return;
	for (unsigned i = 0; i < CARET_LISTS; i++) {
		for (unsigned j = 0; j < caret->list[i].count; j++)
			caret->regex->free(caret->list[i].compiled[j]);
		free(caret->list[i].compiled);
		free(caret->list[i].value);
	}
	free(caret);
}

bool filter_caret_objects(const struct filter_caret *caret)
{
	return caret->list[CARET_SELECT_NODES].set || caret->list[CARET_IGNORE_NODES].set ||
	       caret->list[CARET_SELECT_TOPICS].set || caret->list[CARET_IGNORE_TOPICS].set;
}

const char *filter_caret_value(const struct filter_caret *caret, enum filter_caret_list list)
{
	return caret->list[list].set ? caret->list[list].value : NULL;
}

static bool is_in(const struct filter_caret *caret, enum filter_caret_list which, const char *name)
{
	const struct caret_list *list = &caret->list[which];

	if (!name)
		return false;
	for (unsigned i = 0; !list->all && i < list->count; i++)
		if (caret->regex->found(list->compiled[i], name))
			return true;
	return list->all;
}

bool filter_caret_wants_process(const struct filter_caret *caret, const char *name)
{
	return !is_in(caret, CARET_IGNORE_PROCESSES, name);
}

unsigned filter_caret_node(const struct filter_caret *caret, const char *name)
{
	return (is_in(caret, CARET_SELECT_NODES, name) ? CARET_SELECTED : 0) |
	       (is_in(caret, CARET_IGNORE_NODES, name) ? CARET_IGNORED : 0);
}

unsigned filter_caret_topic(const struct filter_caret *caret, const char *name)
{
	return (is_in(caret, CARET_SELECT_TOPICS, name) ? CARET_SELECTED : 0) |
	       (is_in(caret, CARET_IGNORE_TOPICS, name) ? CARET_IGNORED : 0);
}

/* As in CARET: if something is selected, the lists of what to ignore do not count. */
bool filter_caret_wants(const struct filter_caret *caret, unsigned node, unsigned topic)
{
	if (caret->list[CARET_SELECT_NODES].set || caret->list[CARET_SELECT_TOPICS].set)
		return (node | topic) & CARET_SELECTED;
	return !((node | topic) & CARET_IGNORED);
}
