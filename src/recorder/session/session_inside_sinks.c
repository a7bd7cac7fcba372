/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sinks of a session inside of a program, by the path that the program gave: trace directories,
 * Perfetto files, relays, and sinks of the program itself.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/own/own_sink.h"
#include "recorder/session/session_inside.h"
#include "recorder/session/session_relay.h"

void inside_say(void *context, const char *text)
{
	const struct kymo_session *inside = context;

	if (inside->options.message)
		inside->options.message(inside->options.context, KYMO_SESSION_NOTE, text);
}

int inside_find_sink(const struct kymo_session *inside, const char *path)
{
	for (int i = 0; i < SINKS_MAX; i++)
		if (inside->trace[i].path && (strcmp(inside->trace[i].path, path) == 0 ||
					      strcmp(inside->trace[i].sink->name, path) == 0))
			return i;
	return -1;
}

int inside_check_path(const char *path, struct kymo_err *err)
{
	return *path ? 0 : err_set(err, KYMO_EXIT_USAGE, "the path of the trace is empty");
}

/* Return: a place for one more sink, with its name; -1 with @err. */
static int free_place(struct kymo_session *inside, const char *name, struct kymo_err *err)
{
	int place = 0;

	if (inside_find_sink(inside, name) >= 0)
		return err_set(err, KYMO_EXIT_USAGE, "%s is already a sink of the session", name);
	while (place < SINKS_MAX && inside->trace[place].path)
		place++;
	if (place == SINKS_MAX)
		return err_set(err, KYMO_EXIT_FAILED,
			       "the session has %d sinks already; remove one first", SINKS_MAX);
	inside->trace[place].path = strdup(name);
	return inside->trace[place].path ? place : err_no_memory(err);
}

static int keep_place(struct kymo_session *inside, int place, int rc)
{
	if (rc < 0) {
		free(inside->trace[place].path);
		inside->trace[place].path = NULL;
		inside->trace[place].file = NULL;
		inside->trace[place].relay = NULL;
	}
	return rc;
}

bool inside_is_relay(const char *path)
{
	return path && strstr(path, "://");
}

int inside_open_relay(struct kymo_session *inside, const char *url, struct session_relay **relay,
		      struct sink **sink, struct kymo_err *err)
{
	const struct session_relay_options options = {
		.token_file = inside->options.relay_token_file,
		.spool_size = inside->options.relay_spool_size,
		.patience_ns = inside->options.relay_patience_ns,
		.version = KYMO_VERSION, .say = inside_say, .context = inside,
	};

	if (!session_relay_open)
		return err_set(err, KYMO_EXIT_FAILED, "cannot send to '%.300s': this program is linked without kymo's "
			       "sender; link it with libkymo-session", url);
	return session_relay_open(url, &options, relay, sink, err);
}

int inside_attach_own(struct kymo_session *inside, const char *name, struct kymo_sink *own,
		      struct perfetto_file *file, struct kymo_err *err)
{
	const int place = free_place(inside, name, err);
	struct sink *sink;
	int rc = -1;

	if (place < 0)
		return -1;
	sink = own_sink_attach(own, err);
	inside->trace[place].sink = sink;
	inside->trace[place].file = file;
	if (sink) {
		rc = file ? perfetto_file_begin(file, err) : 0;
		if (rc == 0)
			rc = session_add_sink(inside->session, sink, err);
		if (rc < 0)
			own_sink_refused(own);
	}
	return keep_place(inside, place, rc);
}

int inside_attach_sink(struct kymo_session *inside, struct request *request)
{
	return inside_attach_own(inside, own_sink_name(request->sink), request->sink, NULL,
				 &request->err);
}

static int add_file(struct kymo_session *inside, struct request *request)
{
	struct perfetto_file *file;

	if (perfetto_file_create(request->path, &file, &request->err) < 0)
		return -1;
	if (inside_attach_own(inside, request->path, perfetto_file_sink(file), file,
			      &request->err) == 0)
		return 0;
	(void)perfetto_file_end(file, NULL);
	return -1;
}

static int add_relay(struct kymo_session *inside, struct request *request)
{
	const int place = free_place(inside, request->path, &request->err);
	struct session_relay *relay = NULL;
	struct sink *sink;
	int rc;

	if (place < 0)
		return -1;
	rc = inside_open_relay(inside, request->path, &relay, &sink, &request->err);
	inside->trace[place].relay = relay;
	if (rc == 0) {
		inside->trace[place].sink = sink;
		rc = session_add_sink(inside->session, sink, &request->err);
		if (rc < 0) {
			sink->ops->close(sink);
			(void)session_relay_end(relay, &(struct kymo_err){ 0 });
		}
	}
	return keep_place(inside, place, rc);
}

int inside_add_sink(struct kymo_session *inside, struct request *request)
{
	int place;

	if (inside_check_path(request->path, &request->err) < 0)
		return -1;
	if (inside_is_relay(request->path))
		return add_relay(inside, request);
	if (perfetto_file_is_meant(request->path))
		return add_file(inside, request);
	place = free_place(inside, request->path, &request->err);
	if (place < 0)
		return -1;
	return keep_place(inside, place,
			  session_add_trace(inside->session, request->path, &inside->files,
					    &inside->trace[place].sink, &request->err));
}

/* ---- the end of a sink ---- */

int inside_end_relay(struct session_relay *relay, struct kymo_err *err)
{
	return relay ? session_relay_end(relay, err) : 0;
}

int inside_end_file(struct kymo_session *inside, int index, int rc, struct kymo_err *err)
{
	struct kymo_err own;
	const int written = inside->trace[index].relay ?
				    inside_end_relay(inside->trace[index].relay, &own) :
				    perfetto_file_end(inside->trace[index].file, &own);

	inside->trace[index].file = NULL;
	inside->trace[index].relay = NULL;
	if (rc == 0 && written < 0) {
		*err = own;
		rc = written;
	}
	return rc;
}

static bool is_leaving(const struct session *session, const struct sink *sink)
{
	struct session_stats stats;
	const struct sink *leaving;

	for (unsigned i = 0; (leaving = session_leaving(session, i, &stats)); i++)
		if (leaving == sink)
			return true;
	return false;
}

/* A relay may take its time to store what is left; meanwhile the session empties the rings. */
static int dismiss(struct kymo_session *inside, struct sink *sink, struct request *request)
{
	const int rc = session_dismiss_sink(inside->session, sink, NULL, &request->stats,
					    &request->err);

	while (is_leaving(inside->session, sink)) {
		const int ms = session_poll(inside->session);

		(void)usleep((useconds_t)(ms > 0 ? ms : 1) * 1000);
	}
	return rc;
}

int inside_remove_sink(struct kymo_session *inside, struct request *request)
{
	int place = inside_find_sink(inside, request->path);
	int rc;

	if (place < 0)
		return err_set(&request->err, KYMO_EXIT_USAGE, "the session has no sink at %s", request->path);
	if (inside->session->drain.sink_count == 1)
		return err_set(&request->err, KYMO_EXIT_USAGE, "%s is the only sink of the session; stop the session "
			       "instead", request->path);
	rc = inside->trace[place].relay ?
		     dismiss(inside, inside->trace[place].sink, request) :
		     session_remove_sink(inside->session, inside->trace[place].sink,
					 &request->stats, &request->err);
	rc = inside_end_file(inside, place, rc, &request->err);
	free(inside->trace[place].path);
	inside->trace[place].path = NULL;
	return rc;
}
