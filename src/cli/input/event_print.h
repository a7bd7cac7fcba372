/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events on standard output, as text or as JSON: those whose name matches, up to a number of them.
 * Losses go to stderr.
 *
 * Context: not thread-safe; blocks.
 */
#ifndef KYMO_CLI_EVENT_PRINT_H
#define KYMO_CLI_EVENT_PRINT_H

#include <signal.h>

#include "cli/input/input_events.h"

/* uint64_t count; struct opt_list event */
#define CLI_OPT_EVENT_PRINT(type) \
	{ "count", 'n', OPT_U64, offsetof(type, count), "COUNT", "stop after COUNT events", NULL }, \
	{ "event", 'e', OPT_LIST, offsetof(type, event), "GLOB", \
	  "only events whose name matches, such as 'ros2:callback_*'; may be repeated", NULL }

struct event_print {
	const char *verb;		/* that reports losses */
	struct events *events;		/* opened */
	const struct opt_list *names;	/* globs */
	uint64_t most;			/* 0: no limit */
	bool json;
	size_t root;			/* so many characters of a stream's path are not printed */
	const volatile sig_atomic_t *stop; /* set: stop; NULL: never */

	/* Its own. */
	uint64_t printed, lost;
	const struct kymo_ctf_event_class *last_class;
	bool last_wanted;
};

/** event_print_all() - print the events that exist. Return: 0, or -1 with @err filled. */
int event_print_all(struct event_print *print, struct kymo_err *err);

/** event_print_is_over() - is everything printed that was asked for, or the output gone? */
bool event_print_is_over(const struct event_print *print);

#endif
