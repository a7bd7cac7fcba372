/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What callers and the thread of a session inside of a program share. Private to session_inside.c,
 * session_serve.c and session_inside_sinks.c.
 *
 * Context of all functions: the session's thread.
 */
#ifndef KYMO_RECORDER_SESSION_INSIDE_H
#define KYMO_RECORDER_SESSION_INSIDE_H

#include <pthread.h>
#include <stdbool.h>

#include "kymo/session.h"
#include "recorder/filter/filter.h"
#include "recorder/perfetto/perfetto_file.h"
#include "recorder/session/session_internal.h"

enum what { START, STOP, ADD, ATTACH, REMOVE, RULES, STATISTICS };

struct request {
	enum what what;
	const char *path, *rules;
	struct kymo_sink *sink;
	struct session_stats stats;	/* the answer, like all that follows */
	struct kymo_err err;
	int rc;
	bool done;
};

struct kymo_session {
	pthread_mutex_t lock;		/* of request and what it points to */
	pthread_cond_t wake, answered;
	struct request *request;	/* NULL: none */
	pthread_t thread;
	pid_t pid;			/* whose session it is */
	struct kymo_session_options options;
	/* ---- the thread's own ---- */
	struct session *session;
	struct filter *filter;
	struct sink_files files;	/* how each trace is kept */
	struct {
		char *path;		/* as given; NULL: free */
		struct sink *sink;
		struct perfetto_file
			*file; /* that the sink writes; NULL: it is another sink */
		struct session_relay *relay;	/* to which the sink sends; NULL: the same */
	} trace[SINKS_MAX];
};

/** session_serve() - do what @request wants. Return: 0; -1 with request->err. */
int session_serve(struct kymo_session *inside, struct request *request);

/* session_inside_sinks.c */

/** inside_say() - hand a note to the program's message function. @context: the session. */
void inside_say(void *context, const char *text);

/** inside_check_path() - Return: 0; -1 with @err: @path is empty. */
int inside_check_path(const char *path, struct kymo_err *err);

/** inside_find_sink() - the index in inside->trace of the sink at @path. Return: -1: none. */
int inside_find_sink(const struct kymo_session *inside, const char *path);

/* Requests: do what @request wants. Return: 0; -1 with request->err. */
int inside_add_sink(struct kymo_session *inside, struct request *request);
int inside_attach_sink(struct kymo_session *inside, struct request *request);
int inside_remove_sink(struct kymo_session *inside, struct request *request);

/** inside_attach_own() - add @own, of the program or of @file, to the session that runs. @file:
 * NULL: none. Return: 0; -1 with @err. */
int inside_attach_own(struct kymo_session *inside, const char *name, struct kymo_sink *own,
		      struct perfetto_file *file, struct kymo_err *err);

/** inside_end_file() - complete the file or relay of sink @index, which is closed. @rc, @err: what
 * failed before. Return: @rc, or the first that fails. */
int inside_end_file(struct kymo_session *inside, int index, int rc, struct kymo_err *err);

/** inside_is_relay() - is @path a URL? @path: may be NULL. */
bool inside_is_relay(const char *path);

/** inside_open_relay() - session_relay_open() with the session's options. */
int inside_open_relay(struct kymo_session *inside, const char *url, struct session_relay **relay,
		      struct sink **sink, struct kymo_err *err);

/** inside_end_relay() - session_relay_end(). @relay: NULL: nothing. */
int inside_end_relay(struct session_relay *relay, struct kymo_err *err);

#endif
