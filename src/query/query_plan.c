/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a table is read under some conditions.
 *
 * SQLite first asks xBestIndex how it would read a table under some conditions, and then calls
 * xFilter to read it. The plan that connects the two is a text: the columns that are used as a
 * hexadecimal number, then "column,relation" for each condition whose value xFilter receives. A
 * condition that is not in the plan is checked by SQLite, row by row.
 */
#include <stdio.h>
#include <stdlib.h>

#include "query/query_internal.h"

/* What a table costs to read, for the planner: only the proportions matter. */
#define OBJECTS 100.0
#define EVENTS 1e6
#define EVENT_COST 10.0

static int relation_of(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return TABLES_EQ;
	case SQLITE_INDEX_CONSTRAINT_GT:
		return TABLES_GT;
	case SQLITE_INDEX_CONSTRAINT_GE:
		return TABLES_GE;
	case SQLITE_INDEX_CONSTRAINT_LT:
		return TABLES_LT;
	case SQLITE_INDEX_CONSTRAINT_LE:
		return TABLES_LE;
	default:
		return -1;
	}
}

/*
 * Whether condition @i is an IN, whose values SQLite would hand over one by one. SQLite before 3.38
 * does not tell; there each "=" counts as one, and SQLite compares the rows itself.
 */
static bool may_be_in(sqlite3_index_info *info, int i)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	return sqlite3_vtab_in(info, i, -1);
#else
	return info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ;
#endif
}

static bool can_check(sqlite3_index_info *info, int i, const struct tables_table *table)
{
	const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
	enum tables_type type;

	if (!constraint->usable || constraint->iColumn < 0 || relation_of(constraint->op) < 0)
		return false;
	type = table->column[constraint->iColumn].type;
	/* With IN, each value would be a pass over the trace of its own. */
	if (type == TABLES_REAL || (!table->of_objects && may_be_in(info, i)))
		return false;
	if (type != TABLES_TEXT)
		return true;
	return constraint->op == SQLITE_INDEX_CONSTRAINT_EQ &&
	       sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

static void estimate(sqlite3_index_info *info, const struct tables_table *table, bool by_id,
		     unsigned equals, unsigned ranges)
{
	double rows = table->of_objects ? OBJECTS : EVENTS;
	double cost = rows * (table->of_objects ? 1 : EVENT_COST);

	/* All events are read whatever the conditions are. A kept table is faster, but has to be
	 * created first. */
	if (equals)
		cost /= table->of_objects ? 2 : 20;
	for (; equals; equals--)
		rows /= 20;
	for (; ranges; ranges--) {
		rows /= 3;
		cost *= 0.9;
	}
	if (by_id) {
		rows = 1;
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		if (table->of_objects)
			cost = 1;
	}
	info->estimatedRows = rows > 1 ? (sqlite3_int64)rows : 1;
	info->estimatedCost = cost;
}

int query_plan(const struct query *query, unsigned number, sqlite3_index_info *info)
{
	unsigned used = 0, equals = 0, ranges = 0;
	const struct tables_table *table = &tables_table[number];
	sqlite3_str *plan = sqlite3_str_new(NULL);
	bool by_id = false;

	sqlite3_str_appendf(plan, "%llx", info->colUsed);
	for (int i = 0; i < info->nConstraint && used < QUERY_CONDITIONS_MAX; i++) {
		int column = info->aConstraint[i].iColumn, relation;

		if (!can_check(info, i, table))
			continue;
		relation = relation_of(info->aConstraint[i].op);
		info->aConstraintUsage[i].argvIndex = (int)++used;
		sqlite3_str_appendf(plan, " %d,%d", column, relation);
		equals += relation == TABLES_EQ;
		ranges += relation != TABLES_EQ;
		by_id |= !column && relation == TABLES_EQ;
	}
	estimate(info, table, by_id, equals, ranges);
	if (info->nOrderBy == 1 && !info->aOrderBy[0].desc &&
	    (info->aOrderBy[0].iColumn ? info->aOrderBy[0].iColumn == tables_order(number) &&
					 tables_in_order(query->tables) :
				       tables_numbered(number)))
		info->orderByConsumed = 1;
	info->idxStr = sqlite3_str_finish(plan);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

void query_plan_read(struct query_plan *plan, const char *text)
{
	unsigned column, relation;
	int used = 0;

	plan->conditions = 0;
	plan->columns = strtoull(text, (char **)&text, 16);
	while (plan->conditions < QUERY_CONDITIONS_MAX &&
	       sscanf(text, " %u,%u%n", &column, &relation, &used) == 2) {
		struct query_condition *condition = &plan->condition[plan->conditions++];

		condition->column = (uint8_t)column;
		condition->relation = (enum tables_relation)relation;
		text += used;
	}
}
