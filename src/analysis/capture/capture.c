/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches captured packets with messages; see capture.h.
 *
 * The idea: the publisher's source timestamp is in the message's event and in its packets. So of
 * all messages only those are kept whose timestamp a packet has. At the end, each packet finds its
 * message by timestamp and, if two writers have messages of the same nanosecond, by the GUID.
 */
#include "analysis/capture/capture_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

#define NOBODY UINT64_MAX

struct message {
	struct capture_message pub;
	uint64_t next;		/* another one with this timestamp; NOBODY: none */
};

struct capture {
	const struct captures *captures;
	const struct align *align;
	int host[CAPTURE_FILES_MAX];	/* of align, of each file; -1: none */
	/* in the trace's time */
	int64_t first_ns[CAPTURE_FILES_MAX], last_ns[CAPTURE_FILES_MAX];
	struct message *message;
	uint64_t count, size;
	struct map by_stamp;	/* source timestamp -> number of the first message + 1 */
	struct map by_id;	/* publication -> number + 1 */
	uint64_t *of_packet;	/* number of its message + 1; 0: none */
	struct array published;	/* uint64_t by publisher: messages while a capture ran */
	struct array captured;	/* of these: with packets */
	struct map of_writer;	/* GUID -> struct model_publisher */
	bool failed;
};

/* ---- times ---- */

/* The time @ns of a file's host in the time of the trace. */
static int64_t time_of(const struct capture *capture, unsigned file, int64_t ns)
{
	const int host = capture->host[file];

	return ns + (host >= 0 ? align_shift(capture->align, (unsigned)host, ns) : 0);
}

int64_t capture_time(const struct capture *capture, const struct capture_packet *packet)
{
	return time_of(capture, packet->file, packet->ns);
}

static void find_hosts(struct capture *capture)
{
	const struct captures *captures = capture->captures;

	for (unsigned file = 0; file < captures->sources; file++) {
		const struct capture_source *source = &captures->source[file];

		capture->host[file] = capture->align ? 0 : -1;
		for (unsigned i = 0; source->host && i < align_count(capture->align); i++)
			if (!strcmp(align_host(capture->align, i)->name, source->host))
				capture->host[file] = (int)i;
		capture->first_ns[file] = time_of(capture, file, source->first_ns);
		capture->last_ns[file] = time_of(capture, file, source->last_ns);
	}
}

static bool was_capturing(const struct capture *capture, unsigned file, int64_t ns)
{
	return ns >= capture->first_ns[file] && ns <= capture->last_ns[file];
}

/* ---- messages ---- */

/* A time of RTPS has units of 0.23 ns, and who converts it may round up or down. */
static bool has_packet(const struct capture *capture, int64_t source_ns)
{
	for (int64_t ns = source_ns - 1; ns <= source_ns + 1; ns++)
		if (map_get(&capture->captures->stamps, (uint64_t)ns, 0))
			return true;
	return false;
}

static struct message *message_of(struct capture *capture, const struct model_message *message)
{
	uintptr_t number = (uintptr_t)map_get(&capture->by_id, message->id, 0), first;

	if (number)
		return &capture->message[number - 1];
	if (!ARRAY_ROOM(capture->message, capture->count, capture->size)) {
		capture->failed = true;
		return NULL;
	}
	first = (uintptr_t)map_get(&capture->by_stamp, (uint64_t)message->source_ns, 0);
	capture->message[capture->count] = (struct message){
		.pub = { .id = message->id,
			 .publisher = message->publisher,
			 .source_ns = message->source_ns },
		.next = first ? first - 1 : NOBODY,
	};
	number = ++capture->count;
	capture->failed |=
		map_put(&capture->by_stamp, (uint64_t)message->source_ns, 0, (void *)number) ||
		map_put(&capture->by_id, message->id, 0, (void *)number);
	return &capture->message[number - 1];
}

static void count(struct capture *capture, struct array *array,
		  const struct model_publisher *publisher)
{
	uint64_t *number = array_at(array, publisher->index, sizeof(*number));

	if (number)
		++*number;
	capture->failed |= !number;
}

bool capture_covers(const struct capture *capture, int64_t ns)
{
	for (unsigned file = 0; file < capture->captures->sources; file++)
		if (was_capturing(capture, file, ns))
			return true;
	return false;
}

