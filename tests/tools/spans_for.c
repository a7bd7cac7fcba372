/* SPDX-License-Identifier: Apache-2.0 */
/* spans_for NS COUNT: COUNT spans control:step, each of which keeps a CPU busy for NS. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <kymo/kymo.h>

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	const int64_t ns = argc == 3 ? atoll(argv[1]) : 0;
	const int count = argc == 3 ? atoi(argv[2]) : 0;

	for (int i = 0; i < count; i++) {
		const int64_t end = now_ns() + ns;

		KYMO_SPAN("control", "step");
		while (now_ns() < end)
			;
	}
	return count ? 0 : 2;
}
