/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/record/record_relay.h"

#include <limits.h>
#include <stdlib.h>

#include "base/json_get.h"

#define LIVE_TIMER_LEAST 1000000	/* ns */
#define LIVE_TIMER_MOST	60000000000

bool record_relay_any(const struct relay_wishes *wishes)
{
	return wishes->live_timer || wishes->linger || wishes->spool || wishes->access.ca ||
	       wishes->access.pin || wishes->access.token_file;
}

static int check(const struct relay_wishes *wishes, struct kymo_err *err)
{
	if (!wishes->url && record_relay_any(wishes))
		return err_set(err, KYMO_EXIT_USAGE, "--live-timer, --linger, --spool, --tls-ca, --tls-pin and --token-file require --relay URL");
	if (wishes->live_timer &&
	    (wishes->live_timer < LIVE_TIMER_LEAST || wishes->live_timer > LIVE_TIMER_MOST))
		return err_set(err, KYMO_EXIT_USAGE, "--live-timer must be from 1ms to 1min");
	if (wishes->linger < 0)
		return err_set(err, KYMO_EXIT_USAGE, "--linger cannot be negative");
	if (wishes->spool && wishes->spool < SPOOL_LEAST)
		return err_set(err, KYMO_EXIT_USAGE, "--spool must be at least 1M");
	return 0;
}

int record_relay_prepare(const struct relay_wishes *wishes, struct record_relay *relay,
			 struct kymo_err *err)
{
	*relay = (struct record_relay){ .url = wishes->url };
	if (check(wishes, err) < 0)
		return -1;
	if (!wishes->url)
		return 0;
	if (url_parse(wishes->url, URL_PRODUCER, &relay->at, err) < 0)
		return -1;
	return access_wish(&wishes->access, &relay->at, &relay->access, err);
}

static struct send_sink_options sink_options(const struct relay_wishes *wishes,
					     struct record_relay *relay,
					     const struct session_options *session)
{
	return (struct send_sink_options){
		.url = relay->url,
		.at = relay->at,
		.live_timer_ns = (uint64_t)wishes->live_timer,
		.patience_ns = (uint64_t)wishes->linger,
		.spool_size = wishes->spool,
		.tls = relay->access.tls,
		.token = &relay->access.token,
		.version = session->version,
		.say = session->say,
		.context = session->context,
		.rest = &relay->rest,
	};
}

int record_relay_begin(const struct relay_wishes *wishes, struct record_relay *relay,
		       struct record_options *record, struct kymo_err *err)
{
	const struct send_sink_options options = sink_options(wishes, relay, &record->session);

	return relay->url ? send_sink_create(&options, &record->session.sink, err) : 0;
}

void record_relay_free(struct record_relay *relay)
{
	access_free(&relay->access);
}

/* ---- add a relay to a running recorder ---- */

static void put_time(struct json_object *request, const char *key, int64_t ns)
{
	if (ns)
		json_object_object_add(request, key, json_object_new_int64(ns));
}

/* The recorder has another working directory. */
static int put_file(struct json_object *request, const char *key, const char *file,
		    struct kymo_err *err)
{
	char path[PATH_MAX + CLI_PATH_MAX];

	if (!file)
		return 0;
	if (cli_absolute(path, sizeof path, file, err) < 0)
		return -1;
	json_object_object_add(request, key, json_object_new_string(path));
	return 0;
}

int record_relay_request(const struct relay_wishes *wishes, struct json_object *request,
			 struct kymo_err *err)
{
	json_object_object_add(request, "url", json_object_new_string(wishes->url));
	put_time(request, "live_timer_ns", wishes->live_timer);
	put_time(request, "linger_ns", wishes->linger);
	if (wishes->spool)
		json_object_object_add(request, "spool", json_object_new_uint64(wishes->spool));
	if (wishes->access.pin)
		json_object_object_add(request, "tls_pin", json_object_new_string(wishes->access.pin));
	return put_file(request, "tls_ca", wishes->access.ca, err) < 0 ? -1 :
	       put_file(request, "token_file", wishes->access.token_file, err);
}

static void release(void *owned)
{
	record_relay_free(owned);
	free(owned);
}

int record_relay_remote(const struct session_options *session, struct json_object *request,
			struct sink **sink, struct kymo_err *err)
{
	const struct relay_wishes wishes = {
		.url = json_get_text(request, "url"), .live_timer = (int64_t)json_get_u64(request, "live_timer_ns"),
		.linger = (int64_t)json_get_u64(request, "linger_ns"), .spool = json_get_u64(request, "spool"),
		.access = { json_get_text(request, "tls_ca"), json_get_text(request, "tls_pin"), json_get_text(request, "token_file") },
	};
	struct record_relay *relay = calloc(1, sizeof *relay);
	struct send_sink_options options;

	if (!relay)
		return err_no_memory(err);
	if (record_relay_prepare(&wishes, relay, err) == 0) {
		options = sink_options(&wishes, relay, session);
		options.release = release;
		options.owned = relay;
		if (send_sink_create(&options, sink, err) == 0)
			return 0;
	}
	release(relay);
	return -1;
}
