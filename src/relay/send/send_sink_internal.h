/* SPDX-License-Identifier: Apache-2.0 */
/* A sink that goes to a relay, and its traces. Not for others. */
#ifndef KYMO_RELAY_SEND_SINK_INTERNAL_H
#define KYMO_RELAY_SEND_SINK_INTERNAL_H

#include <limits.h>

#include "recorder/trace/traces.h"
#include "relay/send/send_left.h"
#include "relay/send/send_sink.h"

#define NAME_MAX_SESSION 255

struct relay_sink {
	struct sink sink;
	struct send_sink_options options;
	char *url;
	char name[NAME_MAX_SESSION];	/* of the session */
	struct ctf_trace_desc desc;
	struct traces traces;
	struct spool *spool;
	struct sender *sender;
	char spools[PATH_MAX];		/* directory of the spool */
	struct send_left left;		/* other recorders' spools */
	bool looked;			/* for other recorders' spools */
	bool ends;			/* no more packets will come */
	struct sender_rest rest;	/* valid when sender is NULL: it has ended */
	struct sink_trace *made;		/* all traces */
	uint32_t trace_count, stream_count;
	uint32_t records;		/* in the packet that is added */
	const struct sink_beside *beside;	/* a trace that another writer fills; NULL: none */
	uint64_t bound_ns;		/* no earlier event will come in that trace */
	bool news;			/* since the sender was woken */
};

/* A trace in the spool, which a writer fills. */
struct sink_trace {
	struct sink_trace *next;
	struct ctf_store store;
	struct relay_sink *to;
	uint32_t id;
	bool begun;
	char name[NAME_MAX + 1];
};

/** relay_make_store() - a store for trace @name in the spool, which frees it. Return: NULL: out of memory. */
struct sink_trace *relay_make_store(struct relay_sink *to, const char *name);

/** relay_make_trace() - for traces.begin: a writer for trace @name into the spool of @context, a struct relay_sink. */
int relay_make_trace(void *context, const char *name, struct ctf_writer **writer, struct kymo_err *err);

#endif
