/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the sender's state share. Not for others. */
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

/** send_logs() - what the logs have, as far as there is room. Return: 0; -1 with @err. */
int send_logs(struct send *send, struct kymo_err *err);

/** send_meet() - the traces and streams of the facts, sending nothing. Return: 0; -1 with @err. */
int send_meet(struct send *send, struct kymo_err *err);

/* ---- send_again.c ---- */

/** send_keep_old() - the session is cut off: remember what has to be asked about it. */
void send_keep_old(struct send *send);

/** send_put_stored() - the body of WIRE_STORED, for @stream in the session @path. send_stored_size() - its bytes. */
void send_put_stored(struct send *send, const struct send_stream *stream, const char *path);
size_t send_stored_size(const struct send_stream *stream, const char *path);

/** send_begin_if_asked() - the last answer about the old session is taken: a new one begins. */
void send_begin_if_asked(struct send *send);

/** send_ask_old() - what of the old session is stored, if it can be asked. Return: replies to come. */
unsigned send_ask_old(struct send *send);

/** send_on_stored() - an answer for @stream. Return: 0. */
int send_on_stored(struct send *send, struct send_stream *stream, struct wire_in *in);

/* ---- send_lost.c ---- */

/** send_no_datagrams() - the relay takes none. Return: -1 with @err. */
int send_no_datagrams(struct kymo_err *err);

/** send_on_datagrams() - where to, and the session's cookie. Return: 0; -1 with @err. */
int send_on_datagrams(struct send *send, struct wire_in *in, struct kymo_err *err);

/** send_forget_lost() - a new session begins: what is behind the old one's packets is sent again, and so not lost. */
void send_forget_lost(struct send *send);

/** send_ask_lost() - which packets of @stream were lost in the session @path. */
void send_ask_lost(struct send *send, struct send_stream *stream, const char *path);

/** send_on_lost() - an answer for @stream. Return: 0; -1 with @err. */
int send_on_lost(struct send *send, struct send_stream *stream, struct wire_in *in, struct kymo_err *err);

/** send_count_lost() - @record, a packet of @stream, is stored, or it is one of those that were lost. */
void send_count_lost(struct send *send, struct send_stream *stream, const struct spool_record *record);

/** send_count_round() - the same, for all that the present round asked for, before the spool lets it go. */
void send_count_round(struct send *send);

/* ---- send_end.c ---- */

/** send_asked() - a reply came that send_ask() waits for. */
void send_asked(struct send *send);

/** send_beacons() - tell what the idle streams will not send any more, if it is time. */
void send_beacons(struct send *send, uint64_t now_ns);

/** send_ask() - whether what was sent is stored, if it is time. */
void send_ask(struct send *send, uint64_t now_ns);

/** send_answered() - to DATA_PENDING, for @stream. Return: 0; -1 with @err. */
int send_answered(struct send *send, struct send_stream *stream, uint32_t pending, struct kymo_err *err);

/** send_leave() - steps of the end, when all that it needs is there. */
void send_leave(struct send *send, uint64_t now_ns);

#endif
