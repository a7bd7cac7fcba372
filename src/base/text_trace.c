/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a trace: the last part of its path. Tracers nest the directory with the metadata in
 * the one that is named after the session, which is what people and `kymo ls` call the trace:
 *
 *   SESSION/kernel   SESSION/ust   SESSION/ust/uid/1000/64-bit   SESSION/ust/pid/robot-4711-2026...
 */
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ACCOUNTS "kymo.json"

/* A part of a path, between slashes. */
struct part {
	const char *at;
	size_t size; /* 0: there is none */
};

/* The part before @end. */
static struct part part_before(const char *path, const char *end)
{
	struct part part;

	while (end > path && end[-1] == '/')
		end--;
	for (part.at = end; part.at > path && part.at[-1] != '/'; part.at--)
		;
	part.size = (size_t)(end - part.at);
	return part;
}

static bool is_named(struct part part, const char *name)
{
	return part.size == strlen(name) && !strncmp(part.at, name, part.size);
}

static bool is_number(struct part part)
{
	for (size_t i = 0; i < part.size; i++)
		if (!isdigit((unsigned char)part.at[i]))
			return false;
	return part.size;
}

/* A recording that is called so. */
static bool is_recording(const char *path)
{
	char file[4096];
	const int length = snprintf(file, sizeof(file), "%s/" ACCOUNTS, path);

	return length > 0 && (size_t)length < sizeof(file) && !access(file, F_OK);
}

/* The outermost directory that a tracer has nested in that of the session, @last being the
 * innermost; @last itself: it is none of these. */
static struct part nested(const char *path, struct part last)
{
	const struct part second = part_before(path, last.at);
	const struct part third = part_before(path, second.at);
	const struct part fourth = part_before(path, third.at);

	if (is_named(second, "pid") && is_named(third, "ust"))
		return third;
	if ((is_named(last, "64-bit") || is_named(last, "32-bit")) && is_number(second) &&
	    is_named(third, "uid") && is_named(fourth, "ust"))
		return fourth;
	return last;
}

char *text_trace_name(char *buffer, size_t size, const char *path)
{
	struct part last = part_before(path, path + strlen(path)), session;
	struct part outer = nested(path, last);
	const bool is_outer = is_named(outer, "ust") || is_named(outer, "kernel");

	session = part_before(path, outer.at);
	if (is_outer && session.size && !is_recording(path))
		last = session;
	if (!last.size) /* "/" */
		last = (struct part){ path, strlen(path) };
	(void)snprintf(buffer, size, "%.*s", (int)last.size, last.at);
	return buffer;
}
