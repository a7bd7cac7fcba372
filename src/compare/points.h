/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in a series of commits did a metric change for good?
 *
 * The series is cut where the means of both sides differ most by Student's t test, and each side
 * again, as long as the cut is significant and large enough. Then every point is tested once more
 * between its neighbours, and the weakest is taken away until all hold: a cut that was needed to
 * find another one may have lost its reason. There is no chance in it, so the same series gives
 * the same points.
 *
 * Context of all functions: reentrant; they allocate and do not block.
 */
#ifndef KYMO_COMPARE_POINTS_H
#define KYMO_COMPARE_POINTS_H

#define POINTS_LEAST 20u   /* values; of fewer, nothing is said */
#define POINTS_SEGMENT 4u  /* values on each side of a point, at least */
#define POINTS_ALARM 0.001 /* p of a point, times the places where it could have been */

struct point {
	unsigned at;          /* the first value of the new level */
	double before, after; /* means of the values between its neighbours */
	double p;
};

/**
 * points_find() - the change points of @value, in order
 * @least: two levels differ by more than this; values are logarithms
 * @point: [count], set to the points
 *
 * Return: how many there are; -ENOMEM.
 */
int points_find(const double *value, unsigned count, double least, struct point *point);

#endif
