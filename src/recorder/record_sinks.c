/* SPDX-License-Identifier: Apache-2.0 */
/* See record_sinks.h. */
#include "recorder/record_sinks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "recorder/session_internal.h"
#include "recorder/trace_dir.h"

static void put_u64(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static uint64_t number(struct json_object *request, const char *key)
{
	struct json_object *value = NULL;

	(void)json_object_object_get_ex(request, key, &value);
	return json_object_is_type(value, json_type_int) ? json_object_get_uint64(value) : 0;
}

static const char *text(struct json_object *request, const char *key)
{
	struct json_object *value = NULL;

	(void)json_object_object_get_ex(request, key, &value);
	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

/* He could have us write where he cannot, or take away what is not his. */
static bool is_refused(struct control_call *call)
{
	struct err err;

	if (!control_is_foreign(call))
		return false;
	(void)err_set(&err, EXIT_FAILED, "the recorder is another user's: only he adds and removes sinks");
	control_refuse(call, &err);
	return true;
}

static struct json_object *describe(const struct session *session, const struct sink *sink)
{
	struct json_object *object = json_object_new_object();
	struct session_stats stats;

	session_sink_stats(session, sink, &stats);
	put_u64(object, "number", sink->id);
	json_object_object_add(object, "kind", json_object_new_string(sink->ops->kind));
	json_object_object_add(object, "path", json_object_new_string(sink->name));
	json_object_object_add(object, "state", json_object_new_string(sink->gone ? "removed" : sink->fails ?
								      "fails" : "records"));
	put_u64(object, "duration_ns", stats.duration_ns);
	put_u64(object, "recorded", stats.recorded);
	put_u64(object, "dropped", stats.dropped);
	put_u64(object, "unwritten", stats.unwritten);
	put_u64(object, "before", stats.before);
	put_u64(object, "init_events", stats.init_events);
	put_u64(object, "bytes", stats.bytes);
	if (sink->ops->tell)
		sink->ops->tell(sink, object);
	return object;
}

void record_sink_add(struct session *session, struct control_call *call, struct json_object *request)
{
	const struct sink_files files = {
		.rotate_size = number(request, "rotate_size"),
		.rotate_ns = number(request, "rotate_ns"),
		.max_size = number(request, "max_size"),
		.compress = number(request, "compress") != 0,
	};
	const char *path = text(request, "output");
	struct sink *sink;
	struct err err;

	if (is_refused(call))
		return;
	if (!path || path[0] != '/') {
		(void)err_set(&err, EXIT_USAGE, "a sink needs an absolute path as \"output\"");
		control_refuse(call, &err);
	} else if (session_add_trace(session, path, &files, &sink, &err) < 0) {
		trace_dir_without_option(&err);
		control_refuse(call, &err);
	} else {
		control_reply(call, describe(session, sink));
	}
}

void record_sink_list(struct session *session, struct control_call *call)
{
	struct json_object *reply = json_object_new_object(), *array = json_object_new_array();

	for (unsigned i = 0; i < session->drain.sink_count; i++)
		json_object_array_add(array, describe(session, session->drain.sink[i]));
	json_object_object_add(reply, "sinks", array);
	control_reply(call, reply);
}

static struct sink *find(const struct session *session, const char *name)
{
	for (unsigned i = 0; i < session->drain.sink_count; i++) {
		struct sink *sink = session->drain.sink[i];
		char id[24];

		(void)snprintf(id, sizeof id, "%" PRIu64, sink->id);
		if (strcmp(id, name) == 0 || strcmp(sink->name, name) == 0)
			return sink;
	}
	return NULL;
}

void record_sink_remove(struct session *session, struct control_call *call, struct json_object *request)
{
	const char *name = text(request, "sink");
	struct sink *sink = name ? find(session, name) : NULL;
	struct session_stats stats;
	struct json_object *reply;
	struct err err;

	if (is_refused(call))
		return;
	if (!sink)
		(void)err_set(&err, EXIT_INPUT, "the recorder has no sink %.200s; \"kymo sink list\" shows those that "
			      "there are", name ? name : "without a name");
	else if (strcmp(sink->ops->kind, "relay") == 0)
		(void)err_set(&err, EXIT_USAGE, "%s is sent to until the recording ends: \"kymo stop\"", sink->name);
	else if (strcmp(sink->ops->kind, "ctf") != 0)
		(void)err_set(&err, EXIT_USAGE, "%s is the flight recorder itself; \"kymo stop\" ends it", sink->name);
	else if (session->drain.sink_count == 1)
		(void)err_set(&err, EXIT_USAGE, "%s is the only sink: \"kymo stop\" ends the recording", sink->name);
	if (!sink || strcmp(sink->ops->kind, "ctf") != 0 || session->drain.sink_count == 1) {
		control_refuse(call, &err);
		return;
	}
	reply = json_object_new_object();
	json_object_object_add(reply, "path", json_object_new_string(sink->name));
	if (session_remove_sink(session, sink, &stats, &err) < 0) {
		json_object_put(reply);
		control_refuse(call, &err);
		return;
	}
	put_u64(reply, "recorded", stats.recorded);
	put_u64(reply, "init_events", stats.init_events);
	put_u64(reply, "dropped", stats.dropped);
	put_u64(reply, "unwritten", stats.unwritten);
	put_u64(reply, "before", stats.before);
	put_u64(reply, "bytes", stats.bytes);
	put_u64(reply, "duration_ns", stats.duration_ns);
	control_reply(call, reply);
}
