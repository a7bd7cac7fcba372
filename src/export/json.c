/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as JSON Lines: one object a line, all columns, what is not known as null. */
#include <math.h>

#include "base/text.h"
#include "export/rows_internal.h"

/* JSON is UTF-8 by definition: bytes that are none become U+FFFD. */
static void put_text(FILE *out, const char *text)
{
	putc_unlocked('"', out);
	while (*text) {
		size_t length = text_utf8_length(text);

		if (!length)
			fputs_unlocked("\\ufffd", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fprintf(out, "\\u%04x", (unsigned char)*text);
		else
			fwrite_unlocked(text, 1, length, out);
		text += length ? length : 1;
	}
	putc_unlocked('"', out);
}

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
			put_text(out, value.text);
		else
			fputs_unlocked("null", out);
	}
	fputs_unlocked("}\n", out);
}

int json_export(struct tables *tables, const struct rows_options *options,
		struct rows_result *result, struct err *err)
{
	static const struct line_format format = { .suffix = "jsonl", .row = row };

	return lines_export(tables, options, &format, result, err);
}
