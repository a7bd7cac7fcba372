/* SPDX-License-Identifier: Apache-2.0 */
/* The callbacks and threads of an executor, walked from the first to the last, are those that
 * belong to it, whenever they are asked for. */
#include "analysis/executors/executor_view.h"

#include "feed.h"
#include "feed_as.h"

#define THREADS 12
#define CALLBACKS 24

/* @of: the executor of each, -1: none. Those of @executor, in order. */
static void same_walk(struct executor_view *view, unsigned executor, const int *of_thread,
		      const int *of_callback, unsigned threads, unsigned callbacks)
{
	int at = view_first_callback(view, executor);

	for (unsigned i = 0; i < callbacks; i++) {
		if (of_callback[i] != (int)executor)
			continue;
		assert_int_equal(at, i);
		at = view_next_callback(view, at);
	}
	assert_int_equal(at, -1);
	at = (int)executor;
	for (unsigned i = 0; i < threads; i++) {
		if (of_thread[i] != (int)executor)
			continue;
		assert_int_equal(at, i);
		at = view_next_thread(view, at);
	}
	assert_int_equal(at, -1);
}

static void same_walks(struct executor_view *view, const struct model *model)
{
	const unsigned threads = model_count(model, MODEL_THREAD);
	const unsigned callbacks = model_count(model, MODEL_CALLBACK);
	int of_thread[THREADS], of_callback[CALLBACKS];

	assert_in_range(threads, 1, THREADS);
	assert_in_range(callbacks, 1, CALLBACKS);
	for (unsigned i = 0; i < threads; i++)
		of_thread[i] = (int)view_executor_of(view, i);
	for (unsigned i = 0; i < callbacks; i++)
		of_callback[i] = view_executor_of_callback(view, i);
	for (unsigned i = 0; i < threads; i++)
		if (of_thread[i] == (int)i)
			same_walk(view, i, of_thread, of_callback, threads, callbacks);
}

static void walks(void **state)
{
	struct feed *f = *state;
	struct executor_view *view;
	struct kymo_err err;
	unsigned executors = 0;

	assert_int_equal(view_create(&view, f->model, 0, INT64_MAX, &err), 0);
	srand(3);
	for (int64_t ns = 100; ns < 100 * 100; ns += 100) {
		const int thread = rand() % THREADS;
		const uint64_t callback = 0x10 + 2 * (unsigned)thread + (unsigned)rand() % 2;

		on(f, 1, 1 + thread);
		start(f, ns, callback);
		end(f, ns + 10, callback);
		same_walks(view, f->model);
	}
	/* Threads that ran the same callback are one executor. */
	for (int thread = 0; thread < 8; thread += 2) {
		on(f, 1, 1 + thread);
		start(f, 20000 + thread, P(0x10 + 2 * (thread + 2)));
		end(f, 20000 + thread, P(0x10 + 2 * (thread + 2)));
		same_walks(view, f->model);
	}
	for (unsigned i = 0; i < model_count(f->model, MODEL_THREAD); i++)
		executors += view_executor_of(view, i) == i;
	assert_in_range(executors, 2, THREADS - 4);
	assert_int_equal(view_first_callback(view, THREADS), -1);
	assert_int_equal(view_next_thread(view, THREADS), -1);
	view_pass.destroy(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(walks, setup,
									     teardown) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
