/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of DDS that tcpdump, dumpcap or Wireshark captured, matched with the messages of a trace.
 *
 *   captures_read(&captures, arguments, count, &err);		files, into memory
 *   capture_create(&capture, captures, model, align, &err);	listens to the model
 *   ... the pass over the trace ...
 *   capture_finish(capture);
 *   capture_message(capture, packet)				which message it carried
 *
 * A message and its packets have the same writer (GUID) and source timestamp; parts of a message
 * that have no timestamp have the writer and the sequence number of one that has. Only packets of
 * DATA and DATA_FRAG submessages of programs' writers count, and requests to send something again.
 *
 * Captures have times of CLOCK_REALTIME, as trace clocks have, so one is compared with the other.
 *
 * Context of all functions: not thread-safe; allocate; captures_read() blocks. About 150 bytes for
 * each packet of DDS.
 */
#ifndef KYMO_ANALYSIS_CAPTURE_H
#define KYMO_ANALYSIS_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/align/align.h"
#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/err.h"

#define CAPTURE_FILES_MAX 32u
#define CAPTURE_ADDRESS_MAX 64u

struct capture_address {
	uint8_t bytes[16];
	uint16_t port;
	bool is_ipv6;
};

enum capture_kind {
	CAPTURE_DATA,		/* a message */
	CAPTURE_FRAGMENT,	/* a part of a message */
	/* a reader asks for messages that it did not get (ACKNACK, NACK_FRAG) */
	CAPTURE_REQUEST,
};

/* A submessage of a packet. */
struct capture_packet {
	int64_t ns;		/* when it was captured: CLOCK_REALTIME of that host */
	int64_t source_ns;	/* source timestamp of its message; 0: not known */
	/* number of the message; of a request: of the first one that is missing */
	uint64_t sequence;
	struct capture_address from, to;
	uint8_t writer[16];	/* GUID */
	uint32_t bytes;		/* of the packet on the wire, with all its submessages */
	/* the first one, from 1, and how many are in it; 0: not in parts */
	uint32_t fragment, fragments;
	uint8_t file;
	enum capture_kind kind;
	/* A copy was captured before, and somebody asked for it; or it went the same way before. */
	bool again;
	bool seen;		/* a copy was captured before in this file, on whatever way */
	bool is_first_to;	/* no copy to this destination was captured before in this file */
};

struct captures;

/**
 * captures_read() - read files in the formats pcap and pcapng
 * @argument: FILE, or HOST=FILE: captured on the host of that name in the trace
 *
 * A file that is damaged or ends early is read as far as possible: captures_warning().
 *
 * Return: 0, or -1 with @err (KYMO_EXIT_INPUT: not a capture; KYMO_EXIT_USAGE).
 */
int captures_read(struct captures **captures, const char *const *argument, unsigned arguments,
		  struct kymo_err *err);
void captures_free(struct captures *captures);

/** captures_read_stream() - the same for one open file; for tests. */
int captures_read_stream(struct captures **captures, FILE *stream, struct kymo_err *err);

/**
 * captures_count() - the number of packets, in order of files and times; captures_packet(): one of
 * them.
 */
uint64_t captures_count(const struct captures *captures);
const struct capture_packet *captures_packet(const struct captures *captures, uint64_t index);

/** captures_warning() - what could not be read, as sentences; NULL after the last. */
const char *captures_warning(const struct captures *captures, unsigned index);

/** captures_host() - where this packet was captured; NULL: not given. */
const char *captures_host(const struct captures *captures, const struct capture_packet *packet);
/** captures_file() - the path of its file. */
const char *captures_file(const struct captures *captures, const struct capture_packet *packet);

/** capture_kind_name() - "data", "fragment", "request". */
const char *capture_kind_name(enum capture_kind kind);

/** capture_address_text() - "10.0.0.2:7411". Return: @buffer, of CAPTURE_ADDRESS_MAX bytes. */
char *capture_address_text(const struct capture_address *address, char *buffer);

/* ---- with a trace ---- */

/* A message of the trace, and its packets. Times are of the trace's clock; 0: not known. */
struct capture_message {
	uint64_t id;			/* its publication */
	const struct model_publisher *publisher;
	int64_t source_ns;
	int64_t send_ns, given_ns;	/* rmw_publish; given to the network by the middleware */
	int64_t received_ns;		/* the first receiving process has it */
	unsigned takes;			/* subscriptions of other processes that received it */
	unsigned packets, again;
	uint64_t bytes;
	/* at the sender's host: first packet, last one that was new */
	int64_t first_ns, last_ns;
	int64_t arrived_ns;		/* at the receiver's host: last packet that was new */
	int64_t again_ns;		/* at the sender's host: last packet that was sent again */
	/* packets, also those sent again, that the capture of their host does not have */
	unsigned lost;
};

struct capture;

/** capture_create() - @align may be NULL. Return: 0, or -1 with @err. */
int capture_create(struct capture **capture, const struct captures *captures, struct model *model,
		   const struct align *align, struct kymo_err *err);
void capture_destroy(struct capture *capture);

/** capture_finish() - the trace is over: match packets with messages. */
void capture_finish(struct capture *capture);

bool capture_failed(const struct capture *capture);

/** capture_message() - which message @packet carried; NULL: none of the trace. */
const struct capture_message *capture_message(const struct capture *capture,
					      const struct capture_packet *packet);

/** capture_publication() - the message with this number; NULL: it has no packet. */
const struct capture_message *capture_publication(const struct capture *capture, uint64_t id);

/** capture_covers() - did any capture run then? @ns: in the time of the trace. */
bool capture_covers(const struct capture *capture, int64_t ns);

/**
 * capture_before() - the earlier message of the same publisher that was last sent again in
 * [@from_ns, @to_ns]
 *
 * A reliable reader gets messages in order: until that one arrives, it holds @publication back.
 * Return: NULL: none.
 */
const struct capture_message *capture_before(const struct capture *capture,
					     const struct model_publisher *publisher,
					     uint64_t publication, int64_t from_ns, int64_t to_ns);

/** capture_publisher() - whose packet it is, or whom a request asks; NULL: none of the trace. */
const struct model_publisher *capture_publisher(const struct capture *capture,
						const struct capture_packet *packet);

/** capture_next() - all messages with packets, @at: 0 to begin. Return: NULL after the last. */
const struct capture_message *capture_next(const struct capture *capture, uint64_t *at);

/** capture_time() - when @packet was captured, in the time of the trace. */
int64_t capture_time(const struct capture *capture, const struct capture_packet *packet);

/** capture_missing() - messages of @publisher while the capture ran without any packet. */
uint64_t capture_missing(const struct capture *capture, const struct model_publisher *publisher);

/* For pass_add(). */
extern const struct pass_ops capture_pass;

#endif
