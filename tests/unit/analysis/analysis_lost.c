/* SPDX-License-Identifier: Apache-2.0 */
/* Where a message was lost that a subscription never received: one step of its path after the
 * other, and what proves nothing. */
#include "analysis/stats/stats_losses.h"
#include "dds_feed.h"

#define SECOND 1000000000

static void qos(struct feed *f, int64_t ns, uint64_t rmw, const char *reliability,
		const char *durability, int64_t deadline)
{
	DDS(ns, "qos", "rmw_handle", rmw, "\"history", "keep_last", "depth", P(2), "\"reliability", reliability, "\"durability",
	    durability, "deadline", P(deadline), "lifespan", P(0));
}

enum reach { NOWHERE, SENT, RECEIVED, CACHED };

/* Published at @ns; the source timestamp is @ns + 2. */
static void message(struct feed *f, int64_t ns, enum reach reach)
{
	on(f, 1, 1);
	publish(f, ns, 0x100);
	if (reach >= SENT)
		DDS(ns + 10, "dds_send", "#writer", writer, P(16), "source_timestamp", P(ns + 2));
	on(f, 2, 3);
	if (reach >= RECEIVED)
		DDS(ns + 20, "dds_receive", "#writer", writer, P(16), "source_timestamp", P(ns + 2));
	if (reach >= CACHED)
		DDS(ns + 30, "dds_cached", "#reader", reader, P(16), "source_timestamp", P(ns + 2));
}

static void taken(struct feed *f, int64_t ns, int64_t published_ns)
{
	on(f, 2, 2);
	take(f, ns, 0x200, published_ns + 2);
	start(f, ns + 1, 0x202);
	end(f, ns + 2, 0x202);
}

/* The other process goes on, so that no message is on its way. */
static const struct losses_subscription *finished(struct feed *f, const struct losses *losses)
{
	on(f, 2, 2);
	start(f, 100ll * SECOND, 0x202);
	end(f, 100ll * SECOND + 1, 0x202);
	model_finish(f->model);
	return losses_subscription(losses, 0);
}

static struct losses *listen(struct feed *f)
{
	struct losses *losses;
	struct kymo_err err;

	assert_int_equal(losses_create(&losses, f->model, 0, INT64_MAX, &err), 0);
	return losses;
}

static void each_layer(void **state)
{
	struct feed *f = *state;
	struct losses *losses = listen(f);
	const struct losses_subscription *its;

	two_processes(f);
	message(f, 1 * SECOND, CACHED);
	taken(f, 1 * SECOND + 100, 1 * SECOND);
	message(f, 2ll * SECOND, NOWHERE);
	message(f, 3ll * SECOND, SENT);
	message(f, 4ll * SECOND, SENT);
	message(f, 5ll * SECOND, RECEIVED);
	message(f, 6ll * SECOND, CACHED);
	message(f, 7ll * SECOND, CACHED);
	taken(f, 7ll * SECOND + 100, 7ll * SECOND);
	message(f, 8ll * SECOND, CACHED);
	its = finished(f, losses);
	assert_int_equal(its->received, 2);
	assert_int_equal(its->lost, 6);
	assert_int_equal(its->where[MODEL_LOST_NOT_SENT], 1);
	assert_int_equal(its->where[MODEL_LOST_WIRE], 2);
	assert_int_equal(its->where[MODEL_LOST_REJECTED], 1);
	assert_int_equal(its->where[MODEL_LOST_QUEUE], 1);
	assert_int_equal(its->where[MODEL_LOST_NOT_TAKEN], 1);
	assert_int_equal(its->where[MODEL_LOST_UNKNOWN], 0);
	losses_destroy(losses);
}

/* Without events of the middleware on both sides, and where events were lost. */
static void what_proves_nothing(void **state)
{
	struct feed *f = *state;
	struct losses *losses = listen(f);
	const struct losses_subscription *its;

	two_processes(f);
	message(f, 1 * SECOND, NOWHERE);	/* no such events so far */
	taken(f, 1 * SECOND + 100, 1 * SECOND);
	message(f, 2ll * SECOND, NOWHERE);
	message(f, 3ll * SECOND, CACHED);
	on(f, 2, 2);
	lose(f, 4ll * SECOND);
	its = finished(f, losses);
	assert_int_equal(its->lost, 2);
	assert_int_equal(its->where[MODEL_LOST_UNKNOWN], 2);
	losses_destroy(losses);
}

static void no_events_of_the_middleware(void **state)
{
	struct feed *f = *state;
	struct losses *losses = listen(f);
	const struct losses_subscription *its;

	two_processes(f);
	message(f, 1 * SECOND, NOWHERE);
	its = finished(f, losses);
	assert_int_equal(its->where[MODEL_LOST_UNKNOWN], 1);
	losses_destroy(losses);
}

/* The first message is taken, and its events tell what the hooks record of the two processes. */
static void only_unknown(struct feed *f, const struct losses *losses)
{
	const struct losses_subscription *its;

	taken(f, 1 * SECOND + 100, 1 * SECOND);
	message(f, 2ll * SECOND, NOWHERE);
	its = finished(f, losses);
	assert_int_equal(its->lost, 1);
	assert_int_equal(its->where[MODEL_LOST_UNKNOWN], 1);
}

