/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans, instants and counters of programs (include/kymo/kymo.h) become slices, instants and
 * counters; their own tracepoints become instants. A slice begins when its span begins and ends
 * when the span ends, in the order of the trace: so slices that begin at the same nanosecond nest
 * as the spans did. A slice without an end has the argument "unfinished".
 */
#include "export/perfetto/perfetto_internal.h"

#include <inttypes.h>
#include <stdio.h>

struct span_name_state {
	uint32_t name, category;	/* pft_string(); name 0: not known yet */
};

struct span_track_state {
	struct pft_track *track;
	struct span_depth spans;
};

/* ---- tracks ---- */

static struct pft_track *custom_track(struct exporter *exporter, const struct spans_track *track)
{
	struct span_track_state *state = BY_INDEX(exporter, BY_SPAN_TRACK, track->index,
						  struct span_track_state);
	struct pft_track *parent, *made;
	char number[32];

	if (!state || state->track)
		return state ? state->track : NULL;
	parent = track->parent ? custom_track(exporter, track->parent) :
				 export_process(exporter, track->process);
	snprintf(number, sizeof(number), "track %" PRIu64, track->id);
	made = pft_track(exporter->pft, parent, *track->name ? track->name : number);
	/* The array may have moved meanwhile. */
	state = BY_INDEX(exporter, BY_SPAN_TRACK, track->index, struct span_track_state);
	if (state)
		state->track = made;
	return made;
}

static struct pft_track *track_of(struct exporter *exporter, const struct spans_event *event)
{
	const struct perfetto_thread *thread;

	if (event->track)
		return custom_track(exporter, event->track);
	thread = export_thread(exporter, event->thread);
	return thread ? thread->track : NULL;
}

/* NULL: out of memory. */
static struct span_depth *depth_of(struct exporter *exporter, const struct spans_event *event)
{
	struct span_track_state *state;
	struct perfetto_thread *thread;

	if (event->track) {
		state = BY_INDEX(exporter, BY_SPAN_TRACK, event->track->index,
				 struct span_track_state);
		return state ? &state->spans : NULL;
	}
	thread = export_thread(exporter, event->thread);
	return thread ? &thread->spans : NULL;
}

/* @unit: what the look lends, for as long as it is used. */
static struct pft_look counter_look(const char *name, struct spans_unit *unit)
{
	struct pft_look look = { .name = name, .counter = true };

	if (!spans_unit(unit, name))
		return look;
	if (unit->ns == 1)
		look.unit = PFT_UNIT_NS;
	else if (strcmp(unit->name, "bytes") == 0)
		look.unit = PFT_UNIT_BYTES;
	else
		look.unit_name = unit->name;
	return look;
}

static struct pft_track *counter_track(struct exporter *exporter, const struct spans_event *event)
{
	const struct model_process *process = event->thread->process;
	uint64_t key = (uint64_t)event->name->index << 32 | process->index;
	uint64_t scope = event->track ? (uint64_t)event->track->index + 1 : 0;
	struct pft_track *track = map_get(&exporter->counters, key, scope), *parent;
	struct spans_unit unit;
	struct pft_look look;

	if (track)
		return track;
	parent = event->track ? custom_track(exporter, event->track)
			      : export_process(exporter, process);
	look = counter_look(event->name->name, &unit);
	track = pft_track_like(exporter->pft, parent, &look);
	if (track && map_put(&exporter->counters, key, scope, track))
		exporter->out_of_memory = true;
	return track;
}

/* ---- events ---- */

uint64_t export_mix(const struct exporter *exporter, uint64_t flow)
{
	uint64_t x = flow + pft_identity(exporter->pft);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	x = (x ^ x >> 31) & INT64_MAX;
	return x ? x : 1;
}

static void put_arg(struct exporter *exporter, struct pft_arg *arg, const struct spans_arg *from)
{
	static const enum pft_arg_kind kind[] = {
		[SPANS_UNSIGNED] = PFT_UINT, [SPANS_SIGNED] = PFT_INT, [SPANS_DOUBLE] = PFT_DOUBLE,
		[SPANS_POINTER] = PFT_POINTER, [SPANS_TEXT] = PFT_TEXT,
	};

	*arg = (struct pft_arg){ .name = pft_string(exporter->pft, from->name),
				 .kind = kind[from->kind] };
	if (from->kind == SPANS_TEXT)
		arg->text = pft_string(exporter->pft, from->text);
	else if (from->kind == SPANS_DOUBLE)
		arg->f = from->f;
	else
		arg->u = from->u;
}

