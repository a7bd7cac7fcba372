/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executors and callback groups, from CARET's init events of both generations:
 *     up to Iron   construct_executor(executor), add_callback_group(executor, group);
 *                  construct_static_executor(executor, collector),
 *                  add_callback_group_static_executor(collector, group)
 *     Jazzy        executor_entity_collector_to_executor(executor, collector),
 *                  construct_executor(executor),
 *                  callback_group_to_executor_entity_collector(collector, group)
 *
 * The idea: the events may come in any order, because CARET records old facts kind by kind. So the
 * first event that names an address creates the object for that address, and later events complete
 * the object. A group may be added to executors again and again (spinning until a future is
 * complete does this). It remains one group, and its executor is the one of the latest event.
 */
#include "analysis/model/model_internal.h"

/* ---- executors ---- */

static struct executor *executor_new(struct model *model, const struct now *now, uint64_t address)
{
	struct executor *executor = model_object_new(model, MODEL_EXECUTOR, sizeof(*executor));

	if (!executor) {
		model_handle_drop(model, now->process, HANDLE_EXECUTOR, address);
		return NULL;
	}
	executor->pub.process = &now->process->pub;
	executor->pub.address = address;
	executor->pub.type = "";
	executor->pub.born_ns = now->true_ns;
	model_handle_set(model, now->process, HANDLE_EXECUTOR, address, executor);
	return executor;
}

static void constructed(struct model *model, const struct now *now,
			const struct kymo_ctf_value *address, const struct kymo_ctf_value *type)
{
	struct executor *executor = model_handle(model, now->process, HANDLE_EXECUTOR, address->u);

	if (!address->present ||
	    (executor && executor->constructed && executor->pub.born_ns == now->true_ns))
		return;
	if (!executor || executor->constructed)
		executor = executor_new(model, now, address->u);
	if (!executor)
		return;
	executor->constructed = true;
	executor->pub.type = model_word(model, type);
	executor->pub.born_ns = now->true_ns;
}

static void on_construct_executor(struct model *model, const struct now *now)
{
	ARGS(construct_executor, now->event);

	constructed(model, now, &args->executor_addr, &args->executor_type_name);
}

/* ---- collectors ---- */

static struct collector *collector_at(struct model *model, const struct now *now, uint64_t address)
{
	struct collector *collector = model_handle(model, now->process, HANDLE_COLLECTOR, address);

	if (!collector) {
		collector = model_fact_new(model, sizeof(*collector));
		if (collector)
			model_handle_set(model, now->process, HANDLE_COLLECTOR, address, collector);
	}
	return collector;
}

/*
 * Sets @executor as the owner of @collector. Groups that were added to @collector earlier now have
 * that executor, too.
 */
static void collector_set(struct model *model, struct collector *collector,
			  struct executor *executor)
{
	const struct list *list = &model->list[MODEL_CALLBACK_GROUP];

	collector->executor = executor;
	for (unsigned i = 0; i < list->count; i++) {
		struct group *group = list->item[i];

		if (group->collector == collector)
			group->pub.executor = &executor->pub;
	}
}

static void on_construct_static_executor(struct model *model, const struct now *now)
{
	ARGS(construct_static_executor, now->event);
	struct executor *executor;
	struct collector *collector;

	constructed(model, now, &args->executor_addr, &args->executor_type_name);
	executor = model_handle(model, now->process, HANDLE_EXECUTOR, args->executor_addr.u);
	collector = collector_at(model, now, args->entities_collector_addr.u);
	if (executor && collector && collector->executor != executor)
		collector_set(model, collector, executor);
}

static void on_executor_entity_collector_to_executor(struct model *model, const struct now *now)
{
	ARGS(executor_entity_collector_to_executor, now->event);
	struct executor *executor = model_handle(model, now->process, HANDLE_EXECUTOR,
						 args->executor_addr.u);
	struct collector *collector;

	if (!args->executor_addr.present || (executor && executor->collected_ns == now->true_ns))
		return;
	/*
	 * This event comes at the start of each construction: a second event for the address means
	 * another executor.
	 */
	if (!executor || executor->collected_ns)
		executor = executor_new(model, now, args->executor_addr.u);
	collector = collector_at(model, now, args->entities_collector_addr.u);
	if (!executor || !collector)
		return;
	executor->collected_ns = now->true_ns;
	collector_set(model, collector, executor);
}

/* ---- groups ---- */

static struct group *group_at(struct model *model, const struct now *now, uint64_t address)
{
	struct group *group = model_handle(model, now->process, HANDLE_GROUP, address);