/* The process of the publisher has no dds_send. */
static void no_events_of_the_sender(void **state)
{
	struct feed *f = *state;
	struct losses *losses = listen(f);

	two_processes(f);
	message(f, 1 * SECOND, NOWHERE);
	DDS(1 * SECOND + 20, "dds_receive", "#writer", writer, P(16), "source_timestamp", P(1 * SECOND + 2));
	DDS(1 * SECOND + 30, "dds_cached", "#reader", reader, P(16), "source_timestamp", P(1 * SECOND + 2));
	only_unknown(f, losses);
	losses_destroy(losses);
}

/* The reader has no dds_cached. */
static void no_events_of_the_reader(void **state)
{
	struct feed *f = *state;
	struct losses *losses = listen(f);

	two_processes(f);
	message(f, 1 * SECOND, RECEIVED);
	only_unknown(f, losses);
	losses_destroy(losses);
}

/* Two writers of the process have one source timestamp: which of them the events are of is open. */
static void two_writers(void **state)
{
	static uint8_t other[24] = { 7, 8, 9 };
	struct feed *f = *state;
	struct losses *losses = listen(f);
	const struct losses_subscription *its;

	two_processes(f);
	message(f, 1 * SECOND, CACHED);
	taken(f, 1 * SECOND + 100, 1 * SECOND);
	message(f, 2ll * SECOND, SENT);
	on(f, 1, 1);
	DDS(2ll * SECOND + 11, "dds_send", "#writer", other, P(16), "source_timestamp", P(2ll * SECOND + 2));
	its = finished(f, losses);
	assert_int_equal(its->lost, 1);
	assert_int_equal(its->where[MODEL_LOST_UNKNOWN], 1);
	losses_destroy(losses);
}

static void of_qualities(struct feed *f, const char *offered, const char *wanted, const char *kept,
			 const char *wants_kept, int64_t offered_ns, int64_t wanted_ns)
{
	on(f, 1, 1);
	qos(f, 1, 0x1100, offered, kept, offered_ns);
	publisher(f, 2, 0x100, 0x10, "/t");
	on(f, 2, 2);
	qos(f, 3, 0x1200, wanted, wants_kept, wanted_ns);
	subscription(f, 4, 0x200, 0x10, "/t");
}

static const char *conflict(struct feed *f)
{
	return model_qos_conflict(model_publisher(f->model, 0), model_subscription(f->model, 0));
}

static void qualities_that_do_not_fit(void **state)
{
	struct feed *f = *state;
	struct losses *losses = listen(f);
	const struct losses_subscription *its;

	of_qualities(f, "best_effort", "reliable", "volatile", "volatile", 0, 0);
	assert_string_equal(model_subscription(f->model, 0)->qos.reliability, "reliable");
	assert_string_equal(conflict(f), "reliability");
	message(f, 1 * SECOND, NOWHERE);
	its = finished(f, losses);
	assert_int_equal(its->where[MODEL_LOST_REJECTED], 1);
	losses_destroy(losses);
}

static void durability(void **state)
{
	struct feed *f = *state;

	of_qualities(f, "reliable", "best_effort", "volatile", "transient_local", 0, 0);
	assert_string_equal(conflict(f), "durability");
}

static void deadline(void **state)
{
	struct feed *f = *state;

	of_qualities(f, "reliable", "reliable", "volatile", "volatile", 20, 10);
	assert_string_equal(conflict(f), "deadline");
}

static void no_deadline_is_offered(void **state)
{
	struct feed *f = *state;

	of_qualities(f, "reliable", "reliable", "volatile", "volatile", 0, 10);
	assert_string_equal(conflict(f), "deadline");
}

/* What the middleware chooses, and what is offered beyond what is wanted, fits. */
static void qualities_that_fit(void **state)
{
	struct feed *f = *state;

	of_qualities(f, "system_default", "reliable", "transient_local", "volatile", 10, 0);
	assert_null(conflict(f));
}

/* Two messages are in the queue, and the second one is taken. */
static void not_displaced(struct feed *f, const char *history, int64_t lifespan)
{
	struct losses *losses = listen(f);
	const struct losses_subscription *its;

	on(f, 2, 2);
	DDS(1, "qos", "rmw_handle", P(0x1200), "\"history", history, "depth", P(2), "\"reliability", "reliable", "\"durability",
	    "volatile", "deadline", P(0), "lifespan", P(lifespan));
	two_processes(f);
	message(f, 1 * SECOND, CACHED);
	message(f, 2ll * SECOND, CACHED);
	taken(f, 2ll * SECOND + 100, 2ll * SECOND);
	its = finished(f, losses);
	assert_int_equal(its->where[MODEL_LOST_UNKNOWN], 1);
	assert_int_equal(its->lost, 1);
	losses_destroy(losses);
}

/* A queue that keeps all displaces nothing. */
static void keeps_all(void **state)
{
	not_displaced(*state, "keep_all", 0);
}

/* The message may have expired. */
static void lifespan(void **state)
{
	not_displaced(*state, "keep_last", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_layer),
		TEST(what_proves_nothing),
		TEST(no_events_of_the_middleware),
		TEST(qualities_that_do_not_fit),
		TEST(durability),
		TEST(deadline),
		TEST(qualities_that_fit),
		TEST(keeps_all),
		TEST(lifespan),
		TEST(two_writers),
		TEST(no_events_of_the_sender),
		TEST(no_events_of_the_reader),
		TEST(no_deadline_is_offered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
