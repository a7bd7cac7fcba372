/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch: its topics, nodes and threads, and its notes in the order of time.
 *
 * The notes of a packet come in the order of time, so all notes are a few sorted runs. Neighbouring
 * runs are merged in pairs, into a second list of the same size, until one run is left. Notes of
 * the same time stay in the order in which they came.
 */
#include "recorder/trigger/trigger_watch.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* ---- names ---- */

static bool glob_fits(const char *pattern, const char *name)
{
	const char *base = strrchr(name, '/');

	return fnmatch(pattern, name, 0) == 0 || (base && fnmatch(pattern, base + 1, 0) == 0);
}

bool watch_name_fits(const struct trigger *condition, const char *name)
{
	return condition->any || glob_fits(condition->name, name);
}

uint8_t watch_step_of(const struct trigger_watch *watch, unsigned chain, const char *name)
{
	const struct trigger *condition = &watch->triggers->item[watch->chain_condition[chain]];
	const char *step = condition->name;
	uint8_t bits = 0;

	for (unsigned i = 0; i < condition->steps; i++, step += strlen(step) + 1)
		if (glob_fits(step, name))
			bits |= (uint8_t)(1u << i);
	if (bits)
		watch->triggers->met |= 1u << watch->chain_condition[chain];
	return bits;
}

static void learn_topic(struct trigger_watch *watch, struct watch_topic *topic)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < watch->triggers->count; i++)
		if (watch->on_topics & 1u << i &&
		    watch_name_fits(&watch->triggers->item[i], topic->name))
			mask |= 1u << i;
	watch->triggers->met |= mask;
	for (unsigned i = 0; i < watch->chains; i++)
		topic->steps[i] = watch_step_of(watch, i, topic->name);
	topic->conditions = mask & (triggers_of(watch->triggers, TRIGGER_LATENCY) |
				    triggers_of(watch->triggers, TRIGGER_LOST));
	topic->matters = mask || watch->chains;
	watch_levels_of(watch, &topic->levels, topic->name, mask & ~topic->conditions);
}

int watch_topic_of(struct trigger_watch *watch, const char *name)
{
	struct watch_topic *topic;

	for (unsigned i = 0; i < watch->topics; i++)
		if (strcmp(watch->topic[i].name, name) == 0)
			return (int)i;
	if (watch->topics == WATCH_TOPICS_MAX ||
	    !ARRAY_ROOM(watch->topic, watch->topics, watch->topics_room))
		return -1;
	topic = &watch->topic[watch->topics];
	*topic = (struct watch_topic){ .name = strndup(name, TRIGGER_WHAT_MAX - 1) };
	if (!topic->name)
		return -1;
	learn_topic(watch, topic);
	return (int)watch->topics++;
}

int watch_entity_of(struct trigger_watch *watch, const char *name, const char *also,
		    const char *other)
{
	struct watch_entity *entity;
	uint32_t mask = 0;

	for (unsigned i = 0; i < watch->entities; i++)
		if (strcmp(watch->entity[i].name, name) == 0)
			return (int)i;
	for (unsigned i = 0; i < watch->triggers->count; i++) {
		const struct trigger *condition = &watch->triggers->item[i];

		if (watch->on_busy & 1u << i && (watch_name_fits(condition, name) ||
						 (also && watch_name_fits(condition, also)) ||
						 (other && watch_name_fits(condition, other))))
			mask |= 1u << i;
	}
	watch->triggers->met |= mask;
	if (watch->entities == WATCH_TOPICS_MAX ||
	    !ARRAY_ROOM(watch->entity, watch->entities, watch->entities_room))
		return -1;
	entity = &watch->entity[watch->entities];
	*entity = (struct watch_entity){ .name = strndup(name, TRIGGER_WHAT_MAX - 1) };
	if (!entity->name)
		return -1;
	watch_levels_of(watch, &entity->levels, entity->name, mask);
	return (int)watch->entities++;
}

const char *triggers_nearest(const struct triggers *triggers, const struct trigger *condition)
{
	const struct trigger_watch *watch = triggers->watch;
	struct text_nearest nearest = { 0 };

	for (unsigned i = 0; watch && i < watch->topics; i++)
		text_nearest_try(&nearest, condition->name, watch->topic[i].name);
	for (unsigned i = 0; watch && i < watch->entities; i++)
		text_nearest_try(&nearest, condition->name, watch->entity[i].name);
	return nearest.name;
}

