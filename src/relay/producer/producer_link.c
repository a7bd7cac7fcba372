/* SPDX-License-Identifier: Apache-2.0 */
/* The two connections of a producer. See producer_link.h. */
#include "relay/producer/producer_link.h"

static void fail(struct producer_link *link, const struct kymo_err *err)
{
	producer_link_close(link);
	link->options.ended(link->options.context, err);
}

static void on_open(struct producer_link *link, enum producer_end end)
{
	link->open |= 1u << end;
	if (producer_link_is_open(link))
		link->options.opened(link->options.context);
}

static void control_opened(void *context)
{
	on_open(context, PRODUCER_CONTROL);
}

static void data_opened(void *context)
{
	on_open(context, PRODUCER_DATA);
}

static void control_ended(void *context, const struct kymo_err *err)
{
	((struct producer_link *)context)->end[PRODUCER_CONTROL] = NULL;
	fail(context, err);
}

static void data_ended(void *context, const struct kymo_err *err)
{
	((struct producer_link *)context)->end[PRODUCER_DATA] = NULL;
	fail(context, err);
}

static void control_received(void *context, const uint8_t *bytes, size_t size)
{
	struct producer_link *link = context;
	struct kymo_err err;

	if (producer_input(link->options.producer, bytes, size, &err) < 0)
		fail(link, &err);
	else
		link->options.work(link->options.context);
}

static void data_received(void *context, const uint8_t *bytes, size_t size)
{
	struct producer_link *link = context;
	struct kymo_err err;

	(void)bytes;
	(void)size;
	(void)err_set(&err, KYMO_EXIT_FAILED, "%s:%u is not a relay's data port: it answers", link->options.url->host,
		      link->options.url->data_port);
	fail(link, &err);
}

static void on_sent(void *context, size_t unsent)
{
	struct producer_link *link = context;

	(void)unsent;
	link->options.work(link->options.context);
}

void producer_link_open(struct producer_link *link, uv_loop_t *loop,
			const struct producer_link_options *options)
{
	struct link_options each = {
		.host = options->url->host,
		.port = options->url->port,
		.family = options->url->family,
		.tls = options->tls,
		.token = options->token,
		.unsent_max = options->unsent_max,
		.opened = control_opened,
		.received = control_received,
		.sent = on_sent,
		.ended = control_ended,
		.context = link,
	};
	struct kymo_err err;

	*link = (struct producer_link){ .options = *options };
	link->end[PRODUCER_CONTROL] = link_open(loop, &each, &err);
	each.port = options->url->data_port;
	each.opened = data_opened;
	each.received = data_received;
	each.ended = data_ended;
	if (link->end[PRODUCER_CONTROL] && !options->url->datagrams)
		link->end[PRODUCER_DATA] = link_open(loop, &each, &err);
	if (!link->end[options->url->datagrams ? PRODUCER_CONTROL : PRODUCER_DATA])
		fail(link, &err);
}

bool producer_link_is_open(const struct producer_link *link)
{
	return link->open &&
	       (link->options.url->datagrams || link->open == (1u << PRODUCER_ENDS) - 1);
}

bool producer_link_flush(struct producer_link *link, enum producer_end end)
{
	struct producer *producer = link->options.producer;
	struct wire_out *out = end == PRODUCER_DATA ? &producer->data : &producer->control;
	struct link *to = link->end[end];

	if (!to || !out->used || link_room(to) < out->used ||
	    link_write(to, out->bytes, out->used) < 0)
		return false;
	out->used = 0;
	return true;
}

size_t producer_link_unsent(const struct producer_link *link)
{
	size_t unsent = 0;

	for (unsigned i = 0; i < PRODUCER_ENDS; i++)
		unsent += link->end[i] ? link_unsent(link->end[i]) : 0;
	return unsent;
}

void producer_link_close(struct producer_link *link)
{
	for (unsigned i = 0; i < PRODUCER_ENDS; i++) {
		link_close(link->end[i]);
		link->end[i] = NULL;
	}
	link->open = 0;
}
