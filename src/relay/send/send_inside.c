/* SPDX-License-Identifier: Apache-2.0 */
/* A session inside of a program sends to a relay: recorder/session/session_relay.h. */
#include "recorder/session/session_relay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "relay/send/send_sink.h"

struct session_relay {
	char *url;
	struct token token;
	struct sender_rest rest;	/* filled when the sink is closed */
};

static int read_wishes(struct session_relay *relay, const struct session_relay_options *wishes,
		       struct url *at, struct kymo_err *err)
{
	if (url_parse(relay->url, URL_INSIDE, at, err) < 0)
		return -1;
	if (at->tls)
		return err_set(err, KYMO_EXIT_USAGE,
			       "cannot send to '%.300s': a session inside a program has no TLS; send to a relay on this "
			       "machine, which forwards: kymo relay --forward nets://HOST",
			       relay->url);
	if (wishes->spool_size && wishes->spool_size < SPOOL_LEAST)
		return err_set(err, KYMO_EXIT_USAGE,
			       "kymo_session_options.relay_spool_size is %" PRIu64 "; it must be at least 1 MiB",
			       wishes->spool_size);
	return wishes->token_file ? token_read(wishes->token_file, &relay->token, err) : 0;
}

static void relay_free(struct session_relay *relay)
{
	free(relay->url);
	free(relay);
}

int session_relay_open(const char *url, const struct session_relay_options *wishes,
		       struct session_relay **result, struct sink **sink, struct kymo_err *err)
{
	struct session_relay *relay = calloc(1, sizeof *relay);
	struct send_sink_options options = {
		.spool_size = wishes->spool_size, .patience_ns = wishes->patience_ns,
		.version = wishes->version, .say = wishes->say, .context = wishes->context,
	};

	if (!relay || !(relay->url = strdup(url))) {
		free(relay);
		return err_no_memory(err);
	}
	options.url = relay->url;
	options.token = &relay->token;
	options.rest = &relay->rest;
	if (read_wishes(relay, wishes, &options.at, err) < 0 ||
	    send_sink_create(&options, sink, err) < 0) {
		relay_free(relay);
		return -1;
	}
	*result = relay;
	return 0;
}

int session_relay_end(struct session_relay *relay, struct kymo_err *err)
{
	int rc = 0;

	if (!relay)
		return 0;
	if (!relay->rest.is_stored && relay->rest.packets)
		rc = err_set(err, KYMO_EXIT_FAILED,
			     "%.300s is not known to have stored the last %" PRIu64 " packets with %" PRIu64
			     " events; they wait for the next recorder or session that sends to this relay",
			     relay->url, relay->rest.packets, relay->rest.events);
	else if (relay->rest.lost_packets)
		rc = err_set(err, KYMO_EXIT_FAILED,
			     "%" PRIu64 " packets with %" PRIu64 " events were lost on the way to %.300s",
			     relay->rest.lost_packets, relay->rest.lost_events, relay->url);
	else if (relay->rest.unstored.packets || relay->rest.unstored.facts)
		rc = err_set(err, KYMO_EXIT_FAILED,
			     "%.300s could not store %" PRIu64 " packets with %" PRIu64
			     " events, and %" PRIu64 " init events",
			     relay->url, relay->rest.unstored.packets, relay->rest.unstored.events,
			     relay->rest.unstored.facts);
	relay_free(relay);
	return rc;
}