void watch_hit(struct trigger_watch *watch, uint32_t mask, uint64_t ns, uint64_t value,
	       const char *what, const void *owner, const struct watch_thread *thread)
{
	struct trigger_hit hit = { .at_ns = ns, .value = value, .owner = owner };

	if (!mask)
		return;
	if (thread) {
		hit.tid = thread->tid;
		hit.thread = thread->name;
	}
	(void)snprintf(hit.what, sizeof hit.what, "%s", what);
	trigger_report(watch->triggers, &watch->listener, mask, &hit);
}

/* ---- notes in order ---- */

/* The notes of a packet are in order, so they are runs that are merged in pairs; equal ones stay as
 * they came. */
static size_t merge(const struct watch_note *from, size_t begin, size_t middle, size_t end,
		    struct watch_note *to)
{
	size_t a = begin, b = middle, out = begin;

	while (a < middle || b < end)
		to[out++] = b >= end || (a < middle && from[a].ns <= from[b].ns) ? from[a++]
										 : from[b++];
	return end;
}

static size_t run_end(const struct watch_note *note, size_t at, size_t count)
{
	if (at < count)
		at++;
	while (at < count && note[at].ns >= note[at - 1].ns)
		at++;
	return at;
}

static bool sort_notes(struct trigger_watch *watch)
{
	for (;;) {
		struct watch_note *swapped = watch->note;
		const size_t room = watch->notes_room;
		size_t at = 0;

		if (run_end(watch->note, 0, watch->notes) == watch->notes)
			return true;
		if (watch->spare_room < watch->notes_room) {
			free(watch->spare);
			watch->spare = malloc(watch->notes_room * sizeof *watch->spare);
			watch->spare_room = watch->spare ? watch->notes_room : 0;
			if (!watch->spare)
				return false;
		}
		while (at < watch->notes) {
			const size_t middle = run_end(watch->note, at, watch->notes);

			at = merge(watch->note, at, middle,
				   run_end(watch->note, middle, watch->notes), watch->spare);
		}
		watch->note = watch->spare;
		watch->notes_room = watch->spare_room;
		watch->spare = swapped;
		watch->spare_room = room;
	}
}

static void judge_notes(struct trigger_watch *watch, uint64_t ns)
{
	size_t done = 0;

	if (!sort_notes(watch))
		return;		/* without memory: the next time */
	while (done < watch->notes && watch->note[done].ns < ns)
		watch_apply(watch, &watch->note[done++]);
	watch->notes -= done;
	if (done && watch->notes)
		memmove(watch->note, watch->note + done, watch->notes * sizeof *watch->note);
}

void watch_note(struct trigger_watch *watch, const struct watch_note *note)
{
	if (watch->notes >= WATCH_NOTES_MAX)
		judge_notes(watch, UINT64_MAX);
	if (watch->notes < WATCH_NOTES_MAX &&
	    ARRAY_ROOM(watch->note, watch->notes, watch->notes_room))
		watch->note[watch->notes++] = *note;
}

void trigger_watch_until(struct triggers *triggers, uint64_t ns)
{
	struct trigger_watch *watch = triggers->watch;

	if (!watch || ns <= watch->until_ns)
		return;
	watch->until_ns = ns;
	judge_notes(watch, ns);
	watch_levels_until(watch, ns);
}

void watch_lost(struct trigger_watch *watch, uint64_t ns)
{
	watch_note(watch, &(struct watch_note){ .ns = ns, .kind = WATCH_LOST });
}

/* ---- processes and threads ---- */

int watch_join(struct trigger_process *process)
{
	struct trigger_watch *watch = process->triggers->watch;
	struct watch_process *own = calloc(1, sizeof *own);

	if (!own)
		return -1;
	*own = (struct watch_process){
		.watch = watch, .process = process, .entity = -1, .next = watch->processes,
	};
	watch->processes = own;
	process->watch = own;
	return 0;
}

void trigger_process_owner(struct trigger_process *process, const void *owner, const char *procname,
			   const char *exe, uint64_t joined_ns)
{
	struct watch_process *own = process->watch;

	if (!own)
		return;
	own->owner = owner;
	own->joined_ns = joined_ns;
	if (own->watch->on_busy)
		own->entity = watch_entity_of(own->watch, procname[0] ? procname : exe, exe,
					      basename(exe));
}

