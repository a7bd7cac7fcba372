/* SPDX-License-Identifier: Apache-2.0 */
/* The same sections and facts in three formats, unfriendly strings, and many rows. */
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "base/table/table.h"

static const struct table_column people[] = {
	{ "name", "Name" }, { "hidden", NULL }, { "max_ns", "Max" }, { "rate", "Rate" },
};

static const struct table_column few[] = { { "address", "Address" }, { "size", "Size" } };

static void fill(struct table *t)
{
	table_value_u64(t, "lost", "Lost", 3);
	table_section(t, "people", "People", people, 4);
	table_text(t, "ada \"a\", b");
	table_u64(t, 1);
	table_ns(t, 1234567);
	table_f64(t, 9.5);
	table_text(t, NULL);
	table_i64(t, -2);
	table_none(t);
	table_f64(t, NAN);
	table_section(t, "few", "Few", few, 2);
	table_hex(t, 0xff);
	table_bytes(t, 2048);
	table_section(t, "none", "None", few, 2);
	table_value_text(t, "where", "Where", "a/b\n");
	table_note(t, "That was %d.", 1);
}

static char *printed(enum table_format format, void (*fill_in)(struct table *))
{
	struct table *t;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(table_open(&t, out, format), 0);
	fill_in(t);
	assert_int_equal(table_close(t), 0);
	fclose(out);
	return text;
}

static void text(void **state)
{
	char *text = printed(TABLE_TEXT, fill);

	(void)state;
	assert_string_equal(text,
			    "Lost: 3\n"
			    "\n"
			    "People\n"
			    "Name            Max   Rate\n"
			    "ada \"a\", b  1.23 ms  9.500\n"
			    "                  -      -\n"
			    "\n"
			    "Few\n"
			    "Address      Size\n"
			    "0xff     2.00 KiB\n"
			    "\n"
			    "None\n"
			    "  (none)\n"
			    "\n"
			    "Where: a/b\\x0a\n"
			    "That was 1.\n");
	free(text);
}

static void csv(void **state)
{
	char *text = printed(TABLE_CSV, fill);

	(void)state;
	assert_string_equal(text,
			    "# lost,3\n"
			    "name,hidden,max_ns,rate\n"
			    "\"ada \"\"a\"\", b\",1,1234567,9.5\n"
			    ",-2,,\n"
			    "# few\n"
			    "address,size\n"
			    "0xff,2048\n"
			    "# none\n"
			    "address,size\n"
			    "# where,\"a/b\n\"\n");
	free(text);
}

static void json(void **state)
{
	char *text = printed(TABLE_JSON, fill);
	struct json_object *object = json_tokener_parse(text), *rows, *row, *cell;

	(void)state;
	assert_non_null(object);
	assert_true(json_object_object_get_ex(object, "lost", &cell));
	assert_int_equal(json_object_get_int64(cell), 3);
	assert_true(json_object_object_get_ex(object, "people", &rows));
	assert_int_equal(json_object_array_length(rows), 2);
	row = json_object_array_get_idx(rows, 0);
	assert_true(json_object_object_get_ex(row, "name", &cell));
	assert_string_equal(json_object_get_string(cell), "ada \"a\", b");
	assert_true(json_object_object_get_ex(row, "max_ns", &cell));
	assert_true(json_object_is_type(cell, json_type_int));
	row = json_object_array_get_idx(rows, 1);
	assert_true(json_object_object_get_ex(row, "rate", &cell));
	assert_null(cell);
	assert_true(json_object_object_get_ex(object, "none", &rows));
	assert_int_equal(json_object_array_length(rows), 0);
	assert_true(json_object_object_get_ex(object, "where", &cell));
	assert_string_equal(json_object_get_string(cell), "a/b\n");
	assert_null(strstr(text, "That was"));
	json_object_put(object);
	free(text);
}

static void nothing(struct table *t)
{
	(void)t;
}

static void foreign(struct table *t)
{
	char *long_text = malloc(100001);

	assert_non_null(long_text);
	memset(long_text, 'x', 100000);
	long_text[100000] = 0;
	table_section(t, "s", "S", few, 2);
	table_text(t, "\xff\033[2J/\x01");
	table_text(t, "#");
	table_text(t, "#x");
	table_text(t, long_text);
	free(long_text);
}

static void empty_and_foreign(void **state)
{
	char *text = printed(TABLE_JSON, nothing);

	(void)state;
	assert_string_equal(text, "{}\n");
	free(text);
	text = printed(TABLE_TEXT, nothing);
	assert_string_equal(text, "");
	free(text);
	text = printed(TABLE_TEXT, foreign);
	assert_null(strchr(text, 033));
	assert_non_null(strstr(text, "xxx...\n"));
	assert_true(strlen(text) < 30000);
	free(text);
	text = printed(TABLE_JSON, foreign);
	assert_non_null(strstr(text, "\"\\ufffd\\u001b[2J/\\u0001\""));
	free(text);
	text = printed(TABLE_CSV, foreign);
	assert_non_null(strstr(text, "\n\"#x\","));
	assert_non_null(strstr(text, "\n\"\\xff\\x1b[2J/\\x01\","));
	free(text);
}

