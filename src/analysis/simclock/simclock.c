/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pieces of a simulation's time, and conversions; see simclock.h.
 *
 * The idea: from system time to elapsed time there are straight pieces, one for each pair; a
 * binary search finds the piece. From elapsed time to a stamp there is one constant for each lap
 * between two jumps backwards; a binary search finds the lap. A rate is a fraction of two whole
 * numbers, and products have 128 bits. So no time is rounded before the division, and the sides of
 * a pair meet to the nanosecond.
 */
#include "analysis/simclock/simclock.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define TIME_LIMIT (INT64_MAX / 2)	/* the year 2116; sums of two times still fit */
/* A continued rate is measured over at least this time, because of jitter. */
#define BASE_NS 100000000

/* From @ns until the next piece: elapsed + (t - ns) * advance / span. */
struct piece {
	int64_t ns, sim_ns, elapsed_ns;
	/* @advance ns of simulation in @span ns of system time; span > 0 */
	int64_t advance, span;
};

/* Between two jumps backwards, a stamp is elapsed time plus a constant. */
struct lap {
	int64_t elapsed_ns, sim_ns;	/* its begin */
};

struct simclock {
	struct piece *piece;
	struct lap *lap;
	unsigned pieces, laps;
	struct simclock_facts facts;
};

static int64_t limited(__int128 ns)
{
	return ns > TIME_LIMIT ? TIME_LIMIT : ns < -TIME_LIMIT ? -TIME_LIMIT : (int64_t)ns;
}

static int64_t scaled(const struct piece *piece, int64_t ns)
{
	return limited((__int128)ns * piece->advance / piece->span);
}

/* ---- creation ---- */

static bool goes_back(const struct simclock *clock, unsigned from)
{
	return clock->piece[from + 1].sim_ns < clock->piece[from].sim_ns;
}

/* Writes the rate before or after pair @at into @piece. Return: whether such a rate exists. */
static bool rate_beside(const struct simclock *clock, unsigned at, bool before, struct piece *piece)
{
	const struct piece *all = clock->piece;
	unsigned from = at, to = at;

	if (before)
		while (from && !goes_back(clock, from - 1) && all[at].ns - all[from].ns < BASE_NS)
			from--;
	else
		while (to + 1 < clock->pieces && !goes_back(clock, to) &&
		       all[to].ns - all[at].ns < BASE_NS)
			to++;
	if (all[to].ns == all[from].ns)
		return false;
	piece->advance = all[to].sim_ns - all[from].sim_ns;
	piece->span = all[to].ns - all[from].ns;
	return true;
}

/* Continues the clock at pair @at, where no second pair defines the rate. */
static void go_on(struct simclock *clock, unsigned at)
{
	struct piece *piece = &clock->piece[at];

	if (rate_beside(clock, at, true, piece) || (at + 1 < clock->pieces &&
						    rate_beside(clock, at + 1, false, piece)))
		return;
	piece->advance = at ? piece[-1].advance : 1;	/* several jumps follow each other */
	piece->span = at ? piece[-1].span : 1;
}

static void count_rate(struct simclock_facts *facts, const struct piece *piece, bool *stands)
{
	double rate = (double)piece->advance / (double)piece->span;

	facts->pauses += !piece->advance && !*stands;
	*stands = !piece->advance;
	if (!piece->advance || piece->span < BASE_NS)
		return;
	if (facts->slowest == 0 || rate < facts->slowest)
		facts->slowest = rate;
	if (rate > facts->fastest)
		facts->fastest = rate;
}

/* A jump takes at least one nanosecond, so that its two sides have different elapsed times. */
static void jump(struct simclock *clock, unsigned at)
{
	struct piece *piece = &clock->piece[at], *next = piece + 1;
	int64_t advance;

	go_on(clock, at);
	advance = scaled(piece, next->ns - piece->ns);
	next->elapsed_ns = limited((__int128)piece->elapsed_ns + (advance > 0 ? advance : 1));
	clock->lap[clock->laps++] = (struct lap){ next->elapsed_ns, next->sim_ns };
	clock->facts.jumps++;
}

static void lay_out(struct simclock *clock)
{
	struct simclock_facts *facts = &clock->facts;
	bool stands = false;

	clock->piece[0].elapsed_ns = clock->piece[0].ns;
	clock->lap[clock->laps++] =
		(struct lap){ clock->piece[0].elapsed_ns, clock->piece[0].sim_ns };
	for (unsigned i = 0; i + 1 < clock->pieces; i++) {
		struct piece *piece = &clock->piece[i], *next = piece + 1;

		if (goes_back(clock, i)) {
			jump(clock, i);
			stands = false;
			continue;
		}
		piece->advance = next->sim_ns - piece->sim_ns;
		piece->span = next->ns > piece->ns ? next->ns - piece->ns : 1;
		next->elapsed_ns = limited((__int128)piece->elapsed_ns + piece->advance);
		if (next->ns > piece->ns)
			count_rate(facts, piece, &stands);
	}
	go_on(clock, clock->pieces - 1);
	if (facts->fastest == 0)
		facts->slowest = facts->fastest = 1;
}

static bool is_time(int64_t ns)
{
	return ns >= 0 && ns < TIME_LIMIT;
}

int simclock_create(struct simclock **result, const struct simclock_pair *pair, unsigned count,
		    struct kymo_err *err)
{
	struct simclock *clock = calloc(1, sizeof(*clock));

