// SPDX-License-Identifier: Apache-2.0
/*
 * Writes made-up Perfetto traces to standard output, for tests of the writer against real readers.
 *
 *   pft_sample workload LEVEL [CYCLES]   a 1 kHz loop with three nested children, 8 events a cycle
 *   pft_sample features LEVEL            one of everything
 *   pft_sample loss LEVEL                losses with slices open, and orphan ends
 *   pft_sample random LEVEL SEED [PATH]  random events and losses; totals on standard error; goes on in
 *                                        PATH.1, PATH.2, ... at random
 *   pft_sample restarts LEVEL SEED       the same, which says all again at random
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/pft/pft.h"

#define T0 INT64_C(1000000000000)

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void head(struct pft *pft)
{
	pft_clocks(pft, &(struct pft_clocks){ .monotonic_ns = T0,
					      .boottime_ns = T0 + 5000000000,
					      .realtime_ns = 1700000000000000000 });
}

/* Children of a cycle begin 2, 240 and 480 us into it; every time has some 10 us of jitter. */
static void workload(struct pft *pft, uint64_t cycles)
{
	static const char *const names[] = { "Loop", "Sense", "Plan", "Act" };
	struct pft_track *process = pft_process(pft, 0, 4242, "robot");
	struct pft_track *thread = pft_thread(pft, process, 4243, "rt_loop");
	struct pft_event event[4] = { 0 };

	for (unsigned i = 0; i < 4; i++)
		event[i].name = pft_string(pft, names[i]);
	for (uint64_t i = 0; i < cycles; i++) {
		int64_t at = T0 + (int64_t)i * 1000000 + (int64_t)(random_next() % 10000);

		pft_begin(thread, at, &event[0]);
		for (unsigned child = 1; child < 4; child++) {
			at += 2000 + (int64_t)(random_next() % 10000);
			pft_begin(thread, at, &event[child]);
			at += 200000 + (int64_t)(random_next() % 10000);
			pft_end(thread, at);
		}
		pft_end(thread, at + 2000 + (int64_t)(random_next() % 10000));
	}
}

static void features(struct pft *pft)
{
	struct pft_track *process = pft_process(pft, 0, 10, "one");
	struct pft_track *main_thread = pft_thread(pft, process, 10, "main");
	struct pft_track *other = pft_thread(pft, process, 11, "worker");
	struct pft_track *far = pft_process(pft, 7, 10, "far");
	struct pft_track *far_thread = pft_thread(pft, far, 10, "far main");
	struct pft_track *ros = pft_track(pft, NULL, "ROS 2");
	struct pft_track *node = pft_track(pft, ros, "/planner");
	struct pft_track *entity = pft_track(pft, node, "subscription /scan");
	const uint64_t flow = 0xfeed000000000001;
	struct pft_arg arg[] = {
		{ pft_string(pft, "topic"), PFT_TEXT, { .text = pft_string(pft, "/scan") } },
		{ pft_string(pft, "period_ns"), PFT_INT, { .i = -5 } },
		{ pft_string(pft, "ratio"), PFT_DOUBLE, { .f = 0.25 } },
		{ pft_string(pft, "callback"), PFT_POINTER, { .u = 0x7fff12345678 } },
		{ pft_string(pft, "is_intra_process"), PFT_BOOL, { .u = 1 } },
		{ pft_string(pft, "nothing"), PFT_TEXT, { .text = 0 } },
	};
	struct pft_event event = { .name = pft_string(pft, "call\xff\xc3\xa4"),
				   .category = pft_string(pft, "callback"), .correlation = 3,
				   .arg = arg, .args = 6 };

	pft_process_name(process, "renamed");
	/* The inner slice is complete first, as callbacks are handed over. */
	pft_slice(main_thread, T0 + 1500, T0 + 1600, &(struct pft_event){ .name = pft_string(pft, "inner") });
	event.flow = &flow;
	event.flows = 1;
	pft_slice(main_thread, T0 + 1000, T0 + 2000, &event);
	event = (struct pft_event){ .name = pft_string(pft, "got"), .end_flow = &flow, .end_flows = 1 };
	pft_slice(other, T0 + 3000, T0 + 3500, &event);
	pft_instant(entity, T0 + 2500, &(struct pft_event){ .name = pft_string(pft, "take"),
							     .flow = &flow, .flows = 1 });
	pft_slice(far_thread, T0 + 100, T0 + 200, &(struct pft_event){ .name = pft_string(pft, "far") });
	pft_fact_text(pft, "tracer", "kymo");
	pft_fact_u64(pft, "lost_events", 12345678901);
}

