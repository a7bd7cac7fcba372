/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sink of a recording session that goes to a relay: packets go into the spool, a sender sends
 * them. See send_sink.h.
 */
#include "relay/send/send_sink_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "base/text.h"

static struct sender_options sender_options(const struct relay_sink *to)
{
	return (struct sender_options){
		.url = to->options.at,
		.tls = to->options.tls,
		.token = to->options.token,
		.send = { to->name, to->traces.hostname, to->options.live_timer_ns,
			  to->options.at.datagrams },
	};
}

/* ---- packets ---- */

static struct relay_sink *relay_of(struct sink *sink)
{
	struct relay_sink *to = (struct relay_sink *)sink;

	to->traces.front_ns = to->traces.horizon_ns ? to->traces.horizon_ns : sink->start_ns;
	return to;
}

static int relay_join(struct sink *sink, struct sink_process *at)
{
	return traces_join(&relay_of(sink)->traces, at);
}

static int relay_declare(struct sink *sink, struct sink_process *at, enum ctf_class class,
			 unsigned id)
{
	return traces_declare(&relay_of(sink)->traces, at, class, id);
}

static int relay_facts(struct sink *sink, struct sink_process *at, const struct sink_facts *facts)
{
	struct relay_sink *to = relay_of(sink);

	to->records = 0;
	return traces_facts(&to->traces, at, facts);
}

static int relay_packet(struct sink *sink, struct sink_process *at,
			const struct sink_packet *packet)
{
	struct relay_sink *to = relay_of(sink);

	to->records = packet->records;
	return traces_packet(&to->traces, at, packet);
}

static int relay_batch(struct sink *sink, struct sink_process *at, const struct sink_batch *batch)
{
	struct relay_sink *to = relay_of(sink);

	to->records = batch->records;
	return traces_batch(&to->traces, at, batch);
}

static void relay_leave(struct sink *sink, struct sink_process *at)
{
	traces_leave(&relay_of(sink)->traces, at);
}

static void relay_horizon(struct sink *sink, uint64_t ns)
{
	struct relay_sink *to = (struct relay_sink *)sink;

	if (to->beside && to->bound_ns < ns)
		ns = to->bound_ns;
	if (ns <= to->traces.horizon_ns)
		return;
	to->traces.horizon_ns = ns;
	to->news = false;
	sender_horizon(to->sender, ns);
}

/* ---- a trace that another writer fills ---- */

static const struct ctf_store *relay_store(struct sink *sink, const char *name,
					   const struct sink_beside *beside)
{
	struct relay_sink *to = (struct relay_sink *)sink;
	struct sink_trace *trace = relay_make_store(to, name);

	if (!trace)
		return NULL;
	to->beside = beside;
	return &trace->store;
}

static void relay_bound(struct sink *sink, uint64_t ns)
{
	((struct relay_sink *)sink)->bound_ns = ns;
}

static void end_beside(struct relay_sink *to)
{
	if (to->beside)
		to->beside->place(to->beside->context, NULL);
	to->beside = NULL;
}

/* In the first round, not earlier: processes of a dead recorder must first check what it wrote. */
static void poll_left(struct relay_sink *to)
{
	const struct sender_options like = sender_options(to);
	uint64_t bytes = to->looked ? 0 : send_left_begin(&to->left, to->spools, &like);
	char text[512], size[TEXT_QUANTITY_MAX];

	to->looked = true;
	send_left_poll(&to->left);
	if (!bytes || !to->options.say)
		return;
	(void)snprintf(text, sizeof text, "another recorder was killed, or ended while the relay was gone: its %s are sent as well",
		       text_bytes(size, bytes));
	to->options.say(to->options.context, text);
}

static void say_news(struct relay_sink *to)
{
	char text[512];

	if (to->options.say && sender_news(to->sender, text, sizeof text))
		to->options.say(to->options.context, text);
}

static void relay_round(struct sink *sink, uint64_t now_ns)
{
	struct relay_sink *to = (struct relay_sink *)sink;

	(void)now_ns;
	poll_left(to);
	if (to->news)
		sender_wake(to->sender);
	to->news = false;
	say_news(to);
}

/* ---- the end ---- */

static uint64_t relay_bytes(const struct sink *sink)
{
	return traces_bytes(&((const struct relay_sink *)sink)->traces);
}

/*
 * How long the relay gets at the end. For a session without an event, nobody waits until a relay
 * can be reached.
 */
static uint64_t patience_of(const struct relay_sink *to)
{
	struct sender_stats stats;

	sender_stats(to->sender, &stats);
	return to->has_events || stats.state >= SEND_READY ? to->options.patience_ns : 0;
}

static void finish(struct relay_sink *to)
{
	struct sender_rest rest;
	char text[1024];

	sender_finish(to->sender, patience_of(to), &rest);
	to->sender = NULL;
	if (!rest.is_stored && rest.packets && to->options.say) {
		(void)snprintf(text, sizeof text, "%.200s is not known to have stored the last %" PRIu64 " packets with %" PRIu64
			       " events; they stay in %.200s, and the next recorder that uses this relay sends them", to->url,
			       rest.packets, rest.events, spool_path(to->spool));
		to->options.say(to->options.context, text);
	}
	/* metadata alone is useless */
	spool_close(to->spool, !rest.is_stored && rest.packets);
	to->spool = NULL;
	send_left_end(&to->left, to->options.patience_ns);
	rest.lost_packets += to->left.lost_packets;
	rest.lost_events += to->left.lost_events;
	spool_unstored_add(&rest.unstored, &to->left.unstored);
	send_sink_say(to, &rest);
	to->rest = rest;
	if (to->options.rest)
		*to->options.rest = rest;
}

