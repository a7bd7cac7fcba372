/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Service calls, communications, frequencies, states of executors' threads and lifecycle states,
 * collected while a model reads a trace. Memory depends on the number of objects, of lifecycle
 * transitions, and of seconds: 4 bytes per second for each callback and publisher.
 *
 * Definitions
 *   request    the send call to rmw_take_request: transport, and the wait for the executor
 *   callback   callback_start to callback_end of the service
 *   response   rmw_send_response to rmw_take_response
 *   total      the send call to rmw_take_response
 *   frequency  runs of a callback, or publish calls, in each second since its first one
 *   latency    of a communication: begin of the publish call to the start of the callback
 *
 * Between two hosts request, response and latency are measured only if the clocks can be compared,
 * see model_clock_error().
 *
 * Context of all functions: not thread-safe; activity_create() allocates, and the analysis does as
 * objects appear; the others only look up. None blocks.
 */
#ifndef KYMO_ANALYSIS_ACTIVITY_H
#define KYMO_ANALYSIS_ACTIVITY_H

#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/err.h"
#include "base/histogram.h"

/* Calls of one service, or of one client whose service is not in the trace. */
struct activity_calls {
	uint64_t calls;
	uint64_t answered;		/* the response was received */
	uint64_t unserved;		/* sent, but the trace has no rmw_take_request */
	struct histogram request, callback, response, total;
	int64_t error_ns;		/* largest error of requests and responses; 0 on one host */
};

struct activity_thread {
	struct histogram state[3];	/* by enum model_executor_state */
	uint64_t cut;			/* states with an unknown end */
};

/* Communication from one publisher to one subscription. */
struct activity_link {
	const struct model_publisher *publisher;
	const struct model_subscription *subscription;
	uint64_t taken, taken_intra;	/* received messages, with or without a callback */
	struct histogram latency;
	int64_t latency_error_ns;	/* largest error of the latencies; 0 on one host */
	bool between_hosts;
};

/* Count in each second; the last second may be incomplete. */
struct activity_frequency {
	int64_t first_ns;		/* 0: never */
	uint32_t *count;
	unsigned seconds, room;
};

struct activity_state {
	const struct model_node *node;	/* NULL: unknown */
	const struct model_state_machine *machine;
	const char *label;
	int64_t start_ns, end_ns;	/* as in struct model_state */
};

struct activity;

/**
 * activity_create() - listen to @model
 * @begin_ns, @end_ns: only events that begin in [begin, end] count, ns since 1970; INT64_MIN,
 * INT64_MAX: all
 *
 * Return: 0, or -1 with @err: no memory.
 */
int activity_create(struct activity **activity, struct model *model, int64_t begin_ns,
		    int64_t end_ns, struct kymo_err *err);

/* By index of the object; zeroed when nothing happened to it. */
const struct activity_calls *activity_service(const struct activity *activity, unsigned index);
const struct activity_calls *activity_client(const struct activity *activity, unsigned index);
const struct activity_thread *activity_thread(const struct activity *activity, unsigned index);
const struct activity_frequency *activity_runs(const struct activity *activity, unsigned callback);
const struct activity_frequency *activity_publications(const struct activity *activity,
						       unsigned publisher);
uint64_t activity_published(const struct activity *activity, unsigned publisher);

/* @index: below the count. */
unsigned activity_link_count(const struct activity *activity);
const struct activity_link *activity_link(const struct activity *activity, unsigned index);
unsigned activity_state_count(const struct activity *activity);
const struct activity_state *activity_state(const struct activity *activity, unsigned index);

/* For pass_add(). */
extern const struct pass_ops activity_pass;

#endif
