/* SPDX-License-Identifier: Apache-2.0 */
/* The viewer's loop. See live.h. */
#include <signal.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/now.h"
#include "live/live_internal.h"
#include "live/live_signals.h"

#define AGAIN_MS	200		/* between attempts to connect */
#define GOODBYE_MS	1000		/* to wait for the last reply */

/* ---- the end ---- */

static void stop_handle(uv_handle_t *handle, void *context)
{
	(void)context;
	if (handle->type == UV_TIMER || handle->type == UV_ASYNC)
		if (!uv_is_closing(handle))
			uv_close(handle, NULL);
}

static void end(struct live *live)
{
	if (live->over)
		return;
	live->over = true;
	live_signals_sleep();
	link_close(live->link);
	live->link = NULL;
	uv_walk(&live->loop, stop_handle, NULL);
}

static void fail(struct live *live)
{
	live->rc = -1;
	end(live);
}

static void send_out(struct live *live, struct wire_out *out)
{
	const int rc = out->failed ? -1
		       : out->used ? link_write(live->link, out->bytes, out->used)
				   : 0;

	wire_out_free(out);
	if (rc == 0)
		return;
	(void)err_set(&live->err, KYMO_EXIT_FAILED, "the relay does not accept requests");
	fail(live);
}

static void on_goodbye(uv_timer_t *timer)
{
	end(timer->data);
}

/* Stops watching: the relay has a moment to answer DETACH. */
static void leave(struct live *live)
{
	struct wire_out out = { 0 };

	if (live->over)
		return;
	client_detach(live->client, &out);
	if (!live->link || client_phase(live->client) == CLIENT_ENDED) {
		wire_out_free(&out);
		end(live);
		return;
	}
	send_out(live, &out);
	if (!live->over && !uv_is_active((uv_handle_t *)&live->goodbye))
		(void)uv_timer_start(&live->goodbye, on_goodbye, GOODBYE_MS, 0);
}

static void on_told(uv_async_t *told)
{
	struct live *live = told->data;

	if (!live->over && client_phase(live->client) == CLIENT_DETACHING)
		end(live);		/* a second signal */
	else
		leave(live);
}

/* ---- events of the loop ---- */

static void update(struct live *live)
{
	int rc = 0;

	if (live->over)
		return;
	if (live->copydir && copydir_flush(live->copydir, &live->news, &live->err) < 0)
		rc = -1;
	else if (live->copydir && client_phase(live->client) != CLIENT_DETACHING)
		rc = live->options->update(live->options->context, live, false, &live->err);
	if (rc < 0)
		fail(live);
	else if (rc > 0)
		leave(live);
}

static void on_timer(uv_timer_t *timer);

static void ask_what_is_due(struct live *live)
{
	struct wire_out out = { 0 };
	const int64_t now = now_ns(), next = client_tick(live->client, now, &out);
	const int64_t wait = next > now ? (next - now + 999999) / 1000000
					: 1; /* at least 1: with 0 the loop would never read */

	send_out(live, &out);
	if (!live->over)
		(void)uv_timer_start(&live->timer, on_timer, (uint64_t)wait, 0);
}

static void on_timer(uv_timer_t *timer)
{
	struct live *live = timer->data;

	ask_what_is_due(live);
	update(live);			/* streams that are no longer waited for change the bound */
}

static void on_tick(uv_timer_t *timer)
{
	struct live *live = timer->data;
	const int rc = live->options->tick(live->options->context, live, &live->err);

	if (rc < 0)
		fail(live);
	else if (rc > 0)
		leave(live);
}

static void on_received(void *context, const uint8_t *bytes, size_t size)
{
	struct live *live = context;
	struct wire_out out = { 0 };
	const int rc = client_bytes(live->client, bytes, size, now_ns(), &out, &live->err);

	if (rc < 0) {
		wire_out_free(&out);
		(void)err_wrap(&live->err, "relay %s port %u", live->options->url->host, live->options->url->port);
		fail(live);
		return;
	}
	send_out(live, &out);
	update(live);
	if (client_phase(live->client) == CLIENT_ENDED)
		end(live);
	else if (!live->over)
		ask_what_is_due(live);
}

/* ---- connections ---- */

