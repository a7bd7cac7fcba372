/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that is sent to a relay, beside a trace of its own or without one. */
#ifndef KYMO_CLI_RECORD_RELAY_H
#define KYMO_CLI_RECORD_RELAY_H

#include "cli/access_options.h"
#include "cli/common.h"
#include "recorder/record.h"
#include "relay/send_sink.h"

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
	{ "live-timer", 0, OPT_TIME, offsetof(type, member.live_timer), "TIME", \
	  "with --relay: so often viewers learn that nothing happened; half of it an event waits for others (default 4ms)", NULL }, \
	{ "spool", 0, OPT_SIZE, offsetof(type, member.spool), "SIZE", \
	  "with --relay: keep so much that the relay has not stored yet (default 256M, in $KYMO_SPOOL_DIR)", NULL }, \
	{ "linger", 0, OPT_TIME, offsetof(type, member.linger), "TIME", \
	  "with --relay: wait so long at the end for one that makes no progress (default 10s)", NULL }, \
	ACCESS_OPTS(type, member.access)

struct record_relay {
	const char *url;		/* NULL: there is none */
	struct url at;
	struct access access;
	struct sender_rest rest;	/* what the relay is not known to have */
};

/** record_relay_prepare() - check what was asked for. Return: 0; -1 with @err. Give it back in both cases. */
int record_relay_prepare(const struct relay_wishes *wishes, struct record_relay *relay, struct err *err);

/** record_relay_begin() - make the sink, @record->session.sink; it begins a thread. Return: 0; -1 with @err. */
int record_relay_begin(const struct relay_wishes *wishes, struct record_relay *relay, struct record_options *record,
		       struct err *err);

void record_relay_free(struct record_relay *relay);

#endif
