/* SPDX-License-Identifier: Apache-2.0 */
/* Events become slices, instants, counters and tracks. What an event means is in its class. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "recorder/perfetto/perfetto_internal.h"

#define ARGS_MAX 16

/* What the fields of an event say. */
struct meant {
	const char *category, *name;
	char text[300]; /* the name, if it is part of another */
	int64_t ns;
	uint64_t flow, track;
	bool has_flow, has_value;
	struct kymo_sink_value value;
	struct pft_arg arg[ARGS_MAX];
	unsigned args;
};

static struct pft_track *track_get(struct perfetto_file *file, enum perfetto_key kind, int pid,
				   uint64_t number)
{
	return map_get(&file->tracks, number, (uint64_t)kind << 32 | (uint32_t)pid);
}

static struct pft_track *track_put(struct perfetto_file *file, enum perfetto_key kind, int pid,
				   uint64_t number, struct pft_track *track)
{
	if (track)
		(void)map_put(&file->tracks, number, (uint64_t)kind << 32 | (uint32_t)pid, track);
	return track;
}

static struct pft_track *process_of(struct perfetto_file *file,
				    const struct kymo_sink_packet *packet)
{
	struct pft_track *track = track_get(file, PERFETTO_PROCESS, packet->pid, 0);

	return track ? track
		     : track_put(file, PERFETTO_PROCESS, packet->pid, 0,
				 pft_process(file->pft, 0, packet->pid, packet->process));
}

static struct pft_track *thread_of(struct perfetto_file *file,
				   const struct kymo_sink_packet *packet, int tid)
{
	struct pft_track *track = track_get(file, PERFETTO_THREAD, packet->pid, (uint32_t)tid);
	const bool named = packet->tid == tid && *packet->thread;

	return track ? track
		     : track_put(file, PERFETTO_THREAD, packet->pid, (uint32_t)tid,
				 pft_thread(file->pft, process_of(file, packet), tid,
					    named ? packet->thread : packet->process));
}

/* ---- what an event says ---- */

static void put_arg(struct perfetto_file *file, struct meant *meant, const char *name,
		    const struct kymo_sink_value *value)
{
	struct pft_arg *arg = &meant->arg[meant->args];

	if (meant->args == ARGS_MAX || value->kind == KYMO_SINK_BYTES)
		return;
	*arg = (struct pft_arg){ .name = pft_string(file->pft, name) };
	switch (value->kind) {
	case KYMO_SINK_TEXT:
		arg->kind = PFT_TEXT;
		arg->text = pft_string(file->pft, value->text);
		break;
	case KYMO_SINK_FLOAT:
		arg->kind = PFT_DOUBLE;
		arg->f = value->real;
		break;
	case KYMO_SINK_SIGNED:
		arg->kind = PFT_INT;
		arg->i = value->integer;
		break;
	default:
		arg->kind = PFT_UINT;
		arg->u = value->number;
	}
	meant->args++;
}

/* Whether the field has a meaning of its own, instead of being shown. */
static bool is_special(struct meant *meant, const char *name, const struct kymo_sink_value *value,
		       bool counter, bool dynamic)
{
	if (!strcmp(name, "flow")) {
		meant->flow = value->number;
		meant->has_flow = true;
		return false; /* it is also shown */
	}
	if (!strcmp(name, "track"))
		return meant->track = value->number, true;
	if (!strcmp(name, "at_ns"))
		return meant->ns = value->integer, true;
	if (counter && !strcmp(name, "value"))
		return meant->value = *value, meant->has_value = true;
	if (dynamic && value->kind == KYMO_SINK_TEXT && !strcmp(name, "category"))
		return meant->category = value->text, true;
	if (dynamic && value->kind == KYMO_SINK_TEXT && !strcmp(name, "name"))
		return meant->name = value->text, true;
	return false;
}

/* The name of a class without what tells begin and end apart. */
static void set_name(struct meant *meant, const struct kymo_sink_class *declared,
		     const char *suffix)
{
	const size_t size = strlen(declared->name), end = strlen(suffix);
	const bool ends = size > end && !strcmp(declared->name + size - end, suffix);

	(void)snprintf(meant->text, sizeof(meant->text), "%.*s", (int)(ends ? size - end : size),
		       declared->name);
	meant->name = meant->text;
	meant->category = declared->provider;
}

static void read_event(struct perfetto_file *file, const struct kymo_sink_event *event,
		       const char *suffix, bool counter, struct meant *meant)
{
	const struct kymo_sink_class *declared = event->declared;
	const bool dynamic = !strcmp(declared->provider, "kymo"), own = *declared->meaning;
	struct kymo_sink_value value;

	meant->ns = (int64_t)event->ns;
	meant->track = meant->flow = 0;
	meant->has_flow = meant->has_value = false;
	meant->args = 0;
	set_name(meant, declared, suffix);
	for (unsigned i = 0; kymo_sink_get(event, i, &value); i++)
		if (!own || !is_special(meant, declared->field[i].name, &value, counter, dynamic))
			put_arg(file, meant, declared->field[i].name, &value);
}

