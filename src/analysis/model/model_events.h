/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For analyses that read the same events as the model: the thread of an event, its true time, and
 * the meaning of its fields and addresses. Analyses that only listen to the model do not need this
 * header.
 *
 * Context of all functions: not thread-safe; model_event_thread() and model_thread_rename()
 * allocate; none blocks.
 */
#ifndef KYMO_ANALYSIS_MODEL_EVENTS_H
#define KYMO_ANALYSIS_MODEL_EVENTS_H

#include "abi/each.h"
#include "abi/points.h"
#include "analysis/model/model.h"

/*
 * The fields of each event, in the order of the bind table: struct args_rcl_node_init has the
 * members node_handle, rmw_handle, node_name, namespace, each a struct kymo_ctf_value. The struct
 * overlays kymo_ctf_event.value[], so the order and the names of fields exist only once, in
 * tracepoints.def.
 */
#define ARGS_RECORDED(arg, name, ...) struct kymo_ctf_value name;
#define ARGS_PTR(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_U64(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_I64(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_BOOL(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_STR(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_GID16(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_GID24(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_PTRS(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_SKIP(...)
#define ARGS_VERSION(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_FIELD(kind, arg, ...) ARGS_##kind(arg, ##__VA_ARGS__, arg)
#define POINT(provider, id, name, phase, hook, from, to, text, ...) \
	struct args_##id { EACH(ARGS_FIELD, __VA_ARGS__) } __attribute__((may_alias));
#include "abi/tracepoints.def"
#undef POINT

#define ARGS(id, event) const struct args_##id *args = (const struct args_##id *)(event)->value

/*
 * Later times (after the year 2116) are damage; without them no difference of two times can
 * overflow.
 */
#define MODEL_TIME_MAX (INT64_MAX / 2)

/**
 * model_event_thread() - the thread of @event; the model creates it if it is new.
 *
 * Return: NULL without memory, or without room for it.
 */
const struct model_thread *model_event_thread(struct model *model,
					      const struct kymo_ctf_event *event);

/** model_event_is_left() - after model_event_thread() was NULL: the thread has no room, because of
 * model_limit(). Return: false: there is no memory. */
bool model_event_is_left(const struct model *model);

/** model_event_thread_known() - the thread of @event if the model knows it already; else NULL. */
const struct model_thread *model_event_thread_known(const struct model *model,
						    const struct kymo_ctf_event *event);

/**
 * model_thread_rename() - the program gave @thread another name, of @length bytes.
 *
 * Return: 0, or -ENOMEM.
 */
int model_thread_rename(struct model *model, const struct model_thread *thread, const char *name,
			size_t length);

/**
 * model_event_init() - is @event an init event that the model reads? @point: set to its
 * KYMO_POINT_*.
 */
bool model_event_init(const struct model *model, const struct kymo_ctf_event *event,
		      unsigned *point);

/** model_true_time() - when @event really happened: its init_timestamp if it has one, else its own
 * time. */
int64_t model_true_time(const struct model *model, const struct kymo_ctf_event *event);

/**
 * model_epoch() - convert a time of a trace's clock into epoch time
 * @trace: number of the trace in the reader, from 0
 * @clock_ns: of the trace's clock, before its offset and any alignment
 *
 * Return: ns since 1970, as the events of the reader have it; @otherwise: the time would be later
 * than MODEL_TIME_MAX.
 */
int64_t model_epoch(const struct model *model, uint32_t trace, uint64_t clock_ns,
		    int64_t otherwise);

/**
 * model_object() - the object of @kind with @index, as model_callback() and the others return it;
 * NULL after the last.
 */
const void *model_object(const struct model *model, enum model_kind kind, unsigned index);

/**
 * model_object_of() - the object that @address refers to in @process at this time: a MODEL_NODE,
 * MODEL_SUBSCRIPTION or MODEL_CALLBACK; NULL: none.
 */
const void *model_object_of(const struct model *model, const struct model_process *process,
			    enum model_kind kind, uint64_t address);

#endif