static void formulas(struct table *t)
{
	static const char *const cells[] = { "=1+1", "-2+cmd", "-",    "-2.5e3",           "+7",
					     "@x",   "\t=x",   "a\tb", "\xe2\x80\xae\x78", "a=b" };

	table_section(t, "s", "S", few, 1);
	for (unsigned i = 0; i < sizeof cells / sizeof *cells; i++)
		table_text(t, cells[i]);
	table_i64(t, -3);
}

static void csv_calculates_nothing(void **state)
{
	char *text = printed(TABLE_CSV, formulas);

	(void)state;
	assert_string_equal(
		text,
		"address\n\"'=1+1\"\n\"'-2+cmd\"\n-\n-2.5e3\n+7\n\"'@x\"\n\"'\t=x\"\n\"a\tb\"\n"
		"\"\\xe2\\x80\\xaex\"\na=b\n-3\n");
	free(text);
}

static void one_is_long(struct table *t)
{
	char *name = malloc(6001);

	assert_non_null(name);
	memset(name, 'n', 6000);
	name[6000] = 0;
	table_section(t, "s", "S", few, 2);
	table_text(t, name);
	table_u64(t, 1);
	table_text(t, "short");
	table_u64(t, 2);
	free(name);
}

/* A long cell is cut, and does not make the other rows wide. */
static void long_cells(void **state)
{
	char *text = printed(TABLE_TEXT, one_is_long);
	unsigned widths = 0, width = 0;

	(void)state;
	for (size_t i = 0; text[i]; i++) {
		width = text[i] == '\n' ? 0 : width + 1;
		widths += width == 121;
	}
	assert_int_equal(widths, 1);
	assert_true(strlen(text) < 1000);
	free(text);
	text = printed(TABLE_JSON, one_is_long);
	assert_true(strlen(text) > 6000);
	free(text);
}

static void wide(struct table *t)
{
	static const struct table_column columns[] = {
		{ "a", "A" }, { "b", "B" }, { "n", "N" }, { "hidden", NULL },
	};

	table_section(t, "s", NULL, columns, 4);
	for (int row = 0; row < 2; row++) {
		table_text(t, row ? "short" : "0123456789012345678901234567890123456789");
		table_text(t, row ? "b" : "\xc3\xa4\xc3\xa4\xc3\xa4 67890123456789012345678901234567890");
		table_u64(t, 1000000);
		table_text(t, "nobody sees how long this text is, which has no title");
	}
}

static void look(struct table *t, unsigned width)
{
	table_look(t,
		   &(struct table_look){
			   .terminal = true, .unicode = true, .width = width, .more = "--wide" });
}

static void narrow(struct table *t)
{
	look(t, 77);
	wide(t);
}

static void narrower(struct table *t)
{
	look(t, 40);
	wide(t);
}

static void narrowest(struct table *t)
{
	look(t, 20);
	wide(t);
}

/* Names lose their middle, the longest first, then columns are left out, the last first; not in
 * csv. */
static void cut_to_fit(void **state)
{
	char *text = printed(TABLE_TEXT, narrow), *whole;

	(void)state;
	assert_non_null(strstr(text, "\n0123456789012345…567890123456789  "
				     "äää 678901234567…678901234567890  1,000,000\n"));
	assert_non_null(strstr(text, "\nshort "));
	assert_null(strstr(text, "--wide"));
	free(text);
	text = printed(TABLE_TEXT, narrower);
	assert_string_equal(text, "A\n"
				  "0123456789012345678901234567890123456789\n"
				  "short\n"
				  "2 columns more: --wide\n");
	free(text);
	text = printed(TABLE_TEXT, narrowest);
	assert_non_null(strstr(text, "\n0123456789…123456789\n"));
	free(text);
	text = printed(TABLE_CSV, narrow);
	whole = printed(TABLE_CSV, wide);
	assert_string_equal(text, whole);
	free(whole);
	free(text);
}

static void ranked(struct table *t)
{
	static const struct table_column columns[] = {
		{ "name", "Name" },   { "pid", "PID" },   { "count", "Count" },
		{ "empty", "Empty" }, { "lost", "Lost" },
	};

	look(t, 28);
	table_section(t, "s", NULL, columns, 5);
	table_rank(t, "name lost");
	for (unsigned row = 0; row < 2; row++) {
		table_text(t, "a name of twenty-one!");
		table_u64(t, 27522);
		table_u64(t, 27522);
		table_text(t, row ? NULL : "");
		table_u64(t, row);
	}
}

