/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a simulation, as pieces between pairs of (system time, simulation time).
 *
 *   simulation                    ____/   elapsed               ____/
 *    time          /|            /         time                /
 *            ____ / |   /       /                        ____ /
 *           /       |  /                                /
 *          /  pause | / jump back                      /
 *         +---------+----------- system time          +-------------- system time
 *
 * Between two pairs the clock advances at the rate that leads from one to the other, so pauses,
 * changes of rate and jumps stay at their places. A jump backwards (a restarted bag, a reset
 * simulator) happened at an unknown time between its two pairs: until the second pair the clock
 * continues at its previous rate. A jump forwards is a short piece with a very high rate. Before
 * the first pair and after the last one, the clock continues at the neighbouring rate, measured
 * over at least 100 ms if the pairs cover that time: a clock that was paused stays paused. It is
 * never below 0.
 *
 * Because of jumps backwards, two scales exist. Analyses compute with *elapsed* time, which never
 * goes back: durations are differences of elapsed times, and events keep their order. Elapsed time
 * equals system time at the first pair, so it looks like any other time since the epoch. A *stamp*
 * is a time of the simulation's clock. It is computed from elapsed time when a point in time is
 * printed.
 *
 *   simclock_read(&clock, reader, path, &err);
 *   simclock_attach(clock, reader);		event.ns is elapsed time from now on
 *   ... duration = end.ns - start.ns; print(simclock_stamp(clock, start.ns));
 *
 * Context: simclock_create() and simclock_read() allocate, the latter blocks; the others do
 * neither. A clock may be used by several threads.
 */
#ifndef KYMO_ANALYSIS_SIMCLOCK_H
#define KYMO_ANALYSIS_SIMCLOCK_H

#include <stdint.h>

#include "base/err.h"
#include "ctf/read/reader.h"

struct simclock;

/* At @ns, since the Unix epoch, the simulation's clock showed @sim_ns. */
struct simclock_pair {
	int64_t ns, sim_ns;
};

/**
 * simclock_create() - create a clock from @count pairs, in order of @ns
 *
 * Invalid times (negative, after the year 2116) and pairs out of order are ignored. A single pair
 * creates a clock of rate 1.
 * Return: 0, or -1 with @err filled: KYMO_EXIT_INPUT without a pair, KYMO_EXIT_FAILED without
 * memory.
 */
int simclock_create(struct simclock **clock, const struct simclock_pair *pair, unsigned count,
		    struct kymo_err *err);

/**
 * simclock_read() - create a clock from the ros2_caret:sim_time events in @reader
 * @path: for messages
 * @domain: use only events of this ROS domain; -1: the trace must have only one domain
 *
 * If several processes recorded the clock, the one with the most pairs is used: all of them read
 * the same simulation, at slightly different times. The function removes the reader's bindings and
 * rewinds the reader. Return: 0, or -1 with @err, which explains how to record the clock, or lists
 * the domains.
 */
int simclock_read(struct simclock **clock, struct kymo_ctf_reader *reader, const char *path,
		  int domain, struct kymo_err *err);
void simclock_free(struct simclock *clock);	/* NULL: no effect */

/**
 * simclock_attach() - make @reader return elapsed times; @clock must stay valid. NULL: system time.
 */
void simclock_attach(const struct simclock *clock, struct kymo_ctf_reader *reader);

/** simclock_elapsed() - the elapsed time at @ns, since the epoch; it never goes back. */
int64_t simclock_elapsed(const struct simclock *clock, int64_t ns);

/** simclock_stamp() - the time of the simulation's clock at @elapsed_ns. */
int64_t simclock_stamp(const struct simclock *clock, int64_t elapsed_ns);

/** simclock_at() - the time of the simulation's clock at @ns, since the epoch. */
int64_t simclock_at(const struct simclock *clock, int64_t ns);

/**
 * simclock_between() - the simulation's duration from @begin_ns to @end_ns, both since the epoch.
 */
int64_t simclock_between(const struct simclock *clock, int64_t begin_ns, int64_t end_ns);

/**
 * simclock_find() - the elapsed time at which the clock first showed @sim_ns; extrapolated outside
 * of the pairs.
 */
int64_t simclock_find(const struct simclock *clock, int64_t sim_ns);

struct simclock_facts {
	unsigned pairs;
	unsigned pauses;		/* stops, each over two pairs or more */
	unsigned jumps;			/* jumps backwards */
	int64_t first_ns, last_ns;	/* of the pairs, since the epoch */
	int64_t first_sim_ns, last_sim_ns;
	double slowest, fastest;	/* rates of pieces, without pauses; 1 without such pieces */
};
const struct simclock_facts *simclock_facts(const struct simclock *clock);

/** simclock_text() - "12 pairs, rate 0.5 to 1, 1 pause, 2 jumps back". @buffer: 128 bytes. Return:
 * @buffer. */
char *simclock_text(const struct simclock *clock, char *buffer, unsigned size);

#endif
