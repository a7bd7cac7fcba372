/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Service calls for the page: what the time of each was spent with, and the longest of each
 * service.
 *
 *   client   |- way -|                                    |- back -|- wait -|    |- handled -|
 *         request    |- wait -|- take -|- run -|- answer -|               taken  start
 *                           taken    start    end      response
 *
 *   way      on its way; without
 *   wait     the part of it in which the thread that then received it ran other callbacks
 *   away     the service is not in the trace, or its clock cannot be compared with the client's
 *
 * The parts add up to the time from request to response, which is the total in the report; handled
 * is a run of the client's callback, after it. A time that is not in the trace counts for the next
 * part.
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_REPORT_PAGE_CALLS_H
#define KYMO_REPORT_PAGE_CALLS_H

#include "analysis/model/model.h"
#include "base/histogram.h"

enum page_call_part {
	PAGE_CALL_WAY,
	PAGE_CALL_WAIT,
	PAGE_CALL_TAKE,
	PAGE_CALL_RUN,
	PAGE_CALL_ANSWER,
	PAGE_CALL_BACK,
	PAGE_CALL_BACK_WAIT,
	PAGE_CALL_AWAY,
	PAGE_CALL_PARTS
};

struct page_call {
	uint64_t id; /* service_calls.id */
	int64_t begin_ns, total_ns, part_ns[PAGE_CALL_PARTS];
	int64_t handled_ns, handled_after_ns; /* -1: not in the trace; after the response */
	const struct model_service *client, *service; /* service NULL: not in the trace */
};

#define PAGE_CALLS_WORST 100u

/* The answered calls of all services of a name. */
struct page_service {
	const char *name;
	uint64_t calls, answered;
	int64_t error_ns; /* of the clocks of two hosts, the largest */
	struct histogram total, part[PAGE_CALL_PARTS], handled;
	struct histogram served; /* runs of the service's callback, whole: a part may be cut */
	struct page_call *worst; /* longest first */
	unsigned worsts, worst_size;
};

struct page_calls;

const struct page_service *page_service(const struct page_calls *calls, unsigned index);

#endif
