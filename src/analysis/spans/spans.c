/* SPDX-License-Identifier: Apache-2.0 */
/* Passes the events of programs to the listeners: threads and tracks, callbacks and losses. */
#include "analysis/spans/spans_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- threads and tracks ---- */

static struct user_thread *thread_at(struct spans *spans, const struct kymo_ctf_event *event)
{
	const struct model_thread *thread = model_event_thread(spans->model, event);
	struct user_thread **slot =
		thread ? ARRAY_AT(spans->thread, spans->thread_count, thread->index) : NULL;

	if (slot && !*slot) {
		*slot = pool_new(&spans->pool, sizeof(**slot));
		if (*slot)
			(*slot)->thread = thread;
	}
	return slot ? *slot : NULL;
}

static struct user_track *track_new(struct spans *spans, const struct model_process *process,
				    uint64_t id)
{
	struct user_track *track = pool_new(&spans->pool, sizeof(*track));

	if (!ARRAY_ROOM(spans->track, spans->track_count, spans->track_room))
		return NULL;
	if (!track || map_put(&spans->tracks, id, process->host, track))
		return NULL;
	track->pub = (struct spans_track){
		.index = spans->track_count, .id = id, .process = process, .name = ""
	};
	spans->track[spans->track_count++] = track;
	return track;
}

/* The id of a track is unique on its host, in all processes. */
static struct user_track *track_of(struct spans *spans, const struct user_thread *thread,
				   uint64_t id)
{
	const struct model_process *process = thread->thread->process;
	struct user_track *track = map_get(&spans->tracks, id, process->host);

	if (!track)
		track = track_new(spans, process, id);
	if (!track)
		spans->out_of_memory = true;
	return track;
}

/* ---- reading an event ---- */

static const struct kymo_ctf_value *special(const struct user_class *class,
					    const struct kymo_ctf_event *event, enum special what)
{
	int at = class->special[what];

	return at >= 0 && event->value[at].present ? &event->value[at] : NULL;
}

static const char *text_of(const struct kymo_ctf_value *value)
{
	return value && value->bytes ? value->bytes : "";
}

static void read_value(struct spans_arg *arg, enum spans_kind kind,
		       const struct kymo_ctf_value *value)
{
	arg->kind = kind;
	arg->u = value->u;	/* the widest member; f has the same width */
	if (kind == SPANS_DOUBLE)
		arg->f = value->f;
	else if (kind == SPANS_TEXT)
		arg->text = text_of(value);
}

/* `at_ns` is a time of the trace's clock. Invalid times are ignored. */
static int64_t time_of(const struct spans *spans, const struct user_class *class,
		       const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *at = special(class, event, SPECIAL_AT);

	if (!at || !at->u || at->u > MODEL_TIME_MAX)
		return event->ns;
	return model_epoch(spans->model, event->trace, at->u, event->ns);
}

static void read_event(struct spans *spans, const struct user_class *class,
		       const struct kymo_ctf_event *event, struct spans_event *user,
		       struct spans_arg arg[SPANS_ARGS_MAX])
{
	const struct kymo_ctf_value *flow = special(class, event, SPECIAL_FLOW);

	user->ns = time_of(spans, class, event);
	user->flow = flow ? flow->u : 0;
	user->arg = arg;
	for (unsigned i = 0; i < class->args; i++) {
		const struct kymo_ctf_value *value = &event->value[class->arg[i].value];

		if (!value->present)
			continue;
		arg[user->args].name = class->arg[i].name;
		read_value(&arg[user->args++], class->arg[i].kind, value);
	}
	user->name = class->name;
	if (class->dynamic && class->shape != SHAPE_END)
		user->name = spans_name_of(spans, text_of(special(class, event, SPECIAL_CATEGORY)),
					   text_of(special(class, event, SPECIAL_NAME)));
}

/* ---- declarations: tracks, names, real-time ---- */

