/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines the version of a libtracetools.
 *
 * The exported functions determine the family of versions. Iron and Jazzy export the same
 * functions, but their ros_trace_rmw_publish has different arguments. To distinguish the two, four
 * sources are asked in this order:
 *
 *   1. LTTng's probe of that function, if the library has one: the probe contains the names of the
 *      arguments
 *   2. the installed package.xml
 *   3. $ROS_DISTRO
 *   4. none of these: Jazzy is assumed
 *
 * package.xml also contains the exact version, which is used only if the version belongs to the
 * family.
 */
#ifndef KYMO_ABI_TRACETOOLS_H
#define KYMO_ABI_TRACETOOLS_H

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/points.h"

enum kymo_tracetools_family {
#define TRACETOOLS(family, ...) KYMO_TRACETOOLS_##family,
#include "abi/tracetools.def"
	KYMO_TRACETOOLS_FAMILIES
};

struct kymo_tracetools_range {
	const char *symbol;
	uint32_t from, to;		/* KYMO_V() */
	const char *recorded, *range;
};

static const struct kymo_tracetools_range kymo_tracetools_ranges[] = {
#define TRACETOOLS(family, symbol, from, to, recorded, range) { symbol, from, to, recorded, range },
#include "abi/tracetools.def"
};

/* LTTng-UST 2.13's struct lttng_ust_tracepoint, up to the member with the names of the
 * arguments. */
#define KYMO_UST_POINT "lttng_ust_tracepoint_ros2___rmw_publish"
struct kymo_ust_point {
	uint32_t struct_size;
	const char *provider_name, *event_name;
	int state;
	void *probes;
	int *provider_ref;
	const char *signature;
};

enum kymo_tracetools_evidence {
	KYMO_BY_SYMBOLS, KYMO_BY_SIGNATURE, KYMO_BY_PACKAGE, KYMO_BY_DISTRIBUTION, KYMO_BY_GUESS,
};

struct kymo_tracetools_answer {
	const struct kymo_tracetools_range *range;
	enum kymo_tracetools_evidence evidence;
	uint32_t version; /* from package.xml, KYMO_V(); 0: only the range is known, not the
			   * version */
	char text[28];    /* from package.xml, e.g. "8.2.2"; empty if the version is not known */
};

/* Return: KYMO_V(); 0: @text is not a version. */
static inline uint32_t kymo_tracetools_number(const char *text)
{
	char *end;
	const unsigned long major = strtoul(text, &end, 10),
			    minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	if (end == text || major > 254)
		return 0;
	return KYMO_V((unsigned)major, minor > 255 ? 255 : (unsigned)minor);
}

/* Room for kymo_tracetools_package(): the traced process may call it with a small stack, where no
 * memory can be allocated. */
struct kymo_tracetools_room {
	char path[PATH_MAX + 64], text[8192];
};

/* The path of the file to which @library leads. Return: false: not such a file. */
static inline bool kymo_tracetools_resolve(const char *library, char *path, size_t size)
{
	const int fd = open(library, O_PATH | O_CLOEXEC);
	char link[32];
	ssize_t length;

	if (fd < 0)
		return false;
	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, size - 1);
	(void)close(fd);
	if (length > 0)
		path[length] = 0;
	else
		(void)snprintf(path, size, "%s", library); /* without /proc */
	return true;
}

/* Fills @text with "8.2.2" from <prefix>/share/tracetools/package.xml, for
 * <prefix>/lib/libtracetools.so. */
static inline bool kymo_tracetools_package(const char *library, char *text, size_t size,
					   struct kymo_tracetools_room *room)
{
	static const char package[] = "/share/tracetools/package.xml";
	char *at;
	ssize_t got;
	int fd;

	if (!kymo_tracetools_resolve(library, room->path, PATH_MAX))
		return false;
	for (int up = 0; up < 2; up++) {
		at = strrchr(room->path, '/');
		if (!at)
			return false;
		*at = 0;
	}
	memcpy(room->path + strlen(room->path), package, sizeof package);
	fd = open(room->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, room->text, sizeof room->text - 1);
	(void)close(fd);
	room->text[got > 0 ? got : 0] = 0;
	at = strstr(room->text, "<version>");
	if (!at)
		return false;
	at += strlen("<version>");
	(void)snprintf(text, size, "%.*s", (int)strcspn(at, " <\r\n"), at);
	return *text >= '0' && *text <= '9';
}

/**
 * kymo_tracetools_decide() - determine the version of the libtracetools at @library
 * @family: the first row of abi/tracetools.def whose symbol the library exports
 * @signature: the signature in LTTng's probe of rmw_publish; NULL: the library has no such probe
 * @answer: filled; @room: used meanwhile
 *
 * Context: blocks (reads package.xml).
 */
static inline void kymo_tracetools_decide(enum kymo_tracetools_family family, const char *signature,
					  const char *library,
					  struct kymo_tracetools_answer *answer,
					  struct kymo_tracetools_room *room)
{
	const struct kymo_tracetools_range *range = &kymo_tracetools_ranges[family];
	const char *distribution = getenv("ROS_DISTRO");

	*answer = (struct kymo_tracetools_answer){ .evidence = KYMO_BY_SYMBOLS };
	if (family == KYMO_TRACETOOLS_IRON_OR_JAZZY && signature) {
		family = strstr(signature, "rmw_publisher_handle") ? KYMO_TRACETOOLS_JAZZY : KYMO_TRACETOOLS_IRON;
		range = &kymo_tracetools_ranges[family];
		answer->evidence = KYMO_BY_SIGNATURE;
	}
	if (kymo_tracetools_package(library, answer->text, sizeof answer->text, room))
		answer->version = kymo_tracetools_number(answer->text);
	if (answer->version >= range->from && answer->version <= range->to) {
		answer->evidence = KYMO_BY_PACKAGE;
	} else {
		answer->version = 0;
		answer->text[0] = 0;
		if (family == KYMO_TRACETOOLS_IRON_OR_JAZZY) {
			family = distribution && !strcmp(distribution, "iron") ? KYMO_TRACETOOLS_IRON : KYMO_TRACETOOLS_JAZZY;
			range = &kymo_tracetools_ranges[family];
			answer->evidence = distribution ? KYMO_BY_DISTRIBUTION : KYMO_BY_GUESS;
		}
	}
	answer->range = range;
}

#endif
