/* SPDX-License-Identifier: Apache-2.0 */
/* Expands tables.def into names, types and documentation. The values are in tables_value.c. */
#include "analysis/tables/tables_internal.h"

#include <string.h>
#include <strings.h>

/* ---- definitions ---- */

#define OBJECTS(name, ...) static const struct tables_column columns_##name[] = {
#define ROWS(name, ...) OBJECTS(name)
#define COLUMN(name, type, value, text) { #name, TABLES_##type, text },
#define END };
#include "analysis/tables/tables.def"
#include "base/array.h"
#undef OBJECTS
#undef ROWS
#undef COLUMN
#undef END

static const struct {
	const char *order, *window;
} special[TABLES] = {
#define OBJECTS(name, type, kind, text) [TABLE_##name] = { NULL, NULL },
#define ROWS(name, type, order, window, text) [TABLE_##name] = { order, window },
#define COLUMN(...)
#define END
#include "analysis/tables/tables.def"
#undef OBJECTS
#undef ROWS
};

_Static_assert(TABLES < 64, "TABLES_BIT() has 64 bits");

const struct tables_table tables_table[TABLES] = {
#define OBJECTS(name_, type, kind, text_) [TABLE_##name_] = { .name = #name_, .text = text_,	\
	.column = columns_##name_, .columns = COUNT_OF(columns_##name_), .of_objects = true },
#define ROWS(name_, type, order, window, text_) [TABLE_##name_] = { .name = #name_, .text = text_, \
	.column = columns_##name_, .columns = COUNT_OF(columns_##name_) },
#include "analysis/tables/tables.def"
#undef OBJECTS
#undef ROWS
#undef COLUMN
#undef END
};

/*
 * Runs of callbacks, service calls and goals get their numbers when they begin, but become rows
 * when they end.
 */
bool tables_numbered(unsigned table)
{
	return table != TABLE_callback_instances && table != TABLE_unfinished_instances &&
	       table != TABLE_service_calls && table != TABLE_action_goals &&
	       table != TABLE_callback_cpu && table != TABLE_callback_waits &&
	       table != TABLE_callback_costs;
}

static int special_column(unsigned table, const char *name)
{
	return name ? tables_column(table, name) : -1;
}

int tables_order(unsigned table)
{
	return special_column(table, special[table].order);
}

int tables_window(unsigned table)
{
	return special_column(table, special[table].window);
}

int tables_find(const char *name)
{
	for (unsigned i = 0; i < TABLES; i++)
		if (strcasecmp(tables_table[i].name, name) == 0)
			return (int)i;
	return -1;
}

int tables_column(unsigned table, const char *name)
{
	for (unsigned i = 0; i < tables_table[table].columns; i++)
		if (strcasecmp(tables_table[table].column[i].name, name) == 0)
			return (int)i;
	return -1;
}

static const struct {
	const char *sql, *unit;
} types[] = {
	[TABLES_ID] = { "ID INTEGER", "" },
	[TABLES_COUNT] = { "INTEGER", "" },
	[TABLES_NUMBER] = { "INTEGER", "" },
	[TABLES_BOOL] = { "BOOLEAN INTEGER", "0 or 1" },
	[TABLES_TIME] = { "TIME INTEGER", "ns since 1970" },
	[TABLES_WALL] = { "TIME INTEGER", "ns since 1970" },
	[TABLES_DURATION] = { "DURATION INTEGER", "ns" },
	[TABLES_ADDRESS] = { "ADDRESS INTEGER", "" },
	[TABLES_REAL] = { "REAL", "" },
	[TABLES_TEXT] = { "TEXT", "" },
};

const char *tables_type_sql(enum tables_type type)
{
	return types[type].sql;
}

const char *tables_type_unit(enum tables_type type)
{
	return types[type].unit;
}
