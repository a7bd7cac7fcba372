/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks that are compared by messages: whatever they do, the truth is within the stated error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/align/align.h"
#include "analysis/align/align_bounds.h"
#include "analysis/align/align_internal.h"
#include "base/array.h"

#define SECOND 1000000000.0
#define EPOCH INT64_C(1790000000000000000)

/* By how much B's clock is ahead of A's, @t seconds after the beginning. */
struct clocks {
	const char *name;
	double ahead_ns, rate, rate_later;	/* the second from the middle of the trace on */
	/* Slewed to and fro, by so much, in so many seconds. */
	double wave_ns, wave_s;
	double seconds;
	unsigned messages;			/* each way */
	double least_ns, usual_ns;		/* delays */
	/* Parts of the trace in which messages go each way. */
	double there_until, back_from;
};

static uint64_t seed;

static double chance(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(seed >> 11) / (double)(1ull << 53);
}

static double ahead(const struct clocks *c, double t)
{
	double half = c->seconds / 2, late = t > half ? t - half : 0, phase, wave = 0;

	if (c->wave_s > 0) {
		phase = t / c->wave_s - (double)(int64_t)(t / c->wave_s);
		wave = c->wave_ns * (phase < 0.5 ? phase * 2 : 2 - phase * 2);
	}
	return c->ahead_ns + (c->rate * (t - late) + c->rate_later * late) * SECOND + wave;
}

/* Delays are short now and then, and long behind a busy CPU. */
static double delay(const struct clocks *c)
{
	return c->least_ns + c->usual_ns * chance() * chance() +
	       (chance() < 0.02 ? 50 * c->usual_ns : 0);
}

static int64_t by_a(double t)
{
	return EPOCH + (int64_t)(t * SECOND);
}

static int64_t by_b(const struct clocks *c, double t)
{
	return by_a(t) + (int64_t)ahead(c, t);
}

static void exchange(const struct clocks *c, struct bounds *most, struct bounds *least)
{
	for (unsigned i = 0; i < c->messages; i++) {
		double sent = c->seconds * c->there_until * (i + chance()) / c->messages;
		double taken = sent + delay(c) / SECOND;

		assert_int_equal(bounds_add(most, by_a(sent), by_b(c, taken) - by_a(sent)), 0);
		sent = c->seconds *
		       (c->back_from + (1 - c->back_from) * (i + chance()) / c->messages);
		taken = sent + delay(c) / SECOND;
		assert_int_equal(bounds_add(least, by_a(taken), by_a(taken) - by_b(c, sent)), 0);
	}
}

static void check(const struct clocks *c, struct bounds_fit *fit)
{
	struct bounds most = { 0 }, least = { 0 };
	int64_t error_ns = 0;

	exchange(c, &most, &least);
	assert_int_equal(most.messages, c->messages);
	bounds_fit(fit, &most, &least, by_a(0), by_a(c->seconds));
	assert_true(fit->possible);
	for (unsigned k = 0; k + 1 < BOUNDS_KNOTS; k++) {
		for (unsigned part = 0; part < 4; part++) {
			const struct bounds_knot *knot = &fit->knot[k];
			int64_t ns = knot->ns + (knot[1].ns - knot->ns) * part / 4;
			int64_t is =
				knot->ahead_ns + (knot[1].ahead_ns - knot->ahead_ns) * part / 4;
			int64_t wrong =
				llabs(is - (int64_t)ahead(c, (double)(ns - EPOCH) / SECOND));
			int64_t bound = knot->error_ns > knot[1].error_ns ? knot->error_ns
									  : knot[1].error_ns;

			if (wrong > bound)
				fail_msg(
					"%s: wrong by %lld ns, and said to be by at most %lld ns, at %g s",
					c->name, (long long)wrong, (long long)bound,
					(double)(ns - EPOCH) / SECOND);
			error_ns = bound > error_ns ? bound : error_ns;
		}
	}
	/* A bound that is true is worth something if it is tight, too. */
	if (c->there_until == 1 && c->back_from == 0 &&
	    (double)error_ns > 20 * (c->least_ns + c->usual_ns))
		fail_msg("%s: the error is said to be up to %lld ns", c->name, (long long)error_ns);
	bounds_free(&most);
	bounds_free(&least);
}

