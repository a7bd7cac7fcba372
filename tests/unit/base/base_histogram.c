/* SPDX-License-Identifier: Apache-2.0 */
/* The histogram against exact quantiles of sorted values, and its edges. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/symbol/symbol.h"
#include "base/array.h"
#include "base/histogram.h"

#define COUNT 20000

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void check(const struct histogram *histogram, const uint64_t *sorted, double q)
{
	size_t rank = (size_t)(q * COUNT);
	uint64_t exact, got = histogram_quantile(histogram, q);

	if ((double)rank < q * COUNT)
		rank++;
	exact = sorted[rank ? rank - 1 : 0];
	assert_true(got <= exact + exact / 1000 && got + got / 1000 >= exact);
}

/* Merging equals reading at once, to the last count. */
static void merged(void **state)
{
	struct histogram part[3] = { 0 }, all = { 0 }, sum = { 0 };
	uint64_t random = 7, value, middle[2], count[2];
	unsigned at[2] = { 0, 0 };
	bool more;

	(void)state;
	for (unsigned i = 0; i < COUNT; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		value = (random >> 10) >> (random >> 58) % 50;
		assert_int_equal(histogram_add(&all, value), 0);
		/* The last part stays empty. */
		assert_int_equal(histogram_add(&part[random >> 40 & 1], value), 0);
	}
	for (unsigned i = 0; i < COUNT_OF(part); i++)
		assert_int_equal(histogram_merge(&sum, &part[i]), 0);
	assert_int_equal(sum.count, all.count);
	assert_int_equal(sum.sum, all.sum);
	assert_int_equal(sum.squares[0], all.squares[0]);
	assert_int_equal(sum.squares[1], all.squares[1]);
	assert_int_equal(sum.min, all.min);
	assert_int_equal(sum.max, all.max);
	do {
		more = histogram_next(&all, &at[0], &middle[0], &count[0]);
		assert_int_equal(histogram_next(&sum, &at[1], &middle[1], &count[1]), more);
		assert_true(!more || (middle[0] == middle[1] && count[0] == count[1]));
	} while (more);
	for (unsigned i = 0; i < COUNT_OF(part); i++)
		histogram_free(&part[i]);
	histogram_free(&all);
	histogram_free(&sum);
}

static void coarse(void **state)
{
	uint64_t value, middle, apart;
	unsigned bucket, before = 0;

	(void)state;
	for (unsigned shift = 0; shift < 64; shift++) {
		for (uint64_t part = 0; part < 64; part++) {
			value = (1ull << shift) + (shift >= 6 ? part << (shift - 6) : 0);
			bucket = histogram_coarse(value);
			assert_in_range(bucket, before, before + 16);
			before = bucket;
			assert_true(bucket < HISTOGRAM_COARSE_MAX);
			middle = histogram_coarse_middle(bucket);
			apart = middle > value ? middle - value : value - middle;
			assert_true(apart <= value / 32);
			assert_int_equal(histogram_coarse(middle), bucket);
		}
	}
}

static void quantiles(void **state)
{
	static const double share[] = { 0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1 };
	struct histogram histogram = { 0 };
	uint64_t *value = calloc(COUNT, sizeof(*value)), sum = 0, random = 1;
	unsigned i, shift;

	(void)state;
	for (shift = 0; shift < 60; shift += 7) {
		histogram_free(&histogram);
		sum = 0;
		for (i = 0; i < COUNT; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			/* Spread over many powers of two. */
			value[i] = (random >> 20) >> (random >> 58) % 40 >> (shift / 8);
			sum += value[i];
			assert_int_equal(histogram_add(&histogram, value[i]), 0);
		}
		qsort(value, COUNT, sizeof(*value), by_value);
		assert_int_equal(histogram.count, COUNT);
		assert_int_equal(histogram.min, value[0]);
		assert_int_equal(histogram.max, value[COUNT - 1]);
		assert_int_equal(histogram.sum, sum);
		for (i = 0; i < COUNT_OF(share); i++)
			check(&histogram, value, share[i]);
	}
	histogram_free(&histogram);
	free(value);
}

static void edges(void **state)
{
	struct histogram histogram = { 0 };

	(void)state;
	assert_int_equal(histogram_quantile(&histogram, 0.5), 0);
	assert_int_equal(histogram_add(&histogram, UINT64_MAX), 0);
	assert_int_equal(histogram_quantile(&histogram, 0.5), UINT64_MAX);
	assert_int_equal(histogram_add(&histogram, 0), 0);
	assert_int_equal(histogram_quantile(&histogram, 0.5), 0);
	assert_int_equal(histogram.min, 0);
	histogram_free(&histogram);
	/* Below 1024 every value is exact. */
	for (uint64_t v = 0; v < 1024; v++)
		histogram_add(&histogram, v);
	assert_int_equal(histogram_quantile(&histogram, 0.5), 511);
	assert_int_equal(histogram_quantile(&histogram, 0.75), 767);
	histogram_free(&histogram);
}