	if (clock) {
		clock->piece = calloc((size_t)count + 1, sizeof(*clock->piece));
		clock->lap = calloc((size_t)count + 1, sizeof(*clock->lap));
	}
	if (!clock || !clock->piece || !clock->lap) {
		simclock_free(clock);
		return err_no_memory(err);
	}
	for (unsigned i = 0; i < count; i++) {
		if (!is_time(pair[i].ns) || !is_time(pair[i].sim_ns) ||
		    (clock->pieces && pair[i].ns < clock->piece[clock->pieces - 1].ns))
			continue;
		clock->piece[clock->pieces].ns = pair[i].ns;
		clock->piece[clock->pieces++].sim_ns = pair[i].sim_ns;
	}
	if (!clock->pieces) {
		simclock_free(clock);
		return err_set(err, KYMO_EXIT_INPUT, "the trace has no times of a simulation");
	}
	clock->facts = (struct simclock_facts){
		.pairs = clock->pieces,
		.first_ns = clock->piece[0].ns, .first_sim_ns = clock->piece[0].sim_ns,
		.last_ns = clock->piece[clock->pieces - 1].ns,
		.last_sim_ns = clock->piece[clock->pieces - 1].sim_ns,
	};
	lay_out(clock);
	*result = clock;
	return 0;
}

void simclock_free(struct simclock *clock)
{
	if (!clock)
		return;
	free(clock->piece);
	free(clock->lap);
	free(clock);
}

/* ---- conversions ---- */

static int64_t before_first(const struct simclock *clock, int64_t ns)
{
	const struct piece *first = clock->piece;
	struct piece rate = { .advance = 1, .span = 1 };
	int64_t back, span = limited((__int128)first->ns - ns);

	if (!rate_beside(clock, 0, false, &rate))
		rate = *first;		/* a jump follows */
	back = scaled(&rate, span);
	return first->elapsed_ns - (back < first->sim_ns ? back : first->sim_ns);
}

int64_t simclock_elapsed(const struct simclock *clock, int64_t ns)
{
	unsigned low = 0, high = clock->pieces;
	const struct piece *piece;

	if (ns < clock->piece[0].ns)
		return before_first(clock, ns);
	while (high - low > 1) {
		unsigned middle = low + (high - low) / 2;

		if (clock->piece[middle].ns <= ns)
			low = middle;
		else
			high = middle;
	}
	piece = &clock->piece[low];
	return limited((__int128)piece->elapsed_ns +
		       scaled(piece, limited((__int128)ns - piece->ns)));
}

int64_t simclock_stamp(const struct simclock *clock, int64_t elapsed_ns)
{
	unsigned low = 0, high = clock->laps;
	const struct lap *lap;

	while (high - low > 1) {
		unsigned middle = low + (high - low) / 2;

		if (clock->lap[middle].elapsed_ns <= elapsed_ns)
			low = middle;
		else
			high = middle;
	}
	lap = &clock->lap[low];
	return limited((__int128)lap->sim_ns + elapsed_ns - lap->elapsed_ns);
}

int64_t simclock_at(const struct simclock *clock, int64_t ns)
{
	return simclock_stamp(clock, simclock_elapsed(clock, ns));
}

int64_t simclock_between(const struct simclock *clock, int64_t begin_ns, int64_t end_ns)
{
	return simclock_elapsed(clock, end_ns) - simclock_elapsed(clock, begin_ns);
}

int64_t simclock_find(const struct simclock *clock, int64_t sim_ns)
{
	for (unsigned i = 0; i < clock->laps; i++) {
		const struct lap *lap = &clock->lap[i],
				 *next = i + 1 < clock->laps ? lap + 1 : NULL;
		int64_t at = limited((__int128)lap->elapsed_ns + sim_ns - lap->sim_ns);

		if ((i && sim_ns < lap->sim_ns) || (next && at >= next->elapsed_ns))
			continue;
		return at;
	}
	/*
	 * The time is between two laps, where the clock jumped over it: extrapolate the last lap.
	 */
	return limited((__int128)clock->lap[clock->laps - 1].elapsed_ns + sim_ns -
		       clock->lap[clock->laps - 1].sim_ns);
}

const struct simclock_facts *simclock_facts(const struct simclock *clock)
{
	return &clock->facts;
}

char *simclock_text(const struct simclock *clock, char *buffer, unsigned size)
{
	const struct simclock_facts *facts = &clock->facts;
	char rate[48], pauses[32] = "", jumps[32] = "";

	if (facts->slowest == facts->fastest)
		(void)snprintf(rate, sizeof(rate), "%.3g", facts->fastest);
	else
		(void)snprintf(rate, sizeof(rate), "%.3g to %.3g", facts->slowest, facts->fastest);
	if (facts->pauses)
		(void)snprintf(pauses, sizeof(pauses), ", %u pause%s", facts->pauses, facts->pauses == 1 ? "" : "s");
	if (facts->jumps)
		(void)snprintf(jumps, sizeof(jumps), ", %u jump%s back", facts->jumps, facts->jumps == 1 ? "" : "s");
	(void)snprintf(buffer, size, "%u pair%s, rate %s%s%s", facts->pairs, facts->pairs == 1 ? "" : "s", rate,
		       pauses, jumps);
	return buffer;
}
