/* SPDX-License-Identifier: Apache-2.0 */
/* State machines of lifecycle nodes, their transitions, and the states between them. */
#include "analysis/model/model_internal.h"

#include <string.h>

/*
 * rclcpp_lifecycle passes copies of rcl's services to rclcpp, so callback_added contains handles
 * without a rcl_service_init. The init events of the services and the callback_added events come in
 * the same order, so they are matched by order.
 */
struct service *model_service_waiting(struct process *process)
{
	struct service *first = process->waiting_count ? process->waiting[0] : NULL;

	if (first)
		memmove(process->waiting, process->waiting + 1,
			--process->waiting_count * sizeof(*process->waiting));
	return first;
}

static void services_await(const struct model *model, struct process *process,
			   const struct node *node)
{
	const struct list *list = &model->list[MODEL_SERVICE];
	unsigned i;

	process->waiting_count = 0;
	for (i = list->count; i && process->waiting_count < LIFECYCLE_SERVICES; i--) {
		struct service *service = list->item[i - 1];

		if (service->pub.node != &node->pub || service->has_callback)
			break;
		process->waiting_count++;
	}
	if (process->waiting_count)
		memcpy(process->waiting, list->item + i,
		       process->waiting_count * sizeof(*process->waiting));
}

static void on_rcl_lifecycle_state_machine_init(struct model *model, const struct now *now)
{
	ARGS(rcl_lifecycle_state_machine_init, now->event);
	struct state_machine *machine = model_handle(model, now->process, HANDLE_STATE_MACHINE,
						     args->state_machine.u);

	if (!args->state_machine.present || (machine && machine->pub.born_ns == now->true_ns))
		return;
	machine = model_object_new(model, MODEL_STATE_MACHINE, sizeof(*machine));
	if (!machine) {
		model_handle_drop(model, now->process, HANDLE_STATE_MACHINE, args->state_machine.u);
		return;
	}
	machine->node = model_handle(model, now->process, HANDLE_NODE, args->node_handle.u);
	machine->pub.process = &now->process->pub;
	machine->pub.handle = args->state_machine.u;
	machine->pub.node = machine->node ? &machine->node->pub : NULL;
	machine->pub.born_ns = now->true_ns;
	model_handle_set(model, now->process, HANDLE_STATE_MACHINE, machine->pub.handle, machine);
	if (machine->node)
		services_await(model, now->process, machine->node);
}

/* Reports the state that @machine leaves at @end_ns; 0: the state when the trace ends. */
static void state_tell(struct model *model, const struct state_machine *machine, int64_t end_ns)
{
	struct model_state state = {
		.machine = &machine->pub,
		.node = machine->pub.node,
		.label = machine->label,
		.start_ns = machine->since_ns,
		.end_ns = end_ns,
	};

	EMIT(model, state, &state);
}

/* Creates a state machine whose init event is not in the trace; its handle is known from now on. */
static struct state_machine *machine_unknown(struct model *model, const struct now *now,
					     uint64_t handle)
{
	struct state_machine *machine = model_object_new(model, MODEL_STATE_MACHINE,
							 sizeof(*machine));

	if (!machine)
		return NULL;
	machine->pub.process = &now->process->pub;
	machine->pub.handle = handle;
	model_handle_set(model, now->process, HANDLE_STATE_MACHINE, handle, machine);
	return machine;
}

static void on_rcl_lifecycle_transition(struct model *model, const struct now *now)
{
	ARGS(rcl_lifecycle_transition, now->event);
	struct state_machine *machine = model_handle(model, now->process, HANDLE_STATE_MACHINE,
						     args->state_machine.u);
	struct model_transition transition = {
		.thread = &now->thread->pub,
		.handle = args->state_machine.u,
		.ns = now->ns,
		.start = args->start_label.present ? args->start_label.bytes : "",
		.goal = args->goal_label.present ? args->goal_label.bytes : "",
	};

	if (!machine && args->state_machine.present)
		machine = machine_unknown(model, now, args->state_machine.u);
	if (machine) {
		transition.machine = &machine->pub;
		transition.node = machine->pub.node;
	}
	EMIT(model, transition, &transition);
	if (!machine || !(model->wants & WANT_STATES))
		return;
	/* Its previous state: since its creation, or, if transitions were lost, unknown. */
	if (!machine->label)
		machine->since_ns = machine->pub.node ? machine->pub.node->born_ns : 0;
	else if (strcmp(machine->label, transition.start) != 0)
		machine->since_ns = 0;
	machine->label = model_word(model, &args->start_label);
	state_tell(model, machine, now->ns);
	machine->label = model_word(model, &args->goal_label);
	machine->since_ns = now->ns;
}

static void end_states(struct model *model)
{
	const struct list *list = &model->list[MODEL_STATE_MACHINE];

	for (unsigned i = 0; i < list->count; i++) {
		const struct state_machine *machine = list->item[i];

		if (machine->label)
			state_tell(model, machine, 0);
	}
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(rcl_lifecycle_state_machine_init),
	ON(rcl_lifecycle_transition),
};

const struct model_part model_lifecycle = { .handlers = handlers, .finish = end_states };
