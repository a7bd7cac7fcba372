/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From init events to objects: which address belongs to which node and topic.
 *
 * Each init event names the addresses of the objects it is about. A node, publisher, subscription,
 * service, client or state machine brings its names with it, and is known at once. A callback or a
 * buffer only names the object that it belongs to: it becomes known together with that one, which
 * may come later. Once an object is known, the rules decide whether it is wanted. An address may be
 * used again: the next init event that creates an object there begins a new one.
 */
#include <string.h>

#include "recorder/filter/filter_internal.h"
#include "recorder/records/record_walk.h"

#define FACT_FIELDS 3		/* pointers at the begin of an init event */
#define NAME_MAX_BYTES 8192	/* longer ones are not written by the tracer */

/* ---- names ---- */

static uint64_t hash_of(const char *text, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return hash;
}

/* @text: @length bytes, of any content. NULL without memory. */
static struct filter_name *name_of(struct filter_process *mine, const char *text, size_t length)
{
	const uint64_t hash = hash_of(text, length);
	struct filter_name *first = map_get(&mine->name, hash, length), *name;

	for (name = first; name; name = name->next)
		if (memcmp(name->text, text, length) == 0)
			return name;
	name = pool_new(&mine->pool, sizeof *name + length + 1);
	if (!name)
		return NULL;
	memcpy(name->text, text, length);
	name->next = first;
	return map_put(&mine->name, hash, length, name) == 0 ? name : NULL;
}

static void judge_name(const struct filter_process *mine, struct filter_name *name)
{
	if (mine->caret && !name->caret_known) {
		name->caret_node = filter_caret_node(mine->caret, name->text);
		name->caret_topic = filter_caret_topic(mine->caret, name->text);
		name->caret_known = true;
	}
	if (name->generation == mine->filter->generation)
		return;
	name->node = filter_want(mine, FILTER_NODE, name->text, NULL);
	name->topic = filter_want(mine, FILTER_TOPIC, name->text, NULL);
	if (mine->filter->caret) {
		name->all_node = filter_caret_node(mine->filter->caret, name->text);
		name->all_topic = filter_caret_topic(mine->filter->caret, name->text);
	}
	name->generation = mine->filter->generation;
}

static bool is_wanted(const struct filter_process *mine, const struct filter_object *object)
{
	const struct filter_caret *all = mine->filter->caret;
	const struct filter_name *topic;

	if (!object->known || !mine->objects)
		return true;
	if (object->node)
		judge_name(mine, object->node);
	if (object->topic)
		judge_name(mine, object->topic);
	if (object->node && !object->node->node)
		return false;
	if (object->topic ? !object->topic->topic :
	    mine->filter->rules.includes[FILTER_TOPIC] || mine->own.includes[FILTER_TOPIC])
		return false;
	if (!object->node)
		return true;
	topic = object->is_service ? NULL : object->topic;
	return (!mine->caret || filter_caret_wants(mine->caret, object->node->caret_node,
						   topic ? topic->caret_topic : 0)) &&
	       (!all ||
		filter_caret_wants(all, object->node->all_node, topic ? topic->all_topic : 0));
}

void filter_decide(struct filter_process *mine, struct filter_object *object)
{
	object->wanted = is_wanted(mine, object);
	filter_requeue(mine, object);
}

/* ---- objects ---- */

static void stop_waiting(struct filter_object *object)
{
	if (!object->waits_in)
		return;
	*object->waits_in = object->next_waiting;
	if (object->next_waiting)
		object->next_waiting->waits_in = object->waits_in;
	object->waits_in = NULL;
	object->next_waiting = NULL;
}

static void wait_for(struct filter_object *object, struct filter_object *other)
{
	object->next_waiting = other->waiting;
	if (other->waiting)
		other->waiting->waits_in = &object->next_waiting;
	object->waits_in = &other->waiting;
	other->waiting = object;
}

static struct filter_object *object_get(struct filter_process *mine, uint64_t address)
{
	struct filter_object *object = address ? filter_object(mine, address) : NULL;

	if (object || !address)
		return object;
	object = pool_new(&mine->pool, sizeof *object);
	if (!object)
		return NULL;
	object->address = address;
	object->wanted = object->wanted_before = true;
	return map_put(&mine->object, address, 0, object) == 0 ? object : NULL;
}

/* A new object at an address. */
static struct filter_object *object_new(struct filter_process *mine, uint64_t address, uint64_t ns)
{
	struct filter_object *object = object_get(mine, address);

	if (!object)
		return NULL;
	stop_waiting(object);
	object->wanted_before = object->wanted;
	object->wanted = true;
	object->known = false;
	object->node = object->topic = NULL;
	object->is_service = false;
	object->since_ns = ns;
	return object;
}

/* Node and topic of @object are known now, and with them those of all objects that wait for it,
 * directly or not. */
static void object_known(struct filter_process *mine, struct filter_object *object,
			 struct filter_name *node, struct filter_name *topic, bool is_service)
{
	struct filter_object *list = object, *waiting;

	stop_waiting(object);
	while ((object = list)) {
		list = object->next_waiting;
		object->next_waiting = NULL;
		while ((waiting = object->waiting)) {
			stop_waiting(waiting);
			waiting->next_waiting = list;
			list = waiting;
		}
		object->node = node;
		object->topic = topic;
		object->is_service = is_service;
		object->known = true;
		filter_decide(mine, object);
	}
}

/* ---- facts ---- */

