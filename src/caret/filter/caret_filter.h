/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CARET's filter, from the five environment variables of a traced program (docs/record/filters.md):
 *
 *     CARET_IGNORE_TOPICS=/rosout:/parameter_events
 *
 * Each is a list of regular expressions between colons, which may match anywhere in a name; "*"
 * alone matches all names. An empty item is skipped. An item that is not a regular expression
 * matches nothing.
 *
 * Context of all functions: not thread-safe, because a compiled expression has one buffer for its
 * matches; filter_caret_create() compiles and allocates; none blocks.
 */
#ifndef KYMO_CARET_FILTER_H
#define KYMO_CARET_FILTER_H

#include <stdbool.h>

/* An implementation of regular expressions, passed in so that programs without CARET do not need
 * its library. */
struct filter_regex {
	/* Return: NULL, and the reason in @error, when @pattern is invalid. */
	void *(*compile)(const char *pattern, char error[128]);
	/* Whether it is found anywhere in @text. */
	bool (*found)(void *compiled, const char *text);
	void (*free)(void *compiled);
};

/** filter_regex_pcre2 - those of ECMAScript, as far as PCRE2 agrees. */
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
 * @say: called for each item that is not a regular expression
 *
 * Return: NULL when nothing is filtered, or without memory.
 */
struct filter_caret *filter_caret_create(const struct filter_regex *regex,
					 const char *const value[CARET_LISTS],
					 void (*say)(void *context, const char *text),
					 void *context);
void filter_caret_free(struct filter_caret *caret);

/** filter_caret_objects() - whether it looks at nodes or topics. */
bool filter_caret_objects(const struct filter_caret *caret);

/** filter_caret_value() - the value of the variable; NULL: it has no item. */
const char *filter_caret_value(const struct filter_caret *caret, enum filter_caret_list list);

/** filter_caret_wants_process() - @name: of the program's file. */
bool filter_caret_wants_process(const struct filter_caret *caret, const char *name);

/* The lists that match a name. */
#define CARET_SELECTED	1u
#define CARET_IGNORED	2u
/** filter_caret_node(), filter_caret_topic() - by the full name; no list matches NULL. */
unsigned filter_caret_node(const struct filter_caret *caret, const char *name);
unsigned filter_caret_topic(const struct filter_caret *caret, const char *name);

/**
 * filter_caret_wants() - whether events of an object are recorded
 * @node, @topic: the lists that match its names; 0 for the topic of a timer, service, client or
 * state machine
 */
bool filter_caret_wants(const struct filter_caret *caret, unsigned node, unsigned topic);

#endif
