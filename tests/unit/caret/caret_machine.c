/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a process: each state, input and condition, against a table that is written the
 * other way round: a line for each state and input, a column for each of the eight conditions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "caret/agent/machine.h"
#include "base/array.h"

#define CONDITIONS 8	/* without and with an active session, each: none, armed, paused, records */

/*
 * What happens, a letter for the state afterwards: u, w, p, r; large: it is told. Behind it: "!" the session
 * is to begin, "#" it is to end, " " neither.
 */
static const struct {
	enum machine_state state;
	enum machine_input input;
	const char *expected[CONDITIONS];
} cell[] = {
#define ALL(x) { x, x, x, x, x, x, x, x }
	/*                                      inactive                      active
	 *                                      none  armed paused records    none  armed paused records */
	{ MACHINE_UNINITIALIZED, MACHINE_BORN,   { "W ", "W ", "P ", "R ",	"W ", "W ", "P ", "R " } },
	{ MACHINE_UNINITIALIZED, MACHINE_START,  ALL("u ") },
	{ MACHINE_UNINITIALIZED, MACHINE_END,    ALL("u ") },
	{ MACHINE_UNINITIALIZED, MACHINE_SEEN,   ALL("u ") },
	{ MACHINE_UNINITIALIZED, MACHINE_FAILED, ALL("u ") },

	{ MACHINE_WAIT,          MACHINE_BORN,   ALL("w ") },
	{ MACHINE_WAIT,          MACHINE_START,  { "W ", "W ", "W ", "W ",	"P!", "P!", "W ", "W " } },
	{ MACHINE_WAIT,          MACHINE_END,    ALL("W ") },
	{ MACHINE_WAIT,          MACHINE_SEEN,   { "w ", "w ", "P ", "R ",	"w ", "w ", "P ", "R " } },
	{ MACHINE_WAIT,          MACHINE_FAILED, ALL("w ") },

	{ MACHINE_PREPARE,       MACHINE_BORN,   ALL("p ") },
	{ MACHINE_PREPARE,       MACHINE_START,  ALL("P ") },
	{ MACHINE_PREPARE,       MACHINE_END,    { "W#", "W#", "W#", "W#",	"P ", "P ", "P ", "P " } },
	{ MACHINE_PREPARE,       MACHINE_SEEN,   { "W ", "W ", "p ", "R ",	"W ", "W ", "p ", "R " } },
	{ MACHINE_PREPARE,       MACHINE_FAILED, { "W ", "W ", "p ", "p ",	"W ", "W ", "p ", "p " } },

	{ MACHINE_RECORD,        MACHINE_BORN,   ALL("r ") },
	{ MACHINE_RECORD,        MACHINE_START,  ALL("R ") },
	{ MACHINE_RECORD,        MACHINE_END,    { "W#", "W#", "W#", "W#",	"R ", "R ", "R ", "R " } },
	{ MACHINE_RECORD,        MACHINE_SEEN,   { "W ", "W ", "P ", "r ",	"W ", "W ", "P ", "r " } },
	{ MACHINE_RECORD,        MACHINE_FAILED, ALL("r ") },
};

static struct machine_condition condition(unsigned number)
{
	return (struct machine_condition){ number >= MACHINE_SESSIONS,
					   (enum machine_session)(number % MACHINE_SESSIONS) };
}

static void test_every_cell(void **state)
{
	static const char name[2][MACHINE_STATES + 1] = { "uwpr", "UWPR" };
	unsigned count = 0;

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(cell); i++)
		for (unsigned j = 0; j < CONDITIONS; j++, count++) {
			struct machine_step step =
				machine_step(cell[i].state, cell[i].input, condition(j));
			char got[3] = { 0 };

			assert_true((unsigned)step.next < MACHINE_STATES);
			got[0] = name[(step.actions & MACHINE_PUBLISH) != 0][step.next];
			got[1] = step.actions & MACHINE_BEGIN    ? '!'
				 : step.actions & MACHINE_FINISH ? '#'
								 : ' ';
			if (got[0] != cell[i].expected[j][0] || got[1] != cell[i].expected[j][1])
				fail_msg("%s, input %d, condition %u: '%s', not '%s'", machine_name(cell[i].state),
					 (int)cell[i].input, j, got, cell[i].expected[j]);
		}
	assert_int_equal(count, MACHINE_STATES * MACHINE_INPUTS * CONDITIONS);
}

