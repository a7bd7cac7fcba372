/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of a scan: listeners add rows, and tables_next() removes them. All files with listeners
 * use it. It also opens the readers of scans.
 */
#include "analysis/tables/tables_internal.h"

#include <string.h>

#include "base/array.h"

bool tables_wants(const struct tables_scan *scan, enum tables_id table)
{
	return scan->request.tables & TABLES_BIT(table);
}

struct tables_row *tables_row_new(struct tables_scan *scan, enum tables_id table)
{
	struct tables_row *row;

	if (!tables_wants(scan, table))
		return NULL;
	if (!ARRAY_ROOM(scan->queue, scan->queued, scan->queue_size)) {
		scan->out_of_memory = true;
		return NULL;
	}
	row = &scan->queue[scan->queued++];
	memset(row, 0, sizeof(*row));
	row->table = table;
	row->clock = scan->tables->clock;
	row->id = ++scan->last_id[table];
	return row;
}

/* Corrects the pointers of a row: the queue may have moved since the row was created. */
static void settle(struct tables_row *row)
{
	if (tables_table[row->table].of_objects)
		return;
	row->it = &row->id;
	if ((row->table == TABLE_callback_instances || row->table == TABLE_unfinished_instances) &&
	    row->instance.instance.message)
		row->instance.instance.message = &row->instance.message;
}

struct tables_row *tables_row_next(struct tables_scan *scan)
{
	struct tables_row *row;

	if (scan->taken == scan->queued) {
		scan->taken = scan->queued = 0;
		return NULL;
	}
	row = &scan->queue[scan->taken++];
	settle(row);
	return row;
}

int tables_reader(const struct tables *tables, struct kymo_ctf_reader **reader,
		  struct kymo_err *err)
{
	if (kymo_ctf_open_all((const char *const *)tables->path, tables->paths, reader, err))
		return -1;
	if (!align_apply(tables->align, *reader, err))
		return 0;
	kymo_ctf_close(*reader);
	*reader = NULL;
	return -1;
}

/* Out of memory, a warning is lost; the next failure is reported. */
static void keep_text(struct tables *tables, struct tables_texts *list, const char *text)
{
	for (unsigned i = 0; i < list->count; i++)
		if (strcmp(list->item[i], text) == 0)
			return;
	if (!ARRAY_ROOM(list->item, list->count, list->size))
		return;
	list->item[list->count] = pool_text(&tables->pool, text, strlen(text));
	list->count += list->item[list->count] != NULL;
}

void tables_keep_warning(struct tables *tables, const char *text)
{
	keep_text(tables, &tables->warnings, text);
}

void tables_keep_file(void *tables, const char *path)
{
	keep_text(tables, &((struct tables *)tables)->files, path);
}