/* The parent must be known before its children, so tracks cannot form a circle. */
static void learn_track(struct spans *spans, const struct user_class *class,
			struct user_thread *thread, const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *id = special(class, event, SPECIAL_TRACK);
	const struct kymo_ctf_value *parent = special(class, event, SPECIAL_PARENT);
	const char *name = text_of(special(class, event, SPECIAL_NAME));
	uint32_t host = thread->thread->process->host;
	struct user_track *track, *above;

	if (!id || !id->u || map_get(&spans->tracks, id->u, host))
		return;
	above = parent && parent->u ? map_get(&spans->tracks, parent->u, host) : NULL;
	if (above && above->depth >= SPANS_TRACK_DEPTH_MAX)
		above = NULL;
	track = track_of(spans, thread, id->u);
	if (!track)
		return;
	track->pub.parent = above ? &above->pub : NULL;
	track->depth = above ? above->depth + 1 : 0;
	track->pub.name = pool_text(&spans->pool, name, strnlen(name, 512));
	spans->out_of_memory |= !track->pub.name;
}

static void learn_thread_name(struct spans *spans, const struct user_class *class,
			      const struct user_thread *user, const struct kymo_ctf_event *event)
{
	const char *name = text_of(special(class, event, SPECIAL_NAME));

	if (!*name)
		return;
	if (model_thread_rename(spans->model, user->thread, name, strnlen(name, 512)))
		spans->out_of_memory = true;
	SPANS_EMIT(spans, thread_name, user->thread);
}

static void learn_realtime(struct spans *spans, const struct user_class *class,
			   const struct user_thread *user, const struct kymo_ctf_event *event)
{
	const char *name = text_of(special(class, event, SPECIAL_NAME));
	const struct model_process *process = user->thread->process;
	const char *kept;

	for (unsigned i = 0; i < spans->realtimes; i++)
		if (spans->realtime[i].process == process &&
		    strcmp(spans->realtime[i].name, name) == 0)
			return;
	if (!*name || spans->realtimes == SPANS_REALTIME_MAX)
		return;
	kept = pool_text(&spans->pool, name, strnlen(name, 512));
	if (kept && ARRAY_ROOM(spans->realtime, spans->realtimes, spans->realtime_room))
		spans->realtime[spans->realtimes++] = (struct spans_realtime){ process, kept };
	else
		spans->out_of_memory = true;
}

/* ---- one event ---- */

static void give(struct spans *spans, const struct user_class *class, struct user_thread *thread,
		 const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *track_id = special(class, event, SPECIAL_TRACK);
	struct spans_arg arg[SPANS_ARGS_MAX];
	struct spans_event user = { .thread = thread->thread };
	struct user_track *track = NULL;

	read_event(spans, class, event, &user, arg);
	if (track_id && track_id->u)
		track = track_of(spans, thread, track_id->u);
	if (spans->out_of_memory)
		return;
	user.track = track ? &track->pub : NULL;
	if (class->shape == SHAPE_POINT) {
		spans->facts.points++;
		SPANS_EMIT(spans, point, &user);
		return;
	}
	spans->facts.events++;
	switch (class->shape) {
	case SHAPE_BEGIN:
		spans_begin(spans, thread, track, &user, class->dynamic);
		break;
	case SHAPE_END:
		spans_end(spans, thread, track, &user, class->dynamic);
		break;
	case SHAPE_INSTANT:
		spans->facts.instants++;
		SPANS_EMIT(spans, instant, &user);
		break;
	default:
		if (!special(class, event, SPECIAL_VALUE))
			break;
		read_value(&user.value, class->value_kind, special(class, event, SPECIAL_VALUE));
		spans->facts.counters++;
		SPANS_EMIT(spans, counter, &user);
		break;
	}
}

/* The begin of a loss in the stream; never later than @event. */
static int64_t loss_begin(const struct spans *spans, const struct kymo_ctf_event *event)
{
	int64_t ns = model_epoch(spans->model, event->trace, event->loss_begin_ns, event->ns);

	return ns > event->ns ? event->ns : ns;
}

static void take_loss(struct spans *spans, const struct kymo_ctf_event *event)
{
	int64_t ns = loss_begin(spans, event);

	for (unsigned i = 0; i < spans->thread_count; i++) {
		struct user_thread *thread = spans->thread[i];

		if (thread && thread->stream == event->stream)
			spans_close_all(spans, thread, ns > thread->last_ns ? ns : thread->last_ns);
	}
}

