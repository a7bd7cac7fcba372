/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All windows so far as metrics for Prometheus: counters and histograms that only grow, as
 * docs/answers/fleet.md lists them. No process numbers and no addresses: a series is known by
 * names.
 *
 * The number of series is limited. An entity that comes when there is no room for its series is
 * left out for good, and counted.
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_SERVE_METRICS_H
#define KYMO_SERVE_METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "config/config.h"
#include "summary/summary.h"

struct push;
struct upload;
struct serve_incidents;
struct serve_metrics;

struct serve_metrics_options {
	unsigned series_max;
	bool all;            /* also what nodes do when they start */
	const char *version; /* of kymo */
	const struct config *config; /* of the robot */
};

/** serve_metrics_new() - Return: NULL without memory. */
struct serve_metrics *serve_metrics_new(const struct serve_metrics_options *options);
void serve_metrics_free(struct serve_metrics *metrics);

/** serve_metrics_add() - a window, or a part of one, that ended at @end_ns, epoch. Return: 0; -1:
 * no memory. */
int serve_metrics_add(struct serve_metrics *metrics, const struct summary *summary, int64_t end_ns);

/** serve_metrics_put() - @incidents: as counted; @push, @upload, @webhook: NULL: none; @open:
 * OpenMetrics 1.0; else Prometheus' text format 0.0.4. */
void serve_metrics_put(const struct serve_metrics *metrics, const struct serve_incidents *incidents,
		       struct push *push, struct upload *upload, struct upload *webhook, bool open,
		       FILE *out);

#endif
