/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: sections, cells and facts, and what each format makes of them. See table.h. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/table/table_internal.h"
#include "base/text.h"

int table_open(struct table **table, FILE *out, enum table_format format)
{
	struct table *t = calloc(1, sizeof *t);

	if (!t)
		return -ENOMEM;
	t->out = out;
	t->format = format;
	t->first_key = true;
	if (format == TABLE_JSON)
		fputc('{', out);
	*table = t;
	return 0;
}

void table_look(struct table *t, const struct table_look *look)
{
	if (t->format == TABLE_TEXT)
		t->look = *look;
}

void table_fit(struct table *t, unsigned width)
{
	table_look(t, &(struct table_look){ .terminal = true, .width = width });
}

const struct table_look *table_looks(const struct table *t)
{
	return &t->look;
}

void table_mark(struct table *t, enum table_mark mark)
{
	t->mark = mark;
}

void table_whole(struct table *t)
{
	t->whole = true;
}

/* ---- cells ---- */

static void cell(struct table *t, struct table_spelling cell)
{
	assert(t->columns && "a cell needs a section");
	switch (t->format) {
	case TABLE_TEXT:
		table_text_hold(t,
				cell.number ? TABLE_RIGHT
				: cell.text ? TABLE_LEFT
					    : TABLE_AS_OTHERS,
				cell.text ? cell.text : "-");
		break;
	case TABLE_JSON:
		table_json_cell(t, &cell);
		break;
	case TABLE_CSV:
		if (t->column)
			putc_unlocked(',', t->out);
		if (cell.number)
			fputs_unlocked(cell.exact ? cell.exact : "", t->out);
		else
			text_put_csv(t->out, cell.exact ? cell.exact : "", !t->column);
		break;
	}
	t->mark = TABLE_NORMAL;
	if (++t->column < t->column_count)
		return;
	t->column = 0;
	t->rows++;
	if (t->format == TABLE_CSV)
		fputc('\n', t->out);
	/* A failed allocation leaves rows with missing cells: drop what is held instead. */
	if (t->error) {
		t->held_rows = 0;
		t->held.size = 0;
		return;
	}
	if (t->format == TABLE_TEXT)
		table_text_row(t);
}

/* Only then a cell needs the spelling for people. */
static bool is_text(const struct table *t)
{
	return t->format == TABLE_TEXT;
}

/* @text without control characters, and not longer than anyone would read. */
static const char *presentable(struct table *t, const char *text)
{
	size_t used = text_clean(t->clean, TABLE_CELL_MAX - 3, text);

	if (used + 8 > TABLE_CELL_MAX - 3)
		memcpy(t->clean + used, "...", 4);
	return t->clean;
}

void table_text(struct table *t, const char *text)
{
	if (t->format == TABLE_TEXT)
		cell(t, (struct table_spelling){ text ? presentable(t, text) : "", NULL, false });
	else
		cell(t, (struct table_spelling){ text, text, false });
}

static void count(struct table *t, const char *exact)
{
	char text[TEXT_QUANTITY_MAX];

	cell(t, (struct table_spelling){
			is_text(t) ? table_text_count(t, t->columns[t->column].key, exact, text) : "",
			exact, true });
}

void table_u64(struct table *t, uint64_t value)
{
	char text[TEXT_QUANTITY_MAX];

	(void)text_u64_exact(text, value);
	count(t, text);
}

void table_i64(struct table *t, int64_t value)
{
	char text[TEXT_QUANTITY_MAX];

	(void)text_i64_exact(text, value);
	count(t, text);
}

void table_clock(struct table *t, int64_t (*stamp)(const void *context, int64_t ns),
		 const void *context)
{
	t->stamp = stamp;
	t->stamp_context = context;
}

void table_time(struct table *t, int64_t ns)
{
	table_i64(t, t->stamp ? t->stamp(t->stamp_context, ns) : ns);
}

void table_hex(struct table *t, uint64_t value)
{
	char text[TEXT_QUANTITY_MAX];

	(void)snprintf(text, sizeof text, "0x%" PRIx64, value);
	cell(t, (struct table_spelling){ text, text, false });
}

void table_f64(struct table *t, double value)
{
	char text[TEXT_QUANTITY_MAX], exact[TEXT_QUANTITY_MAX];

	if (!isfinite(value)) {
		table_none(t);
		return;
	}
	cell(t, (struct table_spelling){ is_text(t) ? text_f64(text, value) : "",
					 text_f64_exact(exact, value), true });
}

void table_ns(struct table *t, int64_t ns)
{
	char text[TEXT_QUANTITY_MAX], exact[TEXT_QUANTITY_MAX];

	(void)text_i64_exact(exact, ns);
	cell(t, (struct table_spelling){ is_text(t) ? text_ns(text, ns) : "", exact, true });
}

void table_ns_within(struct table *t, int64_t ns, int64_t error_ns)
{
	char quantity[TEXT_QUANTITY_MAX], text[TEXT_QUANTITY_MAX + 1];

	if (!error_ns || ns > error_ns) {
		table_ns(t, ns);
	} else if (t->format == TABLE_TEXT) {
		(void)snprintf(text, sizeof text, "<%s", text_ns(quantity, error_ns));
		cell(t, (struct table_spelling){ text, text, true });
	} else {
		table_none(t);
	}
}

void table_bytes(struct table *t, uint64_t bytes)
{
	char text[TEXT_QUANTITY_MAX], exact[TEXT_QUANTITY_MAX];

	(void)text_u64_exact(exact, bytes);
	cell(t, (struct table_spelling){ text_bytes(text, bytes), exact, true });
}

