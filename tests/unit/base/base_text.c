/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities in both directions at their limits, near words, and unfriendly strings. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/text.h"

static void durations(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" }, { 999, "999 ns" }, { 1000, "1.00 us" }, { 1234567, "1.23 ms" },
		{ 999400, "999 us" }, { 999600, "1.00 ms" }, { 12345678, "12.3 ms" },
		{ 123456789, "123 ms" }, { 20000000000, "20.0 s" }, { 599000000000, "599 s" },
		{ 600000000000, "10.0 min" }, { 7200000000000, "2.00 h" }, { -1500, "-1.50 us" },
		{ INT64_MIN, "-2562048 h" },
	};
	char out[TEXT_QUANTITY_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_string_equal(text_ns(out, cases[i].ns), cases[i].text);
}

static void sizes(void **state)
{
	char out[TEXT_QUANTITY_MAX];

	(void)state;
	assert_string_equal(text_bytes(out, 0), "0 B");
	assert_string_equal(text_bytes(out, 1000), "1000 B");
	assert_string_equal(text_bytes(out, 1024), "1.00 KiB");
	assert_string_equal(text_bytes(out, 1536), "1.50 KiB");
	assert_string_equal(text_bytes(out, UINT64_MAX), "16.0 EiB");
}

static void numbers(void **state)
{
	char out[TEXT_QUANTITY_MAX];

	(void)state;
	assert_string_equal(text_f64(out, 0), "0");
	assert_string_equal(text_f64(out, 12345.6), "12346");
	assert_string_equal(text_f64(out, 9.99951), "10.00");
	assert_string_equal(text_f64(out, 999.96), "1000");
	assert_string_equal(text_f64(out, 0.00012345678), "0.0001235");
	assert_string_equal(text_f64(out, NAN), "-");
	assert_string_equal(text_f64_exact(out, 0.1), "0.1");
	assert_true(strtod(text_f64_exact(out, 1.0 / 3), NULL) == 1.0 / 3);
	assert_true(strtod(text_f64_exact(out, 5e-324), NULL) == 5e-324);
}

/* Each number of digits, and what is around it: as printf() has it. */
static void digits(void **state)
{
	char out[TEXT_QUANTITY_MAX], expected[TEXT_QUANTITY_MAX];
	uint64_t power = 1;

	(void)state;
	for (unsigned count = 0; count < 20; count++, power *= 10)
		for (uint64_t value = power - 1; value != power + 2; value++) {
			snprintf(expected, sizeof(expected), "%" PRIu64, value);
			assert_string_equal(text_u64_exact(out, value), expected);
			snprintf(expected, sizeof(expected), "%" PRId64, -(int64_t)value);
			assert_string_equal(text_i64_exact(out, -(int64_t)value), expected);
		}
	assert_string_equal(text_u64_exact(out, UINT64_MAX), "18446744073709551615");
	assert_string_equal(text_i64_exact(out, INT64_MIN), "-9223372036854775808");
	assert_string_equal(text_i64_exact(out, INT64_MAX), "9223372036854775807");
}

