/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits a line or a curve between the bounds of two clocks; see align_bounds.h.
 *
 * The idea: choose the rate at which the two sides of bounds are farthest apart. If a straight line
 * fits between them, the middle of all such lines is the result. Otherwise the curve follows the
 * bounds: away from its own time, each bound widens by the wander, and at each knot the lowest
 * bound counts. Seen along a line of the fitted rate:
 *
 *       most      \  /\    /      each bound widens by the wander in both directions; the lowest
 *                  \/  \/\/       bound counts
 *     -------------------------   the middle
 *       least      /\  /\         the same, upside down
 *                 /  \/  \
 *
 * All numbers are relative to the first bound, so that a double represents them to the nanosecond.
 */
#include "analysis/align/align_bounds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/align/align.h"

#define WANDER_MAX 1e-3

/* ---- keep the lowest bounds ---- */

static void halve(struct bounds *bounds)
{
	for (unsigned i = 0; i < bounds->count / 2; i++) {
		const struct align_bound *a = &bounds->bound[2 * i], *b = a + 1;

		bounds->bound[i] = a->most_ns <= b->most_ns ? *a : *b;
	}
	bounds->count /= 2;
	bounds->group *= 2;
}

int bounds_add(struct bounds *bounds, int64_t ns, int64_t most_ns)
{
	struct align_bound *last;

	if (!bounds->bound) {
		bounds->bound = calloc(BOUNDS_MAX, sizeof(*bounds->bound));
		bounds->group = 1;
	}
	if (!bounds->bound)
		return -ENOMEM;
	bounds->messages++;
	if (bounds->count && bounds->in_group < bounds->group) {
		last = &bounds->bound[bounds->count - 1];
		bounds->in_group++;
		if (most_ns < last->most_ns)
			*last = (struct align_bound){ ns, most_ns };
		return 0;
	}
	if (bounds->count == BOUNDS_MAX)
		halve(bounds);
	bounds->bound[bounds->count++] = (struct align_bound){ ns, most_ns };
	bounds->in_group = 1;
	return 0;
}

void bounds_free(struct bounds *bounds)
{
	free(bounds->bound);
	*bounds = (struct bounds){ 0 };
}

