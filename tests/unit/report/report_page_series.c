/* SPDX-License-Identifier: Apache-2.0 */
/* Columns that became wider while the trace went on have what they would have, had they been that
 * wide from the beginning: of an object that is busy all the time, and of one that pauses. */
#include "report/page/page_series.h"

#include "analysis/spans/spans.h"
#include "feed.h"
#include "feed_as.h"
#include "report/report_internal.h"

#define RUNS 3000
#define OBJECTS 3

struct run {
	int64_t ns, took_ns;
	unsigned object;
};

struct seen {
	struct run run[RUNS];
	unsigned count;
};

static unsigned column(const struct page_series *series, int64_t ns)
{
	return (unsigned)((uint64_t)(ns - series->origin_ns) >> series->shift);
}

static void same_track(const struct page_series *series, const struct seen *seen,
		       enum page_what what, unsigned object)
{
	const struct page_cell *cell = page_track(series, what, object);
	static struct page_cell wanted[PAGE_COLUMNS];

	memset(wanted, 0, sizeof(wanted));
	for (unsigned i = 0; i < seen->count; i++) {
		const struct run *run = &seen->run[i];
		struct page_cell *at = &wanted[column(series, run->ns)];

		if (run->object != object)
			continue;
		if (!at->count || run->took_ns < at->min_ns)
			at->min_ns = run->took_ns;
		if (run->took_ns > at->max_ns)
			at->max_ns = run->took_ns;
		at->count++;
	}
	assert_non_null(cell);
	for (unsigned i = 0; i < PAGE_COLUMNS; i++) {
		assert_int_equal(cell[i].count, wanted[i].count);
		assert_int_equal(cell[i].min_ns, wanted[i].min_ns);
		assert_int_equal(cell[i].max_ns, wanted[i].max_ns);
	}
}

/* The rows of a column are not asked for: how many messages it has. */
static void same_heat(const struct page_series *series, const struct seen *seen)
{
	static unsigned wanted[PAGE_HEAT_COLUMNS];
	const uint32_t *heat = page_heat(series, 0);

	memset(wanted, 0, sizeof(wanted));
	for (unsigned i = 0; i < seen->count; i++)
		wanted[column(series, seen->run[i].ns) / (PAGE_COLUMNS / PAGE_HEAT_COLUMNS)]++;
	assert_non_null(heat);
	for (unsigned i = 0; i < PAGE_HEAT_COLUMNS; i++) {
		unsigned sum = 0;

		for (unsigned row = 0; row < PAGE_HEAT_ROWS; row++)
			sum += heat[i * PAGE_HEAT_ROWS + row];
		assert_int_equal(sum, wanted[i]);
	}
}

static struct page_series *listen(struct feed *f, struct spans **spans)
{
	struct page_series *series;
	struct kymo_err err;

	assert_int_equal(spans_create(spans, f->model, &err), 0);
	assert_int_equal(page_series_create(&series, f->model, *spans, INT64_MIN, INT64_MAX, &err),
			 0);
	return series;
}

static void note(struct seen *seen, int64_t ns, int64_t took_ns, unsigned object)
{
	assert_true(seen->count < RUNS);
	seen->run[seen->count++] = (struct run){ ns, took_ns, object };
}

/* Object 0 runs all the time, the others pause until the columns are wider by some powers of 2. */
static void tracks(void **state)
{
	static struct seen seen;
	struct feed *f = *state;
	struct spans *spans;
	struct page_series *series = listen(f, &spans);
	unsigned first = 0;
	int64_t ns = 1000000;

	seen.count = 0;
	for (unsigned i = 0; i < 900; i++) {
		const unsigned object = i < 3 || (i % 300 >= 150 && i % 2) ? i % OBJECTS : 0;
		const int64_t took_ns = 10 + rand() % 50;

		on(f, 1, 1);
		start(f, ns, P(0x10 + object));
		end(f, ns + took_ns, P(0x10 + object));
		page_series_arrived(
			series, &(struct chains_path){ .index = object },
			&(struct chains_arrival){ .begin_ns = ns, .total_ns = took_ns });
		note(&seen, ns, took_ns, object);
		if (!i)
			first = series->shift;
		ns += 100 + ns / 100;
	}
	assert_true(series->shift > first + 4);
	for (unsigned object = 0; object < OBJECTS; object++) {
		same_track(series, &seen, PAGE_RUNS, object);
		same_track(series, &seen, PAGE_RUNS, object);
		same_track(series, &seen, PAGE_CHAIN, object);
	}
	assert_null(page_track(series, PAGE_RUNS, OBJECTS));
	page_series_pass.destroy(series);
	spans_destroy(spans);
}

/* A pause so long that all that was before it is in the first column. */
static void long_pause(void **state)
{
	static struct seen seen;
	struct feed *f = *state;
	struct spans *spans;
	struct page_series *series = listen(f, &spans);

	seen.count = 0;
	for (unsigned i = 0; i < 20; i++) {
		const int64_t ns = i < 19 ? 1000 + 30000 * i : 1ll << 60;

		on(f, 1, 1);
		start(f, ns, P(0x10 + i % 2));
		end(f, ns + 5, P(0x10 + i % 2));
		note(&seen, ns, 5, i % 2);
	}
	assert_true(series->shift > 32);
	same_track(series, &seen, PAGE_RUNS, 0);
	same_track(series, &seen, PAGE_RUNS, 1);
	page_series_pass.destroy(series);
	spans_destroy(spans);
}

static void heats(void **state)
{
	static struct seen seen;
	struct feed *f = *state;
	struct spans *spans;
	struct page_series *series = listen(f, &spans);
	int64_t ns = 1000000;

	seen.count = 0;
	on(f, 1, 1);
	node(f, 1, 0x1, "talker");
	publisher(f, 2, 0x100, 0x1, "/t");
	subscription(f, 3, 0x200, 0x1, "/t");
	for (unsigned i = 0; i < 600; i++) {
		publish_as(f, ns, 0x100, 0x1100, (uint64_t)ns);
		take_as(f, ns + 20, 0x1200, (uint64_t)ns);
		start(f, ns + 30, P(0x202));
		end(f, ns + 40, P(0x202));
		note(&seen, ns, 30, 0);
		ns += 100 + (i % 100 == 99 ? ns : ns / 200);
	}
	same_heat(series, &seen);
	same_heat(series, &seen);
	page_series_pass.destroy(series);
	spans_destroy(spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tracks, setup, teardown),
		cmocka_unit_test_setup_teardown(long_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(heats, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