void table_bytes_i64(struct table *t, int64_t bytes)
{
	char text[TEXT_QUANTITY_MAX + 1] = "-", exact[TEXT_QUANTITY_MAX];

	(void)text_i64_exact(exact, bytes);
	(void)text_bytes(text + 1, bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes);
	cell(t, (struct table_spelling){ text + (bytes >= 0), exact, true });
}

void table_none(struct table *t)
{
	cell(t, (struct table_spelling){ NULL, NULL, false });
}

/* ---- sections and facts ---- */

static void end_section(struct table *t)
{
	if (!t->columns)
		return;
	while (t->column)
		table_none(t);
	if (t->format == TABLE_TEXT) {
		table_text_flush(t);
		if (!t->rows)
			fputs("  (none)\n", t->out);
	} else if (t->format == TABLE_JSON) {
		fputs(t->rows ? "\n]" : "]", t->out);
	}
	t->columns = NULL;
}

void table_section(struct table *t, const char *key, const char *title,
		   const struct table_column *columns, unsigned column_count)
{
	assert(column_count && column_count <= TABLE_COLUMNS_MAX);
	end_section(t);
	t->columns = memcpy(t->copy, columns, column_count * sizeof *columns);
	t->column_count = column_count;
	t->column = 0;
	t->rows = 0;
	t->header_done = false;
	memset(t->shape, 0, sizeof t->shape);
	for (unsigned i = 0; i < column_count; i++)
		t->shape[i].rank = table_fit_rank(columns[i].key, i);
	switch (t->format) {
	case TABLE_TEXT:
		table_text_title(t, title);
		break;
	case TABLE_JSON:
		table_json_key(t, key);
		fputc('[', t->out);
		break;
	case TABLE_CSV:
		if (t->sections)
			fprintf(t->out, "# %s\n", key);
		for (unsigned i = 0; i < column_count; i++) {
			fputs(i ? "," : "", t->out);
			text_put_csv(t->out, columns[i].key, !i);
		}
		fputc('\n', t->out);
		break;
	}
	t->sections++;
}

static void fact(struct table *t, const char *key, const char *title, struct table_spelling value)
{
	bool after_rows = t->columns;

	end_section(t);
	switch (t->format) {
	case TABLE_TEXT:
		if (!title)
			break;
		if (after_rows)
			fputc('\n', t->out);
		table_text_fact(t, key, title, &value);
		t->begun = true;
		break;
	case TABLE_JSON:
		table_json_key(t, key);
		table_json_value(t, &value);
		break;
	case TABLE_CSV:
		fprintf(t->out, "# %s,", key);
		text_put_csv(t->out, value.exact ? value.exact : "", false);
		fputc('\n', t->out);
		break;
	}
}

void table_value_text(struct table *t, const char *key, const char *title, const char *value)
{
	const char *text = value && t->format == TABLE_TEXT ? presentable(t, value) : value;

	fact(t, key, title, (struct table_spelling){ text, value, false });
}

void table_value_u64(struct table *t, const char *key, const char *title, uint64_t value)
{
	char text[TEXT_QUANTITY_MAX];

	(void)text_u64_exact(text, value);
	fact(t, key, title, (struct table_spelling){ text, text, true });
}

/* With @unit behind it for people. */
void table_value_f64(struct table *t, const char *key, const char *title, double value,
		     const char *unit)
{
	char text[TEXT_QUANTITY_MAX], exact[TEXT_QUANTITY_MAX];

	(void)snprintf(exact, sizeof exact, "%.6f", value);
	(void)snprintf(text, sizeof text, "%.4g %s", value, unit);
	fact(t, key, title, (struct table_spelling){ text, exact, true });
}

void table_value_ns(struct table *t, const char *key, const char *title, int64_t ns)
{
	char text[TEXT_QUANTITY_MAX], exact[TEXT_QUANTITY_MAX];

	(void)text_i64_exact(exact, ns);
	fact(t, key, title, (struct table_spelling){ text_ns(text, ns), exact, true });
}

void table_note(struct table *t, const char *format, ...)
{
	char text[1024];
	bool after_rows = t->columns;
	va_list args;

	if (t->format != TABLE_TEXT)
		return;
	end_section(t);
	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);	/* a cut note is still a note */
	va_end(args);
	if (after_rows && *text) /* an empty note is this empty line itself */
		fputc('\n', t->out);
	fputs(t->mark ? table_paint(t, t->mark) : "", t->out);
	table_fit_lines(t, presentable(t, text), 0, strspn(text, " "));
	fprintf(t->out, "%s\n", t->mark ? table_paint(t, TABLE_NORMAL) : "");
	t->mark = TABLE_NORMAL;
	t->begun = true;
}

int table_close(struct table *t)
{
	int error;

	end_section(t);
	if (t->left_out && t->look.more)
		fprintf(t->out, "%s%u column%s more: %s%s\n", table_paint(t, TABLE_USUAL),
			t->left_out, t->left_out == 1 ? "" : "s", t->look.more,
			table_paint(t, TABLE_NORMAL));
	if (t->format == TABLE_JSON)
		fputs(t->first_key ? "}\n" : "\n}\n", t->out);
	error = t->error;
	errno = 0;
	if (!error && (fflush(t->out) || ferror(t->out)))
		error = errno ? errno : EIO;
	free(t->held.text);
	free(t);
	return -error;
}
