/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains against hand-made event sequences whose ways are known: branches, loops, windows, names,
 * what got lost. Each node has one process and one thread; a callback's address is its node's.
 */
#include "chains_feed.h"

/* /a's timer -> /x -> /b -> /y -> /c */
static void three_nodes(struct feed *f)
{
	node(f, 1, "a");
	timer(f);
	publisher(f, 1, "/x");
	node(f, 2, "b");
	subscription(f, 1, "/x");
	publisher(f, 1, "/y");
	node(f, 3, "c");
	subscription(f, 1, "/y");
}

static void run_three(struct feed *f, int64_t ns)
{
	uint64_t stamp;

	start(f, 1, ns, 0x3000);
	stamp = publish(f, 1, ns + 10, 1);
	end(f, 1, ns + 20, 0x3000);
	deliver(f, 2, ns + 100, 1, stamp);
	stamp = publish(f, 2, ns + 110, 1);
	deliver(f, 3, ns + 150, 1, stamp);	/* while /b still runs */
	end(f, 2, ns + 170, 0x4001);
	end(f, 3, ns + 190, 0x4001);
}

static const enum chains_segment hop[] = { CHAINS_PUBLISH, CHAINS_TRANSPORT, CHAINS_WAIT,
					   CHAINS_TAKE, CHAINS_RUN };

static void segments(void **state)
{
	/* run; publish, transport, wait, take, run of /b until it publishes; the same of /c */
	static const int64_t wanted[] = { 10, 2, 88, 0, 3, 7, 2, 38, 0, 3, 37 };
	struct feed *f = *state;
	const struct chains_path *path;
	const struct chains_arrival *worst;
	int64_t sum = 0;
	unsigned i;

	three_nodes(f);
	run_three(f, 1000);
	finish(f);
	path = chain(f, "/a /x /b /y /c");
	assert_non_null(path);
	assert_int_equal(shown(f), 1);
	assert_int_equal(path->hops, 2);
	assert_int_equal(path->stats->parts, 11);
	assert_int_equal(path->stats->part[0].segment, CHAINS_RUN);
	worst = &path->stats->worst[0];
	for (i = 0; i < 11; i++) {
		assert_int_equal(worst->part_ns[i], wanted[i]);
		if (i)
			assert_int_equal(path->stats->part[i].segment, hop[(i - 1) % 5]);
		sum += worst->part_ns[i];
	}
	assert_int_equal(worst->begin_ns, 1000);
	assert_int_equal(worst->total_ns, 190);
	assert_int_equal(sum, 190);
	assert_int_equal(path->stats->total.count, 1);
}

/* The taking thread runs another callback while the message waits. */
static void wait_in_executor(void **state)
{
	struct feed *f = *state;
	const struct chains_path *path;
	uint64_t stamp;

	three_nodes(f);
	f->pid = 2;
	timer(f);
	start(f, 2, 900, 0x3000);
	start(f, 1, 1000, 0x3000);
	stamp = publish(f, 1, 1010, 1);		/* handed over at 1012 */
	end(f, 1, 1020, 0x3000);
	end(f, 2, 1080, 0x3000);		/* 68 of the wait */
	start(f, 2, 1085, 0x3000);
	end(f, 2, 1090, 0x3000);		/* 5 more */
	deliver(f, 2, 1100, 1, stamp);
	end(f, 2, 1120, 0x4001);
	finish(f);
	path = chain(f, "/a /x /b");
	assert_non_null(path);
	assert_int_equal(path->stats->worst[0].part_ns[3], 73);
	assert_int_equal(path->stats->worst[0].part_ns[2], 88 - 73);
	assert_int_equal(path->stats->worst[0].total_ns, 120);
}

/* One message, two subscribers; one callback, two topics. */
static void fan_out(void **state)
{
	struct feed *f = *state;
	const struct chains_path *path;
	uint64_t x, z;

	three_nodes(f);
	f->pid = 3;
	subscription(f, 2, "/x");
	f->pid = 1;
	publisher(f, 2, "/z");
	start(f, 1, 1000, 0x3000);
	x = publish(f, 1, 1010, 1);
	z = publish(f, 1, 1020, 2);
	end(f, 1, 1030, 0x3000);
	assert_true(z > x);
	deliver(f, 2, 1100, 1, x);
	end(f, 2, 1110, 0x4001);
	deliver(f, 3, 1200, 2, x);
	end(f, 3, 1210, 0x4002);
	finish(f);
	assert_int_equal(chain(f, "/a /x /b")->ended, 1);
	assert_int_equal(chain(f, "/a /x /c")->ended, 1);
	path = chain(f, "/a /z");
	assert_non_null(path);
	assert_false(chains_is_chain(f->chains, path));		/* nobody is there to get it */
	assert_int_equal(shown(f), 2);
	assert_int_equal(chain(f, "/a")->count, 1);
}

