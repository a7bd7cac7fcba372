/* SPDX-License-Identifier: Apache-2.0 */
/* Cells that several tables of the report have. */
#include "report/report_cells.h"

#include <inttypes.h>
#include <stdio.h>

void cells_none(struct table *table, unsigned count)
{
	while (count--)
		table_none(table);
}

void cell_counts(struct table *table, const struct cell_count *counts, unsigned number)
{
	char text[256] = "";
	size_t used = 0;

	for (unsigned i = 0; i < number && used < sizeof(text); i++)
		if (counts[i].count)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "%s%" PRIu64 " %s", used ? ", " : "",
						 counts[i].count, counts[i].name);
	CELL_IF(table, used, table_text(table, text));
}

void cell_name(struct table *table, const char *name)
{
	CELL_IF(table, name && *name, table_text(table, name));
}

void cell_node(struct table *table, const struct model_node *node)
{
	CELL_IF(table, node, table_text(table, node->full_name));
}

void cell_rate(struct table *table, double rate_hz)
{
	CELL_IF(table, rate_hz > 0, table_f64(table, rate_hz));
}

void cell_percent(struct table *table, int64_t part, int64_t whole)
{
	CELL_IF(table, whole > 0, table_f64(table, 100.0 * (double)part / (double)whole));
}

void cell_bytes(struct table *table, bool known, int64_t bytes)
{
	CELL_IF(table, known, table_bytes_i64(table, bytes));
}

void cells_histogram(struct table *table, const struct histogram *durations, int64_t error_ns)
{
	if (!durations->count) {
		cells_none(table, 5);
		return;
	}
	table_ns_within(table, (int64_t)durations->min, error_ns);
	table_ns_within(table, (int64_t)(histogram_mean(durations) + 0.5), error_ns);
	table_ns_within(table, (int64_t)histogram_quantile(durations, 0.5), error_ns);
	table_ns_within(table, (int64_t)histogram_quantile(durations, 0.99), error_ns);
	table_ns_within(table, (int64_t)durations->max, error_ns);
}

void cell_deviation(struct table *table, const struct histogram *durations, int64_t error_ns)
{
	CELL_IF(table, durations->count,
		table_ns_within(table, (int64_t)(histogram_deviation(durations) + 0.5), error_ns));
}

void cells_latency(struct table *table, const struct histogram *durations, int64_t error_ns)
{
	table_u64(table, durations->count);
	cells_histogram(table, durations, error_ns);
}
