/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as CSV (RFC 4180, plain newlines). NULL is an empty field. */
#include <string.h>

#include "base/text.h"
#include "export/rows/rows_internal.h"

static void put_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n") && *text != ' ' && *text != '#') {
		fputs_unlocked(text, out);
		return;
	}
	putc_unlocked('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc_unlocked('"', out);
		putc_unlocked(*text, out);
	}
	putc_unlocked('"', out);
}

static void head(FILE *out, unsigned table)
{
	for (unsigned i = 0; i < tables_table[table].columns; i++) {
		fputs(i ? "," : "", out);
		fputs(tables_table[table].column[i].name, out);
	}
	fputc('\n', out);
}

static void row(FILE *out, const struct tables_row *row)
{
	const struct tables_table *table = &tables_table[tables_row_table(row)];
	char real[TEXT_QUANTITY_MAX];
	struct tables_value value;

	for (unsigned i = 0; i < table->columns; i++) {
		if (i)
			putc_unlocked(',', out);
		tables_value(row, i, &value);
		if (value.is == TABLES_VALUE_INTEGER)
			lines_integer(out, value.integer);
		else if (value.is == TABLES_VALUE_REAL)
			fputs_unlocked(text_f64_exact(real, value.real), out);
		else if (value.is == TABLES_VALUE_TEXT)
			put_text(out, value.text);
	}
	putc_unlocked('\n', out);
}

int csv_export(struct tables *tables, const struct rows_options *options,
	       struct rows_result *result, struct kymo_err *err)
{
	static const struct line_format format = { .suffix = "csv", .head = head, .row = row };

	return lines_export(tables, options, &format, result, err);
}
