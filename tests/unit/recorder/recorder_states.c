/* SPDX-License-Identifier: Apache-2.0 */
/* The table of states and actions, each pair of them, written down a second time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "abi/region.h"
#include "recorder/runtime/states.h"
#include "base/array.h"

#define WAIT	KYMO_STATE_WAIT
#define PREPARE	KYMO_STATE_PREPARE
#define RECORD	KYMO_STATE_RECORD

static const struct {
	uint32_t state;
	enum states_action action;
	enum states_answer answer;
	uint32_t next;
} rows[] = {
	{ WAIT,		STATES_START,		STATES_GO,	RECORD },
	{ WAIT,		STATES_START_PAUSED,	STATES_GO,	PREPARE },
	{ WAIT,		STATES_PAUSE,		STATES_REFUSE,	WAIT },
	{ WAIT,		STATES_RESUME,		STATES_REFUSE,	WAIT },
	{ WAIT,		STATES_STOP,		STATES_REFUSE,	WAIT },
	{ PREPARE,	STATES_START,		STATES_REFUSE,	PREPARE },
	{ PREPARE,	STATES_START_PAUSED,	STATES_REFUSE,	PREPARE },
	{ PREPARE,	STATES_PAUSE,		STATES_STAY,	PREPARE },
	{ PREPARE,	STATES_RESUME,		STATES_GO,	RECORD },
	{ PREPARE,	STATES_STOP,		STATES_GO,	WAIT },
	{ RECORD,	STATES_START,		STATES_REFUSE,	RECORD },
	{ RECORD,	STATES_START_PAUSED,	STATES_REFUSE,	RECORD },
	{ RECORD,	STATES_PAUSE,		STATES_GO,	PREPARE },
	{ RECORD,	STATES_RESUME,		STATES_STAY,	RECORD },
	{ RECORD,	STATES_STOP,		STATES_GO,	WAIT },
};

static void test_each_pair(void **unused)
{
	unsigned seen = 0;

	(void)unused;
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		uint32_t next = 99;

		assert_int_equal(states_next(rows[i].state, rows[i].action, &next), rows[i].answer);
		assert_int_equal(next, rows[i].next);
		seen |= 1u << ((rows[i].state - 1) * STATES_ACTIONS + rows[i].action);
	}
	assert_int_equal(seen, (1u << 3 * STATES_ACTIONS) - 1);	/* none is left out */
}

/* A corrupt word is nobody's session: whatever it is, one can begin, and nothing else. */
static void test_garbage_is_wait(void **unused)
{
	static const uint32_t garbage[] = { 0, 4, 5, 0x7fffffff, 0x80000000, UINT32_MAX };

	(void)unused;
	for (unsigned i = 0; i < COUNT_OF(garbage); i++)
		for (unsigned action = 0; action < STATES_ACTIONS; action++) {
			uint32_t next, wanted;
			enum states_answer answer = states_next(WAIT, action, &wanted);

			assert_int_equal(states_next(garbage[i], action, &next), answer);
			assert_int_equal(next, wanted);
		}
}

/* Whatever happened, two steps lead out of every state to every other. */
static void test_nothing_is_stuck(void **unused)
{
	(void)unused;
	for (uint32_t from = WAIT; from <= RECORD; from++)
		for (uint32_t to = WAIT; to <= RECORD; to++) {
			unsigned ways = 0;

			for (unsigned a = 0; a < STATES_ACTIONS; a++)
				for (unsigned b = 0; b < STATES_ACTIONS; b++) {
					uint32_t next, last;

					if (states_next(from, a, &next) == STATES_REFUSE)
						continue;
					ways += next == to;
					ways += states_next(next, b, &last) != STATES_REFUSE &&
						last == to;
				}
			assert_true(ways > 0);
		}
}

static void test_words(void **unused)
{
	struct kymo_err err;

	(void)unused;
	assert_string_equal(states_name(WAIT), "wait");
	assert_string_equal(states_name(PREPARE), "prepare");
	assert_string_equal(states_name(RECORD), "record");
	assert_string_equal(states_name(0), "?");
	assert_string_equal(states_name(UINT32_MAX), "?");
	assert_int_equal(states_nobody("/run/here", &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_EMPTY);
	assert_non_null(strstr(err.text, "/run/here"));
	assert_non_null(strstr(err.text, "kymo start"));
	assert_non_null(strstr(err.text, "KYMO_DIR"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_pair),
		cmocka_unit_test(test_garbage_is_wait),
		cmocka_unit_test(test_nothing_is_stuck),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
