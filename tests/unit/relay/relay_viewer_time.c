/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a viewer is told about time, as babeltrace2 2.0.4 understands it: streams that begin late,
 * in random orders, with bytes that come long after their index. No message is older than what was
 * shown before, and at the end all was shown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "relay/model/relay_packets.h"
#include "relay/store/store_tree.h"
#include "relay/viewer/viewer.h"

#define STREAMS 6u
#define PACKETS 400u			/* of a stream */

static int64_t clock_ns;

static int64_t now_ns(void)
{
	return clock_ns;
}

static void quiet(void *context, const char *text)
{
	(void)context;
	(void)text;
}

static void wake(void *context)
{
	(void)context;
}

/* ---- the recorder: it knows what happens, and sends it in its order ---- */

struct packet {
	uint64_t begin, end;
	bool has_data;
};

struct source {
	struct relay_stream *stream;
	struct packet packet[PACKETS];
	unsigned count, arrived;	/* arrived: whose bytes are at the relay */
	uint64_t born;
	bool announced, closed;
};

/* ---- the viewer ---- */

struct view {
	uint64_t id, now;		/* its current message; 0: none */
	uint64_t end;			/* of the packet that it is in; 0: none */
	bool ended;
	unsigned packets;
};

struct scene {
	int parent;
	char dir[64];
	struct relay relay;
	struct relay_session *session;
	struct relay_trace *trace;
	struct source source[STREAMS];
	unsigned sources;
	struct viewer *viewer;
	struct view view[STREAMS + 1];
	unsigned views;
	uint64_t shown;			/* the newest message so far */
	bool asks_new, has_metadata;
	unsigned short seed[3];
};

static unsigned chance(struct scene *scene, unsigned of)
{
	return (unsigned)nrand48(scene->seed) % of;
}

static void settle(struct scene *scene)
{
	disk_drain(scene->relay.store.disk);
}

static struct relay_stream *add(struct scene *scene, const char *channel)
{
	struct relay_stream *stream = relay_add_stream(scene->session, &(struct relay_add){ channel, "ust", 0, 0 });

	assert_non_null(stream);
	return stream;
}

static void send_index(const struct source *source, unsigned number)
{
	const struct packet *packet = &source->packet[number];
	const struct wire_index_2_4 index = {
		.stream = source->stream->id, .seq = number, .packet_size = 64, .content_size = 64,
		.timestamp_begin = packet->begin, .timestamp_end = packet->end, .stream_class = 0,
	};

	assert_int_equal(
		relay_index(source->stream, &index, NULL, &(struct wire_index_counts){ 0 }), 0);
}

static void send_data(struct source *source)
{
	const uint8_t bytes[8] = { 1 };
	const struct wire_data header = { 0, source->stream->id, source->arrived, sizeof(bytes),
					  0 };

	assert_int_equal(relay_data_begin(source->stream, &header), 0);
	assert_int_equal(relay_data_bytes(source->stream, bytes, sizeof(bytes)), 0);
	assert_int_equal(relay_data_end(source->stream), 0);
	source->arrived++;
}

