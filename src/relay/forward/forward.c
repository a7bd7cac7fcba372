/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that are sent on, and their connections. See forward.h. */
#include "relay/forward/forward_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACKOFF_MOST	50u		/* calls of forward_poll() */
#define UNSENT_MAX	((size_t)32 << 20)
#define MINOR_LEAST	11u		/* of the protocol: chunks, and names of any length */

static void hang_up(struct forward_session *to)
{
	producer_link_close(&to->link);
	producer_free(&to->producer);
	forward_free_streams(to);
	to->generation++;
}

void forward_lose(struct forward_session *to, const struct kymo_err *err)
{
	struct relay *relay = to->forward->relay;
	char text[1280];

	hang_up(to);
	if (to->state == FORWARD_ENDING) { /* all is sent and answered; the connection ends last */
		to->state = FORWARD_DONE;
		return;
	}
	if (!to->told) {
		(void)snprintf(text, sizeof(text), "%s is not sent on: %s; retrying, meanwhile it stays in the files",
			       to->session->name, err->text);
		relay->say(relay->context, text);
	}
	to->told = true;
	to->state = FORWARD_OFFLINE;
	to->polls_to_wait = to->backoff;
	to->backoff = 2 * to->backoff < BACKOFF_MOST ? 2 * to->backoff : BACKOFF_MOST;
}

/* ---- connections ---- */

static void on_open(void *context)
{
	struct forward_session *to = context;

	to->state = FORWARD_GREETING;
	to->producer.ops = (struct producer_ops){ forward_answered, to, MINOR_LEAST };
	producer_greet(&to->producer);
	forward_work(to);
}

static void on_ended(void *context, const struct kymo_err *err)
{
	forward_lose(context, err);
}

static void on_work(void *context)
{
	forward_work(context);
}

static void connect_now(struct forward_session *to)
{
	const struct forward_options *from = &to->forward->options;

	to->state = FORWARD_CONNECTING;
	producer_link_open(&to->link, to->forward->loop,
			   &(struct producer_link_options){
				   .url = &from->url,
				   .tls = from->tls,
				   .token = from->token,
				   .unsent_max = UNSENT_MAX,
				   .producer = &to->producer,
				   .opened = on_open,
				   .work = on_work,
				   .ended = on_ended,
				   .context = to,
			   });
}

/* ---- sessions ---- */

/* Whether the same session arrived earlier, through another relay, and still does: the relays form
 * a circle. */
static bool comes_round(const struct forward *forward, const struct relay_session *session)
{
	static const uint8_t nobody[sizeof(session->uuid)];

	if (memcmp(session->uuid, nobody, sizeof(nobody)) == 0)
		return false;
	for (const struct relay_session *other = forward->relay->sessions; other;
	     other = other->next)
		if (other->id < session->id && !other->ended &&
		    memcmp(other->uuid, session->uuid, sizeof(other->uuid)) == 0 &&
		    strcmp(other->name, session->name) == 0 &&
		    strcmp(other->host, session->host) == 0)
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

void forward_poll(struct forward *forward)
{
	for (struct relay_session *session = forward->relay->sessions; session;
	     session = session->next) {
		struct forward_session *to;

		if (session->snapshot || is_known(forward, session) ||
		    !(to = calloc(1, sizeof(*to))))
			continue;
		to->forward = forward;
		to->session = session;
		to->backoff = FORWARD_BACKOFF_FIRST;
		to->state = comes_round(forward, session) ? FORWARD_DONE : FORWARD_OFFLINE;
		to->next = forward->sessions;
		forward->sessions = to;
	}
	for (struct forward_session *to = forward->sessions; to; to = to->next) {
		if (!to->session || to->state == FORWARD_DONE)
			continue;
		if (to->state != FORWARD_OFFLINE)
			forward_work(to);
		else if (to->polls_to_wait)
			to->polls_to_wait--;
		else
			connect_now(to);
	}
}

void forward_release(struct forward_session *to)
{
	struct forward_session **at = &to->forward->sessions;

	if (to->session || to->reading)
		return;			/* the other one calls this again */
	while (*at != to)
		at = &(*at)->next;
	*at = to->next;
	if (to->forward->ended && !to->forward->sessions)
		free(to->forward);
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

struct forward *forward_new(uv_loop_t *loop, struct relay *relay,
			    const struct forward_options *options)
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
