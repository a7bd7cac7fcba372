/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thins out /clock. See sim_clock.h. From the last pair on, the rate gives a straight line; a
 * message that is near it only counts when a period is over. A message off the line, a stamp that
 * is repeated for long, and silence are bends: the last message before the bend and the first one
 * behind it are kept.
 */
#include "caret/agent/sim_clock.h"

/* a repeated stamp is a pause after this time: some clocks advance in steps */
#define STAND_NS	100000000
#define SILENT_NS	500000000	/* so is silence for this time and for three intervals */
#define FIRST_NS	3000000000	/* the same, before there was an interval */
#define RATE_NS		50000000	/* a rate is computed over this time at least */
/* a bend is so far off the straight line, at rate 1: messages are always a little late */
#define BEND_NS		20000000
#define TICK_MIN_NS	1000000

void sim_clock_init(struct sim_clock *clock, unsigned rate,
		    void (*keep)(void *context, const struct sim_clock_point *pair), void *context)
{
	*clock = (struct sim_clock){
		.period_ns = 1000000000 / (rate ? rate : 1), .keep = keep, .context = context,
	};
}

/* In the order of time; a pair is not kept twice. */
static void keep(struct sim_clock *clock, struct sim_clock_point pair)
{
	if (clock->heard && (pair.ns < clock->pair.ns ||
			     (pair.ns == clock->pair.ns && pair.stamp == clock->pair.stamp)))
		return;
	if (!clock->heard || pair.ns - clock->second_ns >= 1000000000) {
		clock->second_ns = pair.ns;
		clock->in_second = 0;
	}
	clock->pair = pair;
	if (clock->in_second == SIM_CLOCK_PAIRS_MAX) {
		clock->skipped++;
		return;
	}
	clock->in_second++;
	clock->keep(clock->context, &pair);
}

static double rate_to(const struct sim_clock *clock, struct sim_clock_point point)
{
	return (double)(point.stamp - clock->pair.stamp) / (double)(point.ns - clock->pair.ns);
}

/* A pair for each period. */
static void sample(struct sim_clock *clock, struct sim_clock_point point)
{
	if (point.ns - clock->pair.ns < clock->period_ns)
		return;
	clock->rate = rate_to(clock, point);
	clock->rate_known = true;
	keep(clock, point);
}

static bool bends(const struct sim_clock *clock, struct sim_clock_point point)
{
	double line, off, allowed = BEND_NS * (clock->rate > 1 ? clock->rate : 1);

	if (point.stamp < clock->last.stamp)
		return true;
	if (!clock->rate_known)
		return false;
	line = clock->rate * (double)(point.ns - clock->pair.ns);
	off = (double)(point.stamp - clock->pair.stamp) - line;
	return off > allowed || off < -allowed;
}

/* Keeps both sides of a bend, and computes the rate anew behind it. */
static void bend(struct sim_clock *clock, struct sim_clock_point before,
		 struct sim_clock_point after)
{
	keep(clock, before);
	keep(clock, after);
	clock->rate_known = false;
	clock->stands = clock->silent = false;
}

/* The stamp is repeated: a clock in steps, or a pause. */
static void same_stamp(struct sim_clock *clock, struct sim_clock_point point)
{
	if (!clock->stands && point.ns - clock->moved.ns >= STAND_NS) {
		keep(clock, clock->moved);
		clock->stands = true;
	}
	clock->last = point;
	if (clock->stands)
		sample(clock, point);
}

static void new_stamp(struct sim_clock *clock, struct sim_clock_point point)
{
	/* After silence, programs had the last stamp until now. */
	struct sim_clock_point before = { clock->silent ? point.ns : clock->last.ns,
					  clock->last.stamp };

	if (clock->stands || bends(clock, point)) {
		bend(clock, before, point);
	} else {
		if (!clock->rate_known && point.ns - clock->pair.ns >= RATE_NS) {
			clock->rate = rate_to(clock, point);
			clock->rate_known = true;
		}
		sample(clock, point);
	}
	clock->moved = clock->last = point;
}

void sim_clock_message(struct sim_clock *clock, int64_t ns, int64_t stamp)
{
	struct sim_clock_point point = { ns, stamp };

	if (stamp <= 0)
		return;
	if (!clock->heard) {
		keep(clock, point);
		clock->heard = true;
		clock->moved = clock->last = point;
		return;
	}
	if (point.ns < clock->last.ns)
		point.ns = clock->last.ns;
	clock->interval_ns =
		point.ns - clock->last.ns; /* also across a pause; the next message corrects it */
	if (stamp == clock->last.stamp)
		same_stamp(clock, point);
	else
		new_stamp(clock, point);
	clock->silent = false;
}

int64_t sim_clock_tick(struct sim_clock *clock, int64_t ns)
{
	int64_t silent_ns = !clock->interval_ns                  ? FIRST_NS
			    : clock->interval_ns > SILENT_NS / 3 ? 3 * clock->interval_ns
								 : SILENT_NS,
		wait;

	if (!clock->heard)
		return clock->period_ns;
	if (!clock->silent && ns - clock->last.ns >= silent_ns) {
		if (!clock->stands)
			keep(clock, clock->last);
		clock->stands = clock->silent = true;
	}
	if (clock->silent)
		sample(clock, (struct sim_clock_point){ ns, clock->last.stamp });
	wait = clock->silent ? clock->pair.ns + clock->period_ns - ns
			     : clock->last.ns + silent_ns - ns;
	return wait > TICK_MIN_NS ? wait : TICK_MIN_NS;
}
