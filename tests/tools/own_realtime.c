/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without ROS 2 that says itself what is to be real-time: each NAME. Its spans, ROUNDS times: "control"/"step" allocates,
 * "control"/"quiet" does nothing.
 *
 *   own_realtime [NAME...]
 */
#include <stdlib.h>

#include <kymo/kymo.h>

#define ROUNDS	5
#define SIZE	1000u

static void *volatile kept;		/* or the compiler leaves allocations out */

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		kymo_realtime(argv[i]);
	for (int i = 0; i < ROUNDS; i++) {
		{
			KYMO_SPAN("control", "step");
			kept = malloc(SIZE);
			free(kept);
		}
		{
			KYMO_SPAN("control", "quiet");
		}
	}
	return 0;
}
