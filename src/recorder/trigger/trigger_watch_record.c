/* SPDX-License-Identifier: Apache-2.0 */
/* Records become notes, if a condition needs them. Handles are looked up at once: their objects may
 * be gone later. */
#include <string.h>

#include "recorder/trigger/trigger_watch.h"

/* of one process; publishers and subscriptions beyond that are not judged */
#define ENDS_MAX	65536u

static uint64_t word_at(const uint8_t *payload, unsigned index)
{
	uint64_t value;

	memcpy(&value, payload + (size_t)index * sizeof value, sizeof value);
	return value;
}

/* A BOOL, the field behind @index words. */
static bool flag_at(const uint8_t *payload, unsigned index)
{
	return payload[(size_t)index * sizeof(uint64_t)] != 0;
}

bool watch_wants(unsigned id)
{
	switch (id) {
	case KYMO_POINT_rcl_publish:
	case KYMO_POINT_rclcpp_intra_publish:
	case KYMO_POINT_rmw_publish:
	case KYMO_POINT_dds_bind_addr_to_stamp:
	case KYMO_POINT_rmw_take:
	case KYMO_POINT_callback_start:
	case KYMO_POINT_callback_end:
	case KYMO_POINT_rclcpp_ring_buffer_enqueue:
	case KYMO_POINT_rclcpp_ring_buffer_dequeue:
		return true;
	default:
		return false;
	}
}

/* ---- facts ---- */

void watch_fact(struct trigger_process *process, unsigned id, const uint8_t *const *field)
{
	struct watch_process *own = process->watch;
	struct trigger_watch *watch = own->watch;
	const bool publishes = id == KYMO_POINT_rcl_publisher_init;
	const int index = watch_topic_of(watch, (const char *)field[3]);
	struct watch_topic *topic;
	struct watch_end *end;
	uint64_t handle;

	if (index < 0 || own->ends.count >= ENDS_MAX)
		return;
	topic = &watch->topic[index];
	memcpy(&handle, field[publishes ? 0 : 2], sizeof handle);
	end = map_get(&own->ends, handle, id);
	if (end && end->topic == index)
		return;		/* said before */
	end = map_at(&own->ends, handle, id, sizeof *end);
	if (!end)
		return;
	*end = (struct watch_end){ .topic = index, .ordinal = publishes ? 0 : topic->ordinals++ };
	if (!publishes) {
		topic->subscriptions++;
		return;
	}
	topic->publishers++;
	for (unsigned i = 0; i < topic->levels.count; i++) {
		struct watch_level *level = &watch->level[topic->levels.at[i]];

		level->off = false;
		if (!level->last_ns)
			level->last_ns = own->joined_ns;
		level->owner = own->owner;
	}
}

static void learn_callback(struct watch_process *own, struct watch_callback *callback,
			   uint64_t address)
{
	struct trigger_watch *watch = own->watch;
	struct facts_path path;

	facts_path(own->process, address, &path);
	facts_symbol(own->process, address, callback->name);
	callback->version = own->process->version;
	callback->topic = path.topic ? watch_topic_of(watch, path.topic) : -1;
	callback->node =
		path.node && watch->on_busy ? watch_entity_of(watch, path.node, NULL, NULL) : -1;
	callback->period_ns = path.period_ns;
	callback->late = 0;
	for (unsigned i = 0; i < watch->triggers->count; i++)
		if (path.period_ns && watch->late & 1u << i &&
		    (watch_name_fits(&watch->triggers->item[i], callback->name) ||
		     (path.node && watch_name_fits(&watch->triggers->item[i], path.node))))
			callback->late |= 1u << i;
	watch->triggers->met |= callback->late;
	for (unsigned i = 0; i < watch->chains; i++)
		callback->steps[i] = path.node ? watch_step_of(watch, i, path.node) : 0;
}

static struct watch_callback *callback_of(struct watch_process *own, uint64_t address)
{
	struct watch_callback *callback = map_get(&own->callbacks, address, 0);

	if (!callback && own->callbacks.count < ENDS_MAX)
		callback = map_at(&own->callbacks, address, 0, sizeof *callback);
	if (callback && (!callback->name[0] || callback->version != own->process->version))
		learn_callback(own, callback, address);
	return callback;
}

/* ---- records ---- */

static bool matters(const struct trigger_watch *watch, int topic)
{
	return topic >= 0 && watch->topic[topic].matters;
}

/* Return: the topic; -1: no condition needs it. */
static int topic_at(const struct watch_process *own, uint64_t handle, unsigned made_by,
		    struct watch_note *note)
{
	struct watch_end *end = map_get(&own->ends, handle, made_by);

	note->at = end;
	return end && matters(own->watch, end->topic) ? end->topic : -1;
}

/* Return: false: no condition needs it. */
static bool fill(struct watch_process *own, unsigned id, const uint8_t *payload,
		 struct watch_note *note)
{
	const struct trigger_watch *watch = own->watch;

	note->a = word_at(payload, 0);
	switch (id) {
	case KYMO_POINT_rcl_publish:
	case KYMO_POINT_rclcpp_intra_publish:
		note->kind = id == KYMO_POINT_rcl_publish ? WATCH_PUBLISH : WATCH_INTRA;
		note->topic = topic_at(own, note->a, KYMO_POINT_rcl_publisher_init, note);
		return note->topic >= 0;
	case KYMO_POINT_rmw_publish:
		note->kind = WATCH_STAMP;
		note->b = word_at(payload, 2);
		return watch->on_messages;
	case KYMO_POINT_dds_bind_addr_to_stamp:
		note->kind = WATCH_STAMP;
		note->b = word_at(payload, 1);
		return watch->on_messages;
	case KYMO_POINT_rmw_take:
		note->kind = WATCH_TAKE;
		note->b = word_at(payload, 2);
		note->topic = watch->on_messages && flag_at(payload, 3) ?
			      topic_at(own, note->a, KYMO_POINT_rcl_subscription_init, note) : -1;
		return note->topic >= 0;
	case KYMO_POINT_callback_start:
	case KYMO_POINT_callback_end:
		note->kind = id == KYMO_POINT_callback_start ? WATCH_START : WATCH_END;
		if (!watch->on_callbacks)
			return false;
		note->at = note->kind == WATCH_START ? callback_of(own, note->a) : NULL;
		return note->at || note->kind == WATCH_END;
	default:
		note->kind =
			id == KYMO_POINT_rclcpp_ring_buffer_enqueue ? WATCH_STORE : WATCH_FETCH;
		note->b = word_at(payload, 1);
		note->flag = note->kind == WATCH_STORE && flag_at(payload, 3);
		return watch->on_messages;
	}
}

void watch_record(struct trigger_process *process, struct watch_thread *thread, unsigned id,
		  const uint8_t *payload, uint64_t ns)
{
	struct watch_note note = { .ns = ns, .thread = thread, .topic = -1 };

	if (fill(process->watch, id, payload, &note))
		watch_note(process->watch->watch, &note);
}
