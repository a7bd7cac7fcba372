/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change points for an oracle. Each line of standard input is LEAST COUNT and the values; a line of
 * each has how many points there are, and of each one AT BEFORE AFTER P.
 */
#include <stdio.h>
#include <stdlib.h>

#include "compare/points.h"

int main(void)
{
	unsigned count;
	double least;

	while (scanf("%lf %u", &least, &count) == 2) {
		double *value = calloc(count, sizeof(*value));
		struct point *point = calloc(count, sizeof(*point));
		int points;

		for (unsigned i = 0; i < count; i++)
			if (scanf("%lf", &value[i]) != 1)
				return 1;
		points = points_find(value, count, least, point);
		printf("%d", points);
		for (int i = 0; i < points; i++)
			printf(" %u %.17g %.17g %.17g", point[i].at, point[i].before,
			       point[i].after, point[i].p);
		printf("\n");
		free(value);
		free(point);
	}
	return 0;
}
