/* SPDX-License-Identifier: Apache-2.0 */
/* What the formats of rows.h share: the pass (rows.c), and files of lines (csv.c, json.c). */
#ifndef KYMO_EXPORT_ROWS_INTERNAL_H
#define KYMO_EXPORT_ROWS_INTERNAL_H

#include "export/rows/rows.h"

/** rows_pass() - hand every row to @take, which returns 0, or -1 with @err filled. */
int rows_pass(struct tables *tables, const struct rows_options *options, struct rows_result *result,
	      int (*take)(void *context, const struct tables_row *row, struct kymo_err *err),
	      void *context, struct kymo_err *err);

/* How a kind of file is written. */
struct line_format {
	const char *suffix;		/* of the file: "csv" */
	void (*head)(FILE *out, unsigned table);	/* NULL: none */
	void (*row)(FILE *out, const struct tables_row *row);
};

/** lines_export() - a file for each table, or options->out. */
int lines_export(struct tables *tables, const struct rows_options *options,
		 const struct line_format *format, struct rows_result *result, struct kymo_err *err);

/** lines_integer() - as printf("%lld"), which is too slow here. */
void lines_integer(FILE *out, int64_t value);

#endif