static void the_truth_is_inside(void **state)
{
	static const struct clocks all[] = {
		{ .name = "equal clocks",
		  .seconds = 10,
		  .messages = 100,
		  .least_ns = 40e3,
		  .usual_ns = 100e3,
		  .there_until = 1 },
		{ .name = "one second ahead",
		  .ahead_ns = 1e9,
		  .seconds = 30,
		  .messages = 3000,
		  .least_ns = 40e3,
		  .usual_ns = 100e3,
		  .there_until = 1 },
		{ .name = "half a year behind",
		  .ahead_ns = -15e15,
		  .seconds = 10,
		  .messages = 1000,
		  .least_ns = 40e3,
		  .usual_ns = 100e3,
		  .there_until = 1 },
		{ .name = "150 ppm",
		  .ahead_ns = 5e6,
		  .rate = 150e-6,
		  .rate_later = 150e-6,
		  .seconds = 600,
		  .messages = 60000,
		  .least_ns = 60e3,
		  .usual_ns = 200e3,
		  .there_until = 1 },
		{ .name = "-900 ppm",
		  .ahead_ns = 5e6,
		  .rate = -900e-6,
		  .rate_later = -900e-6,
		  .seconds = 60,
		  .messages = 6000,
		  .least_ns = 60e3,
		  .usual_ns = 200e3,
		  .there_until = 1 },
		{ .name = "a rate that changes",
		  .rate = 10e-6,
		  .rate_later = 90e-6,
		  .seconds = 100,
		  .messages = 5000,
		  .least_ns = 60e3,
		  .usual_ns = 200e3,
		  .there_until = 1 },
		{ .name = "slewed to and fro",
		  .rate = 20e-6,
		  .rate_later = 20e-6,
		  .wave_ns = 1e6,
		  .wave_s = 30,
		  .seconds = 300,
		  .messages = 30000,
		  .least_ns = 60e3,
		  .usual_ns = 100e3,
		  .there_until = 1 },
		{ .name = "ten messages",
		  .ahead_ns = -3e6,
		  .rate = 30e-6,
		  .rate_later = 30e-6,
		  .seconds = 5,
		  .messages = 10,
		  .least_ns = 60e3,
		  .usual_ns = 200e3,
		  .there_until = 1 },
		{ .name = "one message each way",
		  .ahead_ns = 7e9,
		  .seconds = 1,
		  .messages = 1,
		  .least_ns = 60e3,
		  .usual_ns = 200e3,
		  .there_until = 1 },
		{ .name = "there first, back later",
		  .ahead_ns = 2e6,
		  .rate = 80e-6,
		  .rate_later = 80e-6,
		  .seconds = 60,
		  .messages = 600,
		  .least_ns = 60e3,
		  .usual_ns = 200e3,
		  .there_until = 0.3,
		  .back_from = 0.7 },
		{ .name = "far apart, quick there",
		  .ahead_ns = 1e3,
		  .seconds = 60,
		  .messages = 20000,
		  .least_ns = 5e6,
		  .usual_ns = 3e6,
		  .there_until = 1 },
	};
	struct bounds_fit *fit = calloc(1, sizeof(*fit));

	(void)state;
	assert_non_null(fit);
	for (seed = 1; seed < 4; seed++) {
		uint64_t was = seed;

		for (size_t i = 0; i < COUNT_OF(all); i++)
			check(&all[i], fit);
		seed = was;
	}
	free(fit);
}

static void a_step_is_no_clock(void **state)
{
	struct bounds most = { 0 }, least = { 0 };
	struct bounds_fit *fit = calloc(1, sizeof(*fit));

	(void)state;
	assert_non_null(fit);
	/* A second at once, 100 us after a message of before. */
	for (unsigned i = 0; i < 2; i++) {
		int64_t ns = EPOCH + i * 100000;

		bounds_add(&most, ns, i * 1000000000ll + 50000);
		bounds_add(&least, ns, -(i * 1000000000ll - 50000));
	}
	bounds_fit(fit, &most, &least, EPOCH, EPOCH + 200000);
	assert_false(fit->possible);
	bounds_free(&most);
	bounds_free(&least);
	free(fit);
}

