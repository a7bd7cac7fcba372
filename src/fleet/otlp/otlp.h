/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window of a summary as OTLP 1.x, for any collector: the bodies of three requests.
 *
 *   otlp_put(&pb, OTLP_METRICS, &of, summary, begin_ns, end_ns);
 *   POST pb.data to URL/v1/metrics, as application/x-protobuf
 *   json = otlp_json(OTLP_METRICS, pb.data, pb.size, &size);	or as application/json
 *
 *   metrics  each distribution as an exponential histogram of scale 5 in nanoseconds, so windows
 *            add up exactly; counters as sums
 *   traces   the worst arrivals of each chain: a span for each part of the time. The trace's id is a
 *            hash of a message's topic and source timestamp, which are the same on every host
 *   logs     the findings
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_FLEET_OTLP_H
#define KYMO_FLEET_OTLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/pft/pb.h"
#include "fleet/window/window.h"
#include "summary/summary.h"

enum otlp_signal { OTLP_METRICS, OTLP_TRACES, OTLP_LOGS, OTLP_SIGNALS };

/* Whose window it is. */
struct otlp_of {
	struct window_source source;
	const struct config *config; /* for its labels; NULL: none */
	const char *version;	     /* of kymo */
	bool cumulative;	     /* metrics count from begin_ns on, and the next ones, too */
};

/**
 * otlp_put() - append the request of @signal about @summary, which has what happened from @begin_ns
 * until @end_ns, epoch
 *
 * OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES are honoured.
 * Return: how many points, spans or records it has; out of memory shows in @pb.
 */
unsigned otlp_put(struct pb *pb, enum otlp_signal signal, const struct otlp_of *of,
		  const struct summary *summary, int64_t begin_ns, int64_t end_ns);

/** otlp_path() - "metrics", "traces", "logs": what follows /v1/ in the address, and names files. */
const char *otlp_path(enum otlp_signal signal);

/**
 * otlp_json() - the request @data of otlp_put() as JSON, in one line
 *
 * Return: text of @size bytes, without NUL, to be freed; NULL: no memory, or not a request.
 */
char *otlp_json(enum otlp_signal signal, const void *data, size_t size_of_data, size_t *size);

#endif
