/* SPDX-License-Identifier: Apache-2.0 */
/* The opened traces of tables: their paths, the warnings of their readers, and their objects. */
#include "analysis/tables/tables_internal.h"

#include <stdlib.h>
#include <string.h>

static struct tables *tables_new(const char *const *path, unsigned paths)
{
	struct tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return NULL;
	tables->path = calloc(paths, sizeof(*tables->path));
	for (; tables->path && tables->paths < paths; tables->paths++) {
		tables->path[tables->paths] = strdup(path[tables->paths]);
		if (!tables->path[tables->paths])
			break;
	}
	if (tables->path && tables->paths == paths)
		return tables;
	tables_close(tables);
	return NULL;
}

int tables_open(struct tables **result, const char *const *path, unsigned paths,
		struct kymo_err *err)
{
	struct kymo_ctf_reader *reader;
	struct tables *tables;
	int status;

	/* Open it once now, to report immediately if it is not a trace. */
	if (kymo_ctf_open_all(path, paths, &reader, err))
		return -1;
	tables = tables_new(path, paths);
	if (!tables) {
		kymo_ctf_close(reader);
		return err_no_memory(err);
	}
	status = align_find(&tables->align, reader, NULL, NULL, err);
	kymo_ctf_close(reader);
	if (status) {
		tables_close(tables);
		return -1;
	}
	*result = tables;
	return 0;
}

void tables_borrow(struct tables *tables, struct model *model)
{
	tables->model = model;
	tables->is_borrowed = true;
}

const struct align *tables_align(const struct tables *tables)
{
	return tables->align;
}

void tables_close(struct tables *tables)
{
	if (!tables)
		return;
	spans_destroy(tables->spans);
	if (!tables->is_borrowed)
		model_destroy(tables->model);
	pool_free(&tables->pool);
	free(tables->warnings.item);
	free(tables->files.item);
	free(tables->choice);
	for (unsigned i = 0; i < tables->paths; i++)
		free(tables->path[i]);
	free(tables->path);
	align_destroy(tables->align);
	free(tables);
}

unsigned tables_warnings(const struct tables *tables)
{
	return tables->warnings.count;
}

const char *tables_warning(const struct tables *tables, unsigned index)
{
	return index < tables->warnings.count ? tables->warnings.item[index] : "";
}

void tables_files(const struct tables *tables, void (*each)(void *context, const char *path),
		  void *context)
{
	for (unsigned i = 0; i < tables->files.count; i++)
		each(context, tables->files.item[i]);
	if (tables->model)
		model_code_files(tables->model, each, context);
}

uint64_t tables_lost(const struct tables *tables)
{
	return tables->lost;
}

void tables_watch(struct tables *tables,
		  int (*tick)(void *context, uint64_t events, double done), void *context)
{
	tables->tick = tick;
	tables->tick_context = context;
}

void tables_clock(struct tables *tables, const struct simclock *clock)
{
	tables->clock = clock;
}

bool tables_in_order(const struct tables *tables)
{
	return !tables->clock || !simclock_facts(tables->clock)->jumps;
}

int tables_learn(struct tables *tables, struct kymo_err *err)
{
	static const struct tables_request nothing;
	const struct tables_row *row;
	struct tables_scan *scan;
	int status;

	if (tables->model)
		return 0;
	if (tables_scan(tables, &nothing, &scan, err))
		return -1;
	status = tables_next(scan, &row, err);
	if (!status) {
		tables->model = scan->model;
		tables->spans = scan->spans;
		scan->model = NULL;
		scan->spans = NULL;
	}
	tables_scan_end(scan);
	return status;
}
