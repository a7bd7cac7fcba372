/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Below a node: runs of its timers and services, and calls of its clients. A call is a slice at the
 * client from the request to the response, a slice at the service while it was served, and one
 * arrow: the callback that sent the request, the request, the service, its callback, the response.
 */
#include "export/perfetto/perfetto_lanes.h"

/* differs from the numbers of programs before they are mixed */
#define CALL_FLOWS (UINT64_C(1) << 62)

static struct perfetto_owner of_subscription(const struct model_subscription *subscription)
{
	return (struct perfetto_owner){ ENTITY_CALLBACK,
					BY_RUNS,
					subscription->index,
					subscription->node,
					"callback",
					subscription->topic ? subscription->topic->name : "",
					0 };
}

static struct perfetto_owner of_timer(const struct model_timer *timer)
{
	return (struct perfetto_owner){ ENTITY_TIMER, BY_TIMER, timer->index,    timer->node,
					"timer",      NULL,     timer->period_ns };
}

static struct perfetto_owner of_service(const struct model_service *service)
{
	return (struct perfetto_owner){
		ENTITY_SERVICE, BY_SERVICE, service->index, service->node, "service",
		service->name,  0
	};
}

static struct perfetto_owner of_client(const struct model_service *client)
{
	return (struct perfetto_owner){
		ENTITY_CLIENT, BY_CLIENT, client->index, client->node, "client", client->name, 0
	};
}

/* "/planner calls /map"; as pft_string(). */
static uint32_t part_name(struct exporter *exporter, const struct perfetto_owner *owner,
			  enum call_part part)
{
	struct lanes *lanes = BY_INDEX(exporter, owner->by, owner->index, struct lanes);
	static const char *const verb[CALL_PARTS] = {
		[CALL_REQUEST] = "calls",
		[CALL_RESPONSE] = "gets the response of",
		[CALL_RUN] = "uses the response of",
		[CALL_SERVE] = "serves",
	};

	if (lanes && !lanes->name[part])
		lanes->name[part] = export_named(exporter, "%s %s %s", export_node_name(owner->node), verb[part],
						 owner->name);
	return lanes ? lanes->name[part] : 0;
}

/*
 * ---- timers, services whose requests are not in the trace, and runs that arrows do not reach
 * elsewhere ----
 */

void export_run(struct exporter *exporter, const struct model_instance *instance,
		const struct pft_event *call)
{
	bool reached = exporter->options->chrome || export_arrows_reach(instance->thread->process);
	const struct model_callback *callback = instance->callback;
	int64_t end_ns = (int64_t)((uint64_t)instance->start_ns + (uint64_t)instance->duration_ns);
	struct pft_event event = { .name = call->name, .category = exporter->words.timer };
	struct perfetto_owner owner;
	struct pft_track *track;

	if (callback->timer) {
		owner = of_timer(callback->timer);
	} else if (callback->service && !instance->call &&
		   callback->kind == MODEL_CALLBACK_SERVICE) {
		owner = of_service(callback->service);
		event.name = part_name(exporter, &owner, CALL_SERVE);
		event.category = exporter->words.service;
	} else if (callback->subscription && !reached) {
		owner = of_subscription(callback->subscription);
		event.name = export_reception(exporter, callback->subscription);
		event.category = exporter->words.run;
	} else {
		return;
	}
	if (!reached) {
		event.flow = call->flow;
		event.flows = call->flows;
		event.end_flow = call->end_flow;
		event.end_flows = call->end_flows;
	}
	track = export_lane_begin(exporter, &owner, instance->start_ns, end_ns, &event);
	pft_end(track, export_time(exporter, end_ns));
}

/* ---- calls ---- */

uint64_t export_call_flow(const struct exporter *exporter, uint64_t call)
{
	return export_mix(exporter, CALL_FLOWS + call);
}

static void put_client(struct exporter *exporter, const struct model_call *call, uint64_t flow)
{
	struct perfetto_owner owner = of_client(call->client);
	struct pft_event event = { .name = part_name(exporter, &owner, CALL_REQUEST),
				   .category = exporter->words.call,
				   .flow = &flow, .flows = 1, .role = PFT_FLOW_BEGINS };
	int64_t last_ns = call->response_end_ns ? call->response_end_ns : call->response_taken_ns;
	struct pft_track *track;

	if (!call->request_ns || !export_in_window(exporter, call->request_ns) ||
	    !export_is_wanted(exporter, call->client->node, NULL))
		return;
	track = export_lane_begin(exporter, &owner, call->request_ns, last_ns ? last_ns : INT64_MIN,
				  &event);
	if (!call->response_taken_ns)
		return;
	event.name = part_name(exporter, &owner, CALL_RESPONSE);
	event.role = PFT_FLOW_PASSES;
	pft_instant(track, export_time(exporter, call->response_taken_ns), &event);
	pft_end(track, export_time(exporter, call->response_taken_ns));
	if (!track || !call->response_end_ns)
		return;
	event = (struct pft_event){ .name = part_name(exporter, &owner, CALL_RUN),
				    .category = exporter->words.call };
	pft_begin(track, export_time(exporter, call->response_start_ns), &event);
	pft_end(track, export_time(exporter, call->response_end_ns));
}

static void put_service(struct exporter *exporter, const struct model_call *call, uint64_t flow)
{
	struct perfetto_owner owner = of_service(call->service);
	struct pft_event event = { .name = part_name(exporter, &owner, CALL_SERVE),
				   .category = exporter->words.service, .flow = &flow, .flows = 1,
				   .role = call->request_ns ? PFT_FLOW_PASSES : PFT_FLOW_BEGINS };
	int64_t end_ns = call->response_ns ? call->response_ns : call->callback_end_ns;
	struct pft_track *track;

	if (!call->request_taken_ns || !export_in_window(exporter, call->request_taken_ns) ||
	    !export_is_wanted(exporter, call->service->node, NULL))
		return;
	track = export_lane_begin(exporter, &owner, call->request_taken_ns,
				  end_ns ? end_ns : INT64_MIN, &event);
	pft_end(track, export_time(exporter, end_ns));
}

void export_call(void *context, const struct model_call *call)
{
	struct exporter *exporter = context;
	uint64_t flow = export_call_flow(exporter, call->id);

	if (call->client)
		put_client(exporter, call, flow);
	if (call->service)
		put_service(exporter, call, flow);
}
