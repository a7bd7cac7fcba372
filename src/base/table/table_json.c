/* SPDX-License-Identifier: Apache-2.0 */
/* What tables make of keys, values and cells in JSON, which is written cell by cell. */
#include <stdio.h>

#include "base/table/table_internal.h"

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
		fputs_unlocked("null", t->out);
	else if (value->number)
		fputs_unlocked(value->exact, t->out);
	else
		text_put_json(t->out, value->exact);
}

void table_json_cell(struct table *t, const struct table_spelling *cell)
{
	if (!t->column)
		fputs_unlocked(t->rows ? ",\n  {" : "\n  {", t->out);
	else
		fputs_unlocked(", ", t->out);
	text_put_json(t->out, t->columns[t->column].key);
	fputs_unlocked(": ", t->out);
	table_json_value(t, cell);
	if (t->column + 1 == t->column_count)
		fputc('}', t->out);
}
