/* SPDX-License-Identifier: Apache-2.0 */
/* How often `kymo why` reads the trace: for the summary, and once more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/why/report_why.h"

static unsigned passes;

/* A pass ends with 0 events. */
static void progress(void *context, uint64_t events, uint64_t clock_ns)
{
	(void)context;
	passes += !events && !clock_ns;
}

/* Return: passes over the trace. */
static unsigned passes_of(struct why_options *options, struct why_said *said)
{
	struct kymo_ctf_reader *reader;
	struct kymo_err err;

	assert_int_equal(kymo_ctf_open(KYMO_FIXTURES "/lifecycle", &reader, &err), 0);
	options->begin_ns = INT64_MIN;
	options->end_ns = INT64_MAX;
	options->progress = progress;
	passes = 0;
	assert_int_equal(why_say(reader, options, said, &err), 0);
	assert_true(*said->why);
	kymo_ctf_close(reader);
	return passes;
}

static void unnamed(void **state)
{
	struct why_options options = { .worst = 1 };
	struct why_said said;

	(void)state;
	assert_int_equal(passes_of(&options, &said), 2);
}

static void named(void **state)
{
	struct why_options options = { .worst = 1 };
	struct why_said first, said;

	(void)state;
	(void)passes_of(&options, &first);
	options.callback = first.worst;
	assert_int_equal(passes_of(&options, &said), 2);
	assert_string_equal(said.why, first.why);
	/* More than the first pass keeps of each callback: their times are known only later. */
	options.worst = WHY_WORST_MAX;
	assert_int_equal(passes_of(&options, &said), 3);
	assert_string_equal(said.why, first.why);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(unnamed), cmocka_unit_test(named) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
