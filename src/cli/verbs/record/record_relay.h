/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that is sent to a relay, beside a trace of its own or without one. */
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
	  "send it to a relay, kymo's or lttng-relayd: net://HOST[:CONTROL[:DATA]][/SESSION]; with -o write it, too. " \
	  "udp://: packets as datagrams, to kymo's alone", NULL }, \
	RELAY_HOW_OPTS(type, member)

/* Without the URL, which stands elsewhere then. */
#define RELAY_HOW_OPTS(type, member) \
	{ "live-timer", 0, OPT_TIME, offsetof(type, member.live_timer), "TIME", \
	  "of a relay: so often viewers learn that nothing happened; half of it an event waits for others (default 4ms)", NULL }, \
	{ "spool", 0, OPT_SIZE, offsetof(type, member.spool), "SIZE", \
	  "of a relay: keep so much that it has not stored yet (default 256M, in $KYMO_SPOOL_DIR)", NULL }, \
	{ "linger", 0, OPT_TIME, offsetof(type, member.linger), "TIME", \
	  "of a relay: wait so long at the end for one that makes no progress (default 10s)", NULL }, \
	ACCESS_OPTS(type, member.access)

struct record_relay {
	const char *url;		/* NULL: there is none */
	struct url at;
	struct access access;
	struct sender_rest rest;	/* what the relay is not known to have */
};

/** record_relay_prepare() - check what was asked for. Return: 0; -1 with @err. Give it back in both cases. */
int record_relay_prepare(const struct relay_wishes *wishes, struct record_relay *relay, struct kymo_err *err);

/** record_relay_begin() - make the sink, @record->session.sink; it begins a thread. Return: 0; -1 with @err. */
int record_relay_begin(const struct relay_wishes *wishes, struct record_relay *relay, struct record_options *record,
		       struct kymo_err *err);

/** record_relay_any() - is any of the options given, but for the URL? */
bool record_relay_any(const struct relay_wishes *wishes);

/**
 * record_relay_request() - put what was asked for, and checked, into @request for a running recorder
 * Return: 0; -1 with @err: a file's path is too long.
 */
int record_relay_request(const struct relay_wishes *wishes, struct json_object *request, struct kymo_err *err);

/**
 * record_relay_remote() - as record_options.remote, of such a @request
 * @session: how the session says something
 */
int record_relay_remote(const struct session_options *session, struct json_object *request, struct sink **sink, struct kymo_err *err);

void record_relay_free(struct record_relay *relay);

#endif
