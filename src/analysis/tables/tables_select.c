/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of rows for all scans: by a window, and by nodes, topics and processes. */
#include "analysis/tables/tables_internal.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* ---- the window, as filters ---- */

struct tables_filter *tables_filters(const struct tables *tables,
				     const struct tables_request *request, unsigned *count)
{
	const struct tables_choice *choice = tables->choice;
	struct tables_filter *filter = calloc(request->filters + 2 * TABLES + 1, sizeof(*filter));
	unsigned used = request->filters;

	if (!filter)
		return NULL;
	if (used)
		memcpy(filter, request->filter, used * sizeof(*filter));
	for (unsigned i = 0; i < TABLES && choice; i++) {
		int window = tables_window(i);

		if (window < 0 || !(request->tables & TABLES_BIT(i)))
			continue;
		if (choice->begin_ns != INT64_MIN)
			filter[used++] = (struct tables_filter){ .table = (uint8_t)i,
				.column = (uint8_t)window, .relation = TABLES_GE,
				.number = choice->begin_ns, .elapsed = tables->clock };
		if (choice->end_ns != INT64_MAX)
			filter[used++] = (struct tables_filter){ .table = (uint8_t)i,
				.column = (uint8_t)window, .relation = TABLES_LE,
				.number = choice->end_ns, .elapsed = tables->clock };
	}
	*count = used;
	return filter;
}

/* ---- names ---- */

/* A row with several of these columns belongs to each of the named nodes. */
static const char *const node_columns[] = { "node", "publisher_node", "subscriber_node", "client_node",
					    "service_node", NULL };
static const char *const topic_columns[] = { "topic_name", NULL };

/* Ids of objects that belong to a process. */
static const struct {
	const char *name;
	enum model_kind kind;
} owners[] = {
	{ "process_id", MODEL_PROCESS },	{ "thread_id", MODEL_THREAD },
	{ "publish_thread_id", MODEL_THREAD },	{ "take_thread_id", MODEL_THREAD },
	{ "client_thread_id", MODEL_THREAD },	{ "service_thread_id", MODEL_THREAD },
	{ "publisher_id", MODEL_PUBLISHER },	{ "subscription_id", MODEL_SUBSCRIPTION },
	{ "node_id", MODEL_NODE },
};

static uint64_t bit_of(unsigned table, const char *column)
{
	int number = tables_column(table, column);

	return number < 0 ? 0 : UINT64_C(1) << number;
}

static void find_columns(struct tables_choice *choice, unsigned table)
{
	for (const char *const *name = node_columns; *name; name++)
		choice->node_columns[table] |= bit_of(table, *name);
	for (const char *const *name = topic_columns; *name; name++)
		choice->topic_columns[table] |= bit_of(table, *name);
	for (size_t i = 0; i < COUNT_OF(owners); i++)
		choice->process_columns[table] |= bit_of(table, owners[i].name);
	if (table == TABLE_nodes)
		choice->node_columns[table] |= bit_of(table, "full_name");
	if (table == TABLE_topics)
		choice->topic_columns[table] |= bit_of(table, "name");
	if (table == TABLE_processes)
		choice->process_columns[table] |= bit_of(table, "id");
}

int tables_select(struct tables *tables, const struct selection *selection, int64_t begin_ns,
		  int64_t end_ns, struct kymo_err *err)
{
	struct tables_choice *choice;

	free(tables->choice);
	tables->choice = NULL;
	if (!selection_any(selection) && begin_ns == INT64_MIN && end_ns == INT64_MAX)
		return 0;
	if (selection && selection->process.count && tables_learn(tables, err))
		return -1;
	choice = calloc(1, sizeof(*choice));
	if (!choice)
		return err_no_memory(err);
	if (selection)
		choice->selection = *selection;
	choice->begin_ns = begin_ns;
	choice->end_ns = end_ns;
	for (unsigned i = 0; i < TABLES; i++)
		find_columns(choice, i);
	tables->choice = choice;
	return 0;
}

static bool is_named(const struct tables_row *row, uint64_t columns, const struct opt_list *globs)
{
	struct tables_value value;
	bool asked = !columns;

	for (; columns && globs->count; columns &= columns - 1) {
		const char *name;

		tables_value(row, (unsigned)__builtin_ctzll(columns), &value);
		name = value.is == TABLES_VALUE_TEXT ? value.text : NULL;
		if (selection_leaves_out(globs, name))
			return false;
		asked |= selection_matches(globs, name);
	}
	return asked || !globs->count;
}

/* The process of object @id of @kind. Ids are the same in every pass. */
static const struct model_process *process_of(const struct model *model, enum model_kind kind,
					      int64_t id)
{
	unsigned index = (unsigned)id - 1;

	if (id < 1 || id > model_count(model, kind))
		return NULL;
	switch (kind) {
	case MODEL_PROCESS:
		return model_process(model, index);
	case MODEL_THREAD:
		return model_thread(model, index)->process;
	case MODEL_PUBLISHER:
		return model_publisher(model, index)->process;
	case MODEL_SUBSCRIPTION:
		return model_subscription(model, index)->process;
	default:
		return model_node(model, index)->process;
	}
}

static enum model_kind owner_kind(unsigned table, unsigned column)
{
	for (size_t i = 0; i < COUNT_OF(owners); i++)
		if (strcmp(owners[i].name, tables_table[table].column[column].name) == 0)
			return owners[i].kind;
	return MODEL_PROCESS;		/* the id of a process itself */
}

static bool is_of_process(const struct tables *tables, const struct tables_row *row)
{
	const struct selection *selection = &tables->choice->selection;
	uint64_t columns = tables->choice->process_columns[row->table];
	struct tables_value value;

	if (!columns || !selection->process.count)
		return true;
	for (; columns; columns &= columns - 1) {
		unsigned column = (unsigned)__builtin_ctzll(columns);
		const struct model_process *process;

		tables_value(row, column, &value);
		process = value.is == TABLES_VALUE_INTEGER
				  ? process_of(tables->model, owner_kind(row->table, column),
					       value.integer)
				  : NULL;
		if (process && selection_process(selection, process->name, process->pid))
			return true;
	}
	return false;
}

bool tables_is_chosen(const struct tables *tables, const struct tables_row *row)
{
	const struct tables_choice *choice = tables->choice;

	return !choice ||
	       (is_named(row, choice->node_columns[row->table], &choice->selection.node) &&
		is_named(row, choice->topic_columns[row->table], &choice->selection.topic) &&
		is_of_process(tables, row));
}
