/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's side of a connection to a relay, kymo's or lttng-relayd: the spool's records
 * become bytes for the control and the data connection, and replies are handled. It knows no socket
 * and no clock.
 *
 *   VERSION ─▶ GET_CONFIGURATION ─▶ STORED ─▶ CREATE_SESSION ─▶ CREATE_TRACE_CHUNK ─▶ READY ─▶ ENDING ─▶ CLOSING ─▶ DONE
 *              is it kymo's?        only kymo's, after                              packets  all is   DATA_PENDING
 *                                   a lost connection                                        sent     answered 0
 *
 * The initial facts (names and the like) are sent before runtime events, a stream before its
 * packets, metadata before both. In READY the relay is asked again and again whether it has stored
 * what was sent; the spool releases what is stored. After a lost connection everything begins anew:
 * a new session, complete in itself, with all facts and with those packets that are not known to be
 * stored. A kymo relay is asked first which of these packets it has stored.
 *
 * Context of all functions: on one thread; allocate, and read the spool's files.
 */
#ifndef KYMO_RELAY_SEND_H
#define KYMO_RELAY_SEND_H

#include "base/err.h"
#include "relay/producer/producer.h"
#include "relay/send/spool.h"

enum send_state {
	SEND_OFFLINE,
	SEND_VERSION,
	SEND_CONFIGURE,
	SEND_STORED,
	SEND_CREATE,
	SEND_CHUNK,
	SEND_READY,
	SEND_ENDING,
	SEND_CLOSING,
	SEND_DONE,
};

struct send_options {
	const char *session, *host;	/* the session's name, and this machine's */
	uint64_t live_timer_ns;		/* how often idle streams send a beacon */
	bool datagrams;			/* packets are sent as datagrams */
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
	uint64_t ended_at;         /* its packets in SPOOL_RUN are before this position */
	uint64_t stored_discarded; /* events_discarded of the last packet that is known to be
				    * stored */
	bool done;                 /* it has ended, and all its packets are stored */
	bool ask_old;     /* the session before this one may have stored more than is known */
	bool has_some;    /* earlier sessions have its packets up to ... */
	uint64_t has_seq; /* ... this packet_seq_num */
	uint64_t *lost; /* [lost_count] packet_seq_nums, ascending: datagrams that were lost and not
			   counted yet */
	uint32_t lost_count, lost_room;
	uint64_t lost_least; /* packets before this one were sent in an earlier session */
	uint64_t lost_known; /* entries of the lost list that the relay has already sent */
	/* At the present relay: */
	struct producer_stream at;
	bool announced, closed;
	uint64_t next_seq, stored_seq; /* packets sent; packets known to be stored */
	uint64_t asked_seq;            /* if pending: DATA_PENDING asks for packets before this */
	bool pending;                  /* the relay has not answered 0 yet */
	uint64_t discarded,
		asked_discarded; /* of the last packet sent or skipped; at the last round */
	uint64_t instance;
	uint64_t end_ns;		/* of the last packet */
};

/* Positions in the two logs: sent up to here, stored up to here. */
struct send_place {
	uint64_t at[SPOOL_LOGS];
};

