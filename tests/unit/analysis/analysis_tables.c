/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: their definitions, rows pulled one by one, filters, several at once, damaged traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/tables/tables.h"

#define ROWS_MAX 4096
#ifdef __SANITIZE_THREAD__ /* looks for nothing in one thread, and takes 20 times as long */
#define COPIES 20          /* damaged ones */
#define FILTERED 4         /* filters look at each 4th table */
#elif defined(__SANITIZE_ADDRESS__) /* five times as long */
#define COPIES 100
#define FILTERED 1
#else
#define COPIES 300
#define FILTERED 1
#endif

static const char fixture[] = KYMO_FIXTURES "/lifecycle";

/* A row as text: every column, NULL told apart. */
static char *row_text(const struct tables_row *row)
{
	const struct tables_table *table = &tables_table[tables_row_table(row)];
	struct tables_value value;
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fputs(table->name, out);
	for (unsigned i = 0; i < table->columns; i++) {
		tables_value(row, i, &value);
		if (value.is == TABLES_VALUE_INTEGER)
			fprintf(out, "|%lld", (long long)value.integer);
		else if (value.is == TABLES_VALUE_REAL)
			fprintf(out, "|%a", value.real);
		else
			fprintf(out, "|%s", value.is == TABLES_VALUE_TEXT ? value.text : "\x01");
	}
	fclose(out);
	return text;
}

struct rows {
	char *text[ROWS_MAX];
	struct tables_value *value[ROWS_MAX];	/* of each column */
	unsigned count;
	unsigned columns;
};

static void keep(struct rows *rows, const struct tables_row *row)
{
	unsigned columns = tables_table[tables_row_table(row)].columns;
	struct tables_value *value = calloc(columns, sizeof(*value));

	assert_true(rows->count < ROWS_MAX && value);
	rows->columns = columns;
	for (unsigned i = 0; i < columns; i++) {
		tables_value(row, i, &value[i]);
		if (value[i].is == TABLES_VALUE_TEXT)
			value[i].text = strdup(value[i].text);
	}
	rows->value[rows->count] = value;
	rows->text[rows->count++] = row_text(row);
}

static void drop(struct rows *rows)
{
	for (unsigned i = 0; i < rows->count; i++) {
		for (unsigned j = 0; j < rows->columns; j++)
			if (rows->value[i][j].is == TABLES_VALUE_TEXT)
				free((char *)rows->value[i][j].text);
		free(rows->value[i]);
		free(rows->text[i]);
	}
	free(rows);
}

static struct rows *read_rows(struct tables *tables, const struct tables_request *request)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	const struct tables_row *row;
	struct tables_scan *scan;
	struct kymo_err err = { 0 };
	int more;

	assert_non_null(rows);
	assert_int_equal(tables_scan(tables, request, &scan, &err), 0);
	while ((more = tables_next(scan, &row, &err)) > 0)
		keep(rows, row);
	assert_int_equal(more, 0);
	tables_scan_end(scan);
	return rows;
}

static struct rows *read_table(struct tables *tables, unsigned table)
{
	struct tables_request request = { .tables = TABLES_BIT(table) };

	return read_rows(tables, &request);
}

static struct tables *open_fixture(void)
{
	struct tables *tables;
	struct kymo_err err = { 0 };

	if (tables_open(&tables, (const char *const[]){ fixture }, 1, &err))
		fail_msg("%s", err.text);
	return tables;
}

static void definitions(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TABLES; i++) {
		const struct tables_table *table = &tables_table[i];

		assert_int_equal(tables_find(table->name), (int)i);
		assert_string_equal(table->column[0].name, "id");
		assert_int_equal(table->column[0].type, TABLES_ID);
		assert_int_equal(table->text[strlen(table->text) - 1], '.');
		assert_true(table->columns < 64);	/* SQLite's mask of used columns */
		for (unsigned j = 0; j < table->columns; j++) {
			assert_int_equal(tables_column(i, table->column[j].name), (int)j);
			assert_true(table->column[j].text[0] &&
				    table->column[j].text[strlen(table->column[j].text) - 1] !=
					    '.');
		}
		if (tables_window(i) >= 0)
			assert_int_equal(table->column[tables_window(i)].type, TABLES_TIME);
		if (tables_order(i) >= 0)
			assert_int_equal(table->column[tables_order(i)].type, TABLES_TIME);
	}
	assert_int_equal(tables_find("nothing"), -1);
	assert_int_equal(tables_column(0, "nothing"), -1);
}

