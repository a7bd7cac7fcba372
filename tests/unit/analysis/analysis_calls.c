/* SPDX-License-Identifier: Apache-2.0 */
/* System calls by thread (analysis/system/system_calls.h): whole ones, those without a begin or an
 * end, and where events were lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/system/system_calls.h"

#define HOST 0
#define TRACE 3u
#define LONG_NS (10 * (int64_t)CALLS_SURE_NS)

struct seen {
	struct system_call call[16];
	unsigned count;
};

static void take(void *context, const struct system_call *call)
{
	struct seen *seen = context;

	assert_true(seen->count < 16);
	seen->call[seen->count++] = *call;
}

static void check(const struct system_call *call, int32_t tid, const char *name, int64_t start_ns,
		  int64_t end_ns)
{
	assert_int_equal(call->tid, tid);
	assert_string_equal(call->name, name);
	assert_int_equal(call->start_ns, start_ns);
	assert_int_equal(call->end_ns, end_ns);
}

static void test_whole(void **state)
{
	struct seen seen = { .count = 0 };
	struct calls calls;

	(void)state;
	calls_init(&calls, take, &seen);
	calls_entry(&calls, HOST, 0, 5, "read");		/* nobody knows whose */
	calls_entry(&calls, HOST, 100, 1000, "read");
	calls_entry(&calls, HOST, 200, 1100, "futex");
	calls_exit(&calls, HOST, 200, TRACE, 1200, "futex", -11);
	calls_exit(&calls, HOST, 100, TRACE, 1000 + LONG_NS, "read", 8);
	calls_exit(&calls, HOST, 100, TRACE, 2000 + LONG_NS, "read", 9);	/* its begin is missing */
	assert_int_equal(seen.count, 3);
	check(&seen.call[0], 200, "futex", 1100, 1200);
	check(&seen.call[1], 100, "read", 1000, 1000 + LONG_NS);
	check(&seen.call[2], 100, "read", 2000 + LONG_NS, 2000 + LONG_NS);
	assert_true(seen.call[0].is_begun && seen.call[0].is_ended && seen.call[0].has_ret);
	assert_int_equal(seen.call[0].ret, -11);
	assert_true(!seen.call[2].is_begun && seen.call[2].is_ended);
	calls_free(&calls);
}

static void test_without_end(void **state)
{
	struct seen seen = { .count = 0 };
	struct calls calls;

	(void)state;
	calls_init(&calls, take, &seen);
	calls_entry(&calls, HOST, 100, 1000, "read");
	calls_entry(&calls, HOST, 100, 2000, "write");
	calls_exit(&calls, HOST, 100, TRACE, 3000, "close", 0);
	calls_entry(&calls, HOST, 100, 4000, "exit");
	assert_int_equal(seen.count, 3);
	calls_finish(&calls);
	assert_int_equal(seen.count, 4);
	check(&seen.call[0], 100, "read", 1000, 1000);
	check(&seen.call[1], 100, "write", 2000, 2000);
	check(&seen.call[2], 100, "close", 3000, 3000);
	check(&seen.call[3], 100, "exit", 4000, 4000);
	assert_true(!seen.call[0].is_ended && !seen.call[0].has_ret && !seen.call[3].is_ended &&
		    !seen.call[2].is_begun);
	calls_free(&calls);
}

/* x86 reports the end of this one as that of no call. */
static void test_signal_return(void **state)
{
	struct seen seen = { .count = 0 };
	struct calls calls;

	(void)state;
	calls_init(&calls, take, &seen);
	calls_entry(&calls, HOST, 100, 1000, "rt_sigreturn");
	calls_exit(&calls, HOST, 100, TRACE, 2000, "unknown", -4);
	calls_entry(&calls, HOST, 100, 3000, "read");
	calls_exit(&calls, HOST, 100, TRACE, 4000, "unknown", 0);
	assert_int_equal(seen.count, 3);
	check(&seen.call[0], 100, "rt_sigreturn", 1000, 2000);
	assert_true(seen.call[0].is_ended && !seen.call[1].is_ended && !seen.call[2].is_begun);
	calls_free(&calls);
}

/* Its end, and the begin of another one of that name, may be among what was lost. */
static void test_lost(void **state)
{
	struct seen seen = { .count = 0 };
	struct calls calls;

	(void)state;
	calls_init(&calls, take, &seen);
	calls_entry(&calls, HOST, 100, 1000, "read");
	calls_lost(&calls, TRACE + 1, 5000);			/* of another trace */
	calls_exit(&calls, HOST, 100, TRACE, 1000 + LONG_NS, "read", 1);
	calls_entry(&calls, HOST, 100, 2 * LONG_NS, "read");
	calls_lost(&calls, TRACE, 2 * LONG_NS + 5);
	calls_lost(&calls, TRACE, 7);				/* not in order */
	calls_exit(&calls, HOST, 100, TRACE, 4 * LONG_NS, "read", 2);
	calls_entry(&calls, HOST, 100, 5 * LONG_NS, "read");
	calls_exit(&calls, HOST, 100, TRACE, 6 * LONG_NS, "read", 3);
	calls_entry(&calls, HOST, 200, 2 * LONG_NS, "read");	/* short ones are what they seem */
	calls_exit(&calls, HOST, 200, TRACE, 2 * LONG_NS + CALLS_SURE_NS, "read", 4);
	assert_int_equal(seen.count, 4);
	assert_true(seen.call[0].is_ended && seen.call[2].is_ended && seen.call[3].is_ended);
	assert_true(seen.call[1].is_begun && !seen.call[1].is_ended && seen.call[1].has_ret);
	check(&seen.call[1], 100, "read", 2 * LONG_NS, 2 * LONG_NS);
	calls_free(&calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_without_end),
		cmocka_unit_test(test_signal_return),
		cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