/* /b answers on the topic that /a listens to: the way round, not an endless one. */
static void loop(void **state)
{
	struct feed *f = *state;
	const struct chains_path *path;
	uint64_t stamp;
	int64_t ns;

	node(f, 1, "a");
	subscription(f, 1, "/y");
	publisher(f, 1, "/x");
	node(f, 2, "b");
	subscription(f, 1, "/x");
	publisher(f, 1, "/y");
	f->pid = 1;
	stamp = publish(f, 1, 900, 1);		/* outside of a callback: a beginning */
	for (ns = 1000; ns < 2000; ns += 200) {
		deliver(f, 2, ns, 1, stamp);
		stamp = publish(f, 2, ns + 10, 1);
		end(f, 2, ns + 20, 0x4001);
		deliver(f, 1, ns + 100, 1, stamp);
		stamp = publish(f, 1, ns + 110, 1);
		end(f, 1, ns + 120, 0x4001);
	}
	finish(f);
	path = chain(f, "/x /b /y /a /x /b");
	assert_non_null(path);
	assert_true(path->is_loop);
	assert_null(path->child);
	assert_int_equal(path->ended, 1);
	/* From then on it is /b's round; with 5 rounds of /b, 3 more. */
	path = chain(f, "/b /y /a /x /b");
	assert_true(path->is_loop);
	assert_int_equal(path->ended, 3);
	assert_int_equal(path->stats->total.min, 217);
	assert_int_equal(chains_facts(f->chains)->steps_exceeded, 0);
}

static void stops(void **state)
{
	struct feed *f = *state;
	const struct chains_path *x, *b;
	int i;

	three_nodes(f);
	run_three(f, 1000);
	for (i = 0; i < 3; i++) {		/* published, never taken */
		start(f, 1, 2000 + i * 100, 0x3000);
		publish(f, 1, 2010 + i * 100, 1);
		end(f, 1, 2020 + i * 100, 0x3000);
	}
	start(f, 1, 5000, 0x3000);		/* published nothing */
	end(f, 1, 5010, 0x3000);
	start(f, 1, 200000000, 0x3000);		/* on its way at the end */
	publish(f, 1, 200000010, 1);
	finish(f);
	x = chain(f, "/a /x");
	b = chain(f, "/a /x /b");
	assert_int_equal(x->parent->count, 6);
	assert_int_equal(x->parents, 5);
	assert_int_equal(x->count, 5);
	assert_int_equal(b->count, 1);
	assert_int_equal(b->at_end, 1);
	assert_int_equal(x->parent->silent, 1);
	assert_int_equal(x->parent->silent_unfinished, 0);
	assert_int_equal(shown(f), 1);
}

static void window(void **state)
{
	const struct chains_options o = { .begin_ns = 1500, .end_ns = 2500, .worst = 1,
					  .follow_ns = INT64_MIN };
	struct feed *f = *state;

	again(f, &o);
	three_nodes(f);
	run_three(f, 1400);			/* begins before, though it ends within */
	run_three(f, 2400);			/* begins within */
	run_three(f, 3400);
	finish(f);
	assert_int_equal(chain(f, "/a /x /b /y /c")->ended, 1);
	assert_int_equal(chain(f, "/a /x /b /y /c")->stats->worst[0].begin_ns, 2400);
	assert_null(chain(f, "/b /y /c"));
}

