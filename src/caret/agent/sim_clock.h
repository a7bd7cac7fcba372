/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which times of /clock are kept: pairs of system time and simulation time, at a fixed rate, and
 * the two sides of every bend. So a pause, a jump or another rate begins where it really did, and
 * not somewhere between two samples.
 *
 *     simulation            o----o o      o: pairs. On the straight parts one a period is enough;
 *        time        o.....o    /.        at a bend there is one at the last message before and one
 *                 .             o         at the first behind it
 *              o
 *             +---------------- system time
 *
 * No input or output: it is called with each message and with the time, and returns what is to be
 * kept. The thread that receives messages is in dds/dds_clock.c. analysis/simclock converts times
 * with the pairs.
 *
 * Context: wait-free; one thread at a time.
 */
#ifndef KYMO_CARET_SIM_CLOCK_H
#define KYMO_CARET_SIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_CLOCK_RATE_MAX 1000u	/* pairs a second */
/* with those of bends: where two simulators publish one /clock, each message is a bend */
#define SIM_CLOCK_PAIRS_MAX (2 * SIM_CLOCK_RATE_MAX)

struct sim_clock_point {
	int64_t ns;		/* CLOCK_MONOTONIC */
	int64_t stamp;		/* of the simulation, ns */
};

struct sim_clock {
	int64_t period_ns;	/* between two pairs on a straight part */
	/* Called with the pairs, in the order of ns. */
	void (*keep)(void *context, const struct sim_clock_point *pair);
	void *context;

	/* Private. */
	struct sim_clock_point pair;	/* the last pair that was kept, or skipped */
	struct sim_clock_point moved;	/* the first message with the present stamp */
	struct sim_clock_point last;	/* the last message */
	int64_t interval_ns;		/* between the last two messages */
	double rate;			/* since the pair */
	bool heard, rate_known, stands, silent;
	int64_t second_ns;		/* since when pairs are counted, */
	unsigned in_second;		/* and how many there were */
	/* pairs beyond SIM_CLOCK_PAIRS_MAX a second, which were not kept; for anyone to read */
	uint64_t skipped;
};

/** sim_clock_init() - @rate: pairs a second, 1 to SIM_CLOCK_RATE_MAX */
void sim_clock_init(struct sim_clock *clock, unsigned rate,
		    void (*keep)(void *context, const struct sim_clock_point *pair), void *context);

/** sim_clock_message() - a message arrived at @ns. Stamps of 0 and less mean that there is no time
 * yet; they are ignored. */
void sim_clock_message(struct sim_clock *clock, int64_t ns, int64_t stamp);

/**
 * sim_clock_tick() - no message has arrived until @ns
 *
 * Return: ns until the next call, at least 1 ms; before the first message, a period.
 */
int64_t sim_clock_tick(struct sim_clock *clock, int64_t ns);

#endif
