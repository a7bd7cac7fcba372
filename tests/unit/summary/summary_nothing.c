/* SPDX-License-Identifier: Apache-2.0 */
/* "Nothing stands out": a percentile that counts start-up never stands beside a maximum without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/histogram.h"
#include "summary/findings.h"

#define MS 1000000ull

/* A callback with a run of @first_ns and two of 4 ms. */
static struct summary *callback_of(uint64_t first_ns, bool is_startup)
{
	const struct summary_instance worst = { .value_ns = 4 * MS };
	struct summary *summary = summary_new();
	struct summary_entity *entity = summary_entity(summary, SUMMARY_CALLBACK, "/a timer", "p");
	struct histogram startup = { 0 };

	assert_non_null(entity);
	entity->label = "/a timer";
	if (is_startup) {
		assert_int_equal(histogram_add(&startup, first_ns), 0);
		summary_startup_set(summary, entity, SUMMARY_LATENCY, &startup, 4 * MS);
		histogram_free(&startup);
	}
	assert_int_equal(histogram_add(&entity->histogram[SUMMARY_LATENCY], first_ns), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(histogram_add(&entity->histogram[SUMMARY_LATENCY], 4 * MS), 0);
	summary_add_worst(summary, entity, &worst);
	return summary;
}

static void says(uint64_t first_ns, bool is_startup, const char *what)
{
	struct summary *summary = callback_of(first_ns, is_startup);
	char text[256];

	assert_string_equal(summary_nothing_text(summary, text, sizeof(text)), what);
	summary_free(summary);
}

static void worst_and_percentile(void **state)
{
	(void)state;
	says(4 * MS, false,
	     "Nothing stands out. Slowest reaction: /a timer, 4.00 ms at worst (p99 4.00 ms).");
	says(30 * MS, true,
	     "Nothing stands out. Slowest reaction: /a timer, 4.00 ms at worst after start-up.");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(worst_and_percentile) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