static void loss(struct pft *pft)
{
	struct pft_track *process = pft_process(pft, 0, 10, "one");
	struct pft_track *thread = pft_thread(pft, process, 10, "main");
	struct pft_event outer = { .name = pft_string(pft, "outer") };
	struct pft_event inner = { .name = pft_string(pft, "inner") };

	pft_end(thread, T0 + 50);
	pft_begin(thread, T0 + 100, &outer);
	pft_begin(thread, T0 + 200, &inner);
	pft_loss(thread, T0 + 300, T0 + 900, 17, 2);
	pft_end(thread, T0 + 1000);
	pft_end(thread, T0 + 1010);
	pft_begin(thread, T0 + 1100, &outer);
	pft_begin(thread, T0 + 1200, &inner);
	pft_end(thread, T0 + 1300);
	pft_end(thread, T0 + 1400);
	/* Said too late: things happened after its begin. */
	pft_begin(thread, T0 + 2000, &outer);
	pft_loss(thread, T0 + 1500, T0 + 1600, 1, 0);
}

/* Each track is cut where it is. The descriptor is left to the end of the program. */
static void next_part(struct pft *pft, const char *path, unsigned number)
{
	char name[4096];
	int fd;

	snprintf(name, sizeof(name), "%s.%u", path, number);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		perror(name);
		exit(EXIT_FAILURE);
	}
	pft_part(pft, fd, T0);
}

static void random_events(struct pft *pft, uint64_t seed, const char *path, bool restarts)
{
	struct pft_track *process = pft_process(pft, 0, 10, "one");
	struct pft_track *track[5];
	int64_t at[5], duration = 0;
	int64_t opened[5][4];
	unsigned depth[5] = { 0 };
	unsigned slices = 0, instants = 0, losses = 0, parts = 0, reopened = 0;
	uint32_t name[40];

	for (unsigned i = 0; i < 40; i++) {
		char text[32];

		snprintf(text, sizeof(text), "name %u", i);
		name[i] = pft_string(pft, text);
	}
	for (unsigned i = 0; i < 5; i++) {
		track[i] = pft_thread(pft, process, (int)i + 10, "thread");
		at[i] = T0;
	}
	random_state ^= seed * 0x9e3779b97f4a7c15;
	for (unsigned n = 0; n < 20000; n++) {
		unsigned t = random_next() % 5, what = random_next() % 100;
		struct pft_event event = { .name = name[random_next() % 40] };
		int64_t now = at[t] += 1 + (int64_t)(random_next() % 5000);

		if (path && random_next() % 10000 == 0) {
			next_part(pft, path, ++parts);
			for (unsigned i = 0; i < 5; i++)
				reopened += depth[i];
		}
		if (restarts && random_next() % 4000 == 0)
			pft_restart(pft);
		if (what < 45 && depth[t] < 4) {
			opened[t][depth[t]++] = now;
			pft_begin(track[t], now, &event);
			slices++;
		} else if (what < 80) {
			if (depth[t])
				duration += now - opened[t][--depth[t]];
			pft_end(track[t], now);
		} else if (what < 98) {
			pft_instant(track[t], now, &event);
			instants++;
		} else {
			while (depth[t])
				duration += now - opened[t][--depth[t]];
			at[t] += 1 + (int64_t)(random_next() % 5000);
			pft_loss(track[t], now, at[t], 1, 0);
			losses++;
		}
	}
	for (unsigned t = 0; t < 5; t++)
		for (; depth[t]; pft_end(track[t], at[t]))
			duration += at[t] - opened[t][--depth[t]];
	fprintf(stderr, "slices=%u duration=%lld instants=%u losses=%u parts=%u reopened=%u\n", slices,
		(long long)duration, instants, losses, parts, reopened);
}

int main(int argc, char **argv)
{
	struct kymo_err err;
	struct pft *pft;
	uint64_t number = argc > 3 ? strtoull(argv[3], NULL, 10) : 12500;

	if (argc < 3 || pft_open(&pft, STDOUT_FILENO, atoi(argv[2]), &err))
		return KYMO_EXIT_USAGE;
	head(pft);
	if (!strcmp(argv[1], "workload"))
		workload(pft, number);
	else if (!strcmp(argv[1], "features"))
		features(pft);
	else if (!strcmp(argv[1], "loss"))
		loss(pft);
	else if (!strcmp(argv[1], "random"))
		random_events(pft, number, argc > 4 ? argv[4] : NULL, false);
	else if (!strcmp(argv[1], "restarts"))
		random_events(pft, number, NULL, true);
	if (pft_close(pft, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return err.status;
	}
	return 0;
}
