/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coroutines of rclpy: the time that a callback awaited something is a slice below its node, and
 * one arrow leads from the run that ended with the await through this slice to the run that went
 * on.
 */
#include "export/perfetto/perfetto_lanes.h"

/* differs from the numbers of programs before they are mixed */
#define AWAIT_FLOWS (UINT64_C(3) << 61)
#define AWAITS_OF_ONE 512u /* more than any coroutine has */
#define WHAT_MAX 256u

/* The arrow of await number @at of @coroutine, from 0. */
static uint64_t await_flow(const struct exporter *exporter, const struct model_coroutine *coroutine,
			   unsigned at)
{
	return export_mix(exporter, AWAIT_FLOWS + coroutine->id * AWAITS_OF_ONE + at);
}

bool export_awaits(const struct exporter *exporter, const struct model_instance *instance,
		   uint64_t *flow)
{
	const struct model_coroutine *coroutine = instance->coroutine;

	if (!coroutine || !instance->awaits)
		return false;
	*flow = await_flow(exporter, coroutine, coroutine->awaits);
	return true;
}

static struct perfetto_owner owner_of(const struct model_callback *callback)
{
	const struct model_topic *topic =
		callback->subscription ? callback->subscription->topic : NULL;

	return (struct perfetto_owner){
		ENTITY_COROUTINE,
		BY_COROUTINE,
		callback->index,
		model_callback_node(callback),
		"awaits in",
		topic               ? topic->name
		: callback->service ? callback->service->name
		: callback->timer   ? NULL
				    : callback->symbol,
		callback->timer ? callback->timer->period_ns : 0,
	};
}

bool export_resumed(struct exporter *exporter, const struct model_instance *instance,
		    uint64_t *flow)
{
	const struct model_coroutine *coroutine = instance->coroutine;
	const struct perfetto_owner owner = owner_of(instance->callback);
	const struct model_await *await;
	struct pft_event event = { .category = exporter->words.awaited,
				   .flow = flow,
				   .flows = 1,
				   .role = PFT_FLOW_PASSES };
	char what[WHAT_MAX];

	if (!coroutine || !coroutine->awaits)
		return false;
	await = &coroutine->await[coroutine->awaits - 1];
	*flow = await_flow(exporter, coroutine, coroutine->awaits - 1);
	if (!export_in_window(exporter, await->begin_ns))
		return true;
	model_awaited_text(await, what, sizeof(what));
	event.name = export_named(exporter, "%s awaited %s", export_node_name(owner.node),
				  *what ? what : "something");
	pft_end(export_lane_begin(exporter, &owner, await->begin_ns, await->end_ns, &event),
		export_time(exporter, await->end_ns));
	return true;
}
