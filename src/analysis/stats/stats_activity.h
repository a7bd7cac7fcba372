/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Service calls, communications, frequencies, states of executors' threads and lifecycle states,
 * gathered while a model is fed. Memory depends on the number of objects, of lifecycle transitions,
 * and of seconds: 4 bytes each per callback and publisher.
 *
 * Definitions
 *   request    rmw_send_request to rmw_take_request: transport, and the wait for the executor
 *   callback   callback_start to callback_end of the service
 *   response   rmw_send_response to rmw_take_response
 *   total      rmw_send_request to rmw_take_response
 *   frequency  runs of a callback, or publish calls, in each second since its first one
 *   latency    of a communication: begin of the publish call to the start of the callback
 * Between two hosts request, response and latency are not taken: clocks are not comparable.
 */
#ifndef KYMO_ANALYSIS_ACTIVITY_H
#define KYMO_ANALYSIS_ACTIVITY_H

#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/err.h"
#include "base/histogram.h"

/* Of one service, or of one client whose service is not in the trace. */
struct activity_calls {
	uint64_t calls;
	uint64_t answered;		/* the response was received */
	uint64_t unserved;		/* sent, and no rmw_take_request seen */
	struct histogram request, callback, response, total;
	int64_t error_ns;		/* by which requests and responses may be wrong; 0 on one host */
};

struct activity_thread {
	struct histogram state[3];	/* by enum model_executor_state */
	uint64_t cut;			/* states whose end is unknown */
};

/* From one publisher to one subscription. */
struct activity_link {
	const struct model_publisher *publisher;
	const struct model_subscription *subscription;
	uint64_t taken, taken_intra;	/* handed over, whether to a callback or not */
	struct histogram latency;
	int64_t latency_error_ns;	/* by which latencies may be wrong; 0 on one host */
	bool between_hosts;
};

/* How often in each second; the last one may not be over. */
struct activity_frequency {
	int64_t first_ns;		/* 0: never */
	uint32_t *count;
	unsigned seconds;
};

struct activity_state {
	const struct model_node *node;	/* NULL: unknown */
	const struct model_state_machine *machine;
	const char *label;
	int64_t start_ns, end_ns;	/* as in struct model_state */
};

struct activity;

/** activity_create() - listen to @model; only what begins in [@begin_ns, @end_ns] counts. */
int activity_create(struct activity **activity, struct model *model, int64_t begin_ns,
		    int64_t end_ns, struct kymo_err *err);

/* By index of the object; a zeroed one when nothing happened to it. */
const struct activity_calls *activity_service(const struct activity *activity, unsigned index);
const struct activity_calls *activity_client(const struct activity *activity, unsigned index);
const struct activity_thread *activity_thread(const struct activity *activity, unsigned index);
const struct activity_frequency *activity_runs(const struct activity *activity, unsigned callback);
const struct activity_frequency *activity_publications(const struct activity *activity,
						       unsigned publisher);
uint64_t activity_published(const struct activity *activity, unsigned publisher);

unsigned activity_link_count(const struct activity *activity);
const struct activity_link *activity_link(const struct activity *activity, unsigned index);
unsigned activity_state_count(const struct activity *activity);
const struct activity_state *activity_state(const struct activity *activity, unsigned index);

/* For pass_add(). */
extern const struct pass_ops activity_pass;

#endif