struct fact {
	uint64_t ns;
	uint64_t field[FACT_FIELDS];
	const char *text;		/* the first string of the event, ends with a NUL */
	size_t text_length;
	const char *second;		/* the string behind it; "" without */
};

/* A new object that belongs to another one. */
static void new_of_object(struct filter_process *mine, uint64_t address, uint64_t of, uint64_t ns)
{
	struct filter_object *object = object_new(mine, address, ns), *other = object_get(mine, of);

	if (!object || !other || other == object)
		return;
	if (other->known)
		object_known(mine, object, other->node, other->topic, other->is_service);
	else
		wait_for(object, other);
}

static void new_named(struct filter_process *mine, const struct fact *fact, bool is_service)
{
	const struct filter_object *node = filter_object(mine, fact->field[1]);
	struct filter_name *topic = name_of(mine, fact->text, fact->text_length);
	struct filter_object *rcl = object_new(mine, fact->field[0], fact->ns);
	struct filter_object *rmw = object_new(mine, fact->field[2], fact->ns);

	if (rcl)
		object_known(mine, rcl, node ? node->node : NULL, topic, is_service);
	if (rmw && rmw != rcl)
		object_known(mine, rmw, node ? node->node : NULL, topic, is_service);
}

/* "/perception" and "filter", "/" and "filter" */
static void new_node(struct filter_process *mine, const struct fact *fact)
{
	struct filter_object *object = object_new(mine, fact->field[0], fact->ns);
	char full[2 * NAME_MAX_BYTES + 2];
	size_t space = strlen(fact->second), length;

	if (!object || space + fact->text_length + 2 > sizeof full)
		return;
	memcpy(full, fact->second, space);
	length = space;
	if (!space || full[space - 1] != '/')
		full[length++] = '/';
	memcpy(full + length, fact->text, fact->text_length);
	object_known(mine, object, name_of(mine, full, length + fact->text_length), NULL, false);
}

static void new_of_node(struct filter_process *mine, uint64_t address, uint64_t node, bool is_new,
			uint64_t ns)
{
	const struct filter_object *its = filter_object(mine, node);
	struct filter_object *object =
		is_new ? object_new(mine, address, ns) : object_get(mine, address);

	if (object)
		object_known(mine, object, its ? its->node : NULL, NULL, false);
}

static void apply_fact(struct filter_process *mine, unsigned id, const struct fact *fact)
{
	const uint64_t *field = fact->field;

	switch (id) {
	case KYMO_POINT_rcl_node_init:
		new_node(mine, fact);
		break;
	case KYMO_POINT_rcl_publisher_init:
	case KYMO_POINT_rcl_subscription_init:
		new_named(mine, fact, false);
		break;
	case KYMO_POINT_rcl_service_init:
	case KYMO_POINT_rcl_client_init:
		new_named(mine, fact, true);
		break;
	case KYMO_POINT_rcl_timer_init:
		(void)object_new(mine, field[0], fact->ns);
		break;
	case KYMO_POINT_rclcpp_timer_link_node:
		new_of_node(mine, field[0], field[1], false, fact->ns);
		break;
	case KYMO_POINT_rcl_lifecycle_state_machine_init:
		new_of_node(mine, field[1], field[0], true, fact->ns);
		break;
	case KYMO_POINT_rclcpp_subscription_init:
	case KYMO_POINT_rclcpp_subscription_callback_added:
	case KYMO_POINT_rclcpp_service_callback_added:
	case KYMO_POINT_rclcpp_timer_callback_added:
		new_of_object(mine, field[1], field[0], fact->ns);
		break;
	case KYMO_POINT_rclcpp_ipb_to_subscription:
	case KYMO_POINT_rclcpp_buffer_to_ipb:
		new_of_object(mine, field[0], field[1], fact->ns);
		break;
	default:
		break;
	}
}

/* The record is sound: its payload was walked. */
static void read_fact(const struct kymo_point *point, const uint8_t *payload, size_t size,
		      struct fact *fact)
{
	size_t at = 0;
	unsigned texts = 0;

	for (unsigned i = 0; i < point->field_count; i++) {
		const long length = walk_field(point->field[i].kind, payload + at, size - at);

		if (length < 0)
			return;
		if (point->field[i].kind == KYMO_KIND_PTR && i < FACT_FIELDS)
			memcpy(&fact->field[i], payload + at, sizeof fact->field[i]);
		else if (point->field[i].kind == KYMO_KIND_STR && texts++ == 0) {
			fact->text = (const char *)payload + at;
			fact->text_length = (size_t)length - 1;
		} else if (point->field[i].kind == KYMO_KIND_STR) {
			fact->second = (const char *)payload + at;
		}
		at += (size_t)length;
	}
}

/* The process has taken these addresses out of the set of left-out objects: decide about them
 * again. */
static void note_news(struct filter_process *mine, const struct fact *fact)
{
	for (unsigned i = 0; i < FACT_FIELDS; i++) {
		struct filter_object *object =
			fact->field[i] ? filter_object(mine, fact->field[i]) : NULL;

		if (!object)
			continue;
		object->made++;
		filter_requeue(mine, object);
	}
}

void filter_fact(struct filter_process *mine, unsigned id, uint64_t ns, const uint8_t *payload,
		 size_t size)
{
	struct fact fact = { .ns = ns, .text = "", .second = "" };

	read_fact(&kymo_points[id], payload, size, &fact);
	note_news(mine, &fact);
	apply_fact(mine, id, &fact);
}