static void reading(void **state)
{
	uint64_t u = 7;
	int64_t ns = 7;

	(void)state;
	assert_true(text_read_u64("18446744073709551615", &u) && u == UINT64_MAX);
	assert_true(text_read_u64("0xfF", &u) && u == 255);
	assert_true(text_read_u64("010", &u) && u == 10);
	assert_false(text_read_u64("18446744073709551616", &u));
	assert_false(text_read_u64("0x", &u));
	assert_false(text_read_u64("0x10000000000000000", &u));
	assert_false(text_read_u64("", &u));
	assert_false(text_read_u64(" 1", &u));
	assert_false(text_read_u64("+1", &u));
	assert_int_equal(u, 10);	/* untouched by what failed */
	assert_true(text_read_size("4M", &u) && u == 4 << 20);
	assert_true(text_read_size("64KiB", &u) && u == 65536);
	assert_true(text_read_size("15E", &u) && u == 15ull << 60);
	assert_false(text_read_size("16E", &u));
	assert_false(text_read_size("M", &u));
	assert_true(text_read_time("1.5s", &ns) && ns == 1500000000);
	assert_true(text_read_time("30", &ns) && ns == 30000000000);
	assert_true(text_read_time("0.25us", &ns) && ns == 250);
	assert_true(text_read_time("2h", &ns) && ns == 7200000000000);
	assert_true(text_read_time("9223372036854775807ns", &ns) && ns == INT64_MAX);
	assert_false(text_read_time("9223372036854775808ns", &ns));
	assert_false(text_read_time("18446744073709551615d", &ns));
	assert_false(text_read_time("1.", &ns));
	assert_false(text_read_time(".5s", &ns));
	assert_false(text_read_time("-1s", &ns));
}

static void near_words(void **state)
{
	char far[40];

	(void)state;
	memset(far, 'x', sizeof far - 1);
	far[sizeof far - 1] = 0;
	assert_int_equal(text_distance("report", "report"), 0);
	assert_int_equal(text_distance("reoprt", "report"), 1);	/* swapped neighbours */
	assert_int_equal(text_distance("", "abc"), 3);
	assert_int_equal(text_distance("kitten", "sitting"), 3);
	far[33] = 0;
	assert_true(text_distance(far, "a") == UINT_MAX);
	far[32] = 0;
	assert_int_equal(text_distance(far, far), 0);
}

static void foreign_strings(void **state)
{
	char out[64];

	(void)state;
	text_clean(out, sizeof out, "a\033[31mb\n\xff\xc2\x9b é");
	assert_string_equal(out, "a\\x1b[31mb\\x0a\\xff\\xc2\\x9b é");
	assert_int_equal(text_clean(out, 4, "ab\033"), 2);	/* no half escapes */
	assert_string_equal(out, "ab");
	assert_int_equal(text_utf8_length("\xed\xa0\x80"), 0);	/* a surrogate */
	assert_int_equal(text_utf8_length("\xc0\x80"), 0);	/* overlong */
	assert_int_equal(text_utf8_length("\xf4\x90\x80\x80"), 0);
	assert_int_equal(text_utf8_length("\xe2\x82"), 0);	/* cut */
	assert_int_equal(text_utf8_length("€"), 3);
	assert_int_equal(text_width("µs €"), 4);
	text_clean(out, sizeof out,
		   "\xe2\x80\xae"
		   "a\xd8\x9c"
		   "\x7f");
	assert_string_equal(out, "\\xe2\\x80\\xaea\\xd8\\x9c\\x7f");
}

static void kinds_of_characters(void **state)
{
	static const struct {
		const char *text;
		size_t left, length;
		uint32_t code;
		enum text_kind kind;
	} cases[] = {
		{ "a", 1, 1, 'a', TEXT_PLAIN },
		{ "\n", 1, 1, '\n', TEXT_CONTROL },
		{ "", 1, 1, 0, TEXT_CONTROL },
		{ "\xc2\x9b", 2, 2, 0x9b, TEXT_CONTROL },
		{ "\xc2\xa0", 2, 2, 0xa0, TEXT_PLAIN },
		{ "\xc2\x9b", 1, 1, 0, TEXT_BROKEN },
		{ "\xe2\x80\xa8", 3, 3, 0x2028, TEXT_CONTROL },
		{ "\xe2\x81\xa9", 3, 3, 0x2069, TEXT_CONTROL },
		{ "\xe2\x81\xaa", 3, 3, 0x206a, TEXT_PLAIN },
		{ "\xf0\x9f\x98\x80", 4, 4, 0x1f600, TEXT_PLAIN },
		{ "\xed\xa0\x80", 3, 1, 0, TEXT_BROKEN },
		{ "\xf0\x9f\x98\x80", 3, 1, 0, TEXT_BROKEN },
	};
	char *copy;

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t length;
		uint32_t code;

		assert_int_equal(text_step(cases[i].text, cases[i].left, &length, &code),
				 cases[i].kind);
		assert_int_equal(length, cases[i].length);
		assert_int_equal(code, cases[i].code);
	}
	copy = text_utf8("a\xff\xed\xa0\x80é");
	assert_string_equal(copy, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdé");
	free(copy);
	assert_true(text_is_utf8("é\n"));
	assert_false(text_is_utf8("\xe2\x82"));
}