static void named(void **state)
{
	struct chains_options o = { .begin_ns = INT64_MIN, .end_ns = INT64_MAX, .worst = 1,
				    .follow_ns = INT64_MIN, .pattern = "/x -> ... -> c:/y" };
	struct feed *f = *state;
	const struct chains_path *path;
	const char *near;
	struct kymo_err err;
	struct chains *none;

	again(f, &o);
	three_nodes(f);
	run_three(f, 1000);
	finish(f);
	assert_int_equal(shown(f), 1);
	path = chain(f, "/x /b /y /c");
	assert_true(path->is_complete);
	assert_int_equal(path->stats->total.min, 180);
	assert_null(chains_missing(f->chains, &near));

	o.pattern = "/b->/y";			/* ends where it is published */
	again(f, &o);
	three_nodes(f);
	run_three(f, 1000);
	finish(f);
	assert_int_equal(shown(f), 1);
	assert_int_equal(chain(f, "/b /y")->stats->total.min, 7);
	assert_null(chain(f, "/b /y /c"));

	o.pattern = "/aa -> /y";
	again(f, &o);
	three_nodes(f);
	run_three(f, 1000);
	finish(f);
	assert_int_equal(shown(f), 0);
	assert_string_equal(chains_missing(f->chains, &near), "/aa");
	assert_string_equal(near, "/a");
	o.pattern = "/a";
	assert_int_equal(chains_create(&none, f->model, &o, &err), -1);
	o.pattern = "/a -> ";
	assert_int_equal(chains_create(&none, f->model, &o, &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_USAGE);
}

/* Paths are numbered alike in each pass: the bits of the second name those of the first. */
static void second_pass(void **state)
{
	static uint8_t bits[1];
	struct chains_options o = { .begin_ns = INT64_MIN, .end_ns = INT64_MAX, .worst = 1,
				    .follow_ns = INT64_MIN, .collect = bits, .collect_bits = 8 };
	struct feed *f = *state;
	unsigned wanted;

	three_nodes(f);
	run_three(f, 1000);
	finish(f);
	wanted = chain(f, "/a /x /b /y /c")->index;
	assert_in_range(wanted, 0, 7);
	bits[0] = (uint8_t)(1u << wanted);
	again(f, &o);
	three_nodes(f);
	run_three(f, 1000);
	finish(f);
	assert_int_equal(chain(f, "/a /x /b /y /c")->index, wanted);
	assert_int_equal(chain(f, "/a /x /b /y /c")->stats->total.count, 1);
	assert_null(chain(f, "/a /x /b")->stats);
}

static void between_hosts(void **state)
{
	struct feed *f = *state;
	uint64_t stamp;

	assert_int_equal(model_set_host(f->model, 0, "one", 0), 0);
	assert_int_equal(model_set_host(f->model, 1, "two", 0), 0);
	node(f, 1, "a");
	timer(f);
	publisher(f, 1, "/x");
	f->trace = 1;
	node(f, 2, "b");
	subscription(f, 1, "/x");
	f->trace = 0;
	start(f, 1, 1000, 0x3000);
	stamp = publish(f, 1, 1010, 1);
	end(f, 1, 1020, 0x3000);
	f->trace = 1;
	deliver(f, 2, 500, 1, stamp);		/* its clock is behind */
	end(f, 2, 600, 0x4001);
	finish(f);
	assert_int_equal(chain(f, "/a /x /b")->ended, 1);
	assert_int_equal(chain(f, "/a /x /b")->between_hosts, 1);
	assert_int_equal(chain(f, "/a /x /b")->stats->total.count, 0);
}

/* More untaken messages than are remembered: the oldest is forgotten, and that is counted. */
static void lookback(void **state)
{
	struct feed *f = *state;
	uint64_t first = 0, stamp;
	int i;

	three_nodes(f);
	for (i = 0; i < 300; i++) {
		start(f, 1, 1000 + i * 100, 0x3000);
		stamp = publish(f, 1, 1010 + i * 100, 1);
		end(f, 1, 1020 + i * 100, 0x3000);
		first = first ? first : stamp;
	}
	deliver(f, 2, 50000, 1, first + 10);
	end(f, 2, 50010, 0x4001);
	deliver(f, 2, 50100, 1, first + 200);
	end(f, 2, 50110, 0x4001);
	finish(f);
	/* The model has forgotten the first of them as well; the second is followed. */
	assert_int_equal(chain(f, "/a /x /b")->ended, 1);
	assert_int_equal(chain(f, "/b")->count, 1);
}

static void tree(void **state)
{
	struct chains_options o = { .begin_ns = INT64_MIN, .end_ns = INT64_MAX, .follow_id = 2,
				    .follow_ns = INT64_MIN };
	struct feed *f = *state;

	again(f, &o);
	three_nodes(f);
	run_three(f, 1000);			/* ids 1 and 2 */
	run_three(f, 2000);
	finish(f);
	assert_int_equal(chains_tree_count(f->chains), 5);
	assert_true(chains_tree(f->chains, 3)->is_asked);
	assert_int_equal(chains_tree(f->chains, 3)->id, 2);
	assert_int_equal(chains_tree(f->chains, 3)->parent, 2);
	assert_int_equal(chains_tree(f->chains, 0)->begin_ns, 1000);
	assert_int_equal(chains_tree(f->chains, 2)->end_ns, 1170);	/* it ran on */
	assert_int_equal(chains_tree(f->chains, 4)->end_ns, 1190);
	o.follow_id = 0;
	o.follow_ns = 1500;
	again(f, &o);
	three_nodes(f);
	run_three(f, 1000);
	run_three(f, 2000);
	run_three(f, 3000);
	finish(f);
	assert_int_equal(chains_tree_count(f->chains), 5);
	assert_int_equal(chains_tree(f->chains, 0)->begin_ns, 2000);
}

/* /b stores /x; its timer publishes /y from it. Nothing says so but --latest. */
static void latest(void **state)
{
	struct chains_options o = { .begin_ns = INT64_MIN, .end_ns = INT64_MAX, .worst = 9,
				    .follow_ns = INT64_MIN, .latest = true };
	struct feed *f = *state;
	const struct chains_path *path;
	uint64_t stamp;

	again(f, &o);
	three_nodes(f);
	f->pid = 2;
	timer(f);
	start(f, 1, 1000, 0x3000);
	stamp = publish(f, 1, 1010, 1);
	end(f, 1, 1020, 0x3000);
	deliver(f, 2, 1100, 1, stamp);
	end(f, 2, 1120, 0x4001);
	start(f, 2, 1200, 0x3000);
	stamp = publish(f, 2, 1210, 1);
	end(f, 2, 1220, 0x3000);
	deliver(f, 3, 1300, 1, stamp);
	end(f, 3, 1310, 0x4001);
	finish(f);
	assert_true(chains_facts(f->chains)->latest_used);
	path = chain(f, "/a /x /b */y /c");
	assert_non_null(path);
	assert_int_equal(path->stats->total.min, 310);
	assert_int_equal(path->stats->part[6].segment, CHAINS_CACHED);
	assert_int_equal(path->stats->worst[0].part_ns[6], 90);
	assert_non_null(chain(f, "/b /y /c"));
	assert_int_equal(chain(f, "/a /x /b")->silent, 0);
}

/*
 * /b stores /x and /v and publishes /y in its timer, twice per /x. Annotated, so that each of these
 * publications has two causes; with partial_sync only the first has.
 *
 *   /b  [x k]   [v]   [timer y] [timer y]   [x k+1] ...
 */
static void link_of(struct feed *f, bool partial)
{
	static const uint64_t subs[] = { 0x2001, 0x2002 }, pubs[] = { 0x1001, 0x1001 };
	uint64_t x, v, y;
	int64_t ns;

	three_nodes(f);
	f->pid = 1;
	publisher(f, 2, "/v");
	f->pid = 2;
	timer(f);
	subscription(f, 2, "/v");
	if (partial)
		EV(9, "message_link_partial_sync", "@subs", subs, "@pubs", pubs);
	else
		EV(9, "message_link_periodic_async", "@subs", subs, "@pubs", pubs);
	for (ns = 1000; ns < 4000; ns += 1000) {
		start(f, 1, ns, 0x3000);
		x = publish(f, 1, ns + 10, 1);
		v = publish(f, 1, ns + 20, 2);
		end(f, 1, ns + 30, 0x3000);
		deliver(f, 2, ns + 100, 1, x);
		end(f, 2, ns + 110, 0x4001);
		deliver(f, 2, ns + 200, 2, v);
		end(f, 2, ns + 210, 0x4002);
		start(f, 2, ns + 300, 0x3000);
		y = publish(f, 2, ns + 310, 1);
		end(f, 2, ns + 320, 0x3000);
		deliver(f, 3, ns + 400, 1, y);
		end(f, 3, ns + 410, 0x4001);
		start(f, 2, ns + 500, 0x3000);
		y = publish(f, 2, ns + 510, 1);
		end(f, 2, ns + 520, 0x3000);
		deliver(f, 3, ns + 600, 1, y);
		end(f, 3, ns + 610, 0x4001);
	}
	finish(f);
}

static void periodic_async(void **state)
{
	struct feed *f = *state;
	const struct chains_path *path;

	link_of(f, false);
	path = chain(f, "/a /x /b */y /c");
	assert_non_null(path);
	assert_int_equal(path->ended, 6);
	assert_int_equal(path->parent->link, CHAINS_PERIODIC_ASYNC);
	assert_int_equal(path->stats->total.min, 410);
	assert_int_equal(path->stats->total.max, 610);
	assert_int_equal(path->stats->part_ns[6].min, 200);	/* cached: 310 - 110 */
	assert_int_equal(path->stats->part_ns[6].max, 400);
	assert_int_equal(chain(f, "/a /v /b */y /c")->ended, 6);
	assert_int_equal(chain(f, "/b /y /c")->ended, 6);	/* the timer is a beginning, too */
	assert_int_equal(chains_facts(f->chains)->links, 1);
	assert_int_equal(chain(f, "/a /x /b")->silent, 0);
}

static void partial_sync(void **state)
{
	struct feed *f = *state;

	link_of(f, true);
	assert_int_equal(chain(f, "/a /x /b */y /c")->ended, 3);
	assert_int_equal(chain(f, "/a /x /b */y /c")->stats->total.max, 410);
	assert_int_equal(chain(f, "/a /v /b */y /c")->ended, 3);
	assert_int_equal(chain(f, "/b /y /c")->ended, 6);
}

/* The set is complete in /b's callback for /v: direct from there, indirect from /x. */
static void partial_sync_inside(void **state)
{
	static const uint64_t subs[] = { 0x2001, 0x2002 }, pubs[] = { 0x1001, 0x1001 };
	struct feed *f = *state;
	uint64_t x, v;

	three_nodes(f);
	f->pid = 1;
	publisher(f, 2, "/v");
	f->pid = 2;
	subscription(f, 2, "/v");
	EV(9, "message_link_partial_sync", "@subs", subs, "@pubs", pubs);
	start(f, 1, 1000, 0x3000);
	x = publish(f, 1, 1010, 1);
	v = publish(f, 1, 1020, 2);
	end(f, 1, 1030, 0x3000);
	deliver(f, 2, 1100, 1, x);
	end(f, 2, 1110, 0x4001);
	deliver(f, 2, 1200, 2, v);
	x = publish(f, 2, 1210, 1);
	end(f, 2, 1220, 0x4002);
	deliver(f, 3, 1300, 1, x);
	end(f, 3, 1310, 0x4001);
	finish(f);
	assert_int_equal(chain(f, "/a /v /b /y /c")->ended, 1);
	assert_int_equal(chain(f, "/a /x /b */y /c")->ended, 1);
	assert_null(chain(f, "/a /v /b */y /c"));
	assert_int_equal(shown(f), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(segments, setup, teardown),
		cmocka_unit_test_setup_teardown(wait_in_executor, setup, teardown),
		cmocka_unit_test_setup_teardown(fan_out, setup, teardown),
		cmocka_unit_test_setup_teardown(loop, setup, teardown),
		cmocka_unit_test_setup_teardown(stops, setup, teardown),
		cmocka_unit_test_setup_teardown(window, setup, teardown),
		cmocka_unit_test_setup_teardown(named, setup, teardown),
		cmocka_unit_test_setup_teardown(second_pass, setup, teardown),
		cmocka_unit_test_setup_teardown(between_hosts, setup, teardown),
		cmocka_unit_test_setup_teardown(lookback, setup, teardown),
		cmocka_unit_test_setup_teardown(tree, setup, teardown),
		cmocka_unit_test_setup_teardown(latest, setup, teardown),
		cmocka_unit_test_setup_teardown(periodic_async, setup, teardown),
		cmocka_unit_test_setup_teardown(partial_sync, setup, teardown),
		cmocka_unit_test_setup_teardown(partial_sync_inside, setup, teardown),
	};

	return cmocka_run_group_tests_name("analysis_chains", tests, NULL, NULL);
}
