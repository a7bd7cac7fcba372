/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows go to ClickHouse and to an OTLP collector, each by a thread of its own out of a spool of
 * its own (backlog.h): what one of them does not take waits, and does not hold up the other.
 *
 *   push_begin(&push, &options, &err);
 *   ... each window: push_window(push, summary, begin_ns, length_ns)
 *   push_end(push);		what was not sent waits for the next time
 *
 * A request to ClickHouse has several windows (clickhouse.every); a window that was sent twice
 * counts once there. A collector gets three requests for each window; what was answered is not sent
 * again, also after a restart. A request whose
 * answer was lost is sent again: it has the header Idempotency-Key, robot/boot/window.
 *
 * Context: push_window() belongs to one thread; it allocates; it blocks as the disk does,
 * never for the network.
 */
#ifndef KYMO_FLEET_PUSH_H
#define KYMO_FLEET_PUSH_H

#include <stdint.h>

#include "base/err.h"
#include "config/config.h"
#include "fleet/push/backlog.h"

struct push;

struct push_options {
	const struct config *config; /* must stay valid */
	const char *version;	     /* of kymo */
	/* A sentence for people: what fails, and that it works again. Called by several threads. */
	void (*say)(void *context, const char *text);
	void *context;
	const char *incidents; /* directory, of which ClickHouse gets a row each; NULL: none */
};

/**
 * push_begin() - open the spools and begin to send; beside the configuration also
 * OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _PROTOCOL and _METRICS_TEMPORALITY_PREFERENCE count
 *
 * Return: 0, with *@push NULL if nothing is to be pushed; -1 with @err.
 */
int push_begin(struct push **push, const struct push_options *options, struct kymo_err *err);

/**
 * push_check() - call @wrong with what push_begin() would refuse in @config and in these variables,
 * and the key of kymo.yaml that it is about
 *
 * Return: how many. Context: reads the files of secrets.
 */
unsigned push_check(const struct config *config,
		    void (*wrong)(void *context, const char *key, const struct kymo_err *err),
		    void *context);

/** push_window() - of what happened since @begin_ns, epoch. */
void push_window(struct push *push, const struct summary *summary, int64_t begin_ns,
		 int64_t length_ns);

/** push_end() - no request goes on for longer than a second. NULL is fine. */
void push_end(struct push *push);

struct push_counts {
	struct backlog_counts spool;
	uint64_t sent_bytes;	/* of bodies that were accepted */
	uint64_t failures;	/* requests that were not accepted */
	uint64_t rejected;	/* points, spans and records that the collector did not take */
	int64_t last_ns;	/* epoch, of the latest success; 0: none */
};

#define PUSH_TARGETS 2u /* 0: clickhouse, 1: otlp */

/** push_counts() - of target @which. Return: its name; NULL: nothing is pushed there. */
const char *push_counts(struct push *push, unsigned which, struct push_counts *counts);

#endif
