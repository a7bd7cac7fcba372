/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record_relay.h"

#define LIVE_TIMER_LEAST 1000000	/* ns */
#define LIVE_TIMER_MOST	60000000000

static int check(const struct relay_wishes *wishes, struct err *err)
{
	if (!wishes->url && (wishes->live_timer || wishes->linger || wishes->spool || wishes->access.ca || wishes->access.pin ||
			     wishes->access.token_file))
		return err_set(err, EXIT_USAGE, "--live-timer, --linger, --spool, --tls-ca, --tls-pin and --token-file go with --relay URL");
	if (wishes->live_timer && (wishes->live_timer < LIVE_TIMER_LEAST || wishes->live_timer > LIVE_TIMER_MOST))
		return err_set(err, EXIT_USAGE, "--live-timer is 1ms to 1min");
	if (wishes->linger < 0)
		return err_set(err, EXIT_USAGE, "--linger cannot be negative");
	if (wishes->spool && wishes->spool < SPOOL_LEAST)
		return err_set(err, EXIT_USAGE, "--spool is at least 1M");
	return 0;
}

int record_relay_prepare(const struct relay_wishes *wishes, struct record_relay *relay, struct err *err)
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

int record_relay_begin(const struct relay_wishes *wishes, struct record_relay *relay, struct record_options *record,
		       struct err *err)
{
	const struct send_sink_options options = {
		.url = relay->url, .at = relay->at, .live_timer_ns = (uint64_t)wishes->live_timer,
		.patience_ns = (uint64_t)wishes->linger, .spool_size = wishes->spool, .tls = relay->access.tls, .token = &relay->access.token,
		.version = record->session.version, .say = record->session.say, .context = record->session.context,
		.rest = &relay->rest,
	};

	return relay->url ? send_sink_create(&options, &record->session.sink, err) : 0;
}

void record_relay_free(struct record_relay *relay)
{
	access_free(&relay->access);
}