static int by_time(const void *a, const void *b)
{
	const struct align_bound *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* ---- the rate ---- */

struct side {
	const struct align_bound *bound;
	unsigned count;
	int sign;			/* the sign of B's clock minus A's in most_ns */
};

struct bounds_task {
	struct side most, least;
	int64_t origin_ns, base_ns;	/* subtracted from all times and from all differences */
};

static double time_of(const struct bounds_task *task, int64_t ns)
{
	return (double)(ns - task->origin_ns);
}

/* The bound of B's clock minus A's, times the side's sign. */
static double bound_of(const struct bounds_task *task, const struct side *side, unsigned i)
{
	return (double)(side->bound[i].most_ns - side->sign * task->base_ns) + BOUNDS_SLACK_NS;
}

/* The lowest bound of the side, seen along a line of @rate. */
static double lowest(const struct bounds_task *task, const struct side *side, double rate)
{
	double low = INFINITY;

	for (unsigned i = 0; i < side->count; i++)
		low = fmin(low, bound_of(task, side, i) -
				side->sign * rate * time_of(task, side->bound[i].ns));
	return low;
}

/*
 * The smallest distance between the two sides, seen along a line of @rate. It is a concave function
 * of @rate, so a ternary search finds its maximum.
 */
static double room(const struct bounds_task *task, double rate)
{
	return lowest(task, &task->most, rate) + lowest(task, &task->least, rate);
}

static double widest(const struct bounds_task *task)
{
	double low = -BOUNDS_RATE_MAX, high = BOUNDS_RATE_MAX;

	while (high - low > 1e-10) {
		double a = low + (high - low) / 3, b = high - (high - low) / 3;

		if (room(task, a) < room(task, b))
			low = a;
		else
			high = b;
	}
	return (low + high) / 2;
}

/* The rate between @inside and @outside at which room() falls below 0. */
static double edge(const struct bounds_task *task, double inside, double outside)
{
	if (room(task, outside) >= 0)
		return outside;
	while (fabs(outside - inside) > 1e-10) {
		double middle = (inside + outside) / 2;

		if (room(task, middle) >= 0)
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

/* ---- the curve ---- */

/*
 * For each knot: the lowest bound of the side, seen along the line, with each bound widened by the
 * wander. One sweep goes forward in time, another one backward.
 */
static void envelope(const struct bounds_task *task, const struct side *side,
		     const struct bounds_fit *fit, double *low)
{
	double value = INFINITY, at = 0, t, own;
	unsigned next = 0;

	for (unsigned k = 0; k < BOUNDS_KNOTS; k++) {
		t = time_of(task, fit->knot[k].ns);
		for (; next < side->count && side->bound[next].ns <= fit->knot[k].ns; next++) {
			double when = time_of(task, side->bound[next].ns);

			own = bound_of(task, side, next) - side->sign * fit->rate * when;
			value = fmin(value + fit->wander * (when - at), own);
			at = when;
		}
		low[k] = value + fit->wander * (t - at);
	}
	value = INFINITY;
	next = side->count;
	for (unsigned k = BOUNDS_KNOTS; k-- > 0;) {
		t = time_of(task, fit->knot[k].ns);
		for (; next && side->bound[next - 1].ns >= fit->knot[k].ns; next--) {
			double when = time_of(task, side->bound[next - 1].ns);

			own = bound_of(task, side, next - 1) - side->sign * fit->rate * when;
			value = fmin(value + fit->wander * (at - when), own);
			at = when;
		}
		low[k] = fmin(low[k], value + fit->wander * (at - t));
	}
}

/*
 * @straight: the middle is one line. Return: false: the bounds contradict each other at some knot.
 */
static bool curve(const struct bounds_task *task, struct bounds_fit *fit, bool straight)
{
	double most[BOUNDS_KNOTS], least[BOUNDS_KNOTS], middle, cell;
	double line =
		(lowest(task, &task->most, fit->rate) - lowest(task, &task->least, fit->rate)) / 2;

	envelope(task, &task->most, fit, most);
	envelope(task, &task->least, fit, least);
	cell = fit->wander * (double)(fit->knot[1].ns - fit->knot[0].ns);
	for (unsigned k = 0; k < BOUNDS_KNOTS; k++) {
		struct bounds_knot *knot = &fit->knot[k];

		if (most[k] < -least[k])
			return false;
		middle = straight ? line : (most[k] - least[k]) / 2;
		knot->error_ns = (int64_t)ceil(fmax(most[k] - middle, middle + least[k]) + cell);
		knot->ahead_ns = task->base_ns +
				 (int64_t)llround(middle + fit->rate * time_of(task, knot->ns));
	}
	return true;
}

void bounds_fit(struct bounds_fit *fit, struct bounds *most, struct bounds *least, int64_t begin_ns,
		int64_t end_ns)
{
	struct bounds_task task = {
		.most = { most->bound, most->count, 1 },
		.least = { least->bound, least->count, -1 },
		.origin_ns = begin_ns,
		.base_ns = most->bound[0].most_ns,
	};
	double low, high;
	bool straight;

	qsort(most->bound, most->count, sizeof(*most->bound), by_time);
	qsort(least->bound, least->count, sizeof(*least->bound), by_time);
	for (unsigned k = 0; k < BOUNDS_KNOTS; k++)
		fit->knot[k] = (struct bounds_knot){
			.ns = begin_ns +
			      (int64_t)((double)(end_ns - begin_ns) * k / (BOUNDS_KNOTS - 1)),
		};
	fit->rate = widest(&task);
	fit->wander = ALIGN_WANDER;
	straight = room(&task, fit->rate) >= 0;
	if (straight) {
		/*
		 * Any rate that fits may be the true one: take the middle, and add half of the
		 * range to the wander.
		 */
		low = edge(&task, fit->rate, -BOUNDS_RATE_MAX);
		high = edge(&task, fit->rate, BOUNDS_RATE_MAX);
		fit->rate = (low + high) / 2;
		fit->wander += (high - low) / 2;
		fit->possible = curve(&task, fit, true);
		return;
	}
	while (!(fit->possible = curve(&task, fit, false)) && fit->wander < WANDER_MAX)
		fit->wander *= 2;
	/*
	 * The smallest wander without a contradiction may still be too small: double it once more.
	 */
	if (fit->possible) {
		fit->wander *= 2;
		(void)curve(&task, fit, false);
	}
}