static void on_published(void *context, const struct model_message *message)
{
	struct capture *capture = context;
	struct message *its;

	if (!message->publisher || message->is_intra || message->source_ns <= 0)
		return;
	if (capture_covers(capture, message->send_ns))
		count(capture, &capture->published, message->publisher);
	if (!has_packet(capture, message->source_ns))
		return;
	its = message_of(capture, message);
	if (its && !its->pub.send_ns)
		its->pub.send_ns = message->send_ns;
}

static void on_taken(void *context, const struct model_message *message)
{
	struct capture *capture = context;
	struct message *its;

	if (!message->publisher || !message->id || message->is_intra || message->source_ns <= 0 ||
	    !has_packet(capture, message->source_ns) || message->dds.is_local)
		return;
	its = message_of(capture, message);
	if (!its)
		return;
	its->pub.takes++;
	its->pub.send_ns = message->send_ns;
	if (message->dds.sent_ns)
		its->pub.given_ns = message->dds.sent_ns;
	if (message->dds.received_ns &&
	    (!its->pub.received_ns || message->dds.received_ns < its->pub.received_ns))
		its->pub.received_ns = message->dds.received_ns;
}

static const struct model_listener listener = { .published = on_published, .taken = on_taken };

/* ---- packets ---- */

static bool has_guid(const struct model_publisher *publisher)
{
	static const uint8_t zero[8];

	return publisher->gid.size >= 16 && memcmp(publisher->gid.bytes + 8, zero, 8) != 0;
}

/*
 * The message of @packet. Where a publisher's gid is no GUID, as on Humble, the timestamp must do.
 */
static struct message *find_message(struct capture *capture, const struct capture_packet *packet)
{
	struct message *only = NULL;

	if (!packet->source_ns)
		return NULL;
	for (int64_t ns = packet->source_ns - 1; ns <= packet->source_ns + 1; ns++) {
		const uintptr_t first = (uintptr_t)map_get(&capture->by_stamp, (uint64_t)ns, 0);

		for (uint64_t i = first ? first - 1 : NOBODY; i != NOBODY;
		     i = capture->message[i].next) {
			struct message *message = &capture->message[i];

			if (!has_guid(message->pub.publisher))
				only = only ? only : message;
			else if (!memcmp(message->pub.publisher->gid.bytes, packet->writer, 16))
				return message;
		}
	}
	return only;
}

/* Without hosts, the capture is of the one host that there is: the sender's, and the receiver's. */
static bool is_of_host(const struct capture *capture, const struct capture_packet *packet,
		       const struct model_publisher *publisher)
{
	const char *host = captures_host(capture->captures, packet);

	return !host || !strcmp(host, publisher->process->hostname);
}

static void add_packet(struct capture *capture, struct message *message,
		       const struct capture_packet *packet)
{
	struct capture_message *its = &message->pub;
	const int64_t ns = capture_time(capture, packet);
	const bool at_sender = is_of_host(capture, packet, its->publisher);
	const bool at_receiver = !at_sender || !captures_host(capture->captures, packet);

	if (!its->packets++ && capture_covers(capture, its->send_ns))
		count(capture, &capture->captured, its->publisher);
	its->again += packet->again;
	if (at_sender)
		its->bytes += packet->bytes;
	if (at_sender)
		its->first_ns = its->first_ns ? lesser(its->first_ns, ns) : ns;
	if (at_sender && packet->again)
		its->again_ns = larger(its->again_ns, ns);
	if (at_sender && !packet->seen)
		its->last_ns = larger(its->last_ns, ns);
	if (at_receiver && !packet->seen)
		its->arrived_ns = larger(its->arrived_ns, ns);
}

/*
 * How many copies of @packet left the sender's host and are not in the capture of the host that
 * they went to. Captures of hosts that nothing went to say nothing.
 */
static unsigned lost_copies(const struct capture *capture, const struct capture_packet *packet,
			    const struct model_publisher *publisher)
{
	const struct captures *captures = capture->captures;
	int64_t sent, least = 0, there;
	bool is_known = false;

	if (!packet->is_first_to || !captures_host(captures, packet) ||
	    !is_of_host(capture, packet, publisher))
		return 0;
	sent = captures_copies(captures, packet, packet->file);
	for (unsigned file = 0; file < captures->sources; file++) {
		const struct capture_packet other = { .file = (uint8_t)file };

		if (is_of_host(capture, &other, publisher) ||
		    !was_capturing(capture, file, capture_time(capture, packet)))
			continue;
		there = captures_copies(captures, packet, file);
		if (there < 0)
			continue;
		least = !is_known || sent - there < least ? sent - there : least;
		is_known = true;
	}
	return least > 0 ? (unsigned)least : 0;
}

