/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recorder says to a relay, be it ours or lttng-relayd: from the spool to bytes for the control
 * and the data connection, and back from replies. It knows no socket and no clock.
 *
 *   VERSION ─▶ GET_CONFIGURATION ─▶ STORED ─▶ CREATE_SESSION ─▶ CREATE_TRACE_CHUNK ─▶ READY ─▶ ENDING ─▶ CLOSING ─▶ DONE
 *              who is it?           ours, and we                                    packets  all is   DATA_PENDING
 *                                   were cut off                                             sent     said 0
 *
 * Facts come before runtime events, a stream before its packets, metadata before both. In READY,
 * the relay is asked time and again whether it has stored what was sent: then the spool lets it go.
 * When the connection is lost all begins anew: a session that is complete in itself, with all facts,
 * and with those packets that were not known to be stored. A relay of kymo's is asked first which of those it has.
 *
 * Context of all functions: on one thread; allocate, and read the spool's files.
 */
#ifndef KYMO_RELAY_SEND_H
#define KYMO_RELAY_SEND_H

#include "base/err.h"
#include "base/map.h"
#include "relay/producer/producer.h"
#include "relay/send/spool.h"

enum send_state {
	SEND_OFFLINE, SEND_VERSION, SEND_CONFIGURE, SEND_STORED, SEND_CREATE, SEND_CHUNK, SEND_READY, SEND_ENDING,
	SEND_CLOSING, SEND_DONE,
};

struct send_options {
	const char *session, *host;	/* its name, and that of this machine */
	uint64_t live_timer_ns;		/* how often idle streams are told of */
	bool datagrams;			/* packets go as such */
};

struct send_trace {
	uint32_t id;
	uint8_t uuid[16];
	char name[NAME_MAX + 1];
	struct producer_stream at;	/* the metadata stream at the present relay */
};

struct send_stream {
	uint32_t id;
	struct send_trace *trace;
	uint32_t class;
	char name[NAME_MAX + 1];
	bool ended;
	uint64_t ended_at;		/* SPOOL_RUN up to there has packets of it */
	uint64_t stored_discarded;	/* events_discarded of the last packet that is known to be stored */
	bool done;			/* it has ended, and all of it is stored */
	bool ask_old;			/* the session before this may have more than is known */
	bool has_some;			/* earlier sessions have its packets up to ... */
	uint64_t has_seq;		/* ... this packet_seq_num */
	uint64_t *lost;			/* [lost_count] packet_seq_nums, ascending: lost on the way, and not counted yet */
	uint32_t lost_count, lost_room;
	uint64_t lost_least;		/* what is before it was sent in an earlier session */
	uint64_t lost_known;		/* entries that the present session, or the one before, told of */
	/* At the present relay: */
	struct producer_stream at;
	bool announced, closed;
	uint64_t next_seq, stored_seq;	/* packets sent, known to be stored */
	uint64_t asked_seq;		/* if pending: DATA_PENDING asks for packets before this */
	bool pending;			/* it has not said 0 yet */
	uint64_t discarded, asked_discarded;	/* of the last packet sent or skipped; as of the last round */
	uint64_t instance;
	uint64_t end_ns;		/* of the last packet */
};

/* Up to where the two logs are sent, or stored. */
struct send_place {
	uint64_t at[SPOOL_LOGS];
};

struct send {
	struct send_options options;
	struct spool *spool;
	enum send_state state;
	/*
	 * What its two connections carry. The caller sends and empties producer.control and producer.data; with datagrams, data
	 * has for each of them its u32 size (of this machine) and its bytes.
	 */
	struct producer producer;
	uint64_t created_s, begun_ns;
	uint64_t flags;			/* of GET_CONFIGURATION: what the relay understands */
	bool path_is_new;		/* producer.path: the relay has named the session */
	char *old_path;			/* of the session that was cut off; NULL: there is none */
	bool old_pending;		/* it has to be asked for again */
	uint64_t old_at;		/* when */
	uint8_t uuid[16];		/* who we are: not nil */
	struct send_trace **trace;
	struct send_stream **stream;
	unsigned trace_count, stream_count;	/* by id */
	unsigned unannounced;		/* streams that viewers do not know of */
	struct send_place sent, stored;
	struct send_place round;	/* of the DATA_PENDING that are out */
	struct spool_stored round_counted;	/* lost_packets and lost_events when it began: of packets before it */
	bool asking;			/* whether all before it is stored */
	unsigned asking_streams;	/* replies to come */
	uint16_t datagram_port;		/* of the relay, for this session */
	uint64_t cookie;		/* of its datagrams; 0: not known yet */
	struct wire_out piece;		/* a datagram that is being made */
	uint64_t lost_packets, lost_events;	/* of datagrams, on the way: neither stored nor sent again */
	uint64_t ask_at;		/* when to ask again */
	uint64_t horizon_ns;		/* no event before it will come, but for those ... */
	struct send_place horizon;	/* ... before here */
	uint64_t told_ns, beacon_ns;	/* the last beacon's time; when it went */
	uint64_t end_ns;		/* the latest end of a packet that was sent */
	bool finish;			/* nothing more is added */
	uint64_t leave_at;		/* not before, of a relay without chunks */
	void *body;			/* of the record that was read last */
	size_t body_room;
	uint64_t packets, sessions;	/* sent; begun */
};

/** send_init() - @spool outlives it. */
void send_init(struct send *send, struct spool *spool, const struct send_options *options);
void send_free(struct send *send);

/**
 * send_adopt() - @spool is a dead recorder's, after send_init(): nothing more is added to it
 * @uuid, @path: of the session that it had at the relay; @path may be ""
 *
 * Return: 0; -1 with @err: it cannot be read.
 */
int send_adopt(struct send *send, const uint8_t uuid[16], const char *path, struct kymo_err *err);

/** send_begin() - there are connections; @now_s: seconds since the Epoch, @now_ns: CLOCK_MONOTONIC. */
void send_begin(struct send *send, uint64_t now_s, uint64_t now_ns);

/** send_lost() - the connections are no more. */
void send_lost(struct send *send);

/**
 * send_input() - bytes came over the control connection
 * Return: 0; -1 with @err: the relay refuses, or says what makes no sense: leave it.
 */
int send_input(struct send *send, const uint8_t *bytes, size_t size, struct kymo_err *err);

/**
 * send_work() - put what is to be sent now into control and data
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: 0; -1 with @err: the spool cannot be read.
 */
int send_work(struct send *send, uint64_t now_ns, struct kymo_err *err);

/** send_horizon() - what is in the spool now is all there will ever be of before @ns. */
void send_horizon(struct send *send, uint64_t ns, const struct send_place *place);

/** send_finish() - nothing more is added to the spool: when all is stored, leave the relay in order. */
void send_finish(struct send *send);

/** send_is_all_stored() - nothing is in the spool that the relay is not known to have stored. */
bool send_is_all_stored(struct send *send);

#endif
