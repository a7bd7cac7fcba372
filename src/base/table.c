/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for people, JSON and CSV. See table.h.
 *
 * JSON and CSV are written cell by cell. Text rows wait until the widths of their columns are
 * known, but at most ROWS_HELD of them: what comes later is written at once with the widths seen
 * so far. So memory does not grow with the number of rows in any format.
 */
#include "base/table.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#define ROWS_HELD 4096
#define COLUMNS_MAX 64
#define CELL_MAX 4096	/* bytes of one text cell; longer ones are cut and end in "..." */
#define FIT_MIN 32	/* columns of text that table_fit() always leaves: a time, most names */

enum side { SIDE_LEFT, SIDE_RIGHT, SIDE_AS_OTHERS };

struct column {
	size_t width;
	bool right;	/* a number was among its cells */
	bool cut;	/* to width, by table_fit() */
};

struct table {
	FILE *out;
	enum table_format format;
	bool bold;
	bool begun;		/* something was printed: the next section keeps a distance */
	bool first_key;		/* json: no key in the top object yet */
	int error;		/* errno of a failed allocation */

	/* The present section. */
	const struct table_column *columns;
	unsigned column_count;
	unsigned column;	/* of the next cell */
	uint64_t rows;
	unsigned sections;

	/* Text: held cells, each an enum side in one byte and a terminated string. */
	struct column shape[COLUMNS_MAX];
	size_t blanks;		/* owed before the next cell */
	size_t fit;		/* width of a row, or 0: as wide as it gets */
	bool header_done;
	char *held;
	size_t held_used, held_size;
	uint64_t held_rows;

	struct json_object *string;	/* escapes for json */
	char *clean;			/* scratch: 4 * longest input + 1 */
	size_t clean_size;
};

int table_open(struct table **table, FILE *out, enum table_format format)
{
	struct table *t = calloc(1, sizeof *t);
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	if (!t)
		return -ENOMEM;
	t->out = out;
	t->format = format;
	t->first_key = true;
	if (format == TABLE_TEXT)
		t->bold = (!no_color || !*no_color) && term && strcmp(term, "dumb") &&
			  isatty(fileno(out));
	if (format == TABLE_JSON) {
		t->string = json_object_new_string("");
		if (!t->string) {
			free(t);
			return -ENOMEM;
		}
		fputc('{', out);
	}
	*table = t;
	return 0;
}

void table_fit(struct table *t, unsigned width)
{
	t->fit = width;
}

/* ---- json ---- */

static char *scratch(struct table *t, size_t need)
{
	if (need > t->clean_size) {
		char *grown = realloc(t->clean, need);

		if (!grown) {
			t->error = ENOMEM;
			return NULL;
		}
		t->clean = grown;
		t->clean_size = need;
	}
	return t->clean;
}

