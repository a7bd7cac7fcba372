/* SPDX-License-Identifier: Apache-2.0 */
/* What callers and the thread of a session inside of a program share. Private to session_inside.c
 * and session_serve.c. */
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

/** session_serve() - do what @request wants. Return: 0; -1 with request->err. Context: its
 * thread. */
int session_serve(struct kymo_session *inside, struct request *request);

#endif
