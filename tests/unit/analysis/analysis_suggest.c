/* SPDX-License-Identifier: Apache-2.0 */
/* Message links without an annotation: what the times suggest, and what they do not. */
#include "analysis/chains/chains_suggest.h"
#include "feed.h"

#define MS 1000000ll

/* /keeper subscribes to /in and /other, publishes /out; a timer of it has callback 0x402. */
static void keeper(struct feed *f)
{
	on(f, 1, 1);
	node(f, 1, 0x10, "keeper");
	subscription(f, 2, 0x200, 0x10, "/in");
	subscription(f, 3, 0x300, 0x10, "/other");
	publisher(f, 4, 0x100, 0x10, "/out");
	EV(5, "rcl_timer_init", "timer_handle", P(0x400), "period", P(10 * MS));
	EV(6, "rclcpp_timer_callback_added", "timer_handle", P(0x400), "callback", P(0x402));
	EV(7, "rclcpp_callback_register", "callback", P(0x402), "\"symbol", "on_timer");
	EV(8, "rclcpp_timer_link_node", "timer_handle", P(0x400), "node_handle", P(0x10));
}

static struct suggest *listen(struct feed *f)
{
	struct suggest *suggest;
	struct kymo_err err;

	assert_int_equal(suggest_create(&suggest, f->model, &err), 0);
	return suggest;
}

static void finish(struct feed *f, struct suggest *suggest)
{
	struct kymo_err err;

	model_finish(f->model);
	assert_int_equal(suggest_pass.finish(suggest, &err), 0);
}

static void receives(struct feed *f, int64_t ns, uint64_t handle)
{
	start(f, ns, handle + 2);
	end(f, ns + 1000, handle + 2);
}

static void timer(struct feed *f, int64_t ns, bool publishes)
{
	start(f, ns, 0x402);
	if (publishes)
		publish(f, ns + 100, 0x100);
	end(f, ns + 10000, 0x402);
}

/* Publishes when something came; @lie: every how many times it does the opposite, 0: never. */
static void gate(struct feed *f, unsigned runs, unsigned lie)
{
	for (unsigned i = 1; i <= runs; i++) {
		const bool came = i % 3 != 0, lies = lie && i % lie == 0;

		if (came)
			receives(f, i * 10 * MS, 0x200);
		if (i % 2 == 0)
			receives(f, i * 10 * MS + 2 * MS, 0x300);
		timer(f, i * 10 * MS + 5 * MS, came != lies);
	}
}

static void a_gate(void **state)
{
	struct feed *f = *state;
	struct suggest *suggest = listen(f);
	const struct suggestion *it;

	keeper(f);
	gate(f, 60, 0);
	finish(f, suggest);
	it = suggest_at(suggest, 0);
	assert_non_null(it);
	assert_int_equal(it->how, SUGGEST_GATE);
	assert_string_equal(it->subscription->topic->name, "/in");
	assert_string_equal(it->publisher->topic->name, "/out");
	assert_int_equal(it->by->kind, MODEL_CALLBACK_TIMER);
	assert_int_equal(it->gate.fresh, it->gate.fresh_published);
	assert_int_equal(it->gate.stale_published, 0);
	assert_true(it->gate.fresh >= 38 && it->gate.stale >= 19);
	assert_null(suggest_at(suggest, 1));		/* not /other */
	suggest_pass.destroy(suggest);
}

static void no_gate(struct feed *f, unsigned runs, unsigned lie)
{
	struct suggest *suggest = listen(f);

	keeper(f);
	gate(f, runs, lie);
	finish(f, suggest);
	assert_null(suggest_at(suggest, 0));
	suggest_pass.destroy(suggest);
}

static void too_few_runs(void **state)
{
	no_gate(*state, 20, 0);
}

static void too_many_lies(void **state)
{
	no_gate(*state, 120, 5);
}

/* It publishes after each message, and now and then without one, too. */
static void without_a_message_too(void **state)
{
	struct feed *f = *state;
	struct suggest *suggest = listen(f);

	keeper(f);
	for (unsigned i = 1; i <= 120; i++) {
		if (i % 3 != 0)
			receives(f, i * 10 * MS, 0x200);
		timer(f, i * 10 * MS + 5 * MS, i % 3 != 0 || i % 12 == 0);
	}
	finish(f, suggest);
	assert_null(suggest_at(suggest, 0));
	suggest_pass.destroy(suggest);
}