	if (group)
		return group;
	group = model_object_new(model, MODEL_CALLBACK_GROUP, sizeof(*group));
	if (!group)
		return NULL;
	group->pub.process = &now->process->pub;
	group->pub.address = address;
	group->pub.type = "";
	group->pub.born_ns = now->true_ns;
	model_handle_set(model, now->process, HANDLE_GROUP, address, group);
	return group;
}

static struct group *group_typed(struct model *model, const struct now *now,
				 const struct kymo_ctf_value *address,
				 const struct kymo_ctf_value *type)
{
	struct group *group = address->present ? group_at(model, now, address->u) : NULL;

	if (group && !*group->pub.type)
		group->pub.type = model_word(model, type);
	return group;
}

static void on_add_callback_group(struct model *model, const struct now *now)
{
	ARGS(add_callback_group, now->event);
	struct executor *executor = model_handle(model, now->process, HANDLE_EXECUTOR,
						 args->executor_addr.u);
	struct group *group = group_typed(model, now, &args->callback_group_addr,
					  &args->group_type_name);

	if (!group || !args->executor_addr.present)
		return;
	if (!executor)
		executor = executor_new(model, now, args->executor_addr.u);
	group->collector = NULL;
	group->pub.executor = executor ? &executor->pub : NULL;
}

/* The two generations have the same three fields under different names. */
static void on_callback_group_to_executor_entity_collector(struct model *model,
							   const struct now *now)
{
	ARGS(callback_group_to_executor_entity_collector, now->event);
	struct group *group = group_typed(model, now, &args->callback_group_addr,
					  &args->group_type_name);

	if (!group || !args->entities_collector_addr.present)
		return;
	group->collector = collector_at(model, now, args->entities_collector_addr.u);
	if (group->collector && group->collector->executor)
		group->pub.executor = &group->collector->executor->pub;
}

static void on_add_callback_group_static_executor(struct model *model, const struct now *now)
{
	on_callback_group_to_executor_entity_collector(model, now);
}

/* ---- members of a group ---- */

const struct model_callback_group *model_member_of(const struct model *model,
						   const struct process *process, enum handle kind,
						   uint64_t handle, int64_t born_ns)
{
	const struct member *member = model_handle(model, process, kind, handle);

	/*
	 * An event from before the object was created refers to the previous object at this
	 * address.
	 */
	return member && member->ns >= born_ns ? &member->group->pub : NULL;
}

static struct group *member_told(struct model *model, const struct now *now, enum handle kind,
				 const struct kymo_ctf_value *group_address,
				 const struct kymo_ctf_value *handle)
{
	struct member *member = model_handle(model, now->process, kind, handle->u);
	struct group *group;

	if (!group_address->present || !handle->present)
		return NULL;
	group = group_at(model, now, group_address->u);
	if (!member) {
		member = model_fact_new(model, sizeof(*member));
		if (member)
			model_handle_set(model, now->process, kind, handle->u, member);
	}
	if (!group || !member)
		return NULL;
	member->group = group;
	member->ns = now->true_ns;
	return group;
}

#define MEMBER(what, MEMBER_KIND, OBJECT_KIND)							\
	static void on_callback_group_add_##what(struct model *model, const struct now *now)	\
	{											\
		ARGS(callback_group_add_##what, now->event);					\
		const struct group *group = member_told(model, now, MEMBER_KIND,		\
							&args->callback_group_addr,		\
							&args->what##_handle);			\
		struct MEMBER_TYPE_##what *object = model_handle(model, now->process, OBJECT_KIND, \
								 args->what##_handle.u);	\
												\
		if (group && object && object->pub.born_ns <= now->true_ns)			\
			object->pub.group = &group->pub;					\
	}
#define MEMBER_TYPE_timer timer
#define MEMBER_TYPE_subscription subscription
#define MEMBER_TYPE_service service
#define MEMBER_TYPE_client service
MEMBER(timer, HANDLE_MEMBER_TIMER, HANDLE_TIMER)
MEMBER(subscription, HANDLE_MEMBER_SUBSCRIPTION, HANDLE_SUBSCRIPTION)
MEMBER(service, HANDLE_MEMBER_SERVICE, HANDLE_SERVICE)
MEMBER(client, HANDLE_MEMBER_CLIENT, HANDLE_CLIENT)

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(construct_executor),
	ON(construct_static_executor),
	ON(executor_entity_collector_to_executor),
	ON(add_callback_group),
	ON(add_callback_group_static_executor),
	ON(callback_group_to_executor_entity_collector),
	ON(callback_group_add_timer),
	ON(callback_group_add_subscription),
	ON(callback_group_add_service),
	ON(callback_group_add_client),
};

const struct model_part model_groups = { .handlers = handlers };
