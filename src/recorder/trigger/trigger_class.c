/* SPDX-License-Identifier: Apache-2.0 */
/* What an event class means to the triggers, decided once per process and id. */
#include <stdio.h>
#include <string.h>

#include "recorder/trigger/trigger_internal.h"
#include "recorder/records/record_walk.h"
#include "base/array.h"

/* The key by which the end of a span finds its begin. */
static uint64_t key_of(const char *category, const char *name, size_t length)
{
	uint64_t key = 0xcbf29ce484222325ull;

	for (; *category; category++)
		key = (key ^ (unsigned char)*category) * 0x100000001b3ull;
	key = (key ^ ':') * 0x100000001b3ull;
	for (size_t i = 0; i < length; i++)
		key = (key ^ (unsigned char)name[i]) * 0x100000001b3ull;
	return key;
}

static bool is_uri(const struct kymo_point *point, const char *uri)
{
	return point->uri && strcmp(point->uri, uri) == 0;
}

uint32_t trigger_named(const struct triggers *triggers, enum trigger_kind kind,
		       const char *category, const char *name)
{
	const uint32_t wanted = triggers_of(triggers, kind);
	char full[2 * KYMO_DECLARED_TEXT_MAX + 2];
	uint32_t mask = 0;

	(void)snprintf(full, sizeof full, "%s:%s", category, name);
	for (unsigned i = 0; i < triggers->count; i++)
		if (wanted & 1u << i && (trigger_name_fits(&triggers->item[i], name) ||
					 trigger_name_fits(&triggers->item[i], full)))
			mask |= 1u << i;
	return mask;
}

const char *trigger_stem(const struct kymo_point *point, const char *suffix,
			 char out[KYMO_DECLARED_TEXT_MAX])
{
	size_t length = strlen(point->name), cut = strlen(suffix);

	out[0] = 0;
	if (length > cut && strcmp(point->name + length - cut, suffix) == 0)
		(void)snprintf(out, KYMO_DECLARED_TEXT_MAX, "%.*s", (int)(length - cut), point->name);
	return out;
}

int trigger_field(const struct kymo_point *point, const char *name)
{
	for (unsigned i = 0; i < point->field_count; i++)
		if (strcmp(point->field[i].name, name) == 0)
			return (int)i;
	return -1;
}

static int field_u64(const struct kymo_point *point, const char *name)
{
	int field = trigger_field(point, name);

	return field >= 0 && point->field[field].kind == KYMO_KIND_U64 ? field : -1;
}

/* The instants that kymo_loop_end() records of a late cycle. */
static uint32_t loop_triggers(const struct triggers *triggers, const struct kymo_point *point)
{
	static const struct {
		const char *suffix;
		enum trigger_kind kind;
	} said[] = { { "_overrun", TRIGGER_OVERRUN }, { "_missed", TRIGGER_MISSED } };
	char name[KYMO_DECLARED_TEXT_MAX];
	uint32_t mask = 0;

	if (!is_uri(point, "kymo:instant") || point->field_count < 1 || field_u64(point, "late_ns") != 0)
		return 0;
	for (unsigned i = 0; i < COUNT_OF(said); i++)
		if (*trigger_stem(point, said[i].suffix, name))
			mask |= trigger_named(triggers, said[i].kind, point->provider, name);
	return mask;
}

static void learn_span(struct triggers *triggers, const struct kymo_point *point,
		       struct trigger_class *class)
{
	const bool begins = is_uri(point, "kymo:begin");
	char name[KYMO_DECLARED_TEXT_MAX];

	(void)trigger_stem(point, begins ? "_begin" : "_end", name);
	class->key = key_of(point->provider, name, strlen(name));
	class->dynamic = strcmp(point->provider, "kymo") == 0 && strcmp(name, "begin") == 0;
	if (!class->dynamic)
		class->spans = trigger_named(triggers, TRIGGER_SPAN, point->provider, name);
	if (class->spans || (class->dynamic && triggers_of(triggers, TRIGGER_SPAN)))
		class->what = begins ? WHAT_BEGIN : WHAT_END;
	triggers->met |= class->spans;
}

static void learn(struct trigger_process *process, unsigned id, const struct kymo_point *point,
		  struct trigger_class *class)
{
	struct triggers *triggers = process->triggers;

	*class = (struct trigger_class){
		.what = WHAT_NOTHING, .size = (int32_t)walk_fixed(point),
		.at_field = (int8_t)field_u64(point, "at_ns"),
		.track_field = (int8_t)field_u64(point, "track"),
		.events = trigger_named(triggers, TRIGGER_EVENT, point->provider, point->name) |
			  loop_triggers(triggers, point),
	};
	class->watched = triggers->watch && watch_wants(id);
	triggers->met |= class->events;
	if (class->events)
		class->what = WHAT_EVENT;
	if (is_uri(point, "kymo:begin") || is_uri(point, "kymo:end"))
		learn_span(triggers, point, class);
	if (process->wants_callbacks && id == KYMO_POINT_callback_start)
		class->what = WHAT_CALLBACK_START;
	if (process->wants_callbacks && id == KYMO_POINT_callback_end)
		class->what = WHAT_CALLBACK_END;
}

const struct trigger_class *trigger_class(struct trigger_process *process, unsigned id)
{
	const struct kymo_point *point;
	struct trigger_class *class;

	if (id < process->class_room && process->class[id].what != WHAT_UNKNOWN)
		return &process->class[id];
	point = classes_get(process->classes, id);
	class = point && id < KYMO_POINTS_MAX ? ARRAY_AT(process->class, process->class_room, id)
					      : NULL;
	if (class)
		learn(process, id, point, class);
	return class;
}