static void numbers_and_order(void **state)
{
	struct tables *tables = open_fixture();
	unsigned filled = 0;

	(void)state;
	for (unsigned i = 0; i < TABLES; i++) {
		struct rows *rows = read_table(tables, i);
		int order = tables_order(i);

		filled += rows->count > 0;
		for (unsigned j = 0; j < rows->count; j++) {
			if (tables_numbered(i))
				assert_int_equal(rows->value[j][0].integer, j + 1);
			if (order >= 0 && j)
				assert_true(rows->value[j][order].integer >=
					    rows->value[j - 1][order].integer);
		}
		drop(rows);
	}
	assert_true(filled > 20);
	tables_close(tables);
}

static bool fulfils(const struct tables_value *value, enum tables_relation relation, int64_t number)
{
	int64_t left = value->integer;

	if (value->is != TABLES_VALUE_INTEGER)
		return false;
	return relation == TABLES_EQ ? left == number : relation == TABLES_GT ? left > number :
	       relation == TABLES_GE ? left >= number : relation == TABLES_LT ? left < number :
	       left <= number;
}

/* With a filter come exactly the rows that come without it and fulfil it, whatever is skipped. */
static void check_filter(struct tables *tables, const struct rows *all,
			 const struct tables_filter *filter)
{
	struct tables_request request = { .tables = TABLES_BIT(filter->table),
					  .filter = filter,
					  .filters = 1 };
	struct rows *some = read_rows(tables, &request);
	unsigned at = 0;

	for (unsigned i = 0; i < all->count; i++) {
		const struct tables_value *value = &all->value[i][filter->column];

		if (filter->text ? value->is != TABLES_VALUE_TEXT ||
					   strcmp(value->text, filter->text) != 0
				 : !fulfils(value, filter->relation, filter->number))
			continue;
		assert_true(at < some->count);
		assert_string_equal(some->text[at++], all->text[i]);
	}
	assert_int_equal(at, some->count);
	drop(some);
}

static void filters(void **state)
{
	struct tables *tables = open_fixture();

	(void)state;
	for (unsigned i = 0; i < TABLES; i += FILTERED) {
		struct rows *all = read_table(tables, i);
		const struct tables_value *row = all->count ? all->value[all->count / 2] : NULL;

		for (unsigned j = 0; row && j < tables_table[i].columns; j++) {
			struct tables_filter filter = { .table = (uint8_t)i, .column = (uint8_t)j };

			if (row[j].is == TABLES_VALUE_TEXT) {
				filter.text = row[j].text;
				check_filter(tables, all, &filter);
			}
			if (row[j].is != TABLES_VALUE_INTEGER)
				continue;
			filter.number = row[j].integer;
			for (int relation = TABLES_EQ; relation <= TABLES_LE; relation++) {
				filter.relation = (enum tables_relation)relation;
				check_filter(tables, all, &filter);
			}
		}
		drop(all);
	}
	tables_close(tables);
}

