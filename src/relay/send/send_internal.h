/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files send*.c share.
 *
 * Context of all functions: as send.h.
 */
#ifndef KYMO_RELAY_SEND_INTERNAL_H
#define KYMO_RELAY_SEND_INTERNAL_H

#include "relay/send/send.h"

/* ---- send.c ---- */

/** send_stream_of(), send_trace_of() - by id; NULL: there is none. */
struct send_stream *send_stream_of(const struct send *send, uint32_t id);
struct send_trace *send_trace_of(const struct send *send, uint32_t id);

/** send_session() - the session as it is created at the relay. */
struct producer_session send_session(const struct send *send);

/** send_create() - begin a session. */
void send_create(struct send *send);

/* ---- send_log.c ---- */

/** send_logs() - put the logs' next records into control and data, as far as there is room. Return:
 * 0; -1 with @err. */
int send_logs(struct send *send, struct kymo_err *err);

/** send_read_facts() - the traces and streams of the facts log, without sending. Return: 0; -1 with
 * @err. */
int send_read_facts(struct send *send, struct kymo_err *err);

/* ---- send_again.c ---- */

/** send_keep_old() - the connection is lost: remember what to ask about the session. */
void send_keep_old(struct send *send);

/** send_put_stored() - the body of WIRE_STORED, for @stream in the session @path.
 * send_stored_size() - its bytes. */
void send_put_stored(struct send *send, const struct send_stream *stream, const char *path);
size_t send_stored_size(const struct send_stream *stream, const char *path);

/** send_begin_if_asked() - begin a new session if this was the last answer about the old one. */
void send_begin_if_asked(struct send *send);

/** send_ask_old() - ask what the old session has stored, if the relay understands that. Return:
 * replies to come. */
unsigned send_ask_old(struct send *send);

/** send_on_stored() - the answer for @stream. Return: 0. */
int send_on_stored(struct send *send, struct send_stream *stream, struct wire_in *in);

/* ---- send_lost.c ---- */

/** send_no_datagrams() - the relay does not accept datagrams. Return: -1 with @err. */
int send_no_datagrams(struct kymo_err *err);

/** send_on_datagrams() - the answer with port and cookie. Return: 0; -1 with @err. */
int send_on_datagrams(struct send *send, struct wire_in *in, struct kymo_err *err);

/** send_forget_lost() - a new session sends all packets again after those that the old one stored:
 * they are not lost. */
void send_forget_lost(struct send *send);

/** send_ask_lost() - ask which packets of @stream were lost in the session @path. */
void send_ask_lost(struct send *send, struct send_stream *stream, const char *path);

/** send_on_lost() - the answer for @stream. Return: 0; -1 with @err. */
int send_on_lost(struct send *send, struct send_stream *stream, struct wire_in *in,
		 struct kymo_err *err);

/** send_on_lost_count() - the answer: what the relay could not store. */
void send_on_lost_count(struct send *send, struct wire_in *in);

/** send_count_lost() - @record, a packet of @stream, is stored or lost: count it if it is lost. */
void send_count_lost(struct send *send, struct send_stream *stream,
		     const struct spool_record *record);

/** send_count_round() - count the lost packets of the present round, before the spool releases
 * them. */
void send_count_round(struct send *send);

/* ---- send_end.c ---- */

/** send_asked() - one of the replies of the present round arrived. */
void send_asked(struct send *send);

/** send_promise() - packets may be sent from now on: promise the relay that a horizon will
 * follow. */
void send_promise(struct send *send);

/** send_beacons() - tell viewers up to when idle streams are silent, if it is time. */
void send_beacons(struct send *send, uint64_t now_ns);

/** send_ask() - ask whether what was sent is stored, if it is time. */
void send_ask(struct send *send, uint64_t now_ns);

/** send_answered() - the answer to DATA_PENDING for @stream. Return: 0; -1 with @err. */
int send_answered(struct send *send, struct send_stream *stream, uint32_t pending,
		  struct kymo_err *err);

/** send_leave() - the next step of the end, if everything before it is done. */
void send_leave(struct send *send, uint64_t now_ns);

#endif
