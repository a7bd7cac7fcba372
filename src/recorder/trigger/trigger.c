/* SPDX-License-Identifier: Apache-2.0 */
/* Checks records against the triggers. A record that no trigger needs costs a table look-up. */
#include "recorder/trigger/trigger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/trigger/trigger_internal.h"
#include "recorder/records/record_walk.h"

/* So that the key of a callback differs from that of a span. */
#define KEY_CALLBACK 0x43616c6c6261636bull

/* ---- one record ---- */

struct trigger_record {
	const struct kymo_point *point;
	const struct trigger_class *class;
	const uint8_t *payload;
	size_t size;
	uint64_t ns;
};

static const uint8_t *field_at(const struct trigger_record *record, unsigned wanted)
{
	size_t used = 0;

	for (unsigned i = 0; i < wanted; i++)	/* the record was walked before: this cannot fail */
		used += (size_t)walk_field(record->point->field[i].kind, record->payload + used,
					   record->size - used);
	return record->payload + used;
}

static uint64_t number_at(const struct trigger_record *record, int field)
{
	uint64_t value = 0;

	if (field >= 0)
		memcpy(&value, field_at(record, (unsigned)field), sizeof value);
	return value;
}

static const char *text_at(const struct trigger_record *record, const char *name)
{
	int field = trigger_field(record->point, name);

	return field >= 0 && record->point->field[field].kind == KYMO_KIND_STR ?
	       (const char *)field_at(record, (unsigned)field) : "";
}

static void on_event(const struct trigger_process *process, const struct trigger_record *record,
		     const struct trigger_listener *listener)
{
	struct trigger_hit hit = { .at_ns = record->ns };
	const uint32_t late = triggers_of(process->triggers, TRIGGER_OVERRUN) |
			      triggers_of(process->triggers, TRIGGER_MISSED);

	(void)snprintf(hit.what, sizeof hit.what, "%s:%s", record->point->provider, record->point->name);
	trigger_report(process->triggers, listener, record->class->events & ~late, &hit);
	if (record->class->events & late) {
		hit.value = number_at(record, 0);
		trigger_report(process->triggers, listener, record->class->events & late, &hit);
	}
}

/* Where a span is open: on its thread, or on its custom track. Return: NULL: there are too many
 * tracks. */
static struct trigger_lane *lane_of(struct trigger_process *process, struct trigger_lane *lane,
				    const struct trigger_record *record)
{
	uint64_t track = number_at(record, record->class->track_field);
	struct trigger_lane *found;

	if (!track)
		return lane;
	found = map_get(&process->tracks, track, 0);
	if (found || process->tracks.count >= TRACKS_MAX)
		return found;
	found = calloc(1, sizeof *found);
	if (found && map_put(&process->tracks, track, 0, found) < 0) {
		free(found);
		found = NULL;
	}
	return found;
}

static void on_begin(struct trigger_process *process, struct trigger_lane *lane,
		     const struct trigger_record *record)
{
	struct trigger_open open = { .key = record->class->key, .begin_ns = record->ns,
				     .mask = record->class->spans };

	if (record->class->dynamic) {
		const char *category = text_at(record, "category"), *name = text_at(record, "name");

		open.mask = trigger_named(process->triggers, TRIGGER_SPAN, category, name);
		process->triggers->met |= open.mask;
		if (open.mask && asprintf(&open.name, "%.100s:%.150s", category, name) < 0)
			open.name = NULL;
	}
	lane = lane_of(process, lane, record);
	if (lane)
		trigger_lane_push(lane, &open);
	else
		free(open.name);
}

uint32_t trigger_exceeded(const struct triggers *triggers, uint32_t mask, uint64_t took)
{
	for (unsigned i = 0; i < triggers->count; i++)
		if (mask & 1u << i && took <= triggers->item[i].over_ns)
			mask &= ~(1u << i);
	return mask;
}

static void on_end(struct trigger_process *process, struct trigger_lane *lane,
		   const struct trigger_record *record, const struct trigger_listener *listener)
{
	struct trigger_hit hit = { .at_ns = record->ns };
	struct trigger_open *open;
	char name[KYMO_DECLARED_TEXT_MAX];
	uint32_t mask;

	lane = lane_of(process, lane, record);
	open = lane ? trigger_lane_find(lane, record->class->key) : NULL;
	if (!open)
		return;
	hit.value = record->ns > open->begin_ns ? record->ns - open->begin_ns : 0;
	mask = trigger_exceeded(process->triggers, open->mask, hit.value);
	if (mask && open->name)
		(void)snprintf(hit.what, sizeof hit.what, "%s", open->name);
	else if (mask)
		(void)snprintf(hit.what, sizeof hit.what, "%s:%s", record->point->provider,
			       trigger_stem(record->point, "_end", name));
	trigger_lane_cut(lane, lane->count - 1);
	trigger_report(process->triggers, listener, mask, &hit);
}

