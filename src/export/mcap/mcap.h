/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace says over time, as an MCAP file, for Foxglove and PlotJuggler beside a bag. Each
 * series is a channel with JSON messages:
 *
 *   /kymo/topic/TOPIC/to/NODE	a received message: latency_ms, ..., at the start of its callback
 *   /kymo/lost/TOPIC/to/NODE	a message that NODE should have received: outcome, count
 *   /kymo/callback/NODE/SOURCE	a run: duration_ms, ..., at its start
 *   /kymo/chain/...		an arrival at the end of a chain: latency_ms, ..., at its begin
 *   /kymo/findings		what is wrong, at the worst instance: foxglove.Log
 *
 * and likewise services, loops, spans, counters of programs, and lost events. Numbers are those of
 * the tables (analysis/tables/tables.h), in milliseconds with all digits.
 */
#ifndef KYMO_EXPORT_MCAP_H
#define KYMO_EXPORT_MCAP_H

#include <stdint.h>

#include "analysis/pass/pass.h"
#include "analysis/tables/tables.h"
#include "base/err.h"

struct mcap_options {
	int fd;			/* where to write; stays the caller's */
	const char *version;	/* of kymo */
	const char *trace;	/* for people */
	/* Chains and findings: only what begins inside; INT64_MIN, INT64_MAX: all. */
	int64_t begin_ns, end_ns;
	bool of_all; /* nothing was selected: also chains and findings, which are of the whole
			system */
	const struct pass_options *progress; /* NULL: none */
};

struct mcap_result {
	uint64_t messages;
	unsigned channels;
	unsigned left_out; /* messages of series that there was no channel for */
	uint64_t bytes;
};

/**
 * mcap_export() - read the trace of @tables, up to three times, and write what tables_select()
 * chose
 *
 * Context: allocates, blocks. Return: 0; -1 with @err: what was written then is incomplete.
 */
int mcap_export(struct tables *tables, const struct mcap_options *options,
		struct mcap_result *result, struct kymo_err *err);

#endif
