/* SPDX-License-Identifier: Apache-2.0 */
/* Serves the requests of callers of include/kymo/session.h, on the session's thread. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/own/own_sink.h"
#include "recorder/session/session_inside.h"
#include "recorder/session/session_relay.h"
#include "recorder/trace/trace_dir.h"
#include "base/array.h"

static void say(void *context, const char *text)
{
	const struct kymo_session *inside = context;

	if (inside->options.message)
		inside->options.message(inside->options.context, KYMO_SESSION_NOTE, text);
}

static int find_trace(const struct kymo_session *inside, const char *path)
{
	for (int i = 0; i < SINKS_MAX; i++)
		if (inside->trace[i].path && (strcmp(inside->trace[i].path, path) == 0 ||
					      strcmp(inside->trace[i].sink->name, path) == 0))
			return i;
	return -1;
}

static int check_path(const char *path, struct kymo_err *err)
{
	return *path ? 0 : err_set(err, KYMO_EXIT_USAGE, "the path of the trace is empty");
}

/* @text: NULL: none. Return: 0; -1 with @err, and nothing is to be freed. */
static int read_rules(const char *text, const char *what, struct filter_rules *rules,
		      struct kymo_err *err)
{
	*rules = (struct filter_rules){ 0 };
	if (!text || filter_rules_text(rules, text, err) == 0)
		return 0;
	filter_rules_free(rules);
	return err_wrap(err, "%s", what);
}

/* A filter is needed even without rules: the environment may have some, and others may be set
 * later. */
static int make_filter(struct kymo_session *inside, struct kymo_err *err)
{
	struct filter_rules rules;
	int rc = 0;

	if (read_rules(inside->options.rules, "kymo_session_options.rules", &rules, err) < 0)
		return -1;
	inside->filter = filter_create(NULL);
	if (!inside->filter || !filter_set(inside->filter, &rules))
		rc = err_no_memory(err);
	filter_rules_free(&rules);
	return rc;
}

static int choose_files(struct kymo_session *inside, struct kymo_err *err)
{
	static const struct sink_files_names names = {
		"kymo_session_options.rotate_size", "kymo_session_options.rotate_ns", "kymo_session_options.max_size",
	};
	const struct kymo_session_options *options = &inside->options;

	inside->files = (struct sink_files){
		.rotate_size = options->rotate_size, .rotate_ns = options->rotate_ns,
		.max_size = options->max_size, .compress = options->compress != 0,
	};
	return sink_files_check(&inside->files, &names, err);
}

