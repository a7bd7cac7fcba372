/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that are sent on, and their connections. See forward.h. */
#include "relay/forward/forward_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACKOFF_FIRST	5u		/* looks */
#define BACKOFF_MOST	50u
#define UNSENT_MAX	((size_t)32 << 20)

static void hang_up(struct forward_session *to)
{
	for (unsigned i = 0; i < FORWARD_ENDS; i++) {
		link_close(to->link[i]);
		to->link[i] = NULL;
	}
	to->open = 0;
	to->generation++;
	wire_out_free(&to->control);
	wire_out_free(&to->in);
	wire_out_free(&to->expected);
}

void forward_lose(struct forward_session *to, const struct kymo_err *err)
{
	struct relay *relay = to->forward->relay;
	char text[1280];

	hang_up(to);
	if (to->state == FORWARD_ENDING) {	/* all was taken, and that was the last answer but for its end */
		to->state = FORWARD_DONE;
		return;
	}
	if (!to->told) {
		(void)snprintf(text, sizeof(text), "%s is not sent on: %s; it is tried again, meanwhile it is in the files",
			       to->session->name, err->text);
		relay->say(relay->context, text);
	}
	to->told = true;
	to->state = FORWARD_OFFLINE;
	to->looks_to_wait = to->backoff;
	to->backoff = 2 * to->backoff < BACKOFF_MOST ? 2 * to->backoff : BACKOFF_MOST;
}

/* ---- connections ---- */

static void on_open(struct forward_session *to, enum forward_end end)
{
	to->open |= 1u << end;
	if (to->open != (1u << FORWARD_ENDS) - 1)
		return;
	forward_begin(to);
	forward_work(to);
}

static void control_opened(void *context)
{
	on_open(context, FORWARD_CONTROL);
}

static void data_opened(void *context)
{
	on_open(context, FORWARD_DATA);
}

static void on_ended(struct forward_session *to, enum forward_end end, const struct kymo_err *err)
{
	to->link[end] = NULL;		/* it is gone */
	forward_lose(to, err);
}

static void control_ended(void *context, const struct kymo_err *err)
{
	on_ended(context, FORWARD_CONTROL, err);
}

static void data_ended(void *context, const struct kymo_err *err)
{
	on_ended(context, FORWARD_DATA, err);
}

static void control_received(void *context, const uint8_t *bytes, size_t size)
{
	struct forward_session *to = context;
	struct kymo_err err;

	if (forward_reply(to, bytes, size, &err) < 0)
		forward_lose(to, &err);
	else
		forward_work(to);
}

/* Nothing is ever said there. */
static void data_received(void *context, const uint8_t *bytes, size_t size)
{
	(void)context;
	(void)bytes;
	(void)size;
}

static void on_sent(void *context, size_t unsent)
{
	(void)unsent;
	forward_work(context);
}

static void connect_now(struct forward_session *to)
{
	const struct forward_options *from = &to->forward->options;
	struct link_options options = {
		.host = from->url.host, .port = from->url.port, .family = from->url.family, .tls = from->tls, .token = from->token,
		.unsent_max = UNSENT_MAX, .opened = control_opened, .received = control_received, .sent = on_sent,
		.ended = control_ended, .context = to,
	};
	struct kymo_err err;

	to->state = FORWARD_CONNECTING;
	to->link[FORWARD_CONTROL] = link_open(to->forward->loop, &options, &err);
	options.port = from->url.data_port;
	options.opened = data_opened;
	options.received = data_received;
	options.ended = data_ended;
	if (to->link[FORWARD_CONTROL])
		to->link[FORWARD_DATA] = link_open(to->forward->loop, &options, &err);
	if (!to->link[FORWARD_DATA])
		forward_lose(to, &err);
}

/* ---- sessions ---- */

/* Whether the same session came before, by another way, and still comes: they stand in a circle. */
static bool comes_round(const struct forward *forward, const struct relay_session *session)
{
	static const uint8_t nobody[sizeof(session->uuid)];

	if (memcmp(session->uuid, nobody, sizeof(nobody)) == 0)
		return false;
	for (const struct relay_session *other = forward->relay->sessions; other; other = other->next)
		if (other->id < session->id && !other->ended && memcmp(other->uuid, session->uuid, sizeof(other->uuid)) == 0 &&
		    strcmp(other->name, session->name) == 0 && strcmp(other->host, session->host) == 0)
			return true;
	return false;
}

static bool is_known(const struct forward *forward, const struct relay_session *session)
{
	for (const struct forward_session *to = forward->sessions; to; to = to->next)
		if (to->session == session)
			return true;
	return false;
}

void forward_look(struct forward *forward)
{
	for (struct relay_session *session = forward->relay->sessions; session; session = session->next) {
		struct forward_session *to;

		if (session->snapshot || is_known(forward, session) || !(to = calloc(1, sizeof(*to))))
			continue;
		to->forward = forward;
		to->session = session;
		to->backoff = BACKOFF_FIRST;
		to->state = comes_round(forward, session) ? FORWARD_DONE : FORWARD_OFFLINE;
		to->next = forward->sessions;
		forward->sessions = to;
	}
	for (struct forward_session *to = forward->sessions; to; to = to->next) {
		if (!to->session || to->state == FORWARD_DONE)
			continue;
		if (to->state != FORWARD_OFFLINE)
			forward_work(to);
		else if (to->looks_to_wait)
			to->looks_to_wait--;
		else
			connect_now(to);
	}
}

void forward_release(struct forward_session *to)
{
	struct forward_session **at = &to->forward->sessions;

	if (to->session || to->reading)
		return;			/* one of them comes here again */
	while (*at != to)
		at = &(*at)->next;
	*at = to->next;
	if (to->forward->ended && !to->forward->sessions)
		free(to->forward);
	free(to->stream);
	free(to);
}

static void forget(struct forward_session *to)
{
	hang_up(to);
	to->session = NULL;
	forward_release(to);
}

void forward_forget(struct forward *forward, const struct relay_session *session)
{
	for (struct forward_session *to = forward->sessions; to; to = to->next)
		if (to->session == session) {
			forget(to);
			return;
		}
}

struct forward *forward_new(uv_loop_t *loop, struct relay *relay, const struct forward_options *options)
{
	struct forward *forward = calloc(1, sizeof(*forward));

	if (forward)
		*forward = (struct forward){ .options = *options, .loop = loop, .relay = relay };
	return forward;
}

void forward_free(struct forward *forward)
{
	struct forward_session *next;

	if (!forward)
		return;
	if (!forward->sessions) {
		free(forward);
		return;
	}
	forward->ended = true;
	for (struct forward_session *to = forward->sessions; to; to = next) {
		next = to->next;
		forget(to);
	}
}
