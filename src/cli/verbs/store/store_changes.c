/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/store/store_changes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/table/table.h"
#include "compare/series_print.h"
#include "summary/summary_file.h"

/* Values of runs in which events were lost may be wrong. */
static int add_run(struct series *series, unsigned commit, const char *path, unsigned *left_out,
		   struct kymo_err *err)
{
	struct summary *summary, *folded;
	int status = 0;

	if (summary_read(&summary, path, err))
		return -1;
	folded = summary_folded(summary);
	summary_free(summary);
	if (!folded)
		return err_no_memory(err);
	summary = folded;
	if (summary->trust.lost_events || summary->trust.lost_packets || summary->trust.damaged)
		++*left_out;
	else
		status = series_add(series, commit, summary);
	summary_free(summary);
	return status ? err_no_memory(err) : 0;
}

static int read_all(struct series *series, const struct store_dir *store, unsigned *left_out,
		    struct kymo_err *err)
{
	for (unsigned i = 0; i < store->count; i++)
		for (unsigned r = 0; r < store->commit[i].runs; r++)
			if (add_run(series, i, store->commit[i].path[r], left_out, err))
				return -1;
	return series_find(series) ? err_no_memory(err) : 0;
}

static int print(const struct store_changes *c, const struct series *series, unsigned left_out,
		 struct kymo_err *err)
{
	const char **commit = calloc((size_t)c->store->count + 1, sizeof(*commit));
	struct series_print how = {
		.commit = commit, .commits = c->store->count, .most = c->most, .left_out = left_out
	};
	struct table *table;
	int status = KYMO_EXIT_FAILED;

	if (!commit)
		return err_no_memory(err);
	for (unsigned i = 0; i < c->store->count; i++)
		commit[i] = c->store->commit[i].id;
	if (c->format == TABLE_TEXT) {
		series_print_text(stdout, series, &how);
		status = fflush(stdout) ? KYMO_EXIT_FAILED : KYMO_EXIT_OK;
	} else if (cli_table("store", c->format, &table) == 0) {
		series_print_table(table, series, &how);
		status = cli_close("store", table, KYMO_EXIT_OK);
	}
	free((void *)commit);
	return status;
}

int store_changes(const struct store_changes *c, struct kymo_err *err)
{
	struct series *series = series_new(c->limit, c->only);
	unsigned left_out = 0, searched;
	int status = -1;

	if (!series)
		return err_no_memory(err);
	if (read_all(series, c->store, &left_out, err) == 0) {
		status = print(c, series, left_out, err);
		(void)series_metrics(series, &searched);
		if (status == KYMO_EXIT_OK && !searched)
			status = KYMO_EXIT_EMPTY;
	}
	series_free(series);
	return status;
}