int spans_event(struct spans *spans, const struct kymo_ctf_event *event)
{
	const struct user_class *class;
	struct user_thread *thread;

	if (event->bound == KYMO_CTF_LOSS) {
		take_loss(spans, event);
		return spans->out_of_memory ? -ENOMEM : 0;
	}
	if (!event->class || event->ns < 0 || event->ns > MODEL_TIME_MAX)
		return 0;
	class = spans_class_of(spans, event);
	if (spans->out_of_memory)
		return -ENOMEM;
	if (!class || event->bound != (int)class->row)
		return 0;
	thread = thread_at(spans, event);
	if (!thread)
		return spans->out_of_memory || !model_event_is_left(spans->model) ? -ENOMEM : 0;
	if (class->shape == SHAPE_TRACK) {
		learn_track(spans, class, thread, event);
	} else if (class->shape == SHAPE_THREAD_NAME) {
		learn_thread_name(spans, class, thread, event);
	} else if (class->shape == SHAPE_REALTIME) {
		learn_realtime(spans, class, thread, event);
	} else {
		thread->stream = event->stream;	/* except for the init log's stream */
		thread->last_ns = event->ns;
		give(spans, class, thread, event);
	}
	return spans->out_of_memory ? -ENOMEM : 0;
}

void spans_finish(struct spans *spans)
{
	for (unsigned i = 0; i < spans->thread_count; i++)
		if (spans->thread[i])
			spans_close_all(spans, spans->thread[i], spans->thread[i]->last_ns);
}

/* ---- callbacks: spans that began in a callback end with it ---- */

static void on_instance(void *context, const struct model_instance *instance)
{
	struct spans *spans = context;
	uint32_t index = instance->thread->index;

	if (index < spans->thread_count && spans->thread[index])
		spans_close_since(spans, spans->thread[index], instance->start_ns,
				  instance->start_ns + instance->duration_ns);
}

static const struct model_listener model_listener = { .instance = on_instance };

/* ---- life cycle ---- */

int spans_create(struct spans **result, struct model *model, struct kymo_err *err)
{
	struct spans *spans = calloc(1, sizeof(*spans));

	if (!spans)
		return err_no_memory(err);
	spans->model = model;
	if (model_listen(model, &model_listener, spans, err)) {
		free(spans);
		return -1;
	}
	*result = spans;
	return 0;
}

void spans_destroy(struct spans *spans)
{
	if (!spans)
		return;
	for (unsigned i = 0; i < spans->thread_count; i++)
		if (spans->thread[i]) {
			free(spans->thread[i]->stack.open);
			free(spans->thread[i]->away);
		}
	for (uint32_t i = 0; i < spans->track_count; i++)
		free(spans->track[i]->stack.open);
	free(spans->realtime);
	free(spans->thread);
	free(spans->track);
	free(spans->class);
	free(spans->bind);
	map_free(&spans->rows);
	map_free(&spans->names);
	map_free(&spans->tracks);
	pool_free(&spans->pool);
	free(spans);
}

int spans_listen(struct spans *spans, const struct spans_listener *listener, void *context,
		 struct kymo_err *err)
{
	if (spans->listeners == SPANS_LISTENERS_MAX)
		return err_set(err, KYMO_EXIT_FAILED, "too many analyses listen to spans");
	spans->listener[spans->listeners] = listener;
	spans->listener_context[spans->listeners++] = context;
	return 0;
}

unsigned spans_listeners(const struct spans *spans)
{
	return spans->listeners;
}

void spans_unlisten(struct spans *spans, unsigned first, unsigned count)
{
	spans->listeners -= count;
	for (unsigned i = first; i < spans->listeners; i++) {
		spans->listener[i] = spans->listener[i + count];
		spans->listener_context[i] = spans->listener_context[i + count];
	}
}

const struct spans_realtime *spans_realtime(const struct spans *spans, unsigned index)
{
	return index < spans->realtimes ? &spans->realtime[index] : NULL;
}

const struct spans_facts *spans_facts(const struct spans *spans)
{
	return &spans->facts;
}