static bool relay_ending(struct sink *sink)
{
	struct relay_sink *to = (struct relay_sink *)sink;

	if (!to->sender)
		return true;
	if (!to->ends) {
		end_beside(to);
		traces_complete(&to->traces);
		sender_end(to->sender, patience_of(to));
		send_left_leave(&to->left, to->options.patience_ns);
		to->ends = true;
	}
	say_news(to);
	send_left_poll(&to->left);
	if (to->left.count || !sender_has_ended(to->sender))
		return false;
	finish(to);
	return true;
}

static void relay_close(struct sink *sink)
{
	struct relay_sink *to = (struct relay_sink *)sink;

	void (*release)(void *) = to->options.release;
	void *owned = to->options.owned;

	end_beside(to);
	traces_complete(&to->traces);
	if (to->sender)
		finish(to);
	else
		spool_close(to->spool, false);
	while (to->made) {
		struct sink_trace *trace = to->made;

		to->made = trace->next;
		free(trace);
	}
	traces_free(&to->traces);
	free(to->url);
	free(to);
	if (release)
		release(owned);
}

static const struct sink_place_ops relay_place_ops = { .store = relay_store, .bound = relay_bound };

static const struct sink_ops relay_ops = {
	.kind = "relay",
	.place = &relay_place_ops,
	.join = relay_join,
	.declare = relay_declare,
	.facts = relay_facts,
	.packet = relay_packet,
	.batch = relay_batch,
	.leave = relay_leave,
	.horizon = relay_horizon,
	.round = relay_round,
	.tell = send_sink_tell,
	.bytes = relay_bytes,
	.ending = relay_ending,
	.close = relay_close,
};

/* ---- creating ---- */

static int choose_name(struct relay_sink *to, struct kymo_err *err)
{
	const char *wish = to->options.session && *to->options.session ? to->options.session
								       : to->options.at.path;
	const time_t now = time(NULL);
	struct tm tm;

	if (strchr(wish, '/') || strlen(wish) >= sizeof to->name)
		return err_set(err, KYMO_EXIT_USAGE, "'%.300s' cannot be the name of a session: it has a slash, or is too long", wish);
	if (*wish)
		(void)snprintf(to->name, sizeof to->name, "%s", wish);
	else if (!localtime_r(&now, &tm) || !strftime(to->name, sizeof to->name, "session-%Y%m%d%H%M%S", &tm))
		(void)snprintf(to->name, sizeof to->name, "session");
	return 0;
}

/* $KYMO_SPOOL_DIR, else below the user's directory for state. */
static void spool_parent(char *path)
{
	const char *own = getenv("KYMO_SPOOL_DIR"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (own && *own == '/')
		(void)snprintf(path, PATH_MAX, "%s", own);
	else if (state && *state == '/')
		(void)snprintf(path, PATH_MAX, "%s/kymo/spool", state);
	else if (home && *home == '/')
		(void)snprintf(path, PATH_MAX, "%s/.local/state/kymo/spool", home);
	else
		(void)snprintf(path, PATH_MAX, "/tmp/kymo-%u-spool", (unsigned)geteuid());
}

static void describe(struct relay_sink *to)
{
	traces_describe(&to->traces, &to->desc, to->name, to->options.version, (uint64_t)now_ns(),
			(uint64_t)clock_now_ns(CLOCK_REALTIME));
}

static int begin(struct relay_sink *to, struct kymo_err *err)
{
	const struct sender_options sender = sender_options(to);

	describe(to);
	spool_parent(to->spools);
	if (spool_create(to->spools, to->options.spool_size, &to->spool, err) < 0 ||
	    relay_make_trace(to, "ust", &to->traces.shared, err) < 0)
		return -1;
	return sender_start(to->spool, &sender, &to->sender, err);
}

int send_sink_create(const struct send_sink_options *options, struct sink **sink,
		     struct kymo_err *err)
{
	struct relay_sink *to = calloc(1, sizeof *to);

	if (!to)
		return err_no_memory(err);
	to->options = *options;
	to->options.live_timer_ns =
		options->live_timer_ns ? options->live_timer_ns : SEND_LIVE_TIMER_NS;
	to->options.spool_size = options->spool_size ? options->spool_size : SEND_SPOOL_SIZE;
	to->options.patience_ns = options->patience_ns ? options->patience_ns : SEND_PATIENCE_NS;
	to->sink.ops = &relay_ops;
	to->sink.name = to->url = strdup(options->url);
	to->sink.patience_ns = to->options.live_timer_ns / 2;
	to->traces.begin = relay_make_trace;
	to->traces.context = to;
	to->traces.fronts = true;
	if (!to->url) {
		free(to);
		return err_no_memory(err);
	}
	if (choose_name(to, err) < 0 || begin(to, err) < 0) {
		to->options.release = NULL;
		relay_close(&to->sink);
		return -1;
	}
	*sink = &to->sink;
	return 0;
}
