/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change points by binary segmentation (Scott and Knott 1974); see points.h.
 *
 * The idea: the best cut of a series is where Student's t of the two sides is largest. Sums of the
 * values and of their squares are kept for each beginning of the series, so each cut costs
 * constant time. p is multiplied by the number of places where the cut could have been
 * (Bonferroni).
 *
 * P(|T| >= |t|) is a regularized incomplete beta function (Abramowitz and Stegun 1964, 26.5 and
 * 26.7). It is computed by its continued fraction (NIST DLMF, 8.17(v)), with the method of Lentz
 * 1976 as Thompson and Barnett 1986 changed it, on the side on which the fraction converges fast.
 */
#include "compare/points.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Added to the variance: a series that does not vary has no point of a thousandth. */
#define VARIANCE_FLOOR 1e-6

/* ---- Student's distribution ---- */

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), all;

	d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
	all = d;
	for (unsigned m = 1; m < 500; m++) {
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
		c = fabs(c) < 1e-300 ? 1e-300 : c;
		all *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
		c = fabs(c) < 1e-300 ? 1e-300 : c;
		step = d * c;
		all *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return all;
}

/* P(|T| >= |t|) with @freedom degrees of freedom: I(freedom / 2, 1 / 2) at freedom / (freedom +
 * t²).
 */
static double student_p(double t, double freedom)
{
	const double a = freedom / 2, b = 0.5, x = freedom / (freedom + t * t);
	const double front =
		exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

	if (t == 0)
		return 1;
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* ---- one cut ---- */

struct series {
	const double *sum, *squares; /* [count + 1]: of the values before each */
	double least;
};

static double mean_of(const struct series *s, unsigned from, unsigned to)
{
	return (s->sum[to] - s->sum[from]) / (to - from);
}

static double squares_of(const struct series *s, unsigned from, unsigned to)
{
	const double mean = mean_of(s, from, to);
	const double squares = s->squares[to] - s->squares[from] - (to - from) * mean * mean;

	return squares > 0 ? squares : 0;
}

/* t of the cut of [@from, @to) at @at, without its sign. */
static double student_t(const struct series *s, unsigned from, unsigned at, unsigned to)
{
	const double variance =
		(squares_of(s, from, at) + squares_of(s, at, to)) / (to - from - 2) +
		VARIANCE_FLOOR;
	const double error = sqrt(variance * (1.0 / (at - from) + 1.0 / (to - at)));

	return fabs(mean_of(s, at, to) - mean_of(s, from, at)) / error;
}

/* p of the cut, for all @places where it could have been. */
static struct point cut(const struct series *s, unsigned from, unsigned at, unsigned to,
			unsigned places)
{
	struct point point = { .at = at,
			       .before = mean_of(s, from, at),
			       .after = mean_of(s, at, to) };

	point.p = fmin(1, places * student_p(student_t(s, from, at, to), to - from - 2.0));
	return point;
}

static bool holds(const struct series *s, const struct point *point)
{
	return point->p <= POINTS_ALARM && fabs(point->after - point->before) > s->least;
}

static unsigned places_in(unsigned from, unsigned to)
{
	return to - from < 2 * POINTS_SEGMENT ? 0 : to - from - 2 * POINTS_SEGMENT + 1;
}

/* ---- all of them ---- */

/* Cuts [@from, @to) and its parts. Return: how many points are in @point. */
static unsigned cut_all(const struct series *s, unsigned from, unsigned to, struct point *point)
{
	const unsigned places = places_in(from, to);
	unsigned best = 0, left, right;
	double most = -1;
	struct point found;

	for (unsigned i = 0; i < places; i++) {
		const double t = student_t(s, from, from + POINTS_SEGMENT + i, to);

		if (t > most) {
			most = t;
			best = from + POINTS_SEGMENT + i;
		}
	}
	if (!places)
		return 0;
	found = cut(s, from, best, to, places);
	if (!holds(s, &found))
		return 0;
	left = cut_all(s, from, best, point);
	point[left] = found;
	right = cut_all(s, best, to, point + left + 1);
	return left + 1 + right;
}

/* Tests each point between its neighbours. Return: the weakest that does not hold; @points: all do.
 */
static unsigned weakest(const struct series *s, struct point *point, unsigned points,
			unsigned count)
{
	unsigned worst = points;

	for (unsigned i = 0; i < points; i++) {
		const unsigned from = i ? point[i - 1].at : 0;
		const unsigned to = i + 1 < points ? point[i + 1].at : count;

		point[i] = cut(s, from, point[i].at, to, places_in(from, to));
		if (!holds(s, &point[i]) && (worst == points || point[i].p > point[worst].p))
			worst = i;
	}
	return worst;
}

int points_find(const double *value, unsigned count, double least, struct point *point)
{
	double *sum = calloc(2 * ((size_t)count + 1), sizeof(*sum)), *squares = sum + count + 1;
	const struct series series = { sum, squares, least };
	unsigned points = 0, at;

	if (!sum)
		return -ENOMEM;
	/* From the first value on, so that digits are not lost to their size. */
	for (unsigned i = 0; i < count; i++) {
		sum[i + 1] = sum[i] + value[i] - value[0];
		squares[i + 1] = squares[i] + (value[i] - value[0]) * (value[i] - value[0]);
	}
	if (count >= POINTS_LEAST)
		points = cut_all(&series, 0, count, point);
	while ((at = weakest(&series, point, points, count)) < points) {
		memmove(&point[at], &point[at + 1], (points - at - 1) * sizeof(*point));
		points--;
	}
	for (unsigned i = 0; i < points; i++) {
		point[i].before += value[0];
		point[i].after += value[0];
	}
	free(sum);
	return (int)points;
}
