/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose recording it is, and which message counts: what an agent decides about a Start and an End
 * before it acts.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "caret/agent/order.h"
#include "caret/agent/steer.h"
#include "caret/agent/steer_ask.h"

/* A program that waits for the end of its input; its environment is visible when this returns. */
static pid_t program(const char *variable, int *input)
{
	char cat[] = "/bin/cat", word[16];
	char *arguments[] = { cat, NULL }, *environment[] = { (char *)variable, NULL };
	int in[2], out[2];
	pid_t child;

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	child = fork();
	if (child == 0) {
		(void)dup2(in[0], 0);
		(void)dup2(out[1], 1);
		(void)close(in[1]);
		(void)execve(cat, arguments, environment);
		_exit(127);
	}
	assert_int_equal(write(in[1], "here", 4), 4);
	assert_int_equal(read(out[0], word, sizeof word), 4);
	(void)close(in[0]);
	(void)close(out[0]);
	(void)close(out[1]);
	*input = in[1];
	return child;
}

static void end(pid_t child, int input)
{
	(void)close(input);
	(void)waitpid(child, NULL, 0);
}

/*
 * A recorder takes the page over and announces its session later: until then the page has the
 * generation of the session before, and for a moment its pid. No answer about one recorder is taken
 * for the next.
 */
static void whose_recording_it_is(void **state)
{
	const struct steer_options options = { 0 };
	struct domain_info session = { .active = true, .generation = 2 };
	struct steer *steer;
	struct kymo_err err;
	int input[2];
	pid_t agents, users;

	(void)state;
	assert_int_equal(steer_open(&steer, &options, &err), 0);
	agents = program(STEER_OWN_VARIABLE "=1", &input[0]);
	users = program("HOME=/", &input[1]);
	session.pid = agents;
	assert_true(steer_is_own(steer, &session));
	session.pid = users; /* the user's next one, not announced yet */
	assert_false(steer_is_own(steer, &session));
	session.generation = 4;
	assert_false(steer_is_own(steer, &session));
	session.pid = agents; /* the agent's next one, not announced yet */
	assert_true(steer_is_own(steer, &session));
	end(users, input[1]);
	session = (struct domain_info){ .active = true,
					.generation = 6,
					.pid = users }; /* dead: nothing is known */
	assert_false(steer_is_own(steer, &session));
	session.pid = agents;
	assert_true(steer_is_own(steer, &session));
	session.elsewhere = true;
	assert_false(steer_is_own(steer, &session));
	end(agents, input[0]);
	steer_free(steer);
}

static void begun(void *context, const struct kymo_err *err)
{
	(void)context, (void)err;
}

/*
 * A recorder of our own has taken the page over, and its pid is not there yet: the page has that of
 * a dead recorder. The recording is ours all the same, whosever the dead one was.
 */
static void our_next_recorder(void **state)
{
	struct rundir dir = { .path = "/" };
	struct steer_options options = { .dir = &dir, .own = true, .begun = begun };
	struct domain_info session = { .generation = 2 };
	const struct ros_domains ros = { { 1 } };
	struct start start = { 0 };
	struct steer *steer;
	struct kymo_err err;
	uv_loop_t loop;
	int input;

	(void)state;
	assert_int_equal(uv_loop_init(&loop), 0);
	options.loop = &loop;
	assert_int_equal(steer_open(&steer, &options, &err), 0);
	session.active = true;
	session.pid = program("HOME=/", &input);
	assert_false(steer_is_own(steer, &session));
	end(session.pid, input);
	session.active = false;
	steer_begin(steer, &session, &ros, &start); /* starts this program, see main() */
	assert_true(steer_is_beginning(steer));
	session.active = true;
	assert_true(steer_is_own(steer, &session));
	assert_true(steer_end(steer));
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	assert_true(steer_is_done(steer));
	steer_free(steer);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static struct order_sent sent(uint8_t sender, int64_t ns)
{
	struct order_sent sent = { .ns = ns };

	sent.sender[3] = sender;
	return sent;
}

#define START(sender, ns) order_start(&order, &(struct order_sent[]){ sent(sender, ns) }[0])
#define END(sender, ns) order_end(&order, &(struct order_sent[]){ sent(sender, ns) }[0])

/* What a sender sent earlier does not count after what it sent later, in whatever order they
 * arrive. */
static void order_of_a_sender(void **state)
{
	struct order order = { 0 };

	(void)state;
	assert_true(START(1, 1000));
	assert_true(END(1, 3000));
	assert_false(START(1, 2000));
	assert_true(START(1, 5000));
	assert_false(END(1, 4000));
	assert_true(START(1, 4500)); /* again: nothing in between */
	assert_true(END(1, 5000));   /* at the same time: as it arrives */
	assert_true(START(2, 1));    /* another clock */
	assert_true(END(0, 7000));   /* not known who */
	assert_true(START(0, 6000));
}

/* A clock that was set back must not silence its host. */
static void clock_set_back(void **state)
{
	struct order order = { 0 };

	(void)state;
	assert_true(END(1, 100 * ORDER_LATE_NS));
	assert_true(START(1, 99 * ORDER_LATE_NS));
	assert_true(END(1, 99 * ORDER_LATE_NS + 1));
	assert_false(START(1, 99 * ORDER_LATE_NS));
}

/* More senders than there are entries: who was silent the longest time is forgotten, and nobody
 * else. */
static void many_senders(void **state)
{
	struct order order = { 0 };

	(void)state;
	for (unsigned i = 0; i < ORDER_SENDERS; i++)
		assert_true(END((uint8_t)(i + 1), 1000));
	assert_false(START(1, 900));
	assert_true(END(200, 1000)); /* instead of 2 */
	assert_false(START(1, 900));
	assert_false(START(3, 900));
	assert_true(START(2, 900));
	assert_false(START(200, 900));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whose_recording_it_is),
		cmocka_unit_test(our_next_recorder),
		cmocka_unit_test(order_of_a_sender),
		cmocka_unit_test(clock_set_back),
		cmocka_unit_test(many_senders),
	};

	if (argc > 1 && strcmp(argv[1], "record") == 0) { /* the recorder that our_next_recorder() starts */
		(void)alarm(300);
		return pause();
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