/* It always publishes, and something always came. */
static void a_timer_of_its_own(void **state)
{
	struct feed *f = *state;
	struct suggest *suggest = listen(f);

	keeper(f);
	for (unsigned i = 1; i <= 60; i++) {
		receives(f, i * 10 * MS, 0x200);
		timer(f, i * 10 * MS + 5 * MS, true);
	}
	finish(f, suggest);
	assert_null(suggest_at(suggest, 0));
	suggest_pass.destroy(suggest);
}

static void told_already(void **state)
{
	struct feed *f = *state;
	struct suggest *suggest = listen(f);
	const uint64_t subs[] = { 0x200 }, pubs[] = { 0x100 };

	keeper(f);
	EV(9, "message_link_partial_sync", "*subs", subs, P(1), "*pubs", pubs, P(1));
	gate(f, 60, 0);
	finish(f, suggest);
	assert_null(suggest_at(suggest, 0));
	suggest_pass.destroy(suggest);
}

/* A number below @below, the same ones in each run. */
static int64_t random_below(uint32_t *seed, int64_t below)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (int64_t)(*seed >> 8) % below;
}

/* A thread of its own publishes, after one of @each messages. @jitter: of the time in between. */
static void thread_publishes(struct feed *f, int64_t jitter, unsigned each)
{
	int64_t ns = 10 * MS;
	uint32_t seed = 1;

	keeper(f);
	for (unsigned i = 0; i < 80 * each; i++) {
		ns += 8 * MS + random_below(&seed, 8 * MS);
		on(f, 1, 1);
		receives(f, ns, 0x200);
		on(f, 1, 2);
		if (i % each == 0)
			publish(f, ns + 1 * MS + random_below(&seed, jitter), 0x100);
	}
}

static void a_thread_follows(void **state)
{
	struct feed *f = *state;
	struct suggest *suggest = listen(f);
	const struct suggestion *it;

	thread_publishes(f, MS / 10, 1);
	finish(f, suggest);
	it = suggest_at(suggest, 0);
	assert_non_null(it);
	assert_int_equal(it->how, SUGGEST_FOLLOWS);
	assert_string_equal(it->subscription->topic->name, "/in");
	assert_true(it->lag_ns > 1.0e6 && it->lag_ns < 1.2e6 && it->lag_deviation_ns < 1e5);
	assert_null(suggest_at(suggest, 1));
	suggest_pass.destroy(suggest);
}

/* It comes once behind each message, but at any time until the next one. */
static void at_any_time(void **state)
{
	struct feed *f = *state;
	struct suggest *suggest = listen(f);

	thread_publishes(f, 6 * MS, 1);
	finish(f, suggest);
	assert_null(suggest_at(suggest, 0));
	suggest_pass.destroy(suggest);
}

/* Behind every second message only. */
static void too_few_follow(void **state)
{
	struct feed *f = *state;
	struct suggest *suggest = listen(f);

	thread_publishes(f, MS / 10, 2);
	finish(f, suggest);
	assert_null(suggest_at(suggest, 0));
	suggest_pass.destroy(suggest);
}

/* Two clocks of the same period, each with a jitter of its own. */
static void two_clocks(void **state)
{
	struct feed *f = *state;
	struct suggest *suggest = listen(f);
	uint32_t seed = 7;

	keeper(f);
	for (unsigned i = 1; i <= 200; i++) {
		on(f, 1, 1);
		receives(f, i * 10 * MS + random_below(&seed, 2 * MS), 0x200);
		on(f, 1, 2);
		publish(f, i * 10 * MS + 5 * MS + random_below(&seed, 2 * MS), 0x100);
	}
	finish(f, suggest);
	assert_null(suggest_at(suggest, 0));
	suggest_pass.destroy(suggest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_gate),
		TEST(too_few_runs),
		TEST(too_many_lies),
		TEST(a_timer_of_its_own),
		TEST(told_already),
		TEST(a_thread_follows),
		TEST(at_any_time),
		TEST(two_clocks),
		TEST(without_a_message_too),
		TEST(too_few_follow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
