/* SPDX-License-Identifier: Apache-2.0 */
/* A sink that goes to a relay, and its traces. Not for others. */
#ifndef KYMO_RELAY_SEND_SINK_INTERNAL_H
#define KYMO_RELAY_SEND_SINK_INTERNAL_H

#include <limits.h>

#include "recorder/trace/traces.h"
#include "relay/send/send_sink.h"

/*
 * Spools that other recorders left: they were killed, or ended while their relay was gone. The next
 * recorder that sends to the same relay also sends these spools, each as a session of its own.
 *
 * Context of all functions: on the session's thread.
 */
#define SEND_LEFT_MAX 16 /* at the same time */

struct send_left {
	struct {
		struct spool *spool;
		struct sender *sender;
		struct sender_left note;
	} item[SEND_LEFT_MAX];
	unsigned count;
	uint64_t lost_packets, lost_events; /* of their datagrams: lost on the way */
	struct spool_unstored unstored;     /* of them */
};

/**
 * send_left_begin() - send the spools in the directory @parent
 * @like: how to reach the relay
 *
 * Spools of living recorders and those for other relays are left alone. Return: bytes that are sent
 * now.
 */
uint64_t send_left_begin(struct send_left *left, const char *parent,
			 const struct sender_options *like);

/** send_left_poll() - forget the senders that are done. */
void send_left_poll(struct send_left *left);

/** send_left_leave() - before send_left_end(): give up senders without progress for @patience_ns.
 * Does not wait. */
void send_left_leave(struct send_left *left, uint64_t patience_ns);

/** send_left_end() - wait for the remaining ones; spools that cannot be sent stay. */
void send_left_end(struct send_left *left, uint64_t patience_ns);

/* ---- the sink ---- */

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
	bool has_events;		/* a packet with events was kept for the relay */
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

/**
 * relay_make_store() - a store for trace @name in the spool, which frees it. Return: NULL: out of
 * memory.
 */
struct sink_trace *relay_make_store(struct relay_sink *to, const char *name);

/**
 * relay_make_trace() - for traces.begin: a writer for trace @name into the spool of @context, a
 * struct relay_sink.
 */
int relay_make_trace(void *context, const char *name, struct ctf_writer **writer,
		     struct kymo_err *err);

/* ---- send_sink_tell.c ---- */

/** send_sink_tell() - as struct sink_ops: the member "relay" of the accounts. */
void send_sink_tell(const struct sink *sink, struct json_object *root);

/** send_sink_say() - to the user: what was lost on the way, or could not be stored. */
void send_sink_say(const struct relay_sink *to, const struct sender_rest *rest);

#endif