/* What matters stays, and what is empty goes first. */
static void importance(void **state)
{
	char *text = printed(TABLE_TEXT, ranked);

	(void)state;
	assert_string_equal(text, "Name                   Lost\n"
				  "a name of twenty-one!     0\n"
				  "a name of twenty-one!     1\n"
				  "3 columns more: --wide\n");
	free(text);
}

static void people_read(struct table *t)
{
	static const struct table_column columns[] = {
		{ "time_ns", "Time" }, { "pid", "PID" },   { "count", "Count" },
		{ "lost", "Lost" },    { "what", "What" },
	};

	table_look(t, &(struct table_look){ .terminal = true, .color = true, .width = 60 });
	table_value_u64(t, "events", "Events", 89388);
	table_section(t, "s", NULL, columns, 5);
	for (unsigned row = 0; row < 2; row++) {
		table_ns(t, row ? 1230000 : 45600000000);
		table_u64(t, 27522);
		table_u64(t, row ? 27522 : 999);
		table_u64(t, row * 1000);
		if (row)
			table_mark(t, TABLE_FIRST);
		table_text(t, row ? "a sentence of eight words is folded here" : "");
	}
	table_note(t, "A note that is longer than the line is folded at a blank, too.");
	table_note(t, "A command is not folded: `kymo why TRACE 'control:step (arm 4711)'`.");
}

/* Thousands, units below each other, losses in red, sentences folded. */
static void for_people(void **state)
{
	char *text = printed(TABLE_TEXT, people_read);

	(void)state;
	assert_string_equal(text,
			    "Events: 89,388\n\n"
			    "   \033[2mTime\033[0m    \033[2mPID\033[0m   \033[2mCount\033[0m   "
			    "\033[2mLost\033[0m  \033[2mWhat\033[0m\n"
			    "45.6 s   27522     999      0\n"
			    "1.23 ms  27522  27,522  \033[31m1,000\033[0m  "
			    "\033[1ma sentence of eight words is\033[0m\n"
			    "                               \033[1mfolded here\033[0m\n\n"
			    "A note that is longer than the line is folded at a blank,\ntoo.\n"
			    "A command is not folded:\n"
			    "`kymo why TRACE 'control:step (arm 4711)'`.\n");
	free(text);
}

static void path_is_read(struct table *t)
{
	static const struct table_column columns[] = {
		{ "what", "What" }, { "mean_ns", "Mean" }, { "max_ns", "Max" }, { "path", "Path" },
	};

	look(t, 64);
	table_section(t, "s", NULL, columns, 4);
	table_text(t, "a chain of topics");
	table_ns(t, 27522);
	table_ns(t, 27522);
	table_text(t, "/scan -> /perception/obstacle_detector -> /cmd -> /base");
}

/* A name in a sentence is not broken, as long as it has room without another column. */
static void whole_words(void **state)
{
	char *text = printed(TABLE_TEXT, path_is_read);

	(void)state;
	assert_string_equal(text, "What                   Max  Path\n"
				  "a chain of topics  27.5 us  /scan ->\n"
				  "                            /perception/obstacle_detector ->\n"
				  "                            /cmd -> /base\n"
				  "1 column more: --wide\n");
	free(text);
}

/* Memory held while rows stream past, in every format. */
static void many_rows(void **state)
{
	(void)state;
	for (int format = TABLE_TEXT; format <= TABLE_CSV; format++) {
		FILE *out = fopen("/dev/null", "w");
		struct table *t;
		size_t early = 0;

		assert_non_null(out);
		assert_int_equal(table_open(&t, out, format), 0);
		table_section(t, "rows", NULL, few, 2);
		for (uint64_t i = 0; i < 100000; i++) {
			if (i == 10000)
				early = mallinfo2().uordblks;
			table_text(t, "some text of a usual length");
			table_u64(t, i);
		}
		assert_true(mallinfo2().uordblks <= early + 4096);
		assert_int_equal(table_close(t), 0);
		fclose(out);
	}
}

static void full_disk(void **state)
{
	FILE *out = fopen("/dev/full", "w");
	struct table *t;

	(void)state;
	assert_non_null(out);
	assert_int_equal(table_open(&t, out, TABLE_CSV), 0);
	fill(t);
	assert_true(table_close(t) < 0);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text),
		cmocka_unit_test(csv),
		cmocka_unit_test(json),
		cmocka_unit_test(empty_and_foreign),
		cmocka_unit_test(many_rows),
		cmocka_unit_test(cut_to_fit),
		cmocka_unit_test(importance),
		cmocka_unit_test(for_people),
		cmocka_unit_test(whole_words),
		cmocka_unit_test(csv_calculates_nothing),
		cmocka_unit_test(long_cells),
		cmocka_unit_test(full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
