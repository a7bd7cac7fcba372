/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about windows of time; see analysis/stats/stats_windows.h. */
#include "analysis/stats/stats_windows.h"

#include "analysis/tables/tables_internal.h"

static int64_t rounded(double ns)
{
	return (int64_t)(ns + 0.5);
}

static void on_window(void *context, const struct windows_row *of)
{
	struct tables_row *row = tables_row_new(context, TABLE_windows);
	const struct histogram *values = of->values;
	const bool any = values->count;

	if (!row)
		return;
	row->window = (struct tables_window_row){
		.id = row->id,
		.begin_ns = of->begin_ns,
		.end_ns = of->end_ns,
		.callback = of->callback,
		.topic = of->topic ? of->topic : tables_callback_topic(of->callback),
		.count = of->count,
		.busy_ns = of->callback ? of->busy_ns : NONE,
		.mean_ns = any ? rounded(histogram_mean(values)) : NONE,
		.deviation_ns = any ? rounded(histogram_deviation(values)) : NONE,
		.p50_ns = any ? (int64_t)histogram_quantile(values, 0.5) : NONE,
		.p99_ns = any ? (int64_t)histogram_quantile(values, 0.99) : NONE,
		.max_ns = any ? (int64_t)values->max : NONE,
	};
}

int tables_windows_attach(struct tables_scan *scan, struct kymo_err *err)
{
	const int64_t length_ns =
		scan->tables->window_ns ? scan->tables->window_ns : WINDOWS_LENGTH_NS;

	if (!tables_wants(scan, TABLE_windows))
		return 0;
	return windows_create(&scan->windows, scan->model, length_ns, on_window, scan, err);
}

int tables_set_window(struct tables *tables, int64_t length_ns, struct kymo_err *err)
{
	if (length_ns && length_ns < WINDOWS_SHORTEST_NS)
		return err_set(err, KYMO_EXIT_USAGE, "--window: a window is 1 ms or longer");
	tables->window_ns = length_ns;
	return 0;
}
