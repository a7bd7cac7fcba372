/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds bounds along paths of messages through hosts that are not aligned yet. Example: A sends to
 * B, B to C, and C to A. Each of the three pairs has a bound in one direction only. But the three
 * bounds together limit each clock in both directions, to the time of one round trip.
 *
 * The idea: times are the vertices of a graph, and messages are its edges, because a message is
 * sent before it is received. If a host receives one message at t and sends another one at s, its
 * own clock measures s - t, with an error of at most BOUNDS_RATE_MAX times s - t:
 *
 *     A   a ----.                      .---> a'        a came before t, so before s by s - t (nearly),
 *                \                    /                so before a': as if B did not exist
 *     B           `--> t ....... s --'
 *
 * So a bound of B and a message from B together give a bound of the next host. For each message,
 * the lowest of these bounds is used. The same works backwards for messages to a host with a bound.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/align/align_internal.h"

#define TIME_MAX (INT64_MAX / 4)
/*
 * After this many joins only hosts without any bound are extended: protection against hostile
 * traces.
 */
#define JOINS_MAX 512u

/* A bound, and when the host in between sent or received its message, by that host's clock. */
struct end {
	int64_t at_ns;
	const struct align_bound *bound;
};

static int by_time(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

/*
 * @sign: 1: the time is that of the end of the bound, as for messages to the host; -1: that of its
 *   start.
 */
static struct end *ends_of(const struct bounds *bounds, int sign, bool ahead)
{
	struct end *end = calloc(bounds->count, sizeof(*end));

	for (unsigned i = 0; end && i < bounds->count; i++) {
		const struct align_bound *bound = &bounds->bound[i];

		end[i] = (struct end){ ahead ? bound->ns + sign * bound->most_ns : bound->ns,
				       bound };
	}
	if (end)
		qsort(end, bounds->count, sizeof(*end), by_time);
	return end;
}

static double distance(const struct end *a, const struct end *b)
{
	return BOUNDS_RATE_MAX * fabs((double)(a->at_ns - b->at_ns));
}

/*
 * For each entry of @of: the index of the best entry of @from to join, by its bound and its
 * distance in time.
 */
static void find_best(const struct end *of, unsigned ofs, const struct end *from, unsigned froms,
		      unsigned *best)
{
	unsigned next = 0, low = 0;

	for (unsigned i = 0; i < ofs; i++) {
		for (; next < froms && from[next].at_ns <= of[i].at_ns; next++)
			if ((double)from[next].bound->most_ns <=
			    (double)from[low].bound->most_ns + distance(&from[low], &from[next]))
				low = next;
		best[i] = low;
	}
	next = low = froms - 1;
	next++;
	for (unsigned i = ofs; i-- > 0;) {
		for (; next && from[next - 1].at_ns > of[i].at_ns; next--)
			if ((double)from[next - 1].bound->most_ns <=
			    (double)from[low].bound->most_ns +
				    distance(&from[low], &from[next - 1]))
				low = next - 1;
		if ((double)from[low].bound->most_ns + distance(&from[low], &of[i]) <
		    (double)from[best[i]].bound->most_ns + distance(&from[best[i]], &of[i]))
			best[i] = low;
	}
}

/*
 * @known: bounds of the clock of a host in between. @message: from that host to the next one (@in),
 *   or the reverse. Rounding never makes the result tighter than justified. Return: 0, or -1: out
 *   of memory.
 */
static int join(struct bounds *out, const struct bounds *known, const struct bounds *message,
		bool in)
{
	struct end *from = ends_of(known, in ? 1 : -1, true), *of = ends_of(message, 1, !in);
	unsigned *best = calloc(message->count, sizeof(*best));
	int status = from && of && best ? 0 : -1;

	if (!status)
		find_best(of, message->count, from, known->count, best);
	for (unsigned i = 0; !status && i < message->count; i++) {
		const struct align_bound *a = from[best[i]].bound, *b = of[i].bound;
		int64_t apart_ns =
			in ? of[i].at_ns - from[best[i]].at_ns : from[best[i]].at_ns - of[i].at_ns;
		int64_t rate_ns = (int64_t)ceil(distance(&of[i], &from[best[i]]));
		int64_t ns = in ? apart_ns - rate_ns : rate_ns - apart_ns,
			most_ns = rate_ns + BOUNDS_SLACK_NS;

		/* An overflow happens only with damaged times. */
		if (__builtin_add_overflow(ns, a->ns, &ns) ||
		    __builtin_add_overflow(most_ns, a->most_ns, &most_ns) ||
		    __builtin_add_overflow(most_ns, b->most_ns, &most_ns) || llabs(ns) > TIME_MAX ||
		    llabs(most_ns) > TIME_MAX)
			continue;
		status = bounds_add(out, ns, most_ns);
	}
	free(from);
	free(of);
	free(best);
	return status;
}

static int add_bounds(struct bounds *to, const struct bounds *from)
{
	for (unsigned i = 0; i < from->count; i++)
		if (bounds_add(to, from->bound[i].ns, from->bound[i].most_ns))
			return -1;
	return 0;
}

static const struct bounds *between(const struct messages *messages, unsigned from, unsigned to)
{
	return &messages->bounds[from * messages->hosts + to];
}

/* Extends the paths by one host: from the bounds @reached into @next. */
static int step(const struct messages *messages, const bool *is_open, const struct bounds *reached,
		struct bounds *next, const struct bounds *all, bool in, unsigned *joins)
{
	for (unsigned j = 0; j < messages->hosts; j++)
		for (unsigned k = 0; k < messages->hosts && reached[j].count; k++) {
			const struct bounds *message =
				in ? between(messages, j, k) : between(messages, k, j);

			if (!is_open[k] || k == j || !message->count ||
			    (*joins >= JOINS_MAX && (all[k].count || next[k].count)))
				continue;
			(*joins)++;
			if (join(&next[k], &reached[j], message, in))
				return -1;
		}
	return 0;
}

static void free_all(struct bounds *bounds, unsigned hosts)
{
	for (unsigned i = 0; bounds && i < hosts; i++)
		bounds_free(&bounds[i]);
}

int ways_extend(const struct messages *messages, const bool *is_open, struct bounds *all,
		unsigned *hosts_between, bool in)
{
	unsigned hosts = messages->hosts, joins = 0, open = 0;
	struct bounds *reached = calloc(hosts, sizeof(*reached)),
		      *next = calloc(hosts, sizeof(*next));
	int status = reached && next ? 0 : -1;

	for (unsigned k = 0; !status && k < hosts; k++) {
		open += is_open[k];
		hosts_between[k] = 0;
		status = add_bounds(&reached[k], &all[k]);
	}
	for (unsigned round = 1; !status && round < open; round++) {
		status = step(messages, is_open, reached, next, all, in, &joins);
		for (unsigned k = 0; !status && k < hosts; k++) {
			if (!all[k].count && next[k].count)
				hosts_between[k] = round;
			status = add_bounds(&all[k], &next[k]);
			bounds_free(&reached[k]);
			reached[k] = next[k];
			next[k] = (struct bounds){ 0 };
		}
	}
	free_all(reached, hosts);
	free_all(next, hosts);
	free(reached);
	free(next);
	return status;
}
