/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a sender: connections, timers and a loop for the state in send.h. */
#include "relay/send/sender_internal.h"

#include <stdarg.h>
#include <stdio.h>

#define BACKOFF_MOST_MS	5000u
#define TICK_MS		10u
#define PACE_MS		1u		/* while datagrams wait for their turn */

/* ---- connections ---- */

static void work(struct sender *sender);
static void connect_now(struct sender *sender);

static void on_retry(uv_timer_t *timer)
{
	connect_now(timer->data);
}

__attribute__((format(printf, 2, 3)))
static void tell(struct sender *sender, const char *format, ...)
{
	va_list args;

	(void)pthread_mutex_lock(&sender->lock);
	va_start(args, format);
	(void)vsnprintf(sender->news, sizeof(sender->news), format, args);
	va_end(args);
	(void)pthread_mutex_unlock(&sender->lock);
}

/* Datagrams have no connection of their own. */
static bool is_open(const struct sender *sender)
{
	return sender->open == (sender->options.url.datagrams ? 1u << CONTROL : (1u << ENDS) - 1);
}

static void lose(struct sender *sender, const struct kymo_err *err)
{
	datagrams_close(&sender->datagrams);
	for (unsigned i = 0; i < ENDS; i++) {
		link_close(sender->link[i]);
		sender->link[i] = NULL;
	}
	sender->open = 0;
	send_lost(&sender->send);
	(void)pthread_mutex_lock(&sender->lock);
	(void)snprintf(sender->stats.why, sizeof(sender->stats.why), "%.255s", err->text);
	sender->stats.state = SEND_OFFLINE;
	(void)pthread_mutex_unlock(&sender->lock);
	if (!sender->told_lost)
		tell(sender, "%.300s -- it is tried again; meanwhile the events wait in %s", err->text, spool_path(sender->spool));
	sender->told_lost = true;
	(void)uv_timer_start(&sender->retry, on_retry, sender->backoff_ms, 0);
	sender->backoff_ms = 2 * sender->backoff_ms < BACKOFF_MOST_MS ? 2 * sender->backoff_ms : BACKOFF_MOST_MS;
}

static void on_open(struct sender *sender, enum end end)
{
	sender->open |= 1u << end;
	if (!is_open(sender))
		return;
	send_begin(&sender->send, sender_now_ns(CLOCK_REALTIME) / 1000000000, sender_now_ns(CLOCK_MONOTONIC));
	work(sender);
}

static void control_opened(void *context)
{
	on_open(context, CONTROL);
}

static void data_opened(void *context)
{
	on_open(context, DATA);
}

static void control_ended(void *context, const struct kymo_err *err)
{
	struct sender *sender = context;

	sender->link[CONTROL] = NULL;
	lose(sender, err);
}

static void data_ended(void *context, const struct kymo_err *err)
{
	struct sender *sender = context;

	sender->link[DATA] = NULL;
	lose(sender, err);
}

static void control_received(void *context, const uint8_t *bytes, size_t size)
{
	struct sender *sender = context;
	struct kymo_err err;

	if (send_input(&sender->send, bytes, size, &err) < 0)
		lose(sender, &err);
	else
		work(sender);
}

static void data_received(void *context, const uint8_t *bytes, size_t size)
{
	struct kymo_err err;

	(void)bytes;
	(void)size;
	(void)err_set(&err, KYMO_EXIT_FAILED, "%s:%u is not a relay's port for data: it answers", ((struct sender *)context)->options.url.host,
		      ((struct sender *)context)->options.url.data_port);
	lose(context, &err);
}

static void on_sent(void *context, size_t unsent)
{
	(void)unsent;
	work(context);
}

static void connect_now(struct sender *sender)
{
	struct link_options options = {
		.host = sender->options.url.host, .port = sender->options.url.port, .family = sender->options.url.family,
		.tls = sender->options.tls, .token = sender->options.token, .opened = control_opened,
		.received = control_received, .sent = on_sent, .ended = control_ended, .context = sender,
	};
	struct kymo_err err;

	sender->link[CONTROL] = link_open(&sender->loop, &options, &err);
	options.port = sender->options.url.data_port;
	options.opened = data_opened;
	options.received = data_received;
	options.ended = data_ended;
	if (sender->link[CONTROL] && !sender->options.url.datagrams)
		sender->link[DATA] = link_open(&sender->loop, &options, &err);
	if (!sender->link[sender->options.url.datagrams ? CONTROL : DATA])
		lose(sender, &err);
}

/* ---- work ---- */

/* What there is goes out if there is room for all of it. Return: whether something did. */
static bool flush(struct link *link, struct wire_out *out)
{
	if (!link || !out->used || link_room(link) < out->used || link_write(link, out->bytes, out->used) < 0)
		return false;
	out->used = 0;
	return true;
}

static void on_pace(uv_timer_t *timer)
{
	work(timer->data);
}

