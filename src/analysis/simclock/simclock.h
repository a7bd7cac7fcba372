/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a simulation, piece by piece, out of pairs of (system time, simulation time).
 *
 *   simulation                    ____/   elapsed               ____/
 *    time          /|            /         time                /
 *            ____ / |   /       /                        ____ /
 *           /       |  /                                /
 *          /  pause | / jump back                      /
 *         +---------+----------- system time          +-------------- system time
 *
 * Between two pairs it goes at the rate that leads from one to the other, so pauses, changes of
 * rate and jumps stay where they were. Of a jump backwards (a bag that begins again, a simulator
 * that was reset) is not known when it happened between its two pairs: until the second one the
 * clock goes on at the rate it had. A jump forwards is a short piece that is very fast.
 * Before the first pair and behind the last one the rate next to them goes on, over at least 100 ms
 * if there are as many: a clock that stood stands. It is never before 0.
 *
 * Because of jumps backwards, two scales. Analyses reckon in *elapsed* time, which never goes back:
 * durations are differences of it, and events keep their order. It begins as system time at the
 * first pair, so it looks like any other time since the epoch. A *stamp* is what the simulation's
 * clock said, and is made of elapsed time where a point in time is printed.
 *
 *   simclock_read(&clock, reader, path, &err);
 *   simclock_attach(clock, reader);		event.ns is elapsed time from now on
 *   ... duration = end.ns - start.ns; print(simclock_stamp(clock, start.ns));
 *
 * Context: simclock_create() and simclock_read() allocate, the latter blocks; the others do neither.
 * A clock may be used by several threads.
 */
#ifndef KYMO_ANALYSIS_SIMCLOCK_H
#define KYMO_ANALYSIS_SIMCLOCK_H

#include <stdint.h>

#include "base/err.h"
#include "ctf/read/reader.h"

struct simclock;

/* At @ns, since the Unix epoch, the simulation's clock said @sim_ns. */
struct simclock_pair {
	int64_t ns, sim_ns;
};

/**
 * simclock_create() - a clock out of @count pairs, in order of @ns
 *
 * What cannot be a time (negative, beyond the year 2116) or is out of order is left out. One pair
 * alone is a clock of rate 1.
 * Return: 0, or -1 with @err filled: KYMO_EXIT_INPUT without a pair, KYMO_EXIT_FAILED without memory.
 */
int simclock_create(struct simclock **clock, const struct simclock_pair *pair, unsigned count,
		    struct kymo_err *err);

/**
 * simclock_read() - a clock out of the ros2_caret:sim_time events that @reader finds
 * @path: for messages
 * @domain: only those of this ROS domain; -1: there must be one domain
 *
 * Where several processes recorded it, the one with the most pairs is taken: they are of one
 * simulation, read a moment apart. The reader's bindings are gone afterwards, and it stands at its
 * beginning. Return: 0, or -1 with @err, which says how to record them, or which domains there are.
 */
int simclock_read(struct simclock **clock, struct kymo_ctf_reader *reader, const char *path, int domain, struct kymo_err *err);
void simclock_free(struct simclock *clock);	/* NULL: nothing to do */

/** simclock_attach() - have @reader give elapsed times; @clock must live as long. NULL: system time. */
void simclock_attach(const struct simclock *clock, struct kymo_ctf_reader *reader);

/** simclock_elapsed() - the elapsed time at @ns, since the epoch; it never goes back. */
int64_t simclock_elapsed(const struct simclock *clock, int64_t ns);

/** simclock_stamp() - what the simulation's clock said at @elapsed_ns. */
int64_t simclock_stamp(const struct simclock *clock, int64_t elapsed_ns);

/** simclock_at() - what the simulation's clock said at @ns, since the epoch. */
int64_t simclock_at(const struct simclock *clock, int64_t ns);

/** simclock_between() - how long the simulation took from @begin_ns to @end_ns, both since the epoch. */
int64_t simclock_between(const struct simclock *clock, int64_t begin_ns, int64_t end_ns);

/** simclock_find() - the elapsed time at which the clock said @sim_ns first; outside: where it would have. */
int64_t simclock_find(const struct simclock *clock, int64_t sim_ns);

struct simclock_facts {
	unsigned pairs;
	unsigned pauses;		/* times it stood still between two pairs or more */
	unsigned jumps;			/* backwards */
	int64_t first_ns, last_ns;	/* of the pairs, since the epoch */
	int64_t first_sim_ns, last_sim_ns;
	double slowest, fastest;	/* rates of pieces, without pauses; 1 where there is none */
};
const struct simclock_facts *simclock_facts(const struct simclock *clock);

/** simclock_text() - "12 pairs, rate 0.5 to 1, 1 pause, 2 jumps back". @buffer: 128 bytes. Return: @buffer. */
char *simclock_text(const struct simclock *clock, char *buffer, unsigned size);

#endif
