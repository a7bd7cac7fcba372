/* SPDX-License-Identifier: Apache-2.0 */
/* Sinks that are added and removed during a recording. See record_requests.h. */
#include "recorder/record/record_requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "ctf/tsdl/ctf2_form.h"
#include "recorder/session/session.h"
#include "recorder/trace/trace_dir.h"

static void put_u64(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

/* Another user could otherwise have the recorder write where that user may not, or remove other
 * users' sinks. */
static bool is_refused(struct control_call *call)
{
	struct kymo_err err;

	if (!control_is_foreign(call))
		return false;
	(void)err_set(&err, KYMO_EXIT_FAILED, "the recorder belongs to another user, and only that user adds and removes sinks");
	control_refuse(call, &err);
	return true;
}

static struct json_object *describe(const struct sink *sink, const char *state,
				    const struct session_stats *stats)
{
	struct json_object *object = json_object_new_object();

	put_u64(object, "number", sink->id);
	json_object_object_add(object, "kind", json_object_new_string(sink->ops->kind));
	json_object_object_add(object, "path", json_object_new_string(sink->name));
	json_object_object_add(object, "state", json_object_new_string(state));
	put_u64(object, "duration_ns", stats->duration_ns);
	put_u64(object, "recorded", stats->recorded);
	put_u64(object, "dropped", stats->dropped);
	put_u64(object, "unwritten", stats->unwritten);
	put_u64(object, "before", stats->before);
	put_u64(object, "init_events", stats->init_events);
	put_u64(object, "bytes", stats->bytes);
	if (sink->ops->tell)
		sink->ops->tell(sink, object);
	return object;
}

static struct json_object *describe_present(const struct session *session, const struct sink *sink)
{
	struct session_stats stats;

	session_sink_stats(session, sink, &stats);
	return describe(sink, sink->gone ? "removed" : sink->fails ? "fails" : "records", &stats);
}

static struct sink *find(const struct session *session, const char *name)
{
	struct sink *sink;

	for (unsigned i = 0; (sink = session_sink(session, i)); i++) {
		char id[24];

		(void)snprintf(id, sizeof id, "%" PRIu64, sink->id);
		if (strcmp(id, name) == 0 || strcmp(sink->name, name) == 0)
			return sink;
	}
	return NULL;
}

/* ---- add ---- */

static int add_remote(struct session *session, const struct record_options *options,
		      struct json_object *request, struct sink **sink, struct kymo_err *err)
{
	const char *url = json_get_text(request, "url");
	const struct sink *other = find(session, url);

	if (!options->remote)
		return err_set(err, KYMO_EXIT_USAGE, "this recorder writes into directories only, not to %.300s", url);
	if (other)
		return err_set(err, KYMO_EXIT_USAGE, "%.300s is already sink %" PRIu64, url, other->id);
	if (options->remote(options->context, request, sink, err) < 0)
		return -1;
	if (session_add_sink(session, *sink, err) == 0)
		return 0;
	(*sink)->ops->close(*sink);
	return -1;
}

static int add_directory(struct session *session, struct json_object *request, struct sink **sink,
			 struct kymo_err *err)
{
	const struct sink_files files = {
		.rotate_size = json_get_u64(request, "rotate_size"),
		.rotate_ns = json_get_u64(request, "rotate_ns"),
		.max_size = json_get_u64(request, "max_size"),
		.compress = json_get_u64(request, "compress") != 0,
		.form = json_get_u64(request, "ctf") == 2 ? ctf2_form : NULL,
	};
	const char *path = json_get_text(request, "output");

	if (!path || path[0] != '/')
		return err_set(err, KYMO_EXIT_USAGE, "a sink needs an absolute path as \"output\", or a \"url\"");
	if (session_add_trace(session, path, &files, sink, err) == 0)
		return 0;
	trace_dir_without_option(err);
	return -1;
}

void record_sink_add(void *recorder, struct control_call *call, struct json_object *request)
{
	struct session *session = ((struct recorder *)recorder)->session;
	struct sink *sink;
	struct kymo_err err;
	int rc;

	if (is_refused(call))
		return;
	if (json_get_text(request, "url"))
		rc = add_remote(session, ((struct recorder *)recorder)->options, request, &sink,
				&err);
	else
		rc = add_directory(session, request, &sink, &err);
	if (rc < 0)
		control_refuse(call, &err);
	else
		control_reply(call, describe_present(session, sink));
}

void record_sink_list(void *recorder, struct control_call *call, struct json_object *request)
{
	const struct session *session = ((struct recorder *)recorder)->session;
	struct json_object *reply = json_object_new_object(), *array = json_object_new_array();
	struct session_stats stats;
	const struct sink *sink;

	(void)request;
	for (unsigned i = 0; (sink = session_sink(session, i)); i++)
		json_object_array_add(array, describe_present(session, sink));
	for (unsigned i = 0; (sink = session_leaving(session, i, &stats)); i++)
		json_object_array_add(array, describe(sink, "ends", &stats));
	json_object_object_add(reply, "sinks", array);
	control_reply(call, reply);
}

/* ---- remove ---- */

/* A client that waits until its sink has ended. */
struct leaver {
	struct sink_leave leave;	/* first */
	struct control_call *call;
	struct json_object *reply;
	struct session_stats stats;
};

static void on_left(struct sink_leave *leave, const struct sink *sink)
{
	struct leaver *leaver = (struct leaver *)leave;

	leaver->reply = describe(sink, "ended", &leaver->stats);
}

/* Only now is everything written. */
static void on_closed(struct sink_leave *leave)
{
	struct leaver *leaver = (struct leaver *)leave;

	control_reply(leaver->call, leaver->reply);
	free(leaver);
}

void record_sinks_end(struct session *session)
{
	struct session_stats stats;
	const struct sink *sink;

	for (unsigned i = 0; (sink = session_leaving(session, i, &stats)); i++) {
		struct leaver *leaver = (struct leaver *)session_take_leave(session, i);
		struct kymo_err err;

		if (!leaver)
			continue;
		(void)err_set(&err, KYMO_EXIT_FAILED, "the recording ends before %s; the summary of the recorder includes it",
			      sink->name);
		control_refuse(leaver->call, &err);
		free(leaver);
	}
}

/* The sink @name, if it can be removed. Return: NULL with @err. */
static struct sink *removable(const struct session *session, const char *name, struct kymo_err *err)
{
	struct sink *sink = name ? find(session, name) : NULL;

	if (!sink)
		(void)err_set(err, KYMO_EXIT_INPUT, "the recorder has no sink %.200s; \"kymo sink list\" lists its sinks", name ? name : "without a name");
	else if (strcmp(sink->ops->kind, "flight") == 0)
		(void)err_set(err, KYMO_EXIT_USAGE, "%s is the flight recorder itself; end it with \"kymo stop\"", sink->name);
	else if (!session_sink(session, 1))
		(void)err_set(err, KYMO_EXIT_USAGE, "%s is the only sink; end the recording with \"kymo stop\"", sink->name);
	else
		return sink;
	return NULL;
}

void record_sink_remove(void *recorder, struct control_call *call, struct json_object *request)
{
	struct session *session = ((struct recorder *)recorder)->session;
	struct leaver *leaver;
	struct sink *sink;
	struct kymo_err err;

	if (is_refused(call))
		return;
	sink = removable(session, json_get_text(request, "sink"), &err);
	leaver = sink ? calloc(1, sizeof *leaver) : NULL;
	if (sink && !leaver)
		(void)err_no_memory(&err);
	if (!leaver) {
		control_refuse(call, &err);
		return;
	}
	leaver->leave.done = on_left;
	leaver->leave.closed = on_closed;
	leaver->call = call;
	if (session_dismiss_sink(session, sink, &leaver->leave, &leaver->stats, &err) == 0)
		return;
	control_refuse(call, &err);
	free(leaver);
}
