/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the times that /clock tells are kept: a pair of system time and simulation time so many times a
 * second, and both sides of every bend, so that a pause, a jump or another rate begins where it did and not
 * somewhere between two samples.
 *
 *     simulation            o----o o      o: pairs. On the straight parts one a period is enough;
 *        time        o.....o    /.        at a bend there is one at the last message before and one
 *                 .             o         at the first behind it
 *              o
 *             +---------------- system time
 *
 * Pure: told what is heard and what time it is, it says what is to be kept. The thread that hears is in
 * dds/clock.c. analysis/simclock makes times of the pairs.
 *
 * Context: wait-free; one thread at a time.
 */
#ifndef KYMO_CONTROL_SIM_CLOCK_H
#define KYMO_CONTROL_SIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_CLOCK_RATE_MAX 1000u	/* pairs a second */

struct sim_clock_point {
	int64_t ns;		/* CLOCK_MONOTONIC */
	int64_t stamp;		/* of the simulation, ns */
};

struct sim_clock {
	int64_t period_ns;	/* between two pairs, where nothing bends */
	/* Gets the pairs, in order of ns. */
	void (*keep)(void *context, const struct sim_clock_point *pair);
	void *context;

	/* Its own. */
	struct sim_clock_point pair;	/* the last that was kept */
	struct sim_clock_point moved;	/* the first message with the present stamp */
	struct sim_clock_point last;	/* the last message */
	int64_t interval_ns;		/* between the last two messages */
	double rate;			/* since the pair */
	bool heard, rate_known, stands, silent;
};

/** sim_clock_init() - @rate: pairs a second, 1 to SIM_CLOCK_RATE_MAX */
void sim_clock_init(struct sim_clock *clock, unsigned rate,
		    void (*keep)(void *context, const struct sim_clock_point *pair), void *context);

/** sim_clock_hear() - a message came at @ns. Stamps of 0 and less say that there is no time yet; they are none. */
void sim_clock_hear(struct sim_clock *clock, int64_t ns, int64_t stamp);

/**
 * sim_clock_tick() - it is @ns, and no message is there
 *
 * Return: ns until it wants to be told again, at least 1 ms; when nothing was heard yet, a period.
 */
int64_t sim_clock_tick(struct sim_clock *clock, int64_t ns);

#endif