/* Text that is copied without a look at each character is plain, and is not escaped in any form. */
static void simple_text(void **state)
{
	size_t length;
	uint32_t code;

	(void)state;
	for (unsigned i = 0; i < 256; i++) {
		const char one[] = { (char)i, 'x' };

		if (text_simple(one, 2) != 2)
			continue;
		assert_int_equal(text_step(one, 2, &length, &code), TEXT_PLAIN);
		assert_int_equal(length, 1);
		assert_null(memchr("\\'\"?", (int)i, 4));
	}
	assert_int_equal(text_simple("/scan_2 {}", 10), 10);
	assert_int_equal(text_simple("ab\"c", 4), 2);
	assert_int_equal(text_simple("abcd", 3), 3);
	assert_int_equal(text_simple("", 0), 0);
}

static void shell_words(void **state)
{
	char out[64];

	(void)state;
	assert_string_equal(text_shell(out, sizeof out, "/tmp/a-1_b.c"), "/tmp/a-1_b.c");
	assert_string_equal(text_shell(out, sizeof out, "my trace"), "'my trace'");
	assert_string_equal(text_shell(out, sizeof out, "it's"), "'it'\\''s'");
	assert_string_equal(text_shell(out, sizeof out, "$(x)"), "'$(x)'");
	assert_string_equal(text_shell(out, sizeof out, ""), "''");
	text_shell(out, 8, "a long, long word");	/* cut, and still one word */
	assert_true(strlen(out) < 8 && out[0] == '\'' && out[strlen(out) - 1] == '\'');
}

static char *folded(const char *text, size_t width, size_t at, size_t indent)
{
	char *out = NULL;
	size_t size;
	FILE *file = open_memstream(&out, &size);

	assert_non_null(file);
	text_fold(file, text, width, at, indent);
	assert_int_equal(fclose(file), 0);
	return out;
}

/* Lines are broken at blanks, but not within a command, which somebody may copy. */
static void folded_text(void **state)
{
	static const struct {
		const char *text, *lines;
	} cases[] = {
		{ "", "" },
		{ "fits in a line", "fits in a line" },
		{ "it does not fit in one line", "it does not fit in\n  one line" },
		{ "a, kymo rm x y, or b", "a, kymo rm x y, or\n  b" },
		{ "name it: kymo rm x yz", "name it:\n  kymo rm x yz" },
		{ "do \"kymo rm x yz\" now", "do \"kymo rm x yz\"\n  now" },
		{ "here kymo rm a or kymo ls -a", "here kymo rm a or\n  kymo ls -a" },
		{ "then: kymo rm a b c d e f g h i", "then: kymo rm a b c\n  d e f g h i" },
		{ "say kymo record: it failed", "say kymo record: it\n  failed" },
		{ "x: `kymo rm 'a, (b)'` x", "x:\n  `kymo rm 'a, (b)'`\n  x" },
		{ "x: `kymo rm 'a, b, c, d, e'` x", "x:\n  `kymo rm 'a, b, c, d, e'`\n  x" },
		{ "x: kymo rm 'a'\\'', b', c", "x:\n  kymo rm 'a'\\'', b',\n  c" },
		{ "x: `kymo rm a b c d e f g h`.", "x:\n  `kymo rm a b c d e f g h`." },
		{ "kymo rm a b c d e f g h i j", "kymo rm a b c d e f g h i j" },
		{ "it was 'a -> (c 1)', no", "it was\n  'a -> (c 1)', no" },
		{ "it isn't 'open to the end of it", "it isn't 'open to\n  the end of it" },
		{ "a /very/long/path/of/something b", "a\n  /very/long/path/of/something\n  b" },
		{ "not in one|two|three|four|five", "not in one|two|\n  three|four|five" },
		{ "is none of one|two|three|four", "is none of one|two|\n  three|four" },
		{ "this is not in one|two|three|four", "this is not in one|\n  two|three|four" },
		{ "this is not a of one|two|three|four",
		  "this is not a of\n  one|two|three|\n  four" },
		{ "it took about 12.5 ms; why", "it took about\n  12.5 ms; why" },
		{ "äöü äöü äöü äöü äöü", "äöü äöü äöü äöü äöü" },
	};
	char *out;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		out = folded(cases[i].text, 19, 0, 2);
		assert_string_equal(out, cases[i].lines);
		free(out);
	}
	out = folded("one two", 12, 8, 4);
	assert_string_equal(out, "one\n    two");
	free(out);
	out = folded("three two", 12, 8, 4);
	assert_string_equal(out, "\n    three\n    two");
	free(out);
}

