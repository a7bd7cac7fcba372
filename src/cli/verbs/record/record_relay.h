/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is sent to a relay, beside a trace of its own or without one.
 *
 * Context: not thread-safe. record_relay_prepare() and record_relay_remote() may read files of
 * keys: they allocate and block.
 */
#ifndef KYMO_CLI_RECORD_RELAY_H
#define KYMO_CLI_RECORD_RELAY_H

#include "cli/input/access_options.h"
#include "cli/common/common.h"
#include "recorder/record/record.h"
#include "relay/send/send_sink.h"

struct relay_wishes {
	const char *url;
	int64_t live_timer, linger;
	uint64_t spool;
	struct access_wishes access;
};

/* Rows; @member of the verb's options struct @type is a struct relay_wishes. */
#define RELAY_OPTS(type, member) \
	{ "relay", 0, OPT_TEXT, offsetof(type, member.url), "URL", \
	  "send the recording to a relay, kymo's or lttng-relayd: net://HOST[:CONTROL[:DATA]][/SESSION]; with -o also write it. " \
	  "udp://: packets as datagrams, to kymo's relay only", NULL }, \
	RELAY_HOW_OPTS(type, member)

/* Without the URL, for a verb that has it as an operand. */
#define RELAY_HOW_OPTS(type, member) \
	{ "live-timer", 0, OPT_TIME, offsetof(type, member.live_timer), "TIME", \
	  "with a relay: how often viewers learn that nothing happened; an event waits half of it for others (default 4ms)", NULL }, \
	{ "spool", 0, OPT_SIZE, offsetof(type, member.spool), "SIZE", \
	  "with a relay: keep up to SIZE that it has not stored yet (default 256M, in $KYMO_SPOOL_DIR)", NULL }, \
	{ "linger", 0, OPT_TIME, offsetof(type, member.linger), "TIME", \
	  "with a relay: at the end, wait TIME for a relay that makes no progress (default 10s)", NULL }, \
	ACCESS_OPTS(type, member.access)

struct record_relay {
	const char *url;		/* NULL: there is none */
	struct url at;
	struct access access;
	struct sender_rest rest;	/* what the relay did not confirm */
};

/** record_relay_prepare() - check the options. Return: 0; -1 with @err. Free it in both cases. */
int record_relay_prepare(const struct relay_wishes *wishes, struct record_relay *relay,
			 struct kymo_err *err);

/**
 * record_relay_begin() - create the sink, @record->session.sink; it starts a thread. Return: 0; -1
 * with @err.
 */
int record_relay_begin(const struct relay_wishes *wishes, struct record_relay *relay,
		       struct record_options *record, struct kymo_err *err);

/** record_relay_any() - is any of the options given, except for the URL? */
bool record_relay_any(const struct relay_wishes *wishes);

/**
 * record_relay_request() - put what was asked for, and checked, into @request for a running
 * recorder
 * Return: 0; -1 with @err: a file's path is too long.
 */
int record_relay_request(const struct relay_wishes *wishes, struct json_object *request,
			 struct kymo_err *err);

/**
 * record_relay_remote() - as record_options.remote, of such a @request
 * @session: how the session reports something
 */
int record_relay_remote(const struct session_options *session, struct json_object *request,
			struct sink **sink, struct kymo_err *err);

void record_relay_free(struct record_relay *relay);

#endif
