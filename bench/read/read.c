/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace once in one way and prints events, CPU seconds and M events/s:
 *   skip    bound to nothing, only bound events asked for: every event is passed over
 *   all     every event is given, none bound
 *   bound   callback durations: the two callback events bound, the others passed over
 * usage: bench_read TRACE skip|all|bound [THREADS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctf/read/reader.h"

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const struct kymo_ctf_bind callbacks[] = {
	{ "ros2:callback_start", { "callback" } },
	{ "ros2:callback_end", { "callback" } },
};

int main(int argc, char **argv)
{
	struct kymo_ctf_reader *reader;
	uint64_t given = 0, sum = 0;
	struct kymo_ctf_event event;
	struct kymo_err err = { 0 };
	bool bound, skip;
	double begin;

	if (argc != 3 && argc != 4)
		return 2;
	skip = !strcmp(argv[2], "skip");
	bound = !strcmp(argv[2], "bound");
	begin = cpu_seconds();
	if (kymo_ctf_open(argv[1], &reader, &err) ||
	    kymo_ctf_bind(reader, callbacks, bound ? 2 : 0, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	kymo_ctf_only_bound(reader, skip || bound);
	kymo_ctf_threads(reader, argc == 4 ? (unsigned)atoi(argv[3]) : 1);
	while (kymo_ctf_next(reader, &event, &err) > 0) {
		given++;
		sum += (uint64_t)event.ns + (event.bound >= 0 ? event.value[0].u : 0);
	}
	printf("%llu %.4f %llu\n", (unsigned long long)given, cpu_seconds() - begin, (unsigned long long)sum);
	kymo_ctf_close(reader);
	return 0;
}
