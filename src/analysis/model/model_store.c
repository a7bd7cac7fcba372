/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The storage of the model: memory, objects and the meaning of their addresses, hosts, processes,
 * threads and streams, and times on one scale. All handlers use this file; this file uses none of
 * them.
 */
#include "analysis/model/model_internal.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* ---- memory: the first failure is remembered and ends model_event() ---- */

void *model_alloc(struct model *model, size_t size)
{
	void *memory = pool_new(&model->pool, size);

	if (!memory)
		model->out_of_memory = true;
	return memory;
}

/* Objects begin with their public part, and that begins with its index. */
void *model_object_new(struct model *model, enum model_kind kind, size_t size)
{
	struct list *list = &model->list[kind];
	uint32_t *object;

	model_settle(model);
	if (model_is_full(model, kind)) {
		model->facts.left.objects += kind >= MODEL_NODE && kind <= MODEL_CLIENT;
		return NULL;
	}
	if (!ARRAY_ROOM(list->item, list->count, list->size)) {
		model->out_of_memory = true;
		return NULL;
	}
	object = model_alloc(model, size);
	if (!object)
		return NULL;
	*object = list->count;
	list->item[list->count++] = object;
	return object;
}

/* Of publishers and subscriptions: type, gid, QoS; of others: the group. */
#define FACTS_OF_OBJECT 8u

void *model_fact_new(struct model *model, size_t size)
{
	if (model->most && model->facts_count / FACTS_OF_OBJECT >= model->most)
		return NULL;
	model->facts_count++;
	return model_alloc(model, size);
}

const char *model_keep(struct model *model, const char *text, size_t length)
{
	const char *copy = pool_text(&model->pool, text, length);

	if (!copy)
		model->out_of_memory = true;
	return copy ? copy : "";
}

/* Maximum length of a name; a longer one is damage. */
#define TEXT_MAX 65536u

const char *model_text(struct model *model, const struct kymo_ctf_value *value)
{
	if (!value->present || !value->bytes)
		return "";
	return model_keep(model, value->bytes, strnlen(value->bytes, TEXT_MAX));
}

/* ---- handles ---- */

void model_handle_set(struct model *model, const struct process *process, enum handle kind,
		      uint64_t address, void *object)
{
	if (map_put(&model->handles, address, model_scope_of(process, kind), object))
		model->out_of_memory = true;
}

void model_handle_drop(struct model *model, const struct process *process, enum handle kind,
		       uint64_t address)
{
	map_del(&model->handles, address, model_scope_of(process, kind));
}

struct topic *model_topic_named(struct model *model, const struct kymo_ctf_value *name)
{
	const char *text = name->present && name->bytes ? name->bytes : "";
	uint64_t hash = text_hash(TEXT_HASH, text), probe = 0;
	struct topic *topic;

	while ((topic = map_get(&model->topics, hash, probe)) && strcmp(topic->pub.name, text) != 0)
		probe++;
	if (topic)
		return topic;
	topic = model_object_new(model, MODEL_TOPIC, sizeof(*topic));
	if (!topic)
		return NULL;
	topic->pub.name = model_keep(model, text, strlen(text));
	topic->pub.type = "";
	if (map_put(&model->topics, hash, probe, topic))
		model->out_of_memory = true;
	return topic;
}

/* Texts that occur again and again are stored once. */
const char *model_word(struct model *model, const struct kymo_ctf_value *value)
{
	const char *text = value->present && value->bytes ? value->bytes : "", *word;
	uint64_t hash = text_hash(TEXT_HASH, text), probe = 0;

	while ((word = map_get(&model->words, hash, probe)) && strcmp(word, text) != 0)
		probe++;
	if (word)
		return word;
	if (model->most && model->words.count >= model->most)
		return "";
	word = model_text(model, value);
	if (map_put(&model->words, hash, probe, (void *)word))
		model->out_of_memory = true;
	return word;
}

/* ---- hosts, processes, threads ---- */

static struct trace *trace_at(struct model *model, uint32_t index)
{
	return ARRAY_AT(model->trace, model->trace_count, index);
}

