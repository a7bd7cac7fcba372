/* SPDX-License-Identifier: Apache-2.0 */
/* See fired.h. */
#include "cli/input/fired.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define SECOND_NS INT64_C(1000000000)

/* Which moment of an instance the trigger's time is. */
enum moment {
	AT_END,		/* of the callback or span; or within it */
	AT_VALUE_AFTER, /* the value later than its begin */
	IN_SECOND,	/* in the second before */
	AT_LATE,	/* a cycle of a loop ended before, the value later than it should have */
};

static const struct {
	const char *word;
	enum moment moment;
	const char *before, *without; /* before the name; the end that the name loses */
} explained[] = {
	{ "chain", AT_VALUE_AFTER, "", "" },	     { "latency", AT_VALUE_AFTER, "* ", "" },
	{ "callback", AT_END, "", "" },		     { "duration", AT_END, "", "" },
	{ "late", AT_END, "", "" },		     { "span", AT_END, "", "" },
	{ "overrun", AT_LATE, "", "_overrun" },	     { "overruns", AT_LATE, "", "_overrun" },
	{ "missed", AT_LATE, "", "_missed" },	     { "cpu", IN_SECOND, "", "" },
	{ "busy", IN_SECOND, "", "" },
};

/* A symbol such as "(anonymous)::[](int*)" is no pattern. */
static void copy_plain(char *out, size_t size, const char *name, const char *without)
{
	size_t used = strlen(out), length = strlen(name);
	const size_t cut = strlen(without);

	if (cut && length > cut && strcmp(name + length - cut, without) == 0)
		length -= cut;
	for (size_t i = 0; i < length && used + 3 < size; i++) {
		if (strchr("*?[\\", name[i]))
			out[used++] = '\\';
		out[used++] = name[i];
	}
	out[used] = '\0';
}

static int64_t moment_of(enum moment moment, uint64_t value, int64_t at_ns)
{
	if (value > (uint64_t)at_ns || moment == AT_END || moment == IN_SECOND)
		return at_ns;
	/*
	 * The next cycle begins when this one should have ended: be nearer to the end of this one.
	 */
	return at_ns - (int64_t)(moment == AT_LATE ? value / 4 : value);
}

void fired_of(struct fired *fired, const char *trigger, const char *what, uint64_t value,
	      int64_t at_ns)
{
	const size_t length = trigger ? strcspn(trigger, "( >") : 0;

	*fired = (struct fired){ .at_ns = at_ns };
	/* Of several conditions, any may have been the last one. */
	if (!length || !what || !*what || strstr(trigger, " and ") || strncmp(what, "callback 0x", 11) == 0)
		return;
	for (unsigned i = 0; i < COUNT_OF(explained); i++) {
		if (strlen(explained[i].word) != length ||
		    strncmp(trigger, explained[i].word, length) != 0)
			continue;
		fired->is_chain = i == 0;
		fired->window_ns = explained[i].moment == IN_SECOND ? SECOND_NS : 0;
		fired->at_ns = moment_of(explained[i].moment, value, at_ns);
		if (fired->is_chain) {
			fired->took_ns = value <= (uint64_t)at_ns ? (int64_t)value : 0;
			(void)snprintf(fired->name, sizeof fired->name, "%s", what);
			return;
		}
		(void)snprintf(fired->name, sizeof fired->name, "%s", explained[i].before);
		copy_plain(fired->name, sizeof fired->name, what, explained[i].without);
		return;
	}
}

void fired_ask(const struct fired *fired, struct why_options *why)
{
	if (fired->is_chain)
		why->pattern = fired->name;
	else
		why->callback = fired->name;
	why->fired_ns = fired->took_ns;
}

bool fired_read(struct fired *fired, const struct accounts *accounts)
{
	const struct accounts_snapshot *of = &accounts->snapshot;

	if (!*of->cause)
		return false;
	fired_of(fired, *of->trigger ? of->trigger : NULL, of->what, of->value,
		 of->at_ns - accounts->root.start_ns + accounts->root.start_realtime_ns);
	return true;
}