/* Of more messages than are kept, the quickest stay. */
static void the_quickest_stay(void **state)
{
	struct bounds bounds = { 0 };
	int64_t least = INT64_MAX;
	bool late = false;

	(void)state;
	for (unsigned i = 0; i < 1000000; i++)
		assert_int_equal(
			bounds_add(&bounds, i, i == 777777 || i == 3 ? -5 : 1000 + (int64_t)i % 7),
			0);
	assert_true(bounds.count <= BOUNDS_MAX && bounds.count >= BOUNDS_MAX / 4);
	for (unsigned i = 0; i < bounds.count; i++) {
		least = bounds.bound[i].most_ns < least ? bounds.bound[i].most_ns : least;
		late = late || (bounds.bound[i].ns == 777777 && bounds.bound[i].most_ns == -5);
	}
	assert_int_equal(least, -5);
	assert_true(late);
	bounds_free(&bounds);
}

/* ---- hosts that talk one way only ---- */

#define HOSTS 4u
#define RING_SECONDS 60

struct ring {
	const char *name;
	unsigned hosts;
	const char *edges;		/* "01 12 20": host 0 sends to 1, ... */
	double rate[HOSTS];
	double hz;
	enum align_how how[HOSTS];
	unsigned between[HOSTS];
};

static const double ring_ahead[HOSTS] = { 0, 4e12, -3e9, 7e6 };

static double ring_time(const struct ring *r, unsigned host, double t)
{
	return t * SECOND + ring_ahead[host] + r->rate[host] * t * SECOND;
}

static void ring_messages(const struct ring *r, struct messages *messages)
{
	static const struct clocks delays = { .least_ns = 60e3, .usual_ns = 200e3 };

	for (const char *edge = r->edges; *edge; edge += edge[2] ? 3 : 2) {
		unsigned from = (unsigned)(edge[0] - '0'), to = (unsigned)(edge[1] - '0');

		for (unsigned i = 0; i < RING_SECONDS * r->hz; i++) {
			double sent = (i + chance()) / r->hz,
			       taken = sent + delay(&delays) / SECOND;
			int64_t sent_ns = EPOCH + (int64_t)ring_time(r, from, sent),
				taken_ns = EPOCH + (int64_t)ring_time(r, to, taken);

			assert_int_equal(bounds_add(&messages->bounds[from * r->hosts + to],
						    sent_ns, taken_ns - sent_ns),
					 0);
		}
	}
}

/* What @host's own time at the true time @t is by the first host's clock. */
static int64_t ring_shifted(const struct ring *r, const struct aligned_host *host, unsigned index,
			    double t, int64_t *error_ns)
{
	int64_t own = EPOCH + (int64_t)ring_time(r, index, t);
	const struct kymo_ctf_shift *s = host->shift;
	unsigned at = 0;

	while (at + 2 < host->shifts && s[at + 1].ns <= own)
		at++;
	if (host->shifts < 2) {
		*error_ns = s->error_ns;
		return own + s->by_ns;
	}
	s += at;
	*error_ns = s[0].error_ns > s[1].error_ns ? s[0].error_ns : s[1].error_ns;
	return own + s[0].by_ns +
	       (int64_t)((double)(own - s[0].ns) / (double)(s[1].ns - s[0].ns) *
			 (double)(s[1].by_ns - s[0].by_ns));
}

static void ring_check(const struct ring *r)
{
	struct align align = { .host = calloc(r->hosts, sizeof(*align.host)), .hosts = r->hosts };
	struct messages messages;

	assert_non_null(align.host);
	assert_int_equal(messages_init(&messages, r->hosts), 0);
	ring_messages(r, &messages);
	for (unsigned i = 0; i < r->hosts; i++) {
		align.host[i].pub.name = "host";
		align.host[i].first_ns = EPOCH + (int64_t)ring_time(r, i, 0);
		align.host[i].last_ns = EPOCH + (int64_t)ring_time(r, i, RING_SECONDS);
	}
	assert_int_equal(align_settle(&align, &messages), 0);
	for (unsigned i = 0; i < r->hosts; i++) {
		const struct aligned_host *host = &align.host[i];

		if (host->pub.how != r->how[i] || host->pub.between != r->between[i])
			fail_msg("%s: host %u is compared by %s, over %u hosts", r->name, i, align_how_name(host->pub.how), host->pub.between);
		for (double t = 0; t < RING_SECONDS && i; t += 0.37) {
			double ahead_ns = ring_time(r, i, t) - ring_time(r, 0, t);
			int64_t error_ns, wrong = llabs(ring_shifted(r, host, i, t, &error_ns) -
							(EPOCH + (int64_t)ring_time(r, 0, t)));

			if (host->pub.how == ALIGN_MESSAGES &&
			    (wrong > error_ns || error_ns > 3000000))
				fail_msg("%s: host %u is wrong by %lld ns, and said to be by %lld ns, at %g s", r->name, i, (long long)wrong,
					 (long long)error_ns, t);
			if (host->pub.is_most && ahead_ns > (double)host->pub.bound_ns + 1e6)
				fail_msg("%s: host %u is ahead by %g ns", r->name, i, ahead_ns);
			if (host->pub.is_least && ahead_ns < (double)host->pub.bound_ns - 1e6)
				fail_msg("%s: host %u is ahead by %g ns", r->name, i, ahead_ns);
		}
		free(host->shift);
	}
	messages_free(&messages);
	free(align.host);
}