/* Return: a place for one more sink, with its name; -1 with @err. */
static int free_place(struct kymo_session *inside, const char *name, struct kymo_err *err)
{
	int place = 0;

	if (find_trace(inside, name) >= 0)
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

static bool is_relay(const char *path)
{
	return path && strstr(path, "://");
}

static int open_relay(struct kymo_session *inside, const char *url, struct session_relay **relay,
		      struct sink **sink, struct kymo_err *err)
{
	const struct session_relay_options options = {
		.token_file = inside->options.relay_token_file,
		.spool_size = inside->options.relay_spool_size,
		.patience_ns = inside->options.relay_patience_ns,
		.version = KYMO_VERSION, .say = say, .context = inside,
	};

	if (!session_relay_open)
		return err_set(err, KYMO_EXIT_FAILED, "cannot send to '%.300s': this program is linked without kymo's "
			       "sender; link it with libkymo-session", url);
	return session_relay_open(url, &options, relay, sink, err);
}

/* Attaches @own, of the program or of @file, to the session that runs. */
static int attach_own(struct kymo_session *inside, const char *name, struct kymo_sink *own,
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

static int attach(struct kymo_session *inside, struct request *request)
{
	return attach_own(inside, own_sink_name(request->sink), request->sink, NULL, &request->err);
}

static int add_file(struct kymo_session *inside, struct request *request)
{
	struct perfetto_file *file;

	if (perfetto_file_create(request->path, &file, &request->err) < 0)
		return -1;
	if (attach_own(inside, request->path, perfetto_file_sink(file), file, &request->err) == 0)
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
	rc = open_relay(inside, request->path, &relay, &sink, &request->err);
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

static int add(struct kymo_session *inside, struct request *request)
{
	int place;

	if (check_path(request->path, &request->err) < 0)
		return -1;
	if (is_relay(request->path))
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

/* ---- begin and end ---- */

static int end_relay(struct session_relay *relay, struct kymo_err *err)
{
	return relay ? session_relay_end(relay, err) : 0;
}

/* Completes the file or relay of a sink that was removed. @rc, @err: what failed before. */
static int end_file(struct kymo_session *inside, int place, int rc, struct kymo_err *err)
{
	struct kymo_err own;
	const int written = inside->trace[place].relay ?
				    end_relay(inside->trace[place].relay, &own) :
				    perfetto_file_end(inside->trace[place].file, &own);

	inside->trace[place].file = NULL;
	inside->trace[place].relay = NULL;
	if (rc == 0 && written < 0) {
		*err = own;
		rc = written;
	}
	return rc;
}

static int end_session(struct kymo_session *inside, struct kymo_err *err)
{
	int rc = session_end(inside->session, err);

	for (int i = 0; i < SINKS_MAX; i++)
		rc = end_file(inside, i, rc, err);
	return rc;
}

/* The first sink that is not a directory. Return: 0; -1 with @err, and @options->sink is NULL. */
static int begin_own(struct kymo_sink *own, struct perfetto_file *file,
		     struct session_options *options, struct kymo_err *err)
{
	if (!own)
		return 0;
	options->sink = own_sink_attach(own, err);
	if (!options->sink)
		return -1;
	if (!file || perfetto_file_begin(file, err) == 0)
		return 0;
	own_sink_refused(own);
	return -1;
}

/* What the path of a start means, if it is not a directory. */
struct first {
	struct perfetto_file *file;
	struct session_relay *relay;	/* its sink is in the options */
};

static int open_first(struct kymo_session *inside, struct session_options *options,
		      struct first *first, struct request *request)
{
	if (is_relay(request->path))
		return open_relay(inside, request->path, &first->relay, &options->sink,
				  &request->err);
	if (request->path && perfetto_file_is_meant(request->path))
		return perfetto_file_create(request->path, &first->file, &request->err);
	options->output = request->path;
	return 0;
}

/* Without memory for a name, nobody finds the sink by its path. */
static void name_first(struct kymo_session *inside, const char *const *name, unsigned count)
{
	unsigned place = 0;

	for (unsigned i = 0; i < count; i++) {
		if (!name[i])
			continue;
		inside->trace[place].sink = inside->session->drain.sink[place];
		inside->trace[place++].path = strdup(name[i]);
	}
}

static int start_with(struct kymo_session *inside, struct session_options *options,
		      const struct first *first, struct request *request)
{
	const bool is_taken = first->file || first->relay; /* the options' place for a sink */
	struct kymo_sink *const program = inside->options.sink;
	struct kymo_sink *const own = first->file ? perfetto_file_sink(first->file) :
				      is_taken ? NULL : program;
	const char *const name[] = {
		options->output,
		own ? own_sink_name(own) : NULL,
		first->relay ? request->path : NULL,
	};

	if (begin_own(own, first->file, options, &request->err) < 0)
		return -1;
	if (session_begin(options, &inside->session, &request->err) < 0) {
		if (own)
			own_sink_refused(own);
		return -1;
	}
	name_first(inside, name, COUNT_OF(name));
	if (!is_taken || !program ||
	    attach_own(inside, own_sink_name(program), program, NULL, &request->err) == 0)
		return 0;
	(void)session_end(inside->session, &(struct kymo_err){ 0 });
	session_free(inside->session);
	return -1;
}

static int start(struct kymo_session *inside, struct request *request)
{
	struct session_options options = {
		.runtime_dir = inside->options.runtime_dir,
		.version = KYMO_VERSION,
		.only_self = !inside->options.all,
		.say = say,
		.context = inside,
	};
	struct first first = { 0 };
	struct kymo_err ignored;

	if ((request->path && check_path(request->path, &request->err) < 0) ||
	    choose_files(inside, &request->err) < 0 || make_filter(inside, &request->err) < 0 ||
	    open_first(inside, &options, &first, request) < 0)
		return -1;
	options.files = inside->files;
	options.filter = inside->filter;
	if (start_with(inside, &options, &first, request) < 0) {
		(void)perfetto_file_end(first.file, NULL);
		(void)end_relay(first.relay, &ignored);
		return -1;
	}
	inside->trace[0].file = first.file;
	inside->trace[0].relay = first.relay;
	return 0;
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

static int remove_sink(struct kymo_session *inside, struct request *request)
{
	int place = find_trace(inside, request->path);
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
	rc = end_file(inside, place, rc, &request->err);
	free(inside->trace[place].path);
	inside->trace[place].path = NULL;
	return rc;
}

static int set_rules(struct kymo_session *inside, struct request *request)
{
	struct filter_rules rules;
	int rc;

	if (read_rules(request->rules, "kymo_session_set_rules", &rules, &request->err) < 0)
		return -1;
	rc = session_set_rules(inside->session, &rules, &request->err);
	filter_rules_free(&rules);
	return rc;
}

static int statistics(const struct kymo_session *inside, struct request *request)
{
	int place = request->path ? find_trace(inside, request->path) : 0;

	if (place < 0)
		return err_set(&request->err, KYMO_EXIT_USAGE, "the session has no sink at %s", request->path);
	if (request->path)
		session_sink_stats(inside->session, inside->trace[place].sink, &request->stats);
	else
		session_stats(inside->session, &request->stats);
	return 0;
}

static int stop(struct kymo_session *inside, struct request *request)
{
	int rc = end_session(inside, &request->err);

	session_stats(inside->session, &request->stats);
	session_free(inside->session);
	return rc;
}

static int serve(struct kymo_session *inside, struct request *request)
{
	switch (request->what) {
	case START:
		return start(inside, request);
	case STOP:
		return stop(inside, request);
	case ADD:
		return add(inside, request);
	case ATTACH:
		return attach(inside, request);
	case REMOVE:
		return remove_sink(inside, request);
	case RULES:
		return set_rules(inside, request);
	default:
		return statistics(inside, request);
	}
}

int session_serve(struct kymo_session *inside, struct request *request)
{
	int rc = serve(inside, request);

	if (rc < 0)
		trace_dir_without_option(&request->err);
	return rc;
}
