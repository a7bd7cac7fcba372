/* SPDX-License-Identifier: Apache-2.0 */
/* See tally_names.h. */
#include "top/tally_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/records/classes.h"
#include "recorder/runtime/initlog_cursor.h"

#define BEGIN "_begin"
#define SLEEP "_sleep"

struct tally_names {
	struct classes classes;
	char name[KYMO_DECLARED_TEXT_MAX + sizeof(BEGIN)]; /* the one found last */
};

/* The log is untrusted and may be cleaned meanwhile; overwritten names are read the next time. */
static int take(struct tally_names *names, const struct region *region, uint64_t position,
		const struct log_place *place)
{
	uint8_t declaration[KYMO_LOG_CHUNK];

	if (place->head.id != KYMO_LOG_DECLARE || place->head.payload_size > sizeof(declaration))
		return 0;
	memcpy(declaration, place->payload, place->head.payload_size);
	if (!log_holds(region, position))
		return 0;
	return classes_declare(&names->classes, declaration, place->head.payload_size);
}

struct tally_names *tally_names_read(const struct region *region)
{
	const struct log_bounds bounds = log_bounds(region);
	struct tally_names *names = calloc(1, sizeof(*names));
	uint64_t at = bounds.head;

	while (names && at < bounds.tail) {
		struct log_place place;
		const enum log_look look = log_look(region, at, bounds.tail, &place);

		if (look == LOG_END || look == LOG_OVERTAKEN)
			break;
		if (look == LOG_RECORD)
			(void)take(names, region, at, &place);
		at = place.next;
	}
	return names;
}

void tally_names_free(struct tally_names *names)
{
	if (names)
		classes_free(&names->classes);
	free(names);
}

static bool is_loop(const struct kymo_point *point)
{
	return point->field_count && strcmp(point->field[0].name, "cycle") == 0;
}

/* Is @name of @point's category what a loop does between its cycles? */
static bool is_sleep(const struct tally_names *names, const struct kymo_point *point,
		     const char *name)
{
	const size_t length = strlen(name), sleep = strlen(SLEEP);

	if (length <= sleep || strcmp(name + length - sleep, SLEEP) != 0)
		return false;
	for (unsigned id = 0; id < names->classes.room; id++) {
		const struct kymo_point *other =
			classes_get(&names->classes, KYMO_POINTS_TABLE + id);

		if (other && is_loop(other) && strcmp(other->provider, point->provider) == 0 &&
		    strncmp(other->name, name, length - sleep) == 0 &&
		    strcmp(other->name + length - sleep, BEGIN) == 0)
			return true;
	}
	return false;
}

bool tally_names_find(const struct tally_names *names, struct tally_of *of)
{
	const struct kymo_point *point = classes_get(&names->classes, (unsigned)of->address);
	char *name = ((struct tally_names *)names)->name;
	size_t length;

	if (of->address < KYMO_POINTS_TABLE || !point)
		return false;
	length = strlen(point->name) - strlen(BEGIN);
	(void)snprintf(name, sizeof(names->name), "%.*s", (int)length, point->name);
	of->category = point->provider;
	of->name = is_sleep(names, point, name) ? NULL : name;
	return true;
}
