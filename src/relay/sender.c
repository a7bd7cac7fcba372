/* SPDX-License-Identifier: Apache-2.0 */
/* Connections, timers and a loop for the state in send.h. See sender.h. */
#include "relay/sender.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "base/text.h"
#include "relay/link.h"
#include "relay/send_datagrams.h"

#define BACKOFF_LEAST_MS 100u
#define BACKOFF_MOST_MS	5000u
#define TICK_MS		10u
#define PACE_MS		1u		/* while datagrams wait for their turn */
#define NEWS_MAX	512
#define NOTE_MAX	8192

enum end { CONTROL, DATA, ENDS };

struct sender {
	struct sender_options options;
	struct spool *spool;
	pthread_t thread;
	uv_loop_t loop;
	uv_async_t wake;
	uv_timer_t tick, retry, pace;
	/* The thread's: */
	struct send send;
	struct link *link[ENDS];
	struct datagrams datagrams;	/* in place of link[DATA] */
	unsigned open;			/* bits of enum end */
	unsigned backoff_ms;
	bool told_lost;
	/* Of both, under the lock: */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool has_ended, finish, give_up;
	uint64_t patience_ns, limit;	/* finish: when it is looked for progress */
	uint64_t waited;		/* what was waiting when it was last */
	uint64_t horizon_ns;
	struct send_place horizon;
	struct sender_stats stats;
	char news[NEWS_MAX];
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	(void)clock_gettime(clock, &now);	/* there is one */
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

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

static void lose(struct sender *sender, const struct err *err)
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
	send_begin(&sender->send, now_ns(CLOCK_REALTIME) / 1000000000, now_ns(CLOCK_MONOTONIC));
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

static void control_ended(void *context, const struct err *err)
{
	struct sender *sender = context;

	sender->link[CONTROL] = NULL;
	lose(sender, err);
}

static void data_ended(void *context, const struct err *err)
{
	struct sender *sender = context;

	sender->link[DATA] = NULL;
	lose(sender, err);
}

static void control_received(void *context, const uint8_t *bytes, size_t size)
{
	struct sender *sender = context;
	struct err err;

	if (send_input(&sender->send, bytes, size, &err) < 0)
		lose(sender, &err);
	else
		work(sender);
}

static void data_received(void *context, const uint8_t *bytes, size_t size)
{
	struct err err;

	(void)bytes;
	(void)size;
	(void)err_set(&err, EXIT_FAILED, "%s:%u is not a relay's port for data: it answers", ((struct sender *)context)->options.url.host,
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
	struct err err;

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
	const bool went = datagrams_send(&sender->datagrams, &sender->send.data, now_ns(CLOCK_MONOTONIC));

	if (!sender->send.data.used)
		return flush(sender->link[CONTROL], &sender->send.control) || went;
	if (!uv_is_active((uv_handle_t *)&sender->pace))
		(void)uv_timer_start(&sender->pace, on_pace, PACE_MS, 0);
	return went;
}

/* The relay has said where to. */
static int open_datagrams(struct sender *sender, struct err *err)
{
	const uint16_t wish = sender->options.url.data_port;
	struct sockaddr_storage relay;

	if (!sender->send.cookie || sender->datagrams.fd >= 0)
		return 0;
	if (link_peer(sender->link[CONTROL], &relay) < 0)
		return err_set(err, EXIT_FAILED, "the connection to %s broke", sender->options.url.host);
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

void sender_relay(const struct url *url, char text[URL_HOST_MAX + 16])
{
	(void)snprintf(text, URL_HOST_MAX + 16, "%s:%u:%u", url->host, url->port, url->data_port);
}

bool sender_left(const struct spool *spool, struct sender_left *left)
{
	char text[NOTE_MAX], uuid[33], *at = text, *line[5];

	spool_noted(spool, text, sizeof(text));
	for (unsigned i = 0; i < 5; i++)
		if (!(line[i] = strsep(&at, "\n")))
			return false;
	(void)snprintf(left->relay, sizeof(left->relay), "%s", line[0]);
	(void)snprintf(left->host, sizeof(left->host), "%s", line[1]);
	(void)snprintf(left->session, sizeof(left->session), "%s", line[2]);
	(void)snprintf(uuid, sizeof(uuid), "%s", line[3]);
	(void)snprintf(left->path, sizeof(left->path), "%s", line[4]);
	for (unsigned i = 0; i < sizeof(left->uuid); i++) {
		unsigned byte;

		if (sscanf(uuid + 2 * i, "%2x", &byte) != 1)
			return false;
		left->uuid[i] = (uint8_t)byte;
	}
	return true;
}

/* Whom the spool is for, should we be killed. */
static void note(struct sender *sender)
{
	char relay[URL_HOST_MAX + 16], uuid[33], text[NOTE_MAX];

	sender_relay(&sender->options.url, relay);
	for (unsigned i = 0; i < sizeof(sender->send.uuid); i++)
		(void)snprintf(uuid + 2 * i, 3, "%02x", sender->send.uuid[i]);
	(void)snprintf(text, sizeof(text), "%s\n%s\n%s\n%s\n%s\n", relay, sender->options.send.host,
		       sender->options.send.session, uuid, sender->send.path ? sender->send.path : "");
	(void)spool_note(sender->spool, text);		/* else nobody goes on with it */
}

static void publish(struct sender *sender)
{
	if (sender->send.path_is_new)
		note(sender);
	sender->send.path_is_new = false;
	(void)pthread_mutex_lock(&sender->lock);
	sender->stats.sessions = sender->send.sessions;
	sender->stats.lost_packets = sender->send.lost_packets;
	sender->stats.lost_events = sender->send.lost_events;
	if (sender->stats.state < SEND_READY && sender->send.state >= SEND_READY) {
		sender->stats.why[0] = 0;
		sender->backoff_ms = BACKOFF_LEAST_MS;
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
	const uint64_t now = now_ns(CLOCK_MONOTONIC), left = spool_waiting(sender->spool);

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
	struct err err;

	take_wishes(sender);
	while (wrote && is_open(sender)) {
		if (open_datagrams(sender, &err) < 0 || send_work(&sender->send, now_ns(CLOCK_MONOTONIC), &err) < 0) {
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

static void on_wake(uv_async_t *async)
{
	work(async->data);
}

static void on_tick(uv_timer_t *timer)
{
	look_for_progress(timer->data);
	work(timer->data);
}

static void close_handle(uv_handle_t *handle, void *unused)
{
	(void)unused;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void *sender_main(void *context)
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

/* ---- the other thread's ---- */

static int begin_thread(struct sender *sender)
{
	sigset_t all, before;
	int rc;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&sender->thread, NULL, sender_main, sender);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int sender_start(struct spool *spool, const struct sender_options *options, struct sender **result, struct err *err)
{
	struct sender *sender = calloc(1, sizeof(*sender));

	if (!sender)
		return err_set(err, EXIT_FAILED, "out of memory");
	sender->options = *options;
	sender->spool = spool;
	sender->datagrams.fd = -1;
	sender->backoff_ms = BACKOFF_LEAST_MS;
	(void)pthread_mutex_init(&sender->lock, NULL);
	(void)pthread_cond_init(&sender->ended, NULL);
	send_init(&sender->send, spool, &options->send);
	if (options->left && send_adopt(&sender->send, options->left->uuid, options->left->path, err) < 0) {
		send_free(&sender->send);
		free(sender);
		return -1;
	}
	note(sender);
	if (uv_loop_init(&sender->loop) < 0) {
		free(sender);
		return err_set(err, EXIT_FAILED, "cannot make an event loop for the relay");
	}
	(void)uv_async_init(&sender->loop, &sender->wake, on_wake);
	(void)uv_timer_init(&sender->loop, &sender->tick);
	(void)uv_timer_init(&sender->loop, &sender->retry);
	(void)uv_timer_init(&sender->loop, &sender->pace);
	sender->wake.data = sender->tick.data = sender->retry.data = sender->pace.data = sender;
	if (begin_thread(sender) == 0) {
		*result = sender;
		return 0;
	}
	uv_walk(&sender->loop, close_handle, NULL);
	(void)uv_run(&sender->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&sender->loop);
	free(sender);
	return err_set(err, EXIT_FAILED, "cannot start a thread that sends to the relay");
}

static void wake(struct sender *sender)
{
	if (!sender->has_ended)
		(void)uv_async_send(&sender->wake);
}

void sender_wake(struct sender *sender)
{
	(void)pthread_mutex_lock(&sender->lock);
	wake(sender);
	(void)pthread_mutex_unlock(&sender->lock);
}

void sender_horizon(struct sender *sender, uint64_t ns)
{
	const struct send_place place = {
		{ spool_end(sender->spool, SPOOL_FACTS), spool_end(sender->spool, SPOOL_RUN) },
	};

	(void)pthread_mutex_lock(&sender->lock);
	sender->horizon_ns = ns;
	sender->horizon = place;
	wake(sender);
	(void)pthread_mutex_unlock(&sender->lock);
}

void sender_stats(struct sender *sender, struct sender_stats *stats)
{
	(void)pthread_mutex_lock(&sender->lock);
	*stats = sender->stats;
	(void)pthread_mutex_unlock(&sender->lock);
	stats->waiting = spool_waiting(sender->spool);
}

bool sender_news(struct sender *sender, char *text, size_t size)
{
	bool news;

	(void)pthread_mutex_lock(&sender->lock);
	news = sender->news[0];
	(void)snprintf(text, size, "%s", sender->news);
	sender->news[0] = 0;
	(void)pthread_mutex_unlock(&sender->lock);
	return news;
}

bool sender_has_ended(struct sender *sender)
{
	bool ended;

	(void)pthread_mutex_lock(&sender->lock);
	ended = sender->has_ended;
	(void)pthread_mutex_unlock(&sender->lock);
	return ended;
}

/* What is behind the last place that is known to be stored. */
static void count_rest(struct send *send, struct sender_rest *rest)
{
	const uint64_t end = spool_end(send->spool, SPOOL_RUN);
	uint64_t at = send->stored.at[SPOOL_RUN];
	struct spool_record record;

	*rest = (struct sender_rest){ .lost_packets = send->lost_packets, .lost_events = send->lost_events };
	while (at < end) {
		at = spool_read(send->spool, SPOOL_RUN, at, &record, &send->body, &send->body_room);
		if (!at)
			return;
		rest->packets++;
		rest->events += record.events;
	}
}

void sender_end(struct sender *sender, uint64_t patience_ns)
{
	const uint64_t waiting = spool_waiting(sender->spool);

	(void)pthread_mutex_lock(&sender->lock);
	if (!sender->finish) {
		sender->finish = true;
		sender->patience_ns = patience_ns;
		sender->limit = now_ns(CLOCK_MONOTONIC) + patience_ns;
		sender->waited = waiting;
		wake(sender);
	}
	(void)pthread_mutex_unlock(&sender->lock);
}

void sender_finish(struct sender *sender, uint64_t patience_ns, struct sender_rest *rest)
{
	sender_end(sender, patience_ns);
	(void)pthread_mutex_lock(&sender->lock);
	while (!sender->has_ended)
		(void)pthread_cond_wait(&sender->ended, &sender->lock);
	(void)pthread_mutex_unlock(&sender->lock);
	(void)pthread_join(sender->thread, NULL);
	count_rest(&sender->send, rest);
	rest->is_stored = sender->send.state == SEND_DONE;
	send_free(&sender->send);
	(void)pthread_cond_destroy(&sender->ended);
	(void)pthread_mutex_destroy(&sender->lock);
	free(sender);
}
