/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callback groups, from CARET's init events of both generations:
 *     up to Iron   add_callback_group(executor, group),
 *                  add_callback_group_static_executor(collector, group)
 *     Jazzy        callback_group_to_executor_entity_collector(collector, group)
 *
 * The idea: the events may come in any order, because CARET records old facts kind by kind. So the
 * first event that names an address creates the group. A group may be added to executors again and
 * again (spinning until a future is complete does this). It remains one group, and its executor is
 * the one of the latest event.
 *
 * No event says that a group is gone. It is another one at the same address if it has another type,
 * or a member of another node while the address of the first member's node is used again.
 */
#include "analysis/model/model_internal.h"

#include <string.h>

static struct group *group_new(struct model *model, const struct now *now, uint64_t address,
			       struct group *before)
{
	struct group *group = model_object_new(model, MODEL_CALLBACK_GROUP, sizeof(*group));

	if (!group)
		return NULL;
	group->pub.process = &now->process->pub;
	group->pub.address = address;
	group->pub.type = "";
	group->pub.born_ns = now->true_ns;
	group->before = before;
	model_handle_set(model, now->process, HANDLE_GROUP, address, group);
	return group;
}

/* The group at @address now; it is made when it is new. */
static struct group *group_at(struct model *model, const struct now *now, uint64_t address)
{
	struct group *group = model_handle(model, now->process, HANDLE_GROUP, address);

	if (!group)
		return group_new(model, now, address, NULL);
	while (group->since_ns > now->true_ns && group->before)
		group = group->before;
	return group;
}

/* Another group is at the address of @group, the youngest one there, since @since_ns. */
static struct group *group_again(struct model *model, const struct now *now, struct group *group,
				 int64_t since_ns)
{
	struct group *again = group_new(model, now, group->pub.address, group);

	if (!again)
		return group;
	again->since_ns = since_ns;
	if (group->link.ns < since_ns)
		return again;
	again->pub.type = group->pub.type;
	again->link = group->link;
	group->link = group->link_before;
	group->link_before = (struct group_link){ 0 };
	model_group_resolve(model, again);
	model_group_resolve(model, group);
	return again;
}

static bool is_youngest(const struct model *model, const struct now *now, const struct group *group)
{
	return model_handle(model, now->process, HANDLE_GROUP, group->pub.address) == group;
}

static struct group *group_typed(struct model *model, const struct now *now,
				 const struct kymo_ctf_value *address,
				 const struct kymo_ctf_value *type)
{
	struct group *group = address->present ? group_at(model, now, address->u) : NULL;
	const char *word = model_word(model, type);

	if (group && *group->pub.type && *word && strcmp(group->pub.type, word) != 0 &&
	    now->true_ns > group->link.ns && is_youngest(model, now, group))
		group = group_again(model, now, group, now->true_ns);
	if (group && !*group->pub.type)
		group->pub.type = word;
	return group;
}

static void link_group(struct model *model, const struct now *now, struct group *group,
		       struct collector *collector, uint64_t executor)
{
	if (group->link.ns > now->true_ns)
		return;
	if (group->link.ns < now->true_ns)
		group->link_before = group->link;
	group->link = (struct group_link){ collector, executor, now->true_ns };
	if (now->process->linked_ns < now->true_ns)
		now->process->linked_ns = now->true_ns;
	model_group_resolve(model, group);
}

static void on_add_callback_group(struct model *model, const struct now *now)
{
	ARGS(add_callback_group, now->event);
	struct group *group = group_typed(model, now, &args->callback_group_addr,
					  &args->group_type_name);

	if (!group || !args->executor_addr.present)
		return;
	if (!model_handle(model, now->process, HANDLE_EXECUTOR, args->executor_addr.u))
		model_executor_new(model, now, args->executor_addr.u);
	link_group(model, now, group, NULL, args->executor_addr.u);
}

/* The two generations have the same three fields under different names. */
static void on_callback_group_to_executor_entity_collector(struct model *model,
							   const struct now *now)
{
	ARGS(callback_group_to_executor_entity_collector, now->event);
	struct group *group = group_typed(model, now, &args->callback_group_addr,
					  &args->group_type_name);
	struct collector *collector;

	if (!group || !args->entities_collector_addr.present)
		return;
	collector = model_collector_at(model, now, args->entities_collector_addr.u);
	if (collector)
		link_group(model, now, group, collector, 0);
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

/* @node has a member in @group: the group that it is in, the present one or another one. */
static struct group *group_of_node(struct model *model, const struct now *now, struct group *group,
				   const struct model_node *node)
{
	const struct model_node *first = group->node;

	if (!node || first == node)
		return group;
	if (!first) {
		group->node = node;
		return group;
	}
	if (first->born_ns >= node->born_ns || !is_youngest(model, now, group) ||
	    model_handle(model, now->process, HANDLE_NODE, first->handle) == first)
		return group;
	group = group_again(model, now, group, node->born_ns);
	if (!group->node)
		group->node = node;
	return group;
}

void model_member_node(struct model *model, const struct now *now, enum handle kind,
		       uint64_t handle, const struct model_node *node,
		       const struct model_callback_group **group)
{
	struct member *member = model_handle(model, now->process, kind, handle);

	if (!member || *group != &member->group->pub)
		return;
	member->group = group_of_node(model, now, member->group, node);
	*group = &member->group->pub;
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
		if (!group || !object || object->pub.born_ns > now->true_ns)			\
			return;									\
		object->pub.group = &group->pub;						\
		model_member_node(model, now, MEMBER_KIND, args->what##_handle.u,		\
				  object->pub.node, &object->pub.group);			\
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
	ON(add_callback_group),
	ON(add_callback_group_static_executor),
	ON(callback_group_to_executor_entity_collector),
	ON(callback_group_add_timer),
	ON(callback_group_add_subscription),
	ON(callback_group_add_service),
	ON(callback_group_add_client),
};

const struct model_part model_groups = { .handlers = handlers };