/* What is none of the enums, as from a corrupt word, does nothing. */
static void test_nonsense(void **state)
{
	struct machine_condition good = { true, MACHINE_ARMED };
	struct machine_step step;

	(void)state;
	step = machine_step((enum machine_state)77, MACHINE_START, good);
	assert_true(step.next == (enum machine_state)77 && !step.actions);
	step = machine_step(MACHINE_WAIT, (enum machine_input)77, good);
	assert_true(step.next == MACHINE_WAIT && !step.actions);
	step = machine_step(MACHINE_WAIT, MACHINE_START,
			    (struct machine_condition){ true, (enum machine_session)77 });
	assert_true(step.next == MACHINE_WAIT && !step.actions);
	assert_string_equal(machine_name((enum machine_state)77), "?");
}

/* A life, or what CARET's edge cases make of one; told: as it reads on /caret/status. */
struct event {
	enum machine_input input;
	bool active;
	enum machine_session session;
};

static void live(const struct event *event, const char *told)
{
	enum machine_state state = MACHINE_UNINITIALIZED;
	char text[32];
	size_t used = 0;

	for (; event->input != MACHINE_INPUTS; event++) {
		struct machine_step step =
			machine_step(state, event->input,
				     (struct machine_condition){ event->active, event->session });

		state = step.next;
		if (step.actions & MACHINE_PUBLISH)
			text[used++] = "uwpr"[state];
	}
	text[used] = 0;
	assert_string_equal(text, told);
}

#define LIVE(told, ...) \
	live((const struct event[]){ __VA_ARGS__, { MACHINE_INPUTS, false, MACHINE_NONE } }, told)

static void test_lives(void **state)
{
	(void)state;
	/* The way of the command line: armed, Start, the session ends, End. */
	LIVE("wwprww", { MACHINE_BORN, false, MACHINE_NONE }, { MACHINE_SEEN, true, MACHINE_ARMED },
	     { MACHINE_START, false, MACHINE_NONE }, { MACHINE_START, true, MACHINE_ARMED },
	     { MACHINE_SEEN, true, MACHINE_RECORDS }, { MACHINE_SEEN, false, MACHINE_NONE },
	     { MACHINE_END, false, MACHINE_NONE });
	/* Its session was killed, and there was no End: CARET stays in RECORD, and ignores the next
	 * Start. */
	LIVE("wprwpr", { MACHINE_BORN, true, MACHINE_ARMED }, { MACHINE_START, true, MACHINE_ARMED },
	     { MACHINE_SEEN, true, MACHINE_RECORDS }, { MACHINE_SEEN, false, MACHINE_NONE },
	     { MACHINE_SEEN, true, MACHINE_ARMED }, { MACHINE_START, true, MACHINE_ARMED },
	     { MACHINE_SEEN, true, MACHINE_RECORDS });
	/* It comes between Start and RECORD: CARET misses it for the whole recording. */
	LIVE("wr", { MACHINE_BORN, true, MACHINE_ARMED }, { MACHINE_SEEN, true, MACHINE_RECORDS });
	/* It comes while others are recorded. */
	LIVE("rr", { MACHINE_BORN, true, MACHINE_RECORDS }, { MACHINE_START, true, MACHINE_RECORDS });
	/* Start on one host, End on it; this one has a session of its own that goes on. */
	LIVE("rr", { MACHINE_BORN, true, MACHINE_RECORDS }, { MACHINE_END, true, MACHINE_RECORDS });
	/* End while the session is being made to record. */
	LIVE("wpw", { MACHINE_BORN, true, MACHINE_ARMED }, { MACHINE_START, true, MACHINE_ARMED },
	     { MACHINE_END, false, MACHINE_NONE }, { MACHINE_SEEN, false, MACHINE_NONE });
	/* The recorder refuses; the next Start tries again. */
	LIVE("wpwp", { MACHINE_BORN, true, MACHINE_ARMED }, { MACHINE_START, true, MACHINE_ARMED },
	     { MACHINE_FAILED, true, MACHINE_ARMED }, { MACHINE_START, true, MACHINE_ARMED });
	/* Start twice, End twice. */
	LIVE("wprrww", { MACHINE_BORN, true, MACHINE_ARMED }, { MACHINE_START, true, MACHINE_ARMED },
	     { MACHINE_SEEN, true, MACHINE_RECORDS }, { MACHINE_START, true, MACHINE_RECORDS },
	     { MACHINE_END, false, MACHINE_RECORDS }, { MACHINE_END, false, MACHINE_NONE });
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_cell),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