/* JSON is UTF-8 by definition: bytes that are none become U+FFFD. */
static void json_string(struct table *t, const char *text)
{
	size_t used = 0;
	char *utf8;

	/* json-c 0.16 forgets its buffer when a string becomes empty. */
	if (!*text) {
		fputs("\"\"", t->out);
		return;
	}
	utf8 = scratch(t, 3 * strlen(text) + 1);
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

static void json_key(struct table *t, const char *key)
{
	fputs(t->first_key ? "\n" : ",\n", t->out);
	t->first_key = false;
	json_string(t, key);
	fputs(": ", t->out);
}

/* ---- csv ---- */

static void csv_string(struct table *t, const char *text, bool row_start)
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

/* ---- text ---- */

static bool shown(const struct table *t, unsigned column)
{
	return t->columns[column].title;
}

/* Bytes of the first @columns code points of @text, which is UTF-8. */
static size_t head_of(const char *text, size_t columns)
{
	size_t used = 0;

	while (columns-- && text[used]) {
		size_t length = text_utf8_length(text + used);

		used += length ? length : 1;
	}
	return used;
}

/* One cell with its distance to the one before. Blanks wait for something to stand behind them. */
static void text_cell(struct table *t, unsigned column, bool right, const char *text)
{
	size_t width = text_width(text);
	bool cut = t->shape[column].cut && width > t->shape[column].width;
	size_t space = width < t->shape[column].width ? t->shape[column].width - width : 0;
	bool first = true, last = true;

	for (unsigned i = 0; i < column; i++)
		first &= !shown(t, i);
	for (unsigned i = column + 1; i < t->column_count; i++)
		last &= !shown(t, i);
	t->blanks += (first ? 0 : 2) + (right ? space : 0);
	if (*text) {
		size_t length = cut ? head_of(text, t->shape[column].width - 3) : strlen(text);

		fprintf(t->out, "%*s%.*s%s", (int)t->blanks, "", (int)length, text, cut ? "..." : "");
		t->blanks = 0;
	}
	t->blanks += right ? 0 : space;
	if (last) {
		fputc('\n', t->out);
		t->blanks = 0;
	}
}

/* Cut the widest columns of text, until a row fits or none is left that may be cut. */
static void text_fit(struct table *t)
{
	size_t total = 0;
	struct column *widest;

	for (unsigned i = 0; i < t->column_count; i++)
		total += shown(t, i) ? t->shape[i].width + (total ? 2 : 0) : 0;
	for (; total > t->fit; total--) {
		widest = NULL;
		for (unsigned i = 0; i < t->column_count; i++) {
			size_t least = shown(t, i) ? text_width(t->columns[i].title) : SIZE_MAX;

			if (!t->shape[i].right && t->shape[i].width > FIT_MIN &&
			    t->shape[i].width > least && (!widest || t->shape[i].width > widest->width))
				widest = &t->shape[i];
		}
		if (!widest)
			return;
		widest->width--;
		widest->cut = true;
	}
}

static void text_header(struct table *t)
{
	if (t->header_done)
		return;
	t->header_done = true;
	for (unsigned i = 0; i < t->column_count; i++) {
		if (shown(t, i) && t->shape[i].width < text_width(t->columns[i].title))
			t->shape[i].width = text_width(t->columns[i].title);
	}
	if (t->fit)
		text_fit(t);
	for (unsigned i = 0; i < t->column_count; i++) {
		if (shown(t, i))
			text_cell(t, i, t->shape[i].right, t->columns[i].title);
	}
}

/* Write the held rows. */
static void text_flush(struct table *t)
{
	const char *at = t->held;

	if (t->held_rows)
		text_header(t);
	for (uint64_t row = 0; row < t->held_rows; row++) {
		for (unsigned i = 0; i < t->column_count; i++) {
			if (!shown(t, i))
				continue;
			text_cell(t, i, *at == SIDE_RIGHT || (*at == SIDE_AS_OTHERS && t->shape[i].right),
				  at + 1);
			at += 1 + strlen(at + 1) + 1;
		}
	}
	t->held_rows = 0;
	t->held_used = 0;
}

static void text_hold(struct table *t, enum side side, const char *text)
{
	size_t length = strlen(text), width = text_width(text);
	struct column *shape = &t->shape[t->column];

	if (!shown(t, t->column))
		return;
	if (width > shape->width)
		shape->width = width;
	shape->right |= side == SIDE_RIGHT;
	if (t->held_used + length + 2 > t->held_size) {
		size_t size = 2 * t->held_size + length + 4096;
		char *grown = realloc(t->held, size);

		if (!grown) {
			t->error = ENOMEM;
			return;
		}
		t->held = grown;
		t->held_size = size;
	}
	t->held[t->held_used++] = (char)side;
	memcpy(t->held + t->held_used, text, length + 1);
	t->held_used += length + 1;
}

static void text_title(struct table *t, const char *title)
{
	if (t->begun)
		fputc('\n', t->out);
	t->begun = true;
	if (title && *title)
		fprintf(t->out, t->bold ? "\033[1m%s\033[0m\n" : "%s\n", title);
}

/* ---- cells: the three spellings of one value ---- */

struct spelling {
	const char *text;	/* for people; NULL: a dash, null, nothing */
	const char *exact;	/* csv, and json if it is a number */
	bool number;		/* to the right; no quotes in json */
};

static void json_cell(struct table *t, const struct spelling *cell)
{
	if (!t->column)
		fputs(t->rows ? ",\n  {" : "\n  {", t->out);
	else
		fputs(", ", t->out);
	json_string(t, t->columns[t->column].key);
	fputs(": ", t->out);
	if (!cell->exact)
		fputs("null", t->out);
	else if (cell->number)
		fputs(cell->exact, t->out);
	else
		json_string(t, cell->exact);
	if (t->column + 1 == t->column_count)
		fputc('}', t->out);
}

static void cell(struct table *t, struct spelling cell)
{
	assert(t->columns && "a cell needs a section");
	switch (t->format) {
	case TABLE_TEXT:
		text_hold(t, cell.number ? SIDE_RIGHT : cell.text ? SIDE_LEFT : SIDE_AS_OTHERS,
			  cell.text ? cell.text : "-");
		break;
	case TABLE_JSON:
		json_cell(t, &cell);
		break;
	case TABLE_CSV:
		if (t->column)
			fputc(',', t->out);
		csv_string(t, cell.exact ? cell.exact : "", !t->column);
		break;
	}
	if (++t->column < t->column_count)
		return;
	t->column = 0;
	t->rows++;
	if (t->format == TABLE_CSV)
		fputc('\n', t->out);
	/* A failed allocation leaves rows with missing cells: drop what is held instead. */
	if (t->error) {
		t->held_rows = 0;
		t->held_used = 0;
		return;
	}
	if (t->format == TABLE_TEXT && (++t->held_rows == ROWS_HELD || t->header_done))
		text_flush(t);
}

/* @text without control characters, and not longer than anyone would read. */
static const char *presentable(struct table *t, const char *text)
{
	char *clean = scratch(t, CELL_MAX);
	size_t used;

	if (!clean)
		return "";
	used = text_clean(clean, CELL_MAX - 3, text);
	if (used + 8 > CELL_MAX - 3)
		memcpy(clean + used, "...", 4);
	return clean;
}

void table_text(struct table *t, const char *text)
{
	if (t->format == TABLE_TEXT)
		cell(t, (struct spelling){ text ? presentable(t, text) : "", NULL, false });
	else
		cell(t, (struct spelling){ text, text, false });
}

void table_u64(struct table *t, uint64_t value)
{
	char text[TEXT_QUANTITY_MAX];

	(void)snprintf(text, sizeof text, "%" PRIu64, value);
	cell(t, (struct spelling){ text, text, true });
}

void table_i64(struct table *t, int64_t value)
{
	char text[TEXT_QUANTITY_MAX];

	(void)snprintf(text, sizeof text, "%" PRId64, value);
	cell(t, (struct spelling){ text, text, true });
}

void table_hex(struct table *t, uint64_t value)
{
	char text[TEXT_QUANTITY_MAX];

	(void)snprintf(text, sizeof text, "0x%" PRIx64, value);
	cell(t, (struct spelling){ text, text, false });
}

void table_f64(struct table *t, double value)
{
	char text[TEXT_QUANTITY_MAX], exact[TEXT_QUANTITY_MAX];

	if (!isfinite(value)) {
		table_none(t);
		return;
	}
	cell(t, (struct spelling){ text_f64(text, value), text_f64_exact(exact, value), true });
}

void table_ns(struct table *t, int64_t ns)
{
	char text[TEXT_QUANTITY_MAX], exact[TEXT_QUANTITY_MAX];

	(void)snprintf(exact, sizeof exact, "%" PRId64, ns);
	cell(t, (struct spelling){ text_ns(text, ns), exact, true });
}

void table_bytes(struct table *t, uint64_t bytes)
{
	char text[TEXT_QUANTITY_MAX], exact[TEXT_QUANTITY_MAX];

	(void)snprintf(exact, sizeof exact, "%" PRIu64, bytes);
	cell(t, (struct spelling){ text_bytes(text, bytes), exact, true });
}

void table_none(struct table *t)
{
	cell(t, (struct spelling){ NULL, NULL, false });
}

/* ---- sections and facts ---- */

static void end_section(struct table *t)
{
	if (!t->columns)
		return;
	while (t->column)
		table_none(t);
	if (t->format == TABLE_TEXT) {
		text_flush(t);
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
	assert(column_count && column_count <= COLUMNS_MAX);
	end_section(t);
	t->columns = columns;
	t->column_count = column_count;
	t->column = 0;
	t->rows = 0;
	t->header_done = false;
	memset(t->shape, 0, sizeof t->shape);
	switch (t->format) {
	case TABLE_TEXT:
		text_title(t, title);
		break;
	case TABLE_JSON:
		json_key(t, key);
		fputc('[', t->out);
		break;
	case TABLE_CSV:
		if (t->sections)
			fprintf(t->out, "# %s\n", key);
		for (unsigned i = 0; i < column_count; i++) {
			fputs(i ? "," : "", t->out);
			csv_string(t, columns[i].key, !i);
		}
		fputc('\n', t->out);
		break;
	}
	t->sections++;
}

static void fact(struct table *t, const char *key, const char *title, struct spelling value)
{
	bool after_rows = t->columns;

	end_section(t);
	switch (t->format) {
	case TABLE_TEXT:
		if (!title)
			break;
		if (after_rows)
			fputc('\n', t->out);
		fprintf(t->out, "%s: %s\n", title, value.text ? value.text : "-");
		t->begun = true;
		break;
	case TABLE_JSON:
		json_key(t, key);
		if (!value.exact)
			fputs("null", t->out);
		else if (value.number)
			fputs(value.exact, t->out);
		else
			json_string(t, value.exact);
		break;
	case TABLE_CSV:
		fprintf(t->out, "# %s,", key);
		csv_string(t, value.exact ? value.exact : "", false);
		fputc('\n', t->out);
		break;
	}
}

void table_value_text(struct table *t, const char *key, const char *title, const char *value)
{
	const char *text = value && t->format == TABLE_TEXT ? presentable(t, value) : value;

	fact(t, key, title, (struct spelling){ text, value, false });
}

void table_value_u64(struct table *t, const char *key, const char *title, uint64_t value)
{
	char text[TEXT_QUANTITY_MAX];

	(void)snprintf(text, sizeof text, "%" PRIu64, value);
	fact(t, key, title, (struct spelling){ text, text, true });
}

void table_value_ns(struct table *t, const char *key, const char *title, int64_t ns)
{
	char text[TEXT_QUANTITY_MAX], exact[TEXT_QUANTITY_MAX];

	(void)snprintf(exact, sizeof exact, "%" PRId64, ns);
	fact(t, key, title, (struct spelling){ text_ns(text, ns), exact, true });
}

void table_note(struct table *t, const char *format, ...)
{
	char text[1024];
	bool after_rows = t->columns;
	va_list args;

	if (t->format != TABLE_TEXT)
		return;
	end_section(t);
	if (after_rows)
		fputc('\n', t->out);
	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);	/* a cut note is still a note */
	va_end(args);
	fprintf(t->out, "%s\n", presentable(t, text));
	t->begun = true;
}

int table_close(struct table *t)
{
	int error;

	end_section(t);
	if (t->format == TABLE_JSON)
		fputs(t->first_key ? "}\n" : "\n}\n", t->out);
	error = t->error;
	errno = 0;
	if (!error && (fflush(t->out) || ferror(t->out)))
		error = errno ? errno : EIO;
	json_object_put(t->string);
	free(t->held);
	free(t->clean);
	free(t);
	return -error;
}