/* Places only between the least and the largest power of two that has values, in either order. */
static void room(void **state)
{
	static const uint64_t values[] = { 5000, 600, 70000, 0, UINT64_MAX };
	static const unsigned first[] = { 4, 1, 1, 0, 0 };
	static const unsigned powers[] = { 1, 4, 8, 9, 56 };
	struct histogram histogram = { 0 };
	uint64_t middle, count;

	(void)state;
	assert_true(sizeof(histogram) <= 64);
	for (unsigned i = 0, at = 0; i < COUNT_OF(values); i++, at = 0) {
		assert_int_equal(histogram_add(&histogram, values[i]), 0);
		assert_int_equal(histogram_settle(&histogram), 0);
		assert_int_equal(histogram.first, first[i] * HISTOGRAM_BLOCKS);
		assert_int_equal(histogram.blocks, powers[i] * HISTOGRAM_BLOCKS);
		for (unsigned k = 0; k <= i; k++)
			assert_true(histogram_next(&histogram, &at, &middle, &count) && count == 1);
		assert_false(histogram_next(&histogram, &at, &middle, &count));
	}
	histogram_free(&histogram);
}

/* Each value is in its bucket for who reads, whenever that is, and once. */
static void pending(void **state)
{
	struct histogram histogram = { 0 };
	uint64_t middle, count, sum = 0;
	unsigned at;

	(void)state;
	for (uint64_t i = 1; i <= 3 * HISTOGRAM_PENDING; i++) {
		assert_int_equal(histogram_add(&histogram, i % 7), 0);
		if (i % 5 && i % HISTOGRAM_PENDING)
			continue;
		for (at = 0, sum = 0; histogram_next(&histogram, &at, &middle, &count);)
			sum += count;
		assert_int_equal(sum, i);
	}
	assert_int_equal(histogram_add(&histogram, 9), 0);
	histogram_clear(&histogram);
	at = 0;
	assert_false(histogram_next(&histogram, &at, &middle, &count));
	histogram_free(&histogram);
}

/* Large values close together: the textbook formula in doubles returns 0 or nonsense here. */
static void deviation(void **state)
{
	struct histogram histogram = { 0 };

	(void)state;
	assert_true(histogram_deviation(&histogram) == 0);
	histogram_add(&histogram, 5);
	assert_true(histogram_deviation(&histogram) == 0);
	for (uint64_t v = 2; v <= 8; v += 6)
		histogram_add(&histogram, v);
	assert_float_equal(histogram_deviation(&histogram), sqrt(6), 1e-9);
	histogram_free(&histogram);
	for (uint64_t v = 0; v < 4000; v++)
		histogram_add(&histogram, 1800000000000001 + v % 4 * 2);
	assert_float_equal(histogram_deviation(&histogram), sqrt(5), 1e-6);
	histogram_free(&histogram);
}

static void pretty(const char *raw, const char *expected)
{
	size_t length = 0;
	char *text;

	while (raw[length])
		length++;
	text = symbol_pretty(raw, length);
	assert_string_equal(text, expected);
	free(text);
}

static void symbols(void **state)
{
	char buffer[64], tiny[12];

	(void)state;
	pretty("Manager::Manager(Opt const&)::{lambda(std_msgs::msg::String_<std::allocator<void> > const&)#1}",
	       "Manager::Manager(Opt const&)::{lambda(std_msgs::msg::String const&)#1}");
	pretty("F::F()::{lambda(std::unique_ptr<m::Image_<std::allocator<void> >, std::default_delete<m::Image_<std::allocator<void> > > >)#1}",
	       "F::F()::{lambda(std::unique_ptr<m::Image>)#1}");
	pretty("std::_Bind<void (Filter::*(Filter*, std::_Placeholder<1>))(std::shared_ptr<m::Image_<std::allocator<void> > const>)>",
	       "void (Filter::?)(std::shared_ptr<m::Image const>)");
	pretty("(null)", "");
	pretty("", "");
	pretty("std::_Bind<", "");
	pretty("std::_Bind<void (", "void (");
	pretty("f(std::default_delete<never closed", "f(std::default_delete<never closed");
	pretty("esc\033[31m", "esc?[31m");
	assert_string_equal(symbol_short("A::f(int, B<(1)>)::{lambda(int)#1}", buffer, sizeof(buffer)),
			    "A::f(...)::{lambda(...)#1}");
	assert_string_equal(symbol_short("void (Filter::?)(int)", buffer, sizeof(buffer)),
			    "void (Filter::?)(...)");
	assert_string_equal(symbol_short("abcdefghijklmnop", tiny, sizeof(tiny)), "abcdefgh...");
	assert_string_equal(symbol_short("abcdefghijk", tiny, sizeof(tiny)), "abcdefghijk");
	assert_string_equal(symbol_short("f(", tiny, sizeof(tiny)), "f(");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles), cmocka_unit_test(merged),    cmocka_unit_test(coarse),
		cmocka_unit_test(edges),     cmocka_unit_test(deviation), cmocka_unit_test(symbols),
		cmocka_unit_test(room),      cmocka_unit_test(pending),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