struct send {
	struct send_options options;
	struct spool *spool;
	enum send_state state;
	/*
	 * The bytes for the two connections. The caller sends and empties producer.control and
	 * producer.data. With datagrams, data has for each of them a u32 size (in this machine's
	 * byte order) and its bytes.
	 */
	struct producer producer;
	uint64_t created_s, begun_ns;
	uint64_t flags;   /* GET_CONFIGURATION: what the relay understands */
	bool path_is_new; /* producer.path: the relay has named the session */
	char *old_path;   /* of the session before, whose connection was lost; NULL: none */
	bool old_pending; /* the relay answered WIRE_NOT_YET: ask again */
	uint64_t old_at;  /* when to ask again */
	uint8_t uuid[16]; /* this sender's; not nil */
	struct send_trace **trace;
	struct send_stream **stream;
	unsigned trace_count, stream_count, trace_room, stream_room;	/* by id */
	unsigned unannounced;		/* streams that are not announced to viewers yet */
	struct send_place sent, stored;
	struct send_place round; /* positions that the DATA_PENDING in the queue ask about */
	struct spool_stored round_counted; /* lost_packets and lost_events when the round began: of
					      packets before it */
	bool asking;                       /* a round of DATA_PENDING is under way */
	unsigned asking_streams;           /* its replies that have not arrived */
	uint16_t datagram_port;            /* of the relay, for this session */
	uint64_t cookie;                   /* of the session's datagrams; 0: not known yet */
	struct wire_out piece;             /* the datagram that is composed */
	uint64_t lost_packets,
		lost_events;         /* datagrams that were lost: neither stored nor sent again */
	/*
	 * What relays could not store, and what the present one has said of its session. A relay
	 * that is left at such a moment may count packets that the next session sends again.
	 */
	struct spool_unstored unstored, unstored_here;
	bool counting;               /* WIRE_LOST_COUNT is in the queue: the round ends with it */
	uint64_t ask_at;             /* when to begin the next round */
	uint64_t horizon_ns;         /* no earlier event will come, apart from those ... */
	struct send_place horizon;   /* ... before these positions */
	uint64_t told_ns, beacon_ns; /* the last beacon's time; when it was sent */
	uint64_t end_ns;             /* the latest end of the packets sent */
	bool finish;                 /* the spool is complete */
	uint64_t leave_at;           /* a relay without chunks: not before this time */
	unsigned pause_ms;           /* before the next connection, if this one is lost */
	uint64_t begun_at;           /* SPOOL_RUN that was stored when this connection began */
	bool is_proven; /* this relay does what it should: it has stored something, or it has not
			   failed for a while */
	void *body;                  /* of the record that was read last */
	size_t body_room;
	uint64_t packets, sessions;	/* packets sent, sessions begun */
};

/** send_init() - @spool must outlive @send. */
void send_init(struct send *send, struct spool *spool, const struct send_options *options);
void send_free(struct send *send);

/**
 * send_adopt() - after send_init(): @spool is a killed recorder's, and complete
 * @uuid, @path: of the session that the recorder had at the relay; @path may be ""
 *
 * Return: 0; -1 with @err: the spool cannot be read.
 */
int send_adopt(struct send *send, const uint8_t uuid[16], const char *path, struct kymo_err *err);

#define SEND_PAUSE_LEAST_MS 100u
#define SEND_PAUSE_MOST_MS 5000u

/**
 * send_pause() - how long to wait before the next connection, in ms
 *
 * Each time twice as long, until a relay is proven: one that accepts a session and then fails is no
 * better than one that cannot be reached.
 */
unsigned send_pause(struct send *send);

/** send_begin() - the connections are open; @now_s: seconds since the Epoch, @now_ns:
 * CLOCK_MONOTONIC. */
void send_begin(struct send *send, uint64_t now_s, uint64_t now_ns);

/** send_lost() - the connections are closed. */
void send_lost(struct send *send);

/**
 * send_input() - bytes arrived on the control connection
 * Return: 0; -1 with @err: the relay refuses a request, or its reply is invalid: leave this relay.
 */
int send_input(struct send *send, const uint8_t *bytes, size_t size, struct kymo_err *err);

/**
 * send_work() - compose what is to be sent now
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: 0; -1 with @err: the spool cannot be read.
 */
int send_work(struct send *send, uint64_t now_ns, struct kymo_err *err);

/** send_horizon() - no event before @ns will come, apart from those before @place in the spool. */
void send_horizon(struct send *send, uint64_t ns, const struct send_place *place);

/** send_finish() - the spool is complete: when all of it is stored, leave the relay in order. */
void send_finish(struct send *send);

/** send_is_all_stored() - the relay is known to have stored all of the spool. */
bool send_is_all_stored(struct send *send);

#endif