static void note_writer(struct capture *capture, const struct capture_packet *packet,
			const struct model_publisher *publisher)
{
	uint64_t words[2];

	memcpy(words, packet->writer, sizeof(words));
	capture->failed |= map_put(&capture->of_writer, words[0], words[1], (void *)publisher);
}

const struct model_publisher *capture_publisher(const struct capture *capture,
						const struct capture_packet *packet)
{
	uint64_t words[2];

	memcpy(words, packet->writer, sizeof(words));
	return map_get(&capture->of_writer, words[0], words[1]);
}

void capture_finish(struct capture *capture)
{
	const struct captures *captures = capture->captures;

	for (uint64_t i = 0; i < captures->count; i++) {
		const struct capture_packet *packet = &captures->packet[i];
		struct message *message =
			packet->kind == CAPTURE_REQUEST ? NULL : find_message(capture, packet);

		if (!message)
			continue;
		capture->of_packet[i] = (uint64_t)(message - capture->message) + 1;
		note_writer(capture, packet, message->pub.publisher);
		add_packet(capture, message, packet);
		message->pub.lost += lost_copies(capture, packet, message->pub.publisher);
	}
}

/* ---- answers ---- */

const struct capture_message *capture_message(const struct capture *capture,
					      const struct capture_packet *packet)
{
	const uint64_t number = capture->of_packet[packet - capture->captures->packet];

	return number ? &capture->message[number - 1].pub : NULL;
}

const struct capture_message *capture_next(const struct capture *capture, uint64_t *at)
{
	while (*at < capture->count)
		if (capture->message[(*at)++].pub.packets)
			return &capture->message[*at - 1].pub;
	return NULL;
}

const struct capture_message *capture_publication(const struct capture *capture, uint64_t id)
{
	const uintptr_t number = id ? (uintptr_t)map_get(&capture->by_id, id, 0) : 0;
	const struct capture_message *message = number ? &capture->message[number - 1].pub : NULL;

	return message && message->packets ? message : NULL;
}

const struct capture_message *capture_before(const struct capture *capture,
					     const struct model_publisher *publisher,
					     uint64_t publication, int64_t from_ns, int64_t to_ns)
{
	const struct capture_message *found = NULL, *its;

	for (uint64_t i = 0; i < capture->count; i++) {
		its = &capture->message[i].pub;
		if (its->publisher == publisher && its->id < publication &&
		    its->again_ns >= from_ns && its->again_ns <= to_ns && its->again_ns &&
		    (!found || its->again_ns > found->again_ns))
			found = its;
	}
	return found;
}

uint64_t capture_missing(const struct capture *capture, const struct model_publisher *publisher)
{
	const uint64_t published = *ARRAY_GET(capture->published, uint64_t, publisher->index);
	const uint64_t captured = *ARRAY_GET(capture->captured, uint64_t, publisher->index);

	return published > captured ? published - captured : 0;
}

bool capture_failed(const struct capture *capture)
{
	return capture->failed;
}

int capture_create(struct capture **result, const struct captures *captures, struct model *model,
		   const struct align *align, struct kymo_err *err)
{
	struct capture *capture = calloc(1, sizeof(*capture));

	if (capture)
		capture->of_packet = calloc(captures->count + 1, sizeof(*capture->of_packet));
	if (!capture || !capture->of_packet) {
		capture_destroy(capture);
		return err_no_memory(err);
	}
	if (model_listen(model, &listener, capture, err)) {
		capture_destroy(capture);
		return -1;
	}
	capture->captures = captures;
	capture->align = align;
	find_hosts(capture);
	*result = capture;
	return 0;
}

void capture_destroy(struct capture *capture)
{
	if (!capture)
		return;
	map_free(&capture->by_stamp);
	map_free(&capture->by_id);
	map_free(&capture->of_writer);
	free(capture->published.item);
	free(capture->captured.item);
	free(capture->of_packet);
	free(capture->message);
	free(capture);
}

PASS_FINISH(capture)
PASS_FAILED(capture)
PASS_DESTROY(capture)

const struct pass_ops capture_pass = {
	.turn = PASS_AFTER_MODEL,
	.finish = capture_pass_finish,
	.failed = capture_pass_failed,
	.destroy = capture_pass_destroy,
};
