/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as JSON Lines: one object a line, all columns, what is not known as null. */
#include <math.h>

#include "base/text.h"
#include "export/rows/rows_internal.h"

static void row(FILE *out, const struct tables_row *row)
{
	const struct tables_table *table = &tables_table[tables_row_table(row)];
	char real[TEXT_QUANTITY_MAX];
	struct tables_value value;

	for (unsigned i = 0; i < table->columns; i++) {
		fputs_unlocked(i ? ",\"" : "{\"", out);
		fputs_unlocked(table->column[i].name, out);
		fputs_unlocked("\":", out);
		tables_value(row, i, &value);
		if (value.is == TABLES_VALUE_INTEGER)
			lines_integer(out, value.integer);
		else if (value.is == TABLES_VALUE_REAL && isfinite(value.real))
			fputs_unlocked(text_f64_exact(real, value.real), out);
		else if (value.is == TABLES_VALUE_TEXT)
			text_put_json(out, value.text);
		else
			fputs_unlocked("null", out);
	}
	fputs_unlocked("}\n", out);
}

int json_export(struct tables *tables, const struct rows_options *options,
		struct rows_result *result, struct kymo_err *err)
{
	static const struct line_format format = { .suffix = "jsonl", .row = row };

	return lines_export(tables, options, &format, result, err);
}