static void on_callback(struct trigger_process *process, struct trigger_lane *lane,
			const struct trigger_record *record,
			const struct trigger_listener *listener)
{
	const uint64_t callback = number_at(record, 0), key = callback ^ KEY_CALLBACK;
	struct trigger_hit hit = { .at_ns = record->ns };
	struct trigger_open *open;
	uint32_t mask;

	if (record->class->what == WHAT_CALLBACK_START) {
		mask = facts_callback(process, callback);
		if (mask)
			trigger_lane_push(lane, &(struct trigger_open){ .key = key,
									.begin_ns = record->ns,
									.mask = mask });
		return;
	}
	open = trigger_lane_find(lane, key);
	if (!open)
		return;
	hit.value = record->ns > open->begin_ns ? record->ns - open->begin_ns : 0;
	mask = trigger_exceeded(process->triggers, open->mask, hit.value);
	trigger_lane_cut(lane, lane->count - 1);
	if (mask)
		facts_symbol(process, callback, hit.what);
	trigger_report(process->triggers, listener, mask, &hit);
}

static void judge_record(struct trigger_process *process, struct trigger_lane *lane, unsigned id,
		 struct trigger_record *record, const struct trigger_listener *listener)
{
	record->point = classes_get(process->classes, id);
	if (record->class->at_field >= 0)
		record->ns = number_at(record, record->class->at_field);
	if (record->class->watched && lane->watch)
		watch_record(process, lane->watch, id, record->payload, record->ns);
	if (record->class->events)
		on_event(process, record, listener);
	switch (record->class->what) {
	case WHAT_BEGIN:
		on_begin(process, lane, record);
		break;
	case WHAT_END:
		on_end(process, lane, record, listener);
		break;
	case WHAT_CALLBACK_START:
	case WHAT_CALLBACK_END:
		on_callback(process, lane, record, listener);
		break;
	default:
		break;
	}
}

uint32_t trigger_records(struct trigger_process *process, struct trigger_lane *lane,
			 const uint8_t *bytes, size_t size, const struct trigger_listener *listener)
{
	uint32_t count = 0;

	while (size >= KYMO_RECORD_HEADER) {
		struct trigger_record record = { .payload = bytes + KYMO_RECORD_HEADER };
		uint16_t id;
		long length;

		memcpy(&id, bytes, sizeof id);
		memcpy(&record.ns, bytes + sizeof id, sizeof record.ns);
		size -= KYMO_RECORD_HEADER;
		record.class = trigger_class(process, id);
		if (!record.class)
			return count;
		length = record.class->size;
		if (length < 0)
			length = walk_payload(process->classes, id, record.payload, size);
		if (length < 0 || (size_t)length > size)
			return count;
		record.size = (size_t)length;
		if (record.class->what != WHAT_NOTHING || record.class->watched)
			judge_record(process, lane, id, &record, listener);
		bytes = record.payload + length;
		size -= (size_t)length;
		count++;
	}
	return count;
}

/* ---- events that are not records ---- */

void trigger_fact_event(struct trigger_process *process, unsigned id, uint64_t ns,
			const struct trigger_listener *listener)
{
	const struct trigger_class *class = trigger_class(process, id);
	const uint32_t mask =
		class ? class->events & triggers_of(process->triggers, TRIGGER_EVENT) : 0;
	const struct kymo_point *point = classes_get(process->classes, id);
	struct trigger_hit hit = { .at_ns = ns };

	if (!mask)
		return;
	(void)snprintf(hit.what, sizeof hit.what, "%s:%s", point->provider, point->name);
	trigger_report(process->triggers, listener, mask, &hit);
}

void trigger_loss(struct triggers *triggers, uint64_t events, uint64_t ns,
		  const struct trigger_listener *listener)
{
	struct trigger_hit hit = { .at_ns = ns, .value = events, .what = "events dropped" };
	const uint32_t mask = triggers_of(triggers, TRIGGER_LOSS);

	if (triggers->watch)
		watch_lost(triggers->watch, ns);
	triggers->met |= mask;
	trigger_report(triggers, listener, mask, &hit);
}

void trigger_died(struct triggers *triggers, const char *procname, const char *exe, uint64_t ns,
		  const struct trigger_listener *listener)
{
	struct trigger_hit hit = { .at_ns = ns };
	uint32_t mask = 0;

	for (unsigned i = 0; i < triggers->count; i++) {
		const struct trigger *trigger = &triggers->item[i];

		if (trigger->kind == TRIGGER_DIED &&
		    (trigger_name_fits(trigger, procname) || trigger_name_fits(trigger, exe) ||
		     trigger_name_fits(trigger, basename(exe))))
			mask |= 1u << i;
	}
	triggers->met |= mask;
	(void)snprintf(hit.what, sizeof hit.what, "%s", procname[0] ? procname : exe);
	trigger_report(triggers, listener, mask, &hit);
}

/* ---- life ---- */

struct trigger_process *trigger_process_new(struct triggers *triggers,
					    const struct classes *classes)
{
	struct trigger_process *process = calloc(1, sizeof *process);

	if (!process)
		return NULL;
	process->triggers = triggers;
	process->classes = classes;
	process->wants_callbacks = triggers_of(triggers, TRIGGER_CALLBACK) != 0;
	process->wants_facts = process->wants_callbacks || triggers->watch;
	if (triggers->watch && watch_join(process) < 0) {
		free(process);
		return NULL;
	}
	return process;
}

void trigger_process_free(struct trigger_process *process)
{
	const struct map_slot *slot;
	size_t at = 0;

	if (!process)
		return;
	watch_leave(process);
	while ((slot = map_next(&process->tracks, &at))) {
		trigger_lane_free(slot->value);
		free(slot->value);
	}
	map_free(&process->tracks);
	facts_free(process);
	free(process->class);
	free(process);
}
