/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* Listeners that are told on a second thread hear the same, in the same order, as others. */
#include "analysis/model/behind/behind.h"

#include <pthread.h>

#include "feed.h"
#include "feed_as.h"

#define STEPS 20000
#define HEARD (16 * STEPS)
#define NODES 6

/* What a listener heard: which function, of what, and when. */
struct heard {
	char what;
	uint64_t id, message;
	int64_t ns;
};

struct hearer {
	struct heard heard[HEARD];
	unsigned count;
	unsigned elsewhere; /* times that it was not called on the thread of the model */
	pthread_t thread;
};

static void hear(struct hearer *hearer, char what, uint64_t id, uint64_t message, int64_t ns)
{
	assert_true(hearer->count < HEARD);
	hearer->heard[hearer->count++] = (struct heard){ what, id, message, ns };
	hearer->elsewhere += !pthread_equal(pthread_self(), hearer->thread);
}

#define RUN(name, what)                                                               \
	static void name(void *context, const struct model_instance *run)             \
	{                                                                             \
		hear(context, what, run->id, run->message ? run->message->id : 0,     \
		     run->start_ns + run->duration_ns);                               \
	}
RUN(on_started, 's')
RUN(on_instance, 'i')
RUN(on_unfinished, 'u')

#define MESSAGE(name, what)                                                       \
	static void name(void *context, const struct model_message *message)      \
	{                                                                         \
		hear(context, what, message->id, (uintptr_t)message->take_thread, \
		     message->send_ns);                                           \
	}
MESSAGE(on_published, 'p')
MESSAGE(on_taken, 't')

static void on_dropped(void *context, const struct model_message *message, enum model_drop why)
{
	hear(context, 'd', message->id, why, message->send_ns);
}

static void on_executor(void *context, const struct model_executor_interval *interval)
{
	hear(context, 'e', interval->handle, interval->state, interval->end_ns);
}

static void on_loss(void *context, const struct model_loss *loss)
{
	hear(context, 'l', loss->stream, loss->events, loss->end_ns);
}

static const struct model_listener listener = {
	.instance = on_instance,	.unfinished = on_unfinished,
	.published = on_published,	.taken = on_taken,
	.dropped = on_dropped,	.loss = on_loss,
	.started = on_started,	.executor = on_executor,
};

/* Addresses of threads differ from model to model, their numbers do not. */
static void number_threads(struct hearer *hearer)
{
	for (unsigned i = 0; i < hearer->count; i++) {
		struct heard *heard = &hearer->heard[i];
		const struct model_thread *thread = (void *)(uintptr_t)heard->message;

		if ((heard->what == 'p' || heard->what == 't') && thread)
			heard->message = 1 + thread->index;
	}
}

/* A step of node @n at @ns: some publish, some receive, some wait; one in @rare is a new node. */
static void step(struct feed *f, int64_t ns, unsigned n, int64_t *sent_ns, int rare)
{
	const uint64_t publishes = 0x100 + 0x10 * n, receives = 0x900 + 0x10 * n;

	on(f, 1 + (int)n % 3, 1 + (int)n + (rand() % 5000 ? 0 : 50));
	switch (rand() % rare ? rand() % 4 : 4) {
	case 0:
		start(f, ns, receives + 2);
		publish(f, ns + 1, publishes);
		*sent_ns = ns + 3;
		end(f, ns + 5, receives + 2);
		break;
	case 1:
		take(f, ns, receives, *sent_ns);
		start(f, ns + 1, receives + 2);
		end(f, ns + 2, receives + 2);
		break;
	case 2:
		EV(ns, "rclcpp_executor_wait_for_work", "timeout", P(100));
		break;
	case 3:
		start(f, ns, receives + 2);
		break;
	case 4:
		node(f, ns, 0x10 + n, "n");
		publisher(f, ns, publishes, 0x10 + n, "/t");
		subscription(f, ns, receives, 0x10 + n, "/t");
		if (rand() % 4 == 0)
			lose(f, ns);
		break;
	}
}

static void feed_all(struct feed *f, struct hearer *hearer, bool is_behind, int rare)
{
	struct behind *behind;
	struct kymo_err err;
	int64_t sent_ns = 0;

	hearer->thread = pthread_self();
	model_unlisten(f->model, 0, 1);
	assert_int_equal(model_listen(f->model, &listener, hearer, &err), 0);
	assert_int_equal(behind_create(&behind, f->model, &err), 0);
	srand(7);
	for (unsigned n = 0; n < NODES; n++) {
		on(f, 1 + (int)n % 3, 1 + (int)n);
		node(f, 10, 0x10 + n, "n");
		publisher(f, 10, 0x100 + 0x10 * n, 0x10 + n, "/t");
		subscription(f, 10, 0x900 + 0x10 * n, 0x10 + n, "/t");
	}
	for (int i = 0; i < STEPS; i++) {
		/* Begin, end, and begin again in between. */
		if (is_behind && i % 6000 == 100)
			behind_start(behind);
		if (i % 6000 == 5000)
			behind_stop(behind);
		step(f, 100 + 10 * i, (unsigned)rand() % NODES, &sent_ns, rare);
	}
	behind_stop(behind);
	model_finish(f->model);
	behind_destroy(behind);
	number_threads(hearer);
}

/* Return: how much of it was not heard on the thread of the model. */
static double same(void **state, int rare)
{
	static struct hearer at_once, behind;
	void *other;

	at_once.count = at_once.elsewhere = behind.count = behind.elsewhere = 0;
	feed_all(*state, &at_once, false, rare);
	assert_int_equal(setup(&other), 0);
	feed_all(other, &behind, true, rare);
	assert_int_equal(at_once.elsewhere, 0);
	assert_true(at_once.count > STEPS);
	assert_int_equal(at_once.count, behind.count);
	for (unsigned i = 0; i < at_once.count; i++) {
		assert_int_equal(at_once.heard[i].what, behind.heard[i].what);
		assert_int_equal(at_once.heard[i].id, behind.heard[i].id);
		assert_int_equal(at_once.heard[i].message, behind.heard[i].message);
		assert_int_equal(at_once.heard[i].ns, behind.heard[i].ns);
	}
	assert_int_equal(teardown(&other), 0);
	return (double)behind.elsewhere / behind.count;
}

static void few_objects(void **state)
{
	assert_true(same(state, 1000) > 0.5);
}

/* To wait for the second thread again and again is no gain. */
static void many_objects(void **state)
{
	assert_true(same(state, 4) < 0.2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(few_objects), TEST(many_objects) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