/* ---- what becomes of it ---- */

static struct pft_track *counter_of(struct perfetto_file *file,
				    const struct kymo_sink_packet *packet,
				    const struct meant *meant, struct pft_track *custom)
{
	const uint64_t number = (uint64_t)pft_string(file->pft, meant->name) << 32 ^ meant->track;
	struct pft_track *track = track_get(file, PERFETTO_COUNTER, packet->pid, number);
	const struct pft_look look = { .name = meant->name, .counter = true };

	return track ? track
		     : track_put(file, PERFETTO_COUNTER, packet->pid, number,
				 pft_track_like(file->pft,
						custom ? custom : process_of(file, packet), &look));
}

static void write_counter(struct pft_track *track, const struct meant *meant)
{
	switch (meant->value.kind) {
	case KYMO_SINK_FLOAT:
		pft_counter_f64(track, meant->ns, meant->value.real);
		break;
	case KYMO_SINK_SIGNED:
		pft_counter_i64(track, meant->ns, meant->value.integer);
		break;
	case KYMO_SINK_UNSIGNED:
		if (meant->value.number <= INT64_MAX)
			pft_counter_i64(track, meant->ns, (int64_t)meant->value.number);
		else
			pft_counter_f64(track, meant->ns, (double)meant->value.number);
		break;
	default:
		break;
	}
}

static bool is(const struct kymo_sink_event *event, const char *meaning, const char *name)
{
	const struct kymo_sink_class *declared = event->declared;

	return *declared->meaning
		       ? !strcmp(declared->meaning, meaning)
		       : !strcmp(declared->provider, "ros2") && !strcmp(declared->name, name);
}

static void write_event(struct perfetto_file *file, const struct kymo_sink_packet *packet,
			const struct kymo_sink_event *event)
{
	const bool begins = is(event, "kymo:begin", "callback_start"),
		   ends = is(event, "kymo:end", "callback_end");
	const bool counts = is(event, "kymo:counter", "");
	struct pft_track *track, *custom;
	struct meant meant;
	struct pft_event to;

	read_event(file, event,
		   !*event->declared->meaning ? begins ? "_start" : ""
		   : begins                   ? "_begin"
		   : ends                     ? "_end"
					      : "",
		   counts, &meant);
	custom = meant.track ? track_get(file, PERFETTO_TRACK, packet->pid, meant.track) : NULL;
	track = custom ? custom : thread_of(file, packet, event->tid);
	to = (struct pft_event){
		.name = pft_string(file->pft, meant.name),
		.category = pft_string(file->pft, meant.category),
		.arg = meant.arg,
		.args = meant.args,
		.flow = &meant.flow,
		.flows = meant.has_flow,
	};
	if (begins)
		pft_begin(track, meant.ns, &to);
	else if (ends)
		pft_end_with(track, meant.ns,
			     &(struct pft_event){ .arg = to.arg,
						  .args = to.args,
						  .flow = to.flow,
						  .flows = to.flows });
	else if (counts && meant.has_value)
		write_counter(counter_of(file, packet, &meant, custom), &meant);
	else
		pft_instant(track, meant.ns, &to);
}

/* Names of threads and tracks; other facts are about objects that other events name. */
static void write_fact(struct perfetto_file *file, const struct kymo_sink_packet *packet,
		       const struct kymo_sink_event *event)
{
	const struct kymo_sink_class *declared = event->declared;
	struct kymo_sink_value id, parent, name;
	struct pft_track *above;

	if (strcmp(declared->provider, "kymo") != 0)
		return;
	if (!strcmp(declared->name, "thread_name") && kymo_sink_get(event, 0, &name) &&
	    name.kind == KYMO_SINK_TEXT) {
		pft_thread_name(thread_of(file, packet, event->tid), name.text);
	} else if (!strcmp(declared->name, "track") && kymo_sink_get(event, 0, &id) &&
		   kymo_sink_get(event, 1, &parent) && kymo_sink_get(event, 2, &name) &&
		   name.kind == KYMO_SINK_TEXT &&
		   !track_get(file, PERFETTO_TRACK, packet->pid, id.number)) {
		above = track_get(file, PERFETTO_TRACK, packet->pid, parent.number);
		(void)track_put(
			file, PERFETTO_TRACK, packet->pid, id.number,
			pft_track(file->pft, above ? above : process_of(file, packet), name.text));
	}
}

void perfetto_packet(struct perfetto_file *file, const struct kymo_sink_packet *packet)
{
	struct kymo_sink_event event = { 0 };

	if (packet->lost && packet->tid)
		pft_loss(thread_of(file, packet, packet->tid), (int64_t)packet->begin_ns,
			 (int64_t)packet->begin_ns, packet->lost, 0);
	while (kymo_sink_next(packet, &event))
		if (packet->is_facts)
			write_fact(file, packet, &event);
		else
			write_event(file, packet, &event);
}