static void connect_now(struct live *live);

static void on_again(uv_timer_t *timer)
{
	connect_now(timer->data);
}

static void on_opened(void *context)
{
	struct live *live = context;
	struct wire_out out = { 0 };

	if (live->away)
		live_say(live, "the relay is reachable again");
	live->away = false;
	client_connected(live->client, now_ns(), &out);
	send_out(live, &out);
	if (!live->over)
		ask_what_is_due(live);
}

static void lost(struct live *live)
{
	char text[sizeof(live->err.text) + 64];

	(void)uv_timer_stop(&live->timer);
	if (!live->options->reconnect) {
		(void)snprintf(text, sizeof(text), "%s", live->err.text);
		(void)err_set(&live->err, live->err.status, "%s%s", text,
			      live->copydir ? "; with --reconnect, kymo live waits for it and continues" : "");
		fail(live);
		return;
	}
	if (!live->away) {
		(void)snprintf(text, sizeof(text), "%s; waiting for it", live->err.text);
		live_say(live, text);
	}
	live->away = true;
	(void)uv_timer_start(&live->timer, on_again, AGAIN_MS, 0);
}

static void on_ended(void *context, const struct kymo_err *err)
{
	struct live *live = context;

	live->link = NULL;
	live->err = *err;
	if (client_phase(live->client) == CLIENT_DETACHING)
		end(live);		/* the relay closed it instead of answering */
	else
		lost(live);
}

static void connect_now(struct live *live)
{
	const struct url *url = live->options->url;
	const struct link_options options = {
		.host = url->host,
		.port = url->port,
		.family = url->family,
		.tls = live->options->tls,
		.token = live->options->token,
		.opened = on_opened,
		.received = on_received,
		.ended = on_ended,
		.context = live,
	};

	live->link = link_open(&live->loop, &options, &live->err);
	if (!live->link)
		fail(live);
}

/* ---- life ---- */

static void begin(struct live *live)
{
	uv_timer_t *timers[] = { &live->timer, &live->tick, &live->goodbye };

	(void)signal(SIGPIPE, SIG_IGN);	/* a failing write reports that the relay is gone */
	(void)uv_loop_init(&live->loop);
	for (unsigned i = 0; i < COUNT_OF(timers); i++) {
		(void)uv_timer_init(&live->loop, timers[i]);
		timers[i]->data = live;
	}
	(void)uv_async_init(&live->loop, &live->told, on_told);
	live->told.data = live;
	live_signals_take(&live->told);
	if (live->options->tick) {
		const uint64_t period_ms = (uint64_t)(live->options->period_ns / 1000000);

		(void)uv_timer_start(&live->tick, on_tick, period_ms, period_ms ? period_ms : 1);
	}
	connect_now(live);
	(void)uv_run(&live->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&live->loop);
}

/* Shows what was held back, also before an error is reported; if the user ended it, as much as a
 * moment allows. */
static void finish(struct live *live)
{
	struct kymo_err err;

	if (!live->copydir)
		return;
	live->final = true;
	live_signals_last();
	if (copydir_flush(live->copydir, &live->news, &err) == 0 &&
	    live->options->update(live->options->context, live, true, &err) >= 0)
		return;
	if (live->rc == 0)
		live->err = err;
	live->rc = -1;
}

int live_run(const struct live_options *options, struct kymo_err *err)
{
	struct live *live = calloc(1, sizeof(*live));
	int rc;

	if (!live)
		return err_no_memory(err);
	live->options = options;
	live->client_options = (struct client_options){
		.host = options->url->target[0] ? options->url->target : NULL,
		.session = options->url->session[0] ? options->url->session : NULL,
		.from_now = options->from_now,
	};
	live_sink(live);
	live->client = client_new(&live->client_options, &live->sink);
	rc = live->client ? 0 : err_no_memory(err);
	if (rc == 0 && live->client_options.session)
		rc = copydir_open(options->output, &live->copydir, err);
	if (rc == 0) {
		begin(live);
		finish(live);
		live_signals_leave();
		rc = live->rc;
		if (rc < 0)
			*err = live->err;
	}
	copydir_close(live->copydir);
	client_free(live->client);
	free(live);
	return rc;
}