/* All tables in one pass give each the rows it gives alone. */
static void all_at_once(void **state)
{
	struct tables *tables = open_fixture();
	struct tables_request request = { .tables = (UINT64_C(1) << TABLES) - 1 };
	struct rows *alone[TABLES];
	unsigned at[TABLES] = { 0 };
	const struct tables_row *row;
	struct tables_scan *scan;
	struct kymo_err err = { 0 };
	int more;

	(void)state;
	for (unsigned i = 0; i < TABLES; i++)
		alone[i] = read_table(tables, i);
	assert_int_equal(tables_scan(tables, &request, &scan, &err), 0);
	while ((more = tables_next(scan, &row, &err)) > 0) {
		unsigned table = tables_row_table(row);
		char *text = row_text(row);

		assert_true(at[table] < alone[table]->count);
		assert_string_equal(text, alone[table]->text[at[table]++]);
		free(text);
	}
	assert_int_equal(more, 0);
	tables_scan_end(scan);
	for (unsigned i = 0; i < TABLES; i++) {
		assert_int_equal(at[i], alone[i]->count);
		drop(alone[i]);
	}
	tables_close(tables);
}

/* A scan that is ended early, and another one beside it. */
static void half_a_scan(void **state)
{
	struct tables *tables = open_fixture();
	struct tables_request messages = { .tables = TABLES_BIT(TABLE_messages) };
	struct tables_request events = { .tables = TABLES_BIT(TABLE_events) };
	struct rows *all = read_rows(tables, &messages);
	struct tables_scan *first, *second;
	const struct tables_row *row;
	struct kymo_err err = { 0 };

	(void)state;
	assert_int_equal(tables_scan(tables, &messages, &first, &err), 0);
	assert_int_equal(tables_scan(tables, &events, &second, &err), 0);
	for (unsigned i = 0; i < 5; i++) {
		char *text;

		assert_int_equal(tables_next(first, &row, &err), 1);
		text = row_text(row);
		assert_string_equal(text, all->text[i]);
		free(text);
		assert_int_equal(tables_next(second, &row, &err), 1);
	}
	tables_scan_end(second);
	tables_scan_end(first);
	drop(all);
	tables_close(tables);
}

/* ---- damage ---- */

static uint64_t random_state = 99;

static unsigned below(unsigned limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % limit;
}

static size_t load(const char *name, uint8_t *bytes, size_t size)
{
	char path[4200];
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "%s/ust/uid/0/64-bit/%s", fixture, name);
	file = fopen(path, "r");
	assert_non_null(file);
	length = fread(bytes, 1, size, file);
	fclose(file);
	return length;
}

static void store(const char *directory, const char *name, const uint8_t *bytes, size_t size)
{
	char path[4200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

/* Whatever the model makes of it, every column of every row can be asked for. */
static void damaged(void **state)
{
	static uint8_t metadata[65536], stream[65536], copy[65536];
	char directory[] = "/dev/shm/kymo-tables.XXXXXX", path[64];
	size_t metadata_size = load("metadata", metadata, sizeof(metadata));
	size_t size = load("ros2_1", stream, sizeof(stream));
	struct tables_request request = { .tables = (UINT64_C(1) << TABLES) - 1 };
	uint64_t rows = 0;

	(void)state;
	assert_non_null(mkdtemp(directory));
	store(directory, "metadata", metadata, metadata_size);
	for (unsigned i = 0; i < COPIES; i++) {
		const struct tables_row *row;
		struct tables_scan *scan;
		struct tables *tables;
		struct kymo_err err = { 0 };

		memcpy(copy, stream, size);
		for (unsigned j = 0; j < 1 + below(20); j++)
			copy[below((unsigned)size)] = (uint8_t)below(256);
		store(directory, "ros2_1", copy, size);
		if (tables_open(&tables, (const char *const[]){ directory }, 1, &err))
			continue;
		if (!tables_scan(tables, &request, &scan, &err)) {
			for (; tables_next(scan, &row, &err) > 0; rows++)
				free(row_text(row));
			tables_scan_end(scan);
		}
		tables_close(tables);
	}
	assert_true(rows > COPIES * 100);
	snprintf(path, sizeof(path), "%s/metadata", directory);
	unlink(path);
	snprintf(path, sizeof(path), "%s/ros2_1", directory);
	unlink(path);
	rmdir(directory);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(definitions), cmocka_unit_test(numbers_and_order),
		cmocka_unit_test(filters), cmocka_unit_test(all_at_once),
		cmocka_unit_test(half_a_scan), cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