int model_set_host(struct model *model, uint32_t trace, const char *hostname,
		   int64_t clock_offset_ns)
{
	struct trace *entry = trace_at(model, trace);
	unsigned i;

	if (!entry)
		return -ENOMEM;
	entry->clock_offset_ns = clock_offset_ns;
	entry->known = true;
	entry->hostname = model_keep(model, hostname ? hostname : "", hostname ? strlen(hostname) : 0);
	for (i = 0; i < model->trace_count && *entry->hostname; i++) {
		if (i == trace || !model->trace[i].known ||
		    strcmp(model->trace[i].hostname, entry->hostname) != 0)
			continue;
		entry->host = model->trace[i].host;
		return 0;
	}
	entry->host = model->host_count++;
	return model->out_of_memory ? -ENOMEM : 0;
}

static struct process *process_of(struct model *model, const struct kymo_ctf_event *event)
{
	struct trace *trace = trace_at(model, event->trace);
	struct process *process;

	if (!trace || (!trace->known && model_learn_trace(model, event->trace)))
		return NULL;
	trace = &model->trace[event->trace];
	process = map_get(&model->processes, (uint32_t)event->vpid, trace->host);
	if (process)
		return process;
	process = model_object_new(model, MODEL_PROCESS, sizeof(*process));
	if (!process)
		return NULL;
	process->pub.host = trace->host;
	process->pub.hostname = trace->hostname;
	process->pub.clock = trace->clock;
	process->pub.pid = event->vpid;
	process->pub.name = model_keep(model, event->procname, strlen(event->procname));
	process->pub.tracetools = "";
	process->pub.rmw = "";
	process->pub.distribution = "";
	return map_put(&model->processes, (uint32_t)event->vpid, trace->host, process) ? NULL
										       : process;
}

static struct thread *thread_new(struct model *model, const struct kymo_ctf_event *event,
				 struct process *process)
{
	struct thread *thread = model_object_new(model, MODEL_THREAD, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->process = process;
	thread->pub.process = &process->pub;
	thread->pub.tid = event->vtid;
	thread->pub.name = model_keep(model, event->procname, strlen(event->procname));
	thread->trace = event->trace;
	thread->stream = event->stream;
	if (event->vtid == event->vpid)
		process->pub.name = thread->pub.name;
	if (map_put(&model->threads, (uint32_t)event->vtid, process->pub.index, thread))
		return NULL;
	return thread;
}

struct stream *model_stream_at(struct model *model, uint32_t stream)
{
	return ARRAY_AT(model->stream, model->stream_count, stream);
}

static struct thread *latest_is(struct model *model, const struct kymo_ctf_event *event,
				struct thread *thread)
{
	memcpy(model->latest.whose, (const char *)event + EVENT_WHOSE, EVENT_WHOSE_SIZE);
	return model->latest.thread = thread;
}

struct thread *model_thread_find(struct model *model, const struct kymo_ctf_event *event)
{
	struct stream *stream = model_stream_at(model, event->stream);
	struct thread *thread = stream ? stream->last : NULL;
	struct process *process;

	if (!stream)
		return NULL;
	if (thread && thread->pub.tid == event->vtid && thread->process->pub.pid == event->vpid &&
	    thread->stream == event->stream)
		return latest_is(model, event, thread);
	process = process_of(model, event);
	if (!process)
		return NULL;
	thread = map_get(&model->threads, (uint32_t)event->vtid, process->pub.index);
	if (!thread)
		thread = thread_new(model, event, process);
	if (!thread)
		return NULL;
	if (thread->stream != event->stream)
		thread->many_streams = true;
	if (stream->last && stream->last != thread)
		stream->many_threads = true;
	thread->trace = event->trace;
	thread->stream = event->stream;
	stream->last = thread;
	return latest_is(model, event, thread);
}

struct thread *model_thread_at(const struct model *model, const struct kymo_ctf_event *event)
{
	const struct process *process;

