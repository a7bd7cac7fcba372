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
	char spools[PATH_MAX];		/* the directory that it is in */
	struct send_left left;		/* of other recorders */
	bool looked;			/* for those */
	bool ends;			/* nothing more is given */
	struct sender_rest rest;	/* without a sender: it has ended */
	struct sink_trace *made;		/* all traces */
	uint32_t trace_count, stream_count;
	uint32_t records;		/* in the packet that is being given */
	const struct sink_beside *beside;	/* somebody else's trace; NULL: there is none */
	uint64_t bound_ns;		/* nothing before it comes of that */
	bool news;			/* since the sender was woken */
};

/* What a writer puts its trace into. */
struct sink_trace {
	struct sink_trace *next;
	struct ctf_store store;
	struct relay_sink *to;
	uint32_t id;
	bool begun;
	char name[NAME_MAX + 1];
};

/** relay_make_store() - a place for trace @name in its spool, which lives as long as it. Return: NULL without memory. */
struct sink_trace *relay_make_store(struct relay_sink *to, const char *name);

/** relay_make_trace() - as traces.begin: what @context, a struct relay_sink, is given for trace @name goes into its spool. */
int relay_make_trace(void *context, const char *name, struct ctf_writer **writer, struct kymo_err *err);

#endif