static void ways_over_others(void **state)
{
#define M ALIGN_MESSAGES
#define W ALIGN_ONE_WAY
#define N ALIGN_WALL_CLOCK
	static const struct ring all[] = {
		{ "a ring of three", 3, "01 12 20", { 0, 80e-6, -30e-6 }, 20, { 0, M, M }, { 0, 1, 0 } },
		{ "another way round", 3, "02 21 10", { 0, -400e-6, 500e-6 }, 100, { 0, M, M }, { 0, 1, 0 } },
		{ "the first clock fast", 3, "01 12 20", { 900e-6 }, 50, { 0, M, M }, { 0, 1, 0 } },
		{ "a ring of four", 4, "01 12 23 30", { 0, 10e-6, 20e-6, 30e-6 }, 50, { 0, M, M, M }, { 0, 2, 1, 0 } },
		{ "somebody beside a ring", 4, "01 12 20 23 32", { 0 }, 50, { 0, M, M, M }, { 0, 1, 0, 0 } },
		{ "a chain away", 3, "01 12", { 0 }, 20, { 0, W, W }, { 0, 0, 1 } },
		{ "a chain to it", 3, "21 10", { 0 }, 20, { 0, W, W }, { 0, 0, 1 } },
		{ "two that meet elsewhere", 3, "01 21", { 0 }, 20, { 0, W, N }, { 0, 0, 0 } },
		{ "nobody knows it", 3, "01 10", { 0 }, 20, { 0, M, N }, { 0, 0, 0 } },
	};

	(void)state;
	for (seed = 1; seed < 4; seed++) {
		uint64_t was = seed;

		for (size_t i = 0; i < COUNT_OF(all); i++)
			ring_check(&all[i]);
		seed = was;
	}
}

/* Where nobody knows by how much, messages between two such hosts do not arrive before they were
 * sent, either. */
static void all_left_are_in_order(void **state)
{
	static const struct ring r = { "a chain", 3, "01 12", { 0 }, 20, { 0, W, W }, { 0, 0, 1 } };
	struct align align = { .host = calloc(3, sizeof(*align.host)), .hosts = 3 };
	struct messages messages;

	(void)state;
	assert_non_null(align.host);
	assert_int_equal(messages_init(&messages, 3), 0);
	ring_messages(&r, &messages);
	for (unsigned i = 0; i < 3; i++)
		align.host[i].pub.name = "host";
	assert_int_equal(align_settle(&align, &messages), 0);
	for (unsigned i = 0; i < messages.bounds[1 * 3 + 2].count; i++) {
		const struct align_bound *bound = &messages.bounds[1 * 3 + 2].bound[i];
		int64_t sent = bound->ns - align.host[1].pub.ahead_ns,
			taken = bound->ns + bound->most_ns - align.host[2].pub.ahead_ns;

		assert_true(taken >= sent);
	}
	for (unsigned i = 0; i < 3; i++)
		free(align.host[i].shift);
	messages_free(&messages);
	free(align.host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_truth_is_inside),
		cmocka_unit_test(a_step_is_no_clock),
		cmocka_unit_test(the_quickest_stay),
		cmocka_unit_test(ways_over_others),
		cmocka_unit_test(all_left_are_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