static void begin(struct scene *scene)
{
	static const char text[] = "stream { id = 0; };";
	struct relay *relay = &scene->relay;
	const struct relay_create create = { .name = "s", .host = "h", .base = "", .live_timer = 1, .minor = 11,
					     .is_ours = true };

	scene->parent = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(scene->dir, sizeof(scene->dir), "kymo-viewer-time-%d", getpid());
	assert_int_equal(mkdirat(scene->parent, scene->dir, 0700), 0);
	relay->store.root = openat(scene->parent, scene->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	relay->store.root_path = scene->dir;
	relay->store.say = relay->say = quiet;
	relay->store.disk = disk_start(wake, NULL);
	relay->now_ns = now_ns;
	relay_init(relay);
	scene->session = relay_create_session(relay, &create, "h/s");
	assert_non_null(scene->session);
	relay_join_session(scene->session);
	assert_int_equal(relay_create_chunk(scene->session, 0, 1, ""), WIRE_OK);
	assert_int_equal(relay_metadata(add(scene, "metadata"), (const uint8_t *)text, sizeof(text) - 1, 0), 0);
	settle(scene);
}

static void end(struct scene *scene)
{
	viewer_free(scene->viewer);
	settle(scene);
	relay_free(&scene->relay);
	disk_stop(scene->relay.store.disk);
	(void)close(scene->relay.store.root);
	assert_int_equal(tree_remove(scene->parent, scene->dir), 0);
	(void)close(scene->parent);
}

/* ---- the viewer's side of the protocol ---- */

static struct wire_out ask(struct scene *scene, uint32_t command, const struct wire_out *body)
{
	struct wire_out request = { 0 }, reply = { 0 };
	struct viewer_read *read;
	struct kymo_err err;

	wire_put_viewer_request(
		&request, &(struct wire_viewer_request){ .data_size = body->used, .cmd = command });
	wire_add_bytes(&request, body->bytes, body->used);
	assert_int_equal(
		viewer_bytes(scene->viewer, request.bytes, request.used, &reply, &read, &err), 0);
	if (read) {
		viewer_do_read(read);
		viewer_has_read(scene->viewer, &reply);
	}
	wire_out_free(&request);
	return reply;
}

static struct wire_out ask_number(struct scene *scene, uint32_t command, uint64_t number)
{
	struct wire_out body = { 0 }, reply;

	wire_add(&body, number, 8);
	reply = ask(scene, command, &body);
	wire_out_free(&body);
	return reply;
}

static void take_streams(struct scene *scene, struct wire_out *reply)
{
	struct wire_in in = { .at = reply->bytes, .end = reply->bytes + reply->used };
	struct wire_listed_stream listed;
	struct wire_status_count count;

	assert_true(wire_get_status_count(&in, &count));
	for (uint32_t i = 0; i < count.count && wire_get_listed_stream(&in, &listed); i++)
		scene->view[scene->views++] =
			(struct view){ .id = listed.stream, .ended = listed.is_metadata };
	wire_out_free(reply);
}

static void attach(struct scene *scene)
{
	struct wire_out body = { 0 }, reply;

	scene->viewer = viewer_new(&scene->relay, 4);
	wire_put_connect(&body, &(struct wire_connect){ 0, WIRE_MAJOR, 4, 0 });
	reply = ask(scene, WIRE_VIEWER_CONNECT, &body);
	wire_out_free(&reply);
	wire_out_free(&body);
	reply = ask(scene, WIRE_VIEWER_CREATE, &body);
	wire_out_free(&reply);
	wire_put_attach(&body, &(struct wire_attach){ .session = scene->session->id,
						      .seek = WIRE_SEEK_LAST });
	reply = ask(scene, WIRE_VIEWER_ATTACH, &body);
	wire_out_free(&body);
	take_streams(scene, &reply);
}

static void ask_metadata(struct scene *scene)
{
	for (unsigned i = 0; i < scene->views && !scene->has_metadata; i++) {
		struct wire_out reply;

		if (!scene->view[i].ended)
			continue;
		reply = ask_number(scene, WIRE_VIEWER_METADATA, scene->view[i].id);
		scene->has_metadata = true;
		wire_out_free(&reply);
	}
}

/* A message comes into the viewer. It ends with "value overflows" if it has shown a later one. */
static void come(struct scene *scene, struct view *view, uint64_t time)
{
	if (time < scene->shown)
		fail_msg("a message of %llu after %llu was shown", (unsigned long long)time, (unsigned long long)scene->shown);
	view->now = time;
}

/* Return: whether it has a message, or has ended. */
static bool fill(struct scene *scene, struct view *view)
{
	struct wire_viewer_index index;
	struct wire_out reply;
	struct wire_in in;

	if (view->now || view->ended)
		return true;
	if (view->end) {
		come(scene, view, view->end);
		view->end = 0;
		return true;
	}
	reply = ask_number(scene, WIRE_VIEWER_NEXT_INDEX, view->id);
	in = (struct wire_in){ .at = reply.bytes, .end = reply.bytes + reply.used };
	assert_true(wire_get_viewer_index(&in, &index));
	wire_out_free(&reply);
	if (index.status == WIRE_INDEX_HUP) {
		view->ended = true;
	} else if (index.status == WIRE_INDEX_OK) {
		scene->asks_new |= (index.flags & WIRE_NEW_STREAM) != 0;
		view->packets++;
		come(scene, view, index.timestamp_begin);
		view->end = index.timestamp_end;
	} else if (index.status == WIRE_INDEX_INACTIVE && index.timestamp_end != scene->shown) {
		come(scene, view, index.timestamp_end);
	}
	return view->now || view->ended;
}

static void look_for_streams(struct scene *scene)
{
	struct wire_out reply = ask_number(scene, WIRE_VIEWER_NEW_STREAMS, scene->session->id);

	scene->asks_new = false;
	take_streams(scene, &reply);
}

/* Shows what can be shown now, earliest first. Return: whether it has shown a message. */
static bool show(struct scene *scene)
{
	struct view *first = NULL;

	if (!scene->views || scene->asks_new)
		look_for_streams(scene);
	ask_metadata(scene);
	for (unsigned i = 0; i < scene->views; i++) {
		if (!fill(scene, &scene->view[i]))
			return false;
		if (scene->asks_new)
			return true;
		if (!scene->view[i].ended && (!first || scene->view[i].now < first->now))
			first = &scene->view[i];
	}
	if (!first)
		return false;
	scene->shown = first->now;
	first->now = 0;
	return true;
}

/* ---- random orders ---- */

static void add_source(struct scene *scene, uint64_t time)
{
	struct source *source = &scene->source[scene->sources++];
	const char name[] = { 'c', (char)('0' + scene->sources), 0 };

	source->stream = add(scene, name);
	source->born = time;
}

/* The recorder drains: packets of what happened up to @now; a new stream may have begun at @horizon
 * already. */
static void drain(struct scene *scene, uint64_t horizon, uint64_t now)
{
	if (scene->sources < STREAMS && !chance(scene, 6))
		add_source(scene, horizon);
	for (unsigned i = 0; i < scene->sources; i++) {
		struct source *source = &scene->source[i];
		const uint64_t last = source->count ? source->packet[source->count - 1].end : 0;
		const uint64_t from = !last ? source->born : last > horizon ? last : horizon;
		struct packet *packet = &source->packet[source->count];

		if (!source->announced || source->closed || source->count == PACKETS ||
		    (source->count && !chance(scene, 3)))
			continue;
		packet->begin = from + chance(scene, 5);
		packet->end = packet->begin + chance(scene, (unsigned)(now - horizon) + 20);
		send_index(source, source->count++);
	}
}

static void deliver(struct scene *scene, unsigned of)
{
	for (unsigned i = 0; i < scene->sources; i++)
		while (scene->source[i].arrived < scene->source[i].count && !chance(scene, of))
			send_data(&scene->source[i]);
}

static void close_some(struct scene *scene)
{
	struct source *source = &scene->source[chance(scene, scene->sources)];

	if (scene->sources < 2 || source->closed || chance(scene, 30) || !source->count)
		return;
	relay_close_stream(source->stream, source->count - 1);
	source->closed = true;
}

static void announce(struct scene *scene)
{
	relay_announce(scene->session);
	for (unsigned i = 0; i < scene->sources; i++)
		scene->source[i].announced = true;
}

/* Only when all before it was sent: of each stream, too, the first packet. */
static bool may_tell(const struct scene *scene)
{
	for (unsigned i = 0; i < scene->sources; i++)
		if (!scene->source[i].count)
			return false;
	return true;
}

static void tell_horizon(struct scene *scene, uint64_t horizon)
{
	relay_horizon(scene->session, horizon);
	for (unsigned i = 0; i < scene->sources; i++) {
		struct source *source = &scene->source[i];

		if (!source->closed && source->count &&
		    source->packet[source->count - 1].end < horizon)
			assert_int_equal(relay_beacon(source->stream, horizon), 0);
	}
}

static void leave(struct scene *scene)
{
	deliver(scene, 1);
	relay_horizon(scene->session, UINT64_MAX);
	for (unsigned i = 0; i < scene->sources; i++)
		relay_close_stream(scene->source[i].stream, scene->source[i].count - 1);
	relay_leave_session(scene->session);
	settle(scene);
	for (unsigned i = 0; i < 2 * STREAMS * PACKETS; i++)
		if (!show(scene))
			look_for_streams(scene);
}

static void run(unsigned seed)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	uint64_t now = 1000, horizon = now;

	assert_non_null(scene);
	scene->seed[0] = (unsigned short)seed;
	clock_ns = 1000;
	begin(scene);
	relay_horizon(scene->session, 0);
	add_source(scene, now);
	attach(scene);
	for (unsigned step = 0; step < 100; step++) {
		now += chance(scene, 50);
		drain(scene, horizon, now);
		if (!chance(scene, 2))
			announce(scene);
		deliver(scene, 2);
		close_some(scene);
		if (!chance(scene, 3))
			settle(scene);
		for (unsigned i = 0; i < chance(scene, 40) && show(scene); i++)
			;
		if (!chance(scene, 3) && may_tell(scene)) {
			horizon = now;
			tell_horizon(scene, horizon);
		}
	}
	announce(scene);
	leave(scene);
	for (unsigned i = 0; i < scene->sources; i++) {
		unsigned found = 0;

		for (unsigned k = 0; k < scene->views; k++)
			if (scene->view[k].id == scene->source[i].stream->id)
				found = scene->view[k].packets;
		assert_int_equal(found, scene->source[i].count);
	}
	end(scene);
	free(scene);
}

static void test_random_orders(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 100; seed++)
		run(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
