/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for programs: JSON and CSV, written cell by cell. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/table_internal.h"
#include "base/text.h"

/* JSON is UTF-8 by definition: bytes that are none become U+FFFD. */
void table_json_string(struct table *t, const char *text)
{
	size_t used = 0;
	char *utf8;

	/* json-c 0.16 forgets its buffer when a string becomes empty. */
	if (!*text) {
		fputs("\"\"", t->out);
		return;
	}
	utf8 = table_scratch(t, 3 * strlen(text) + 1);
	if (!utf8) {
		fputs("null", t->out);
		return;
	}
	while (*text) {
		size_t length = text_utf8_length(text);

		memcpy(utf8 + used, length ? text : "\xef\xbf\xbd", length ? length : 3);
		used += length ? length : 3;
		text += length ? length : 1;
	}
	if (used > INT32_MAX || !json_object_set_string_len(t->string, utf8, (int)used)) {
		t->error = ENOMEM;
		fputs("null", t->out);
		return;
	}
	fputs(json_object_to_json_string_ext(t->string, JSON_C_TO_STRING_PLAIN |
					     JSON_C_TO_STRING_NOSLASHESCAPE), t->out);
}

void table_json_key(struct table *t, const char *key)
{
	fputs(t->first_key ? "\n" : ",\n", t->out);
	t->first_key = false;
	table_json_string(t, key);
	fputs(": ", t->out);
}

void table_json_value(struct table *t, const struct table_spelling *value)
{
	if (!value->exact)
		fputs("null", t->out);
	else if (value->number)
		fputs(value->exact, t->out);
	else
		table_json_string(t, value->exact);
}

void table_json_cell(struct table *t, const struct table_spelling *cell)
{
	if (!t->column)
		fputs(t->rows ? ",\n  {" : "\n  {", t->out);
	else
		fputs(", ", t->out);
	table_json_string(t, t->columns[t->column].key);
	fputs(": ", t->out);
	table_json_value(t, cell);
	if (t->column + 1 == t->column_count)
		fputc('}', t->out);
}

void table_csv_string(struct table *t, const char *text, bool row_start)
{
	/* A comment sign at the start of a line would hide a row from readers that know comments. */
	bool quote = strpbrk(text, ",\"\r\n") || *text == ' ' || (row_start && *text == '#');

	if (!quote) {
		fputs(text, t->out);
		return;
	}
	fputc('"', t->out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', t->out);
		fputc(*text, t->out);
	}
	fputc('"', t->out);
}
