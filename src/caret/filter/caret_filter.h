/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CARET's filter, as its five environment variables of a traced program say it: what they mean is in
 * docs/filters.md. Regular expressions between colons, searched for anywhere in a name; "*" alone
 * matches all. What is empty between two colons is nothing, and what is no regular expression matches
 * nothing.
 */
#ifndef KYMO_RECORDER_FILTER_CARET_H
#define KYMO_RECORDER_FILTER_CARET_H

#include <stdbool.h>

/* Regular expressions, made elsewhere, so that who has none of them needs no library for it. */
struct filter_regex {
	/* Return: NULL when @pattern is none, and why in @error. */
	void *(*compile)(const char *pattern, char error[128]);
	/* Whether it is found anywhere in @text. */
	bool (*found)(void *compiled, const char *text);
	void (*free)(void *compiled);
};

/** filter_regex_pcre2 - ECMAScript's, as far as they are also Perl's. */
extern const struct filter_regex filter_regex_pcre2;

enum filter_caret_list {
	CARET_SELECT_NODES, CARET_IGNORE_NODES, CARET_SELECT_TOPICS, CARET_IGNORE_TOPICS,
	CARET_IGNORE_PROCESSES, CARET_LISTS
};

/** filter_caret_variable() - "CARET_SELECT_NODES". */
const char *filter_caret_variable(enum filter_caret_list list);

struct filter_caret;

/**
 * filter_caret_create() - the filter of a program
 * @value: of each variable; NULL: not set
 * @say: is told what is no regular expression
 *
 * Return: NULL when nothing is filtered, or without memory.
 */
struct filter_caret *filter_caret_create(const struct filter_regex *regex, const char *const value[CARET_LISTS],
					 void (*say)(void *context, const char *text), void *context);
void filter_caret_free(struct filter_caret *caret);

/** filter_caret_objects() - whether it looks at nodes or topics. */
bool filter_caret_objects(const struct filter_caret *caret);

/** filter_caret_value() - what the variable was set to; NULL: nothing in it counts. */
const char *filter_caret_value(const struct filter_caret *caret, enum filter_caret_list list);

/** filter_caret_wants_process() - @name: of the program's file. */
bool filter_caret_wants_process(const struct filter_caret *caret, const char *name);

/* What a name is in. */
#define CARET_SELECTED	1u
#define CARET_IGNORED	2u
/** filter_caret_node(), filter_caret_topic() - of a full name; NULL is in nothing. */
unsigned filter_caret_node(const struct filter_caret *caret, const char *name);
unsigned filter_caret_topic(const struct filter_caret *caret, const char *name);

/**
 * filter_caret_wants() - whether events of an object are recorded
 * @node, @topic: what its names are in; 0 for the topic of a timer, service, client or state machine
 */
bool filter_caret_wants(const struct filter_caret *caret, unsigned node, unsigned topic);

#endif
