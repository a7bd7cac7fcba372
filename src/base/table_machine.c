/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for programs: JSON and CSV, written cell by cell. */
#include <string.h>

#include "base/table_internal.h"
#include "base/text.h"

void table_json_key(struct table *t, const char *key)
{
	fputs(t->first_key ? "\n" : ",\n", t->out);
	t->first_key = false;
	text_put_json(t->out, key);
	fputs(": ", t->out);
}

void table_json_value(struct table *t, const struct table_spelling *value)
{
	if (!value->exact)
		fputs("null", t->out);
	else if (value->number)
		fputs(value->exact, t->out);
	else
		text_put_json(t->out, value->exact);
}

void table_json_cell(struct table *t, const struct table_spelling *cell)
{
	if (!t->column)
		fputs(t->rows ? ",\n  {" : "\n  {", t->out);
	else
		fputs(", ", t->out);
	text_put_json(t->out, t->columns[t->column].key);
	fputs(": ", t->out);
	table_json_value(t, cell);
	if (t->column + 1 == t->column_count)
		fputc('}', t->out);
}