struct described {
	struct pft_event event;
	struct pft_arg arg[SPANS_ARGS_MAX + 1];
	uint64_t flow;
};

/* Fills @to with what every kind of event carries. */
static void describe(struct exporter *exporter, const struct spans_event *event,
		     struct described *to)
{
	to->event =
		(struct pft_event){ .arg = to->arg, .flow = &to->flow, .flows = event->flow != 0 };
	to->flow = export_mix(exporter, event->flow);
	for (unsigned i = 0; i < event->args; i++)
		put_arg(exporter, &to->arg[to->event.args++], &event->arg[i]);
}

static void name(struct exporter *exporter, const struct spans_event *event, struct pft_event *to)
{
	struct span_name_state *state = BY_INDEX(exporter, BY_SPAN_NAME, event->name->index,
						 struct span_name_state);

	if (!state)
		return;
	if (!state->name) {
		state->name = pft_string(exporter->pft, event->name->name);
		state->category = pft_string(exporter->pft, event->name->category);
	}
	to->name = state->name;
	to->category = state->category;
}

/* Spans have no node and no topic, but a process. */
static bool is_of(const struct exporter *exporter, const struct spans_event *event)
{
	const struct model_process *process = event->thread ? event->thread->process : NULL;

	return !process ||
	       selection_process(exporter->options->selection, process->name, process->pid);
}

static void on_begin(void *context, const struct spans_event *event)
{
	struct exporter *exporter = context;
	struct span_depth *depth = depth_of(exporter, event);
	struct described to;

	if (!depth || !is_of(exporter, event) || event->ns < exporter->options->begin_ns)
		return;
	if (event->ns > exporter->options->end_ns) {
		depth->late++;
		return;
	}
	depth->shown++;
	describe(exporter, event, &to);
	name(exporter, event, &to.event);
	exporter->result->spans++;
	pft_begin(track_of(exporter, event), export_time(exporter, event->ns), &to.event);
}

static void on_end(void *context, const struct spans_event *event)
{
	struct exporter *exporter = context;
	struct span_depth *depth = depth_of(exporter, event);
	struct described to;

	if (!depth || !is_of(exporter, event) || depth->late || !depth->shown) {
		if (depth && depth->late)
			depth->late--;
		return;
	}
	depth->shown--;
	describe(exporter, event, &to);
	if (event->unfinished) {
		to.arg[to.event.args++] =
			(struct pft_arg){exporter->words.unfinished, PFT_BOOL, {.u = 1}};
		exporter->result->unfinished_spans++;
	}
	pft_end_with(track_of(exporter, event), export_time(exporter, event->ns), &to.event);
}

static void on_instant(void *context, const struct spans_event *event)
{
	struct exporter *exporter = context;
	struct described to;

	if (!export_in_window(exporter, event->ns) || !is_of(exporter, event))
		return;
	describe(exporter, event, &to);
	name(exporter, event, &to.event);
	exporter->result->instants++;
	pft_instant(track_of(exporter, event), export_time(exporter, event->ns), &to.event);
}

static void on_counter(void *context, const struct spans_event *event)
{
	struct exporter *exporter = context;
	int64_t ns = export_time(exporter, event->ns);
	struct pft_track *track;

	if (!export_in_window(exporter, event->ns) || !is_of(exporter, event))
		return;
	track = counter_track(exporter, event);
	exporter->result->counters++;
	if (event->value.kind == SPANS_DOUBLE)
		pft_counter_f64(track, ns, event->value.f);
	else if (event->value.kind != SPANS_SIGNED && event->value.u > INT64_MAX)
		pft_counter_f64(track, ns, (double)event->value.u);
	else
		pft_counter_i64(track, ns, event->value.i);
}

static void on_thread_name(void *context, const struct model_thread *thread)
{
	struct exporter *exporter = context;
	const struct perfetto_thread *state = BY_INDEX(exporter, BY_THREAD, thread->index,
						    struct perfetto_thread);

	if (state)
		/* NULL: the track will be created with this name */
		pft_thread_name(state->track, thread->name);
}

const struct spans_listener export_span_listener = {
	.begin = on_begin,
	.end = on_end,
	.instant = on_instant,
	.point = on_instant,
	.counter = on_counter,
	.thread_name = on_thread_name,
};
