/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph of the spans of programs (include/kymo/kymo.h): which spans, inside which, took the
 * time. Threads are the roots. The width of a frame is the time of its spans; what is above it ran
 * inside. Sleeps of loops are left out, because they would be nearly all of it.
 *
 * Or of functions: where call stacks were sampled, or functions recorded.
 */
#ifndef KYMO_EXPORT_FLAME_H
#define KYMO_EXPORT_FLAME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "ctf/read/reader.h"

struct flame_options {
	const char *title;
	bool functions; /* of functions, by samples or by their entries and exits; else of spans */
	bool folded; /* text, a line for each stack: "thread;outer;inner NS"; else SVG */
	int64_t begin_ns, end_ns; /* of spans that begin; INT64_MIN, INT64_MAX: the whole trace */
	uint64_t told_lost;       /* events lost as the recorder counted them */
	/* Called now and then with the progress, clock_ns on the trace clock; may be NULL. */
	void (*progress)(void *context, uint64_t events, uint64_t clock_ns);
	void *context;
};

struct flame_result {
	uint64_t lost_events, lost_packets;
	uint64_t spans; /* that are in the graph; of functions: calls, or samples in all frames */
	unsigned stacks;
};

/**
 * flame_export() - read the trace and write its flame graph
 *
 * The SVG needs nothing else: it can be searched and zoomed in a browser. Names are text in it.
 * Context: allocates and blocks; memory depends on the number of different stacks. Return: 0, or -1
 * with @err filled.
 */
int flame_export(struct kymo_ctf_reader *reader, FILE *out, const struct flame_options *options,
		 struct flame_result *result, struct kymo_err *err);

#endif
