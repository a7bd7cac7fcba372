/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells that several tables have. The functions add cells to the present row of a table, as those
 * of base/table.h do. Context: as there.
 */
#ifndef KYMO_REPORT_CELLS_H
#define KYMO_REPORT_CELLS_H

#include <stdint.h>

#include "analysis/model/model.h"
#include "base/histogram.h"
#include "base/table/table.h"

/* CELL_IF(t, thread, table_i64(t, thread->tid)): that cell if @known, else an empty one. */
#define CELL_IF(table, known, cell) ((known) ? (cell) : table_none(table))

/* @count empty cells. */
void cells_none(struct table *table, unsigned count);
/* Of text: "28 on the wire, 3 unknown"; without those of which there is none. */
struct cell_count {
	uint64_t count;
	const char *name;
};
void cell_counts(struct table *table, const struct cell_count *counts, unsigned number);
/* Empty without a name; NULL is no name. */
void cell_name(struct table *table, const char *name);
void cell_node(struct table *table, const struct model_node *node);
/* How often in a second; empty if that is not known (0). */
void cell_rate(struct table *table, double rate_hz);
/* @part of @whole in percent; empty if @whole is not above 0. */
void cell_percent(struct table *table, int64_t part, int64_t whole);
/* Empty unless @known. Below zero it is a plain number: the program freed what others allocated. */
void cell_bytes(struct table *table, bool known, int64_t bytes);
/* min, mean, p50, p99, max; all empty if nothing was counted. @error_ns as for table_ns_within().
 */
void cells_histogram(struct table *table, const struct histogram *durations, int64_t error_ns);
/* The standard deviation; empty if nothing was counted. @error_ns as above. */
void cell_deviation(struct table *table, const struct histogram *durations, int64_t error_ns);
/* count, and then cells_histogram(). */
void cells_latency(struct table *table, const struct histogram *durations, int64_t error_ns);

#endif