	if (event->trace >= model->trace_count || !model->trace[event->trace].known)
		return NULL;
	process =
		map_get(&model->processes, (uint32_t)event->vpid, model->trace[event->trace].host);
	return process ? map_get(&model->threads, (uint32_t)event->vtid, process->pub.index) : NULL;
}

/* ---- times ---- */

int64_t model_epoch(const struct model *model, uint32_t trace, uint64_t clock_ns, int64_t otherwise)
{
	uint64_t ns = clock_ns;

	if (trace < model->trace_count && model->trace[trace].known)
		ns += (uint64_t)model->trace[trace].clock_offset_ns;
	if (ns > TIME_MAX)
		return otherwise;
	if (!model->reader || trace >= kymo_ctf_trace_count(model->reader))
		return (int64_t)ns;
	return kymo_ctf_mapped(model->reader, kymo_ctf_time_of(model->reader, trace, clock_ns));
}

int64_t model_true_time(const struct model *model, const struct kymo_ctf_event *event)
{
	bool bound = event->bound >= 0 && (unsigned)event->bound < model->bind_count;
	unsigned field = bound ? model->bound[event->bound].true_time : 0;
	uint64_t clock_ns = event->init_ns;

	if (field && event->value[field].present)
		clock_ns = event->value[field].u;
	return clock_ns ? model_epoch(model, event->trace, clock_ns, event->ns) : event->ns;
}

/* ---- queries ---- */

unsigned model_count(const struct model *model, enum model_kind kind)
{
	return model->list[kind].count;
}

#define AT(model, kind, index) \
	((index) < (model)->list[kind].count ? (model)->list[kind].item[index] : NULL)

#define OBJECT(type, kind)								\
	const struct model_##type *model_##type(const struct model *model, unsigned index) \
	{										\
		return AT(model, kind, index);						\
	}
OBJECT(process, MODEL_PROCESS)
OBJECT(thread, MODEL_THREAD)
OBJECT(node, MODEL_NODE)
OBJECT(topic, MODEL_TOPIC)
OBJECT(publisher, MODEL_PUBLISHER)
OBJECT(subscription, MODEL_SUBSCRIPTION)
OBJECT(timer, MODEL_TIMER)
OBJECT(service, MODEL_SERVICE)
OBJECT(callback, MODEL_CALLBACK)
OBJECT(subscription_object, MODEL_SUBSCRIPTION_OBJECT)
OBJECT(callback_group, MODEL_CALLBACK_GROUP)
OBJECT(executor, MODEL_EXECUTOR)
OBJECT(state_machine, MODEL_STATE_MACHINE)
OBJECT(context, MODEL_CONTEXT)
OBJECT(link, MODEL_LINK)

const struct model_service *model_client(const struct model *model, unsigned index)
{
	return AT(model, MODEL_CLIENT, index);
}

const struct model_callback *model_find_callback(const struct model *model, uint32_t trace,
						 int32_t pid, uint64_t address)
{
	struct process *process = NULL;

	if (trace < model->trace_count && model->trace[trace].known)
		process = map_get(&model->processes, (uint32_t)pid, model->trace[trace].host);
	return process ? model_handle(model, process, HANDLE_CALLBACK, address) : NULL;
}

const struct model_facts *model_facts(const struct model *model)
{
	return &model->facts;
}

/* ---- for analyses that read the same events, see model_events.h ---- */

const struct model_thread *model_event_thread(struct model *model,
					      const struct kymo_ctf_event *event)
{
	struct thread *thread = model_thread_of(model, event);

	return thread ? &thread->pub : NULL;
}

bool model_event_is_left(const struct model *model)
{
	return !model->out_of_memory &&
	       (model_is_full(model, MODEL_THREAD) || model_is_full(model, MODEL_PROCESS));
}

const struct model_thread *model_event_thread_known(const struct model *model,
						    const struct kymo_ctf_event *event)
{
	const struct thread *thread = model_thread_at(model, event);

	return thread ? &thread->pub : NULL;
}

int model_thread_rename(struct model *model, const struct model_thread *thread, const char *name,
			size_t length)
{
	struct thread *own = model->list[MODEL_THREAD].item[thread->index];

	own->pub.name = model_keep(model, name, length);
	return model->out_of_memory ? -ENOMEM : 0;
}

bool model_event_init(const struct model *model, const struct kymo_ctf_event *event,
		      unsigned *point)
{
	const struct bound_row *bound;

	if (event->bound < 0 || (unsigned)event->bound >= model->bind_count)
		return false;
	bound = &model->bound[event->bound];
	*point = bound->point;
	/* No handler: its fields differ from tracepoints.def, see model_attach.c. */
	return bound->is_init && bound->handle;
}

const void *model_object(const struct model *model, enum model_kind kind, unsigned index)
{
	return AT(model, kind, index);
}

const void *model_object_of(const struct model *model, const struct model_process *process,
			    enum model_kind kind, uint64_t address)
{
	const enum handle handle = kind == MODEL_NODE           ? HANDLE_NODE
				   : kind == MODEL_SUBSCRIPTION ? HANDLE_SUBSCRIPTION
								: HANDLE_CALLBACK;

	return model_handle(model, (const struct process *)process, handle, address);
}
