/* SPDX-License-Identifier: Apache-2.0 */
/* The side of a sender that the spool's writer calls: begin, end, and the note in the spool. See
 * sender.h. */
#include "base/now.h"
#include "base/thread.h"
#include "relay/send/sender_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_MAX	8192

/* ---- notes ---- */

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

void sender_note(struct sender *sender)
{
	char relay[URL_HOST_MAX + 16], uuid[33], text[NOTE_MAX];

	sender_relay(&sender->options.url, relay);
	for (unsigned i = 0; i < sizeof(sender->send.uuid); i++)
		(void)snprintf(uuid + 2 * i, 3, "%02x", sender->send.uuid[i]);
	(void)snprintf(text, sizeof(text), "%s\n%s\n%s\n%s\n%s\n", relay, sender->options.send.host,
		       sender->options.send.session, uuid, sender->send.producer.path ? sender->send.producer.path : "");
	(void)spool_note(sender->spool, text); /* on failure no other recorder can continue */
}

/* ---- begin ---- */

static void close_handle(uv_handle_t *handle, void *unused)
{
	(void)unused;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

int sender_start(struct spool *spool, const struct sender_options *options, struct sender **result,
		 struct kymo_err *err)
{
	struct sender *sender = calloc(1, sizeof(*sender));

	if (!sender)
		return err_no_memory(err);
	sender->options = *options;
	sender->spool = spool;
	sender->datagrams.fd = -1;
	(void)pthread_mutex_init(&sender->lock, NULL);
	(void)pthread_cond_init(&sender->ended, NULL);
	send_init(&sender->send, spool, &options->send);
	if (options->left &&
	    send_adopt(&sender->send, options->left->uuid, options->left->path, err) < 0) {
		send_free(&sender->send);
		free(sender);
		return -1;
	}
	sender_note(sender);
	if (uv_loop_init(&sender->loop) < 0) {
		free(sender);
		return err_set(err, KYMO_EXIT_FAILED, "cannot create an event loop for the relay");
	}
	(void)uv_async_init(&sender->loop, &sender->wake, sender_on_wake);
	(void)uv_timer_init(&sender->loop, &sender->tick);
	(void)uv_timer_init(&sender->loop, &sender->retry);
	(void)uv_timer_init(&sender->loop, &sender->pace);
	sender->wake.data = sender->tick.data = sender->retry.data = sender->pace.data = sender;
	if (thread_start(&sender->thread, sender_main, sender) == 0) {
		*result = sender;
		return 0;
	}
	uv_walk(&sender->loop, close_handle, NULL);
	(void)uv_run(&sender->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&sender->loop);
	free(sender);
	return err_set(err, KYMO_EXIT_FAILED, "cannot start the thread that sends to the relay");
}

/* ---- meanwhile ---- */

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

/* ---- end ---- */

/* Counts what is behind the last position that is known to be stored. */
static void count_rest(struct send *send, struct sender_rest *rest)
{
	const uint64_t end = spool_end(send->spool, SPOOL_RUN);
	uint64_t at = send->stored.at[SPOOL_RUN];
	struct spool_record record;

	*rest = (struct sender_rest){
		.lost_packets = send->lost_packets,
		.lost_events = send->lost_events,
		.unstored = send->unstored,
	};
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
		sender->limit = (uint64_t)now_ns() + patience_ns;
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
