/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a section: collected, sorted, and printed as far as the section may have rows. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/report_internal.h"

void report_rows_add(struct report_rows *rows, struct report_row row)
{
	if (!ARRAY_ROOM(rows->row, rows->count, rows->capacity))
		return;
	row.name = row.name ? row.name : "";
	row.then = row.then ? row.then : "";
	rows->row[rows->count++] = row;
}

static int by_key(const void *a, const void *b)
{
	const struct report_row *x = a, *y = b;
	int order;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	order = strcmp(x->name, y->name);
	if (!order)
		order = strcmp(x->then, y->then);
	return order ? order : (x->index > y->index) - (x->index < y->index);
}

unsigned report_rows_show(struct report *report, struct report_rows *rows,
			  void (*print)(struct report *report, const struct report_row *row))
{
	unsigned i;

	if (rows->count)
		qsort(rows->row, rows->count, sizeof(*rows->row), by_key);
	for (i = 0; i < rows->count && i < report_limit(report); i++)
		print(report, &rows->row[i]);
	return i;
}

void report_rows_print(struct report *report, struct report_rows *rows,
		       void (*print)(struct report *report, const struct report_row *row))
{
	report_more(report, report_rows_show(report, rows, print), rows->count);
	report->rows += rows->count;
	free(rows->row);
}
