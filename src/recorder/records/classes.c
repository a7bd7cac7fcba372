/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A declaration becomes a struct kymo_point like those of the table, so that all that follows
 * treats both alike. It is read once; a second declaration of an id changes nothing. What TSDL does
 * not allow is replaced: characters of names, and names that two fields share.
 *
 * The size of a payload, where all of its fields have a fixed one, is computed once for each class:
 * checking a record then takes one look.
 */
#include "recorder/records/classes.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/region.h"
#include "base/array.h"
#include "recorder/records/record_walk.h"

static_assert(KYMO_DECLARED_FIELDS_MAX <= KYMO_FIELDS_MAX, "a description has room for them");

/* In metadata, a shape is a suffix, which keeps begin and end of one name apart, and a URI. */
static const struct {
	const char *suffix, *uri;
} shapes[KYMO_SHAPES] = {
	[KYMO_SHAPE_POINT] = { "", "kymo:point" },
	[KYMO_SHAPE_BEGIN] = { "_begin", "kymo:begin" },
	[KYMO_SHAPE_END] = { "_end", "kymo:end" },
	[KYMO_SHAPE_INSTANT] = { "", "kymo:instant" },
	[KYMO_SHAPE_COUNTER] = { "", "kymo:counter" },
};

const struct kymo_point *classes_get(const struct classes *classes, unsigned id)
{
	if (id < KYMO_POINTS_TABLE)
		return &kymo_points[id];
	id -= KYMO_POINTS_TABLE;
	return id < classes->room ? classes->own[id].point : NULL;
}

/* Payload sizes of the table's events, computed when they are first needed: size + KNOWN; 0: not
 * yet. */
#define KNOWN 3
static int32_t table_fixed[KYMO_POINTS_TABLE];

static int32_t fixed_size(const struct kymo_point *point)
{
	return point->phase == KYMO_PHASE_RUN ? (int32_t)walk_fixed(point) : CLASSES_UNKNOWN;
}

long classes_table_fixed(unsigned id)
{
	if (!table_fixed[id])
		table_fixed[id] = fixed_size(&kymo_points[id]) + KNOWN;
	return table_fixed[id] - KNOWN;
}

/* ---- reading a declaration ---- */

struct text_cursor {
	const char *at, *end;
	bool bad;
};

/* The next text, "" when there is none. */
static const char *next_text(struct text_cursor *cursor)
{
	const char *text = cursor->at;
	const char *nul = memchr(text, 0, (size_t)(cursor->end - text));

	if (!nul || nul - text >= KYMO_DECLARED_TEXT_MAX) {
		cursor->bad = true;
		return "";
	}
	cursor->at = nul + 1;
	return text;
}

/* A copy that is valid between TSDL quotes. */
static char *quotable(const char *text, const char *suffix)
{
	char *copy;

	if (asprintf(&copy, "%s%s", *text ? text : "unnamed", suffix) < 0)
		return NULL;
	for (char *at = copy; *at; at++)
		if ((unsigned char)*at < ' ' || *at == '"' || *at == '\\' || *at == 0x7f)
			*at = '_';
	return copy;
}

/* A copy that is a valid TSDL field name behind an underscore. */
static char *identifier(const char *text)
{
	char *copy = strdup(*text ? text : "unnamed");

	for (char *at = copy; at && *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	return copy;
}

static bool kind_allowed(unsigned kind)
{
	return kind <= KYMO_KIND_STR || (kind >= KYMO_KIND_U8 && kind < KYMO_KINDS);
}

static void point_free(struct kymo_point *point)
{
	if (!point)
		return;
	for (unsigned i = 0; i < point->field_count; i++)
		free((char *)point->field[i].name);
	free((char *)point->provider);
	free((char *)point->name);
	free(point);
}

static void read_fields(struct kymo_point *point, unsigned count, struct text_cursor *cursor)
{
	for (unsigned i = 0; i < count && !cursor->bad; i++) {
		unsigned kind;

		if (cursor->at >= cursor->end) {
			cursor->bad = true;
			break;
		}
		kind = (unsigned char)*cursor->at++;
		cursor->bad |= !kind_allowed(kind);
		point->field[i].kind = (enum kymo_kind)kind;
		point->field[i].name = identifier(next_text(cursor));
		cursor->bad |= !point->field[i].name;
		point->field_count++;
	}
}

/* TSDL does not allow two fields of one name: the later ones get a number. */
static void number_same_names(struct kymo_point *point)
{
	for (unsigned i = 1; i < point->field_count; i++)
		for (unsigned j = 0; j < i; j++) {
			char *name;

			if (strcmp(point->field[i].name, point->field[j].name))
				continue;
			if (asprintf(&name, "%s_%u", point->field[i].name, i) < 0)
				return;
			free((char *)point->field[i].name);
			point->field[i].name = name;
			break;
		}
}

static struct kymo_point *read_declaration(const uint8_t *payload, size_t size)
{
	struct kymo_declaration head;
	struct text_cursor cursor = { (const char *)payload + sizeof head,
				      (const char *)payload + size, false };
	struct kymo_point *point = calloc(1, sizeof *point);

	memcpy(&head, payload, sizeof head);
	if (!point || head.shape >= KYMO_SHAPES || head.field_count > KYMO_DECLARED_FIELDS_MAX) {
		free(point);
		return NULL;
	}
	point->phase = KYMO_PHASE_RUN;
	point->to = KYMO_V_LAST;
	point->provider = quotable(next_text(&cursor), "");
	point->name = quotable(next_text(&cursor), shapes[head.shape].suffix);
	point->uri = shapes[head.shape].uri;
	(void)next_text(&cursor);	/* file and function */
	(void)next_text(&cursor);
	read_fields(point, head.field_count, &cursor);
	if (cursor.bad || !point->provider || !point->name) {
		point_free(point);
		return NULL;
	}
	number_same_names(point);
	return point;
}

int classes_declare(struct classes *classes, const uint8_t *payload, size_t size)
{
	__typeof__(classes->own) own;
	uint16_t id;

	if (size < sizeof(struct kymo_declaration))
		return -EINVAL;
	memcpy(&id, payload, sizeof id);
	if (id < KYMO_POINTS_TABLE || id >= KYMO_POINTS_MAX)
		return -EINVAL;
	own = ARRAY_AT(classes->own, classes->room, id - KYMO_POINTS_TABLE);
	if (!own)
		return -ENOMEM;
	if (own->point)
		return 0;
	own->point = read_declaration(payload, size);
	if (!own->point)
		return -EINVAL;
	own->fixed = fixed_size(own->point) - CLASSES_UNKNOWN;
	classes->count++;
	return 0;
}

void classes_free(struct classes *classes)
{
	for (unsigned i = 0; i < classes->room; i++)
		point_free(classes->own[i].point);
	free(classes->own);
	*classes = (struct classes){ 0 };
}
