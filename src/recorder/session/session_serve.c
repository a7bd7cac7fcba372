/* SPDX-License-Identifier: Apache-2.0 */
/* Serves the requests of callers of include/kymo/session.h, on the session's thread; of their sinks
 * in session_inside_sinks.c. */
#include <string.h>

#include "recorder/own/own_sink.h"
#include "recorder/session/session_inside.h"
#include "recorder/trace/trace_dir.h"
#include "base/array.h"

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

static int end_session(struct kymo_session *inside, struct kymo_err *err)
{
	int rc = session_end(inside->session, err);

	for (int i = 0; i < SINKS_MAX; i++)
		rc = inside_end_file(inside, i, rc, err);
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
	if (inside_is_relay(request->path))
		return inside_open_relay(inside, request->path, &first->relay, &options->sink,
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
	    inside_attach_own(inside, own_sink_name(program), program, NULL, &request->err) == 0)
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
		.say = inside_say,
		.context = inside,
	};
	struct first first = { 0 };
	struct kymo_err ignored;

	if ((request->path && inside_check_path(request->path, &request->err) < 0) ||
	    choose_files(inside, &request->err) < 0 || make_filter(inside, &request->err) < 0 ||
	    open_first(inside, &options, &first, request) < 0)
		return -1;
	options.files = inside->files;
	options.filter = inside->filter;
	if (start_with(inside, &options, &first, request) < 0) {
		(void)perfetto_file_end(first.file, NULL);
		(void)inside_end_relay(first.relay, &ignored);
		return -1;
	}
	inside->trace[0].file = first.file;
	inside->trace[0].relay = first.relay;
	return 0;
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
	int place = request->path ? inside_find_sink(inside, request->path) : 0;

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
		return inside_add_sink(inside, request);
	case ATTACH:
		return inside_attach_sink(inside, request);
	case REMOVE:
		return inside_remove_sink(inside, request);
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
