/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a sender: connections, timers and a loop for the state in send.h. */
#include "base/now.h"
#include "relay/send/sender_internal.h"

#include <stdarg.h>
#include <stdio.h>

#define TICK_MS		10u
#define PACE_MS		1u		/* between attempts to send datagrams that wait */

/* ---- connections ---- */

static void work(struct sender *sender);
static void connect_now(struct sender *sender);

static void on_retry(uv_timer_t *timer)
{
	connect_now(timer->data);
}

__attribute__((format(printf, 2, 3)))
static void set_news(struct sender *sender, const char *format, ...)
{
	va_list args;

	(void)pthread_mutex_lock(&sender->lock);
	va_start(args, format);
	(void)vsnprintf(sender->news, sizeof(sender->news), format, args);
	va_end(args);
	(void)pthread_mutex_unlock(&sender->lock);
}

static void lose(struct sender *sender, const struct kymo_err *err)
{
	datagrams_close(&sender->datagrams);
	producer_link_close(&sender->link);
	send_lost(&sender->send);
	(void)pthread_mutex_lock(&sender->lock);
	(void)snprintf(sender->stats.why, sizeof(sender->stats.why), "%.255s", err->text);
	sender->stats.state = SEND_OFFLINE;
	(void)pthread_mutex_unlock(&sender->lock);
	if (!sender->told_lost)
		set_news(sender, "%.300s; retrying, meanwhile the events wait in %s", err->text, spool_path(sender->spool));
	sender->told_lost = true;
	(void)uv_timer_start(&sender->retry, on_retry, send_pause(&sender->send), 0);
}

static void on_open(void *context)
{
	struct sender *sender = context;

	send_begin(&sender->send, (uint64_t)clock_now_ns(CLOCK_REALTIME) / 1000000000,
		   (uint64_t)now_ns());
	work(sender);
}

static void on_ended(void *context, const struct kymo_err *err)
{
	lose(context, err);
}

static void on_work(void *context)
{
	work(context);
}

static void connect_now(struct sender *sender)
{
	producer_link_open(&sender->link, &sender->loop,
			   &(struct producer_link_options){
				   .url = &sender->options.url,
				   .tls = sender->options.tls,
				   .token = sender->options.token,
				   .producer = &sender->send.producer,
				   .opened = on_open,
				   .work = on_work,
				   .ended = on_ended,
				   .context = sender,
			   });
}

/* ---- work ---- */

static void on_pace(uv_timer_t *timer)
{
	work(timer->data);
}

/* Sends datagrams first; the indexes on control follow them. Return: whether something was sent. */
static bool flush_datagrams(struct sender *sender)
{
	const bool went =
		datagrams_send(&sender->datagrams, &sender->send.producer.data, (uint64_t)now_ns());

	if (!sender->send.producer.data.used)
		return producer_link_flush(&sender->link, PRODUCER_CONTROL) || went;
	if (!uv_is_active((uv_handle_t *)&sender->pace))
		(void)uv_timer_start(&sender->pace, on_pace, PACE_MS, 0);
	return went;
}

/* Opens the datagram socket when the relay has sent its port and the cookie. */
static int open_datagrams(struct sender *sender, struct kymo_err *err)
{
	const uint16_t wish = sender->options.url.data_port;
	struct sockaddr_storage relay;

	if (!sender->send.cookie || sender->datagrams.fd >= 0)
		return 0;
	if (link_peer(sender->link.end[PRODUCER_CONTROL], &relay) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "lost the connection to %s", sender->options.url.host);
	return datagrams_open(&sender->datagrams, &relay, wish ? wish : sender->send.datagram_port,
			      err);
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
	sender->stats.unstored = sender->send.unstored;
	if (sender->stats.state < SEND_READY && sender->send.state >= SEND_READY)
		sender->stats.why[0] = 0;
	if (sender->told_lost && sender->send.state >= SEND_READY && sender->send.is_proven) {
		(void)snprintf(sender->news, sizeof(sender->news), "events are sent to %s:%u again",
			       sender->options.url.host, sender->options.url.port);
		sender->told_lost = false;
	}
	sender->stats.state = sender->send.state;
	(void)pthread_mutex_unlock(&sender->lock);
}

/* After sender_end(): give up when nothing was stored for the whole patience. */
static void check_progress(struct sender *sender)
{
	const uint64_t now = (uint64_t)now_ns(), left = spool_waiting(sender->spool);

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
	while (wrote && producer_link_is_open(&sender->link)) {
		if (open_datagrams(sender, &err) < 0 ||
		    send_work(&sender->send, (uint64_t)now_ns(), &err) < 0) {
			lose(sender, &err);
			return;
		}
		if (sender->options.url.datagrams) {
			wrote = flush_datagrams(sender);
			continue;
		}
		wrote = producer_link_flush(&sender->link, PRODUCER_DATA);
		wrote |= producer_link_flush(&sender->link, PRODUCER_CONTROL);
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
	check_progress(timer->data);
	work(timer->data);
}

void *sender_main(void *context)
{
	struct sender *sender = context;

	connect_now(sender);
	(void)uv_timer_start(&sender->tick, on_tick, TICK_MS, TICK_MS);
	(void)uv_run(&sender->loop, UV_RUN_DEFAULT);
	producer_link_close(&sender->link);
	datagrams_close(&sender->datagrams);
	uv_close((uv_handle_t *)&sender->pace, NULL);
	uv_close((uv_handle_t *)&sender->tick, NULL);
	uv_close((uv_handle_t *)&sender->retry, NULL);
	(void)pthread_mutex_lock(&sender->lock);
	sender->has_ended = true;
	uv_close((uv_handle_t *)&sender->wake,
		 NULL); /* a caller that sees has_ended does not wake it */
	(void)pthread_cond_broadcast(&sender->ended);
	(void)pthread_mutex_unlock(&sender->lock);
	(void)uv_run(&sender->loop, UV_RUN_DEFAULT);	/* closes the handles */
	(void)uv_loop_close(&sender->loop);
	return NULL;
}