int trigger_thread(struct trigger_process *process, struct trigger_lane *lane, int tid,
		   const char *name)
{
	struct watch_process *own = process->watch;
	struct watch_thread *thread;

	if (!own)
		return 0;
	thread = calloc(1, sizeof *thread);
	if (!thread)
		return -1;
	*thread = (struct watch_thread){
		.process = own, .next = own->watch->threads, .tid = tid, .publishes = -1,
		.took = -1,
	};
	(void)snprintf(thread->name, sizeof thread->name, "%s", name);
	own->watch->threads = thread;
	lane->watch = thread;
	return 0;
}

void trigger_process_exited(struct trigger_process *process)
{
	struct watch_process *own = process->watch;
	const struct map_slot *slot;
	size_t at = 0;

	while (own && (slot = map_next(&own->ends, &at))) {
		struct watch_topic *topic =
			&own->watch->topic[((struct watch_end *)slot->value)->topic];

		if (slot->scope != KYMO_POINT_rcl_publisher_init || !topic->publishers ||
		    --topic->publishers)
			continue;
		for (unsigned i = 0; i < topic->levels.count; i++)
			own->watch->level[topic->levels.at[i]].off = true;
	}
}

static void free_threads(struct trigger_watch *watch, const struct watch_process *process)
{
	for (struct watch_thread **at = &watch->threads; *at;) {
		struct watch_thread *thread = *at;

		if (thread->process == process) {
			*at = thread->next;
			free(thread);
		} else {
			at = &thread->next;
		}
	}
}

void watch_leave(struct trigger_process *process)
{
	struct watch_process *own = process->watch, **at;
	struct trigger_watch *watch;

	if (!own)
		return;
	watch = own->watch;
	judge_notes(watch, UINT64_MAX);		/* no note may outlive its thread */
	watch->notes = 0;
	free_threads(watch, own);
	for (unsigned i = 0; i < watch->levels; i++)
		if (watch->level[i].owner == own->owner)
			watch->level[i].owner = NULL;
	for (at = &watch->processes; *at != own;)
		at = &(*at)->next;
	*at = own->next;
	map_free_all(&own->ends);
	map_free_all(&own->callbacks);
	free(own);
	process->watch = NULL;
}

/* ---- life ---- */

int triggers_watch(struct triggers *triggers, const struct trigger_listener *listener)
{
	struct trigger_watch *watch;
	bool any = false;

	for (unsigned i = 0; i < triggers->count; i++)
		any |= triggers->item[i].kind >= TRIGGER_CHAIN;
	triggers->watch = NULL;
	if (!any)
		return 0;
	watch = calloc(1, sizeof *watch);
	if (!watch)
		return -1;
	watch->triggers = triggers;
	watch->listener = *listener;
	watch->late = triggers_of(triggers, TRIGGER_LATE);
	watch->on_busy = triggers_of(triggers, TRIGGER_BUSY);
	watch->on_topics =
		triggers_of(triggers, TRIGGER_LATENCY) | triggers_of(triggers, TRIGGER_SILENT) |
		triggers_of(triggers, TRIGGER_RATE) | triggers_of(triggers, TRIGGER_LOST);
	for (unsigned i = 0; i < triggers->count; i++)
		if (triggers->item[i].kind == TRIGGER_CHAIN)
			watch->chain_condition[watch->chains++] = (uint8_t)i;
	watch->on_messages = watch->chains || triggers_of(triggers, TRIGGER_LATENCY) ||
			     triggers_of(triggers, TRIGGER_LOST);
	watch->on_callbacks = watch->late || watch->on_busy || watch->on_messages;
	triggers->watch = watch;
	return 0;
}

void triggers_watch_end(struct triggers *triggers)
{
	struct trigger_watch *watch = triggers->watch;

	if (!watch)
		return;
	for (unsigned i = 0; i < watch->topics; i++) {
		free(watch->topic[i].name);
		free(watch->topic[i].levels.at);
		free(watch->topic[i].message);
	}
	for (unsigned i = 0; i < watch->entities; i++) {
		free(watch->entity[i].name);
		free(watch->entity[i].levels.at);
	}
	map_free_all(&watch->stored);
	free(watch->topic);
	free(watch->entity);
	free(watch->level);
	free(watch->note);
	free(watch->spare);
	free(watch);
	triggers->watch = NULL;
}