/* Datagrams as they may go; the control connection's indexes follow theirs. Return: whether something went. */
static bool flush_datagrams(struct sender *sender)
{
	const bool went = datagrams_send(&sender->datagrams, &sender->send.data, sender_now_ns(CLOCK_MONOTONIC));

	if (!sender->send.data.used)
		return flush(sender->link[CONTROL], &sender->send.control) || went;
	if (!uv_is_active((uv_handle_t *)&sender->pace))
		(void)uv_timer_start(&sender->pace, on_pace, PACE_MS, 0);
	return went;
}

/* The relay has said where to. */
static int open_datagrams(struct sender *sender, struct kymo_err *err)
{
	const uint16_t wish = sender->options.url.data_port;
	struct sockaddr_storage relay;

	if (!sender->send.cookie || sender->datagrams.fd >= 0)
		return 0;
	if (link_peer(sender->link[CONTROL], &relay) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "the connection to %s broke", sender->options.url.host);
	return datagrams_open(&sender->datagrams, &relay, wish ? wish : sender->send.datagram_port, err);
}

static void take_wishes(struct sender *sender)
{
	(void)pthread_mutex_lock(&sender->lock);
	if (sender->horizon_ns)
		send_horizon(&sender->send, sender->horizon_ns, &sender->horizon);
	sender->horizon_ns = 0;
	if (sender->finish)
		send_finish(&sender->send);
	(void)pthread_mutex_unlock(&sender->lock);
}

static void publish(struct sender *sender)
{
	if (sender->send.path_is_new)
		sender_note(sender);
	sender->send.path_is_new = false;
	(void)pthread_mutex_lock(&sender->lock);
	sender->stats.sessions = sender->send.sessions;
	sender->stats.lost_packets = sender->send.lost_packets;
	sender->stats.lost_events = sender->send.lost_events;
	if (sender->stats.state < SEND_READY && sender->send.state >= SEND_READY) {
		sender->stats.why[0] = 0;
		sender->backoff_ms = SENDER_BACKOFF_LEAST_MS;
		if (sender->told_lost)
			(void)snprintf(sender->news, sizeof(sender->news), "events are sent to %s:%u again",
				       sender->options.url.host, sender->options.url.port);
		sender->told_lost = false;
	}
	sender->stats.state = sender->send.state;
	(void)pthread_mutex_unlock(&sender->lock);
}

/* At the end it goes on as long as there is progress. */
static void look_for_progress(struct sender *sender)
{
	const uint64_t now = sender_now_ns(CLOCK_MONOTONIC), left = spool_waiting(sender->spool);

	(void)pthread_mutex_lock(&sender->lock);
	if (sender->finish && now >= sender->limit) {
		sender->give_up = left == sender->waited;
		sender->waited = left;
		sender->limit = now + sender->patience_ns;
	}
	(void)pthread_mutex_unlock(&sender->lock);
}

static bool is_over(struct sender *sender)
{
	bool over;

	(void)pthread_mutex_lock(&sender->lock);
	over = sender->give_up || sender->send.state == SEND_DONE;
	(void)pthread_mutex_unlock(&sender->lock);
	return over;
}

static void work(struct sender *sender)
{
	bool wrote = true;
	struct kymo_err err;

	take_wishes(sender);
	while (wrote && is_open(sender)) {
		if (open_datagrams(sender, &err) < 0 || send_work(&sender->send, sender_now_ns(CLOCK_MONOTONIC), &err) < 0) {
			lose(sender, &err);
			return;
		}
		if (sender->options.url.datagrams) {
			wrote = flush_datagrams(sender);
			continue;
		}
		wrote = flush(sender->link[DATA], &sender->send.data);
		wrote |= flush(sender->link[CONTROL], &sender->send.control);
	}
	publish(sender);
	if (is_over(sender))
		uv_stop(&sender->loop);
}

void sender_on_wake(uv_async_t *async)
{
	work(async->data);
}

static void on_tick(uv_timer_t *timer)
{
	look_for_progress(timer->data);
	work(timer->data);
}

void *sender_main(void *context)
{
	struct sender *sender = context;

	connect_now(sender);
	(void)uv_timer_start(&sender->tick, on_tick, TICK_MS, TICK_MS);
	(void)uv_run(&sender->loop, UV_RUN_DEFAULT);
	for (unsigned i = 0; i < ENDS; i++)
		link_close(sender->link[i]);
	datagrams_close(&sender->datagrams);
	uv_close((uv_handle_t *)&sender->pace, NULL);
	uv_close((uv_handle_t *)&sender->tick, NULL);
	uv_close((uv_handle_t *)&sender->retry, NULL);
	(void)pthread_mutex_lock(&sender->lock);
	sender->has_ended = true;
	uv_close((uv_handle_t *)&sender->wake, NULL);	/* nobody wakes it who has seen that */
	(void)pthread_cond_broadcast(&sender->ended);
	(void)pthread_mutex_unlock(&sender->lock);
	(void)uv_run(&sender->loop, UV_RUN_DEFAULT);	/* runs the closings */
	(void)uv_loop_close(&sender->loop);
	return NULL;
}