static void hints(void **state)
{
	char out[128];

	(void)state;
	assert_string_equal(text_hints(out, sizeof(out), "`kymo why` and `kymo report --all` do.",
				       "'a b'"),
			    "`kymo why 'a b'` and `kymo report 'a b' --all` do.");
	assert_string_equal(text_hints(out, sizeof(out), "`kymo record` `kymo events` `kymo event",
				       "t"),
			    "`kymo record` `kymo events t` `kymo event");
	assert_string_equal(text_hints(out, sizeof(out), "`kymo why`", ""), "`kymo why`");
	assert_string_equal(text_hints(out, sizeof(out), "`kymo why`", NULL), "`kymo why`");
	assert_string_equal(text_hints(out, 14, "x `kymo flow` y", "trace"), "x `kymo flow ");
	assert_string_equal(text_hints(out, sizeof(out), "", "trace"), "");
}

/* What people call a trace is not the directory in which the tracer has put the metadata. */
static void traces_have_names(void **state)
{
	static const char *const cases[][2] = {
		{ "t", "t" },
		{ "/data/t/", "t" },
		{ "/data/my-session/ust/uid/1000/64-bit", "my-session" },
		{ "my-session//ust/uid/0/32-bit/", "my-session" },
		{ "a/my-session/ust/pid/robot-4711-20261130-172233", "my-session" },
		{ "my-session/kernel", "my-session" },
		{ "my-session/ust", "my-session" },
		{ "my-session/archives/20261130T172233-1/ust/uid/0/64-bit", "20261130T172233-1" },
		/* Not nested so, or in nothing that has a name. */
		{ "t/64-bit", "64-bit" },
		{ "t/uid/0/64-bit", "64-bit" },
		{ "t/ust/uid/me/64-bit", "64-bit" },
		{ "t/ust/other/robot", "robot" },
		{ "ust/uid/0/64-bit", "64-bit" },
		{ "kernel", "kernel" },
		{ "/", "/" },
		{ "", "" },
	};
	char name[64];

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_string_equal(text_trace_name(name, sizeof name, cases[i][0]), cases[i][1]);
	assert_string_equal(text_trace_name(name, 5, "my-session/kernel"), "my-s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations),         cmocka_unit_test(sizes),
		cmocka_unit_test(numbers),           cmocka_unit_test(digits),
		cmocka_unit_test(reading),           cmocka_unit_test(near_words),
		cmocka_unit_test(foreign_strings),   cmocka_unit_test(kinds_of_characters),
		cmocka_unit_test(simple_text),       cmocka_unit_test(shell_words),
		cmocka_unit_test(folded_text),       cmocka_unit_test(hints),
		cmocka_unit_test(traces_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
