/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo serve`: windows of the summary over HTTP, for Prometheus and people.
 *
 *   serve_source.h   events of running programs or of a trace, as windows
 *   serve_counts.h   the same from counters alone
 *   serve_sample.h   which part of a window has more than counters
 *   serve_metrics.h  all windows so far, as text for Prometheus
 *   serve_http.h     a small server: GET only, libuv
 *   fleet/push       to ClickHouse and to OpenTelemetry collectors
 *   fleet/upload     incidents to a bucket or a directory
 */
#ifndef KYMO_SERVE_SERVE_H
#define KYMO_SERVE_SERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "config/config.h"
#include "relay/wire/tls.h"
#include "relay/wire/token.h"

#define SERVE_PORT 9465

struct serve_options {
	const char *trace;         /* NULL: running programs */
	const char *address;       /* to listen on; a numeric one */
	unsigned port;             /* 0: any free one */
	struct tls_context *tls;   /* NULL: none */
	const struct token *token; /* size 0: none */
	int64_t window_ns;
	unsigned series_max, entities_max, objects_max;
	bool all;       /* also what nodes do when they start */
	bool count;     /* programs that nobody records only count */
	int64_t sample_ns; /* but of each window they are recorded so long; 0: never */
	FILE *once; /* of a complete trace: write the metrics here and end; NULL: serve */
	/* Called when it listens on @port. */
	void (*started)(const struct serve_options *options, unsigned port);
	const char *version; /* of kymo */
	/* A sentence about what is pushed or uploaded; called by several threads. */
	void (*say)(void *context, const char *text);
	void *say_context;
	const struct config *config; /* of the robot: its name and labels */
	const char *incidents;       /* directory; NULL: none are listed or uploaded */
};

/**
 * serve_run() - serve until SIGINT or SIGTERM
 *
 * Return: an exit status, or -1 with @err. Context: blocks, forks.
 */
int serve_run(const struct serve_options *options, struct kymo_err *err);

#endif
