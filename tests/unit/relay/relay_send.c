/* SPDX-License-Identifier: Apache-2.0 */
/* The spool, and what is said to a relay, without a socket: replies come as the test makes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctf/write/writer.h"
#include "relay/send/send.h"

struct scene {
	char parent[64];
	struct spool *spool;
	struct send send;
	uint64_t now;
};

static int begin(void **state)
{
	const struct send_options options = { "robot", "host", 1000000, false };
	struct scene *scene = calloc(1, sizeof *scene);
	struct kymo_err err;

	(void)snprintf(scene->parent, sizeof scene->parent, "/tmp/kymo-send-XXXXXX");
	assert_non_null(mkdtemp(scene->parent));
	assert_int_equal(spool_create(scene->parent, SPOOL_LEAST, &scene->spool, &err), 0);
	send_init(&scene->send, scene->spool, &options);
	scene->now = 1000000000;
	*state = scene;
	return 0;
}

static int end(void **state)
{
	struct scene *scene = *state;

	send_free(&scene->send);
	spool_close(scene->spool, false);
	assert_int_equal(rmdir(scene->parent), 0);	/* nothing is left */
	free(scene);
	return 0;
}

static void add_until(struct scene *scene, enum spool_log log, enum spool_kind kind, uint32_t id,
		      const void *body, size_t size, uint64_t end_ns)
{
	struct spool_record record = {
		.kind = kind,
		.id = id,
		.events = 1,
		.entry = { .packet_size = 8 * size,
			   .content_size = 8 * size,
			   .timestamp_begin = 5,
			   .timestamp_end = end_ns },
	};

	assert_int_equal(spool_add(scene->spool, log, &record,
				   &(struct iovec){ (void *)body, size }, 1, NULL),
			 0);
}

static void add(struct scene *scene, enum spool_log log, enum spool_kind kind, uint32_t id,
		const void *body, size_t size)
{
	add_until(scene, log, kind, id, body, size, 7);
}

static void add_trace(struct scene *scene)
{
	const struct spool_trace trace = { .name = "ust" };
	const struct spool_stream stream = { .name = "one" };

	add(scene, SPOOL_FACTS, SPOOL_TRACE, 0, &trace, sizeof trace);
	add(scene, SPOOL_FACTS, SPOOL_METADATA, 0, "text", 4);
	add(scene, SPOOL_FACTS, SPOOL_STREAM, 0, &stream, sizeof stream);
}

/* What was said since the last call: the commands, one after the other. */
static unsigned commands(struct scene *scene, uint32_t command[16])
{
	struct wire_in in = { scene->send.producer.control.bytes,
			      scene->send.producer.control.bytes +
				      scene->send.producer.control.used,
			      false };
	struct wire_request request;
	unsigned count = 0;

	while (wire_left(&in) && wire_get_request(&in, &request) &&
	       wire_bytes(&in, request.data_size))
		command[count++] = request.cmd;
	assert_false(in.short_of);
	scene->send.producer.control.used = 0;
	return count;
}

static void expect_commands(struct scene *scene, unsigned count, ...)
{
	uint32_t command[16];
	unsigned got = commands(scene, command);
	va_list args;

	va_start(args, count);
	assert_int_equal(got, count);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(command[i], va_arg(args, int));
	va_end(args);
}

/* In pieces of one byte: replies come as they like. */
static int say(struct scene *scene, unsigned words, ...)
{
	struct wire_out out = { 0 };
	struct kymo_err err = { 0 };
	va_list args;
	int rc = 0;

	va_start(args, words);
	for (unsigned i = 0; i < words; i++)
		wire_add(&out, va_arg(args, unsigned), 4);
	va_end(args);
	for (size_t i = 0; rc == 0 && i < out.used; i++)
		rc = send_input(&scene->send, out.bytes + i, 1, &err);
	if (rc < 0)
		assert_true(err.text[0]);
	wire_out_free(&out);
	return rc;
}

static void work(struct scene *scene)
{
	struct kymo_err err;

	scene->now += 100000000;
	assert_int_equal(send_work(&scene->send, scene->now, &err), 0);
}

/* A session at a relay like LTTng's. */
static void connect(struct scene *scene)
{
	send_begin(&scene->send, 1, scene->now);
	expect_commands(scene, 1, WIRE_VERSION);
	assert_int_equal(say(scene, 2, 2, 13), 0);
	expect_commands(scene, 1, WIRE_GET_CONFIGURATION);
	assert_int_equal(say(scene, 3, WIRE_ERR_PROTOCOL, 0, 0), 0);
	expect_commands(scene, 1, WIRE_CREATE_SESSION);
	assert_int_equal(say(scene, 4, 0, 1, WIRE_OK, 0), 0);
	expect_commands(scene, 1, WIRE_CREATE_CHUNK);
	assert_int_equal(say(scene, 1, WIRE_OK), 0);
	assert_int_equal(scene->send.state, SEND_READY);
}

static void test_order(void **state)
{
	struct scene *scene = *state;
	const uint8_t packet[109] = { 1 };

	add_trace(scene);
	add(scene, SPOOL_RUN, SPOOL_PACKET, 0, packet, sizeof packet);
	connect(scene);
	work(scene);
	/* Metadata wait for their handle, the rest for them. */
	expect_commands(scene, 1, WIRE_ADD_STREAM);
	assert_int_equal(say(scene, 3, 0, 5, WIRE_OK), 0);
	work(scene);
	expect_commands(scene, 2, WIRE_SEND_METADATA, WIRE_ADD_STREAM);
	assert_int_equal(scene->send.producer.data.used, 0);
	assert_int_equal(say(scene, 3, 0, 6, WIRE_OK), 0);
	work(scene);
	expect_commands(scene, 3, WIRE_STREAMS_SENT, WIRE_SEND_INDEX, WIRE_DATA_PENDING);
	assert_int_equal(scene->send.producer.data.used, WIRE_SIZE_data + sizeof packet);
	assert_int_equal(say(scene, 3, WIRE_OK, WIRE_OK, 1), 0);
	assert_false(send_is_all_stored(&scene->send));
	work(scene);
	expect_commands(scene, 1, WIRE_DATA_PENDING);	/* it is asked again */
	assert_int_equal(say(scene, 1, 0), 0);
	assert_true(send_is_all_stored(&scene->send));
	send_finish(&scene->send);
	work(scene);
	expect_commands(scene, 5, WIRE_ROTATE_STREAMS, WIRE_ROTATE_STREAMS, WIRE_CLOSE_CHUNK,
			WIRE_CLOSE_STREAM, WIRE_CLOSE_STREAM);
	assert_int_equal(say(scene, 6, WIRE_OK, WIRE_OK, WIRE_OK, 0, WIRE_OK, WIRE_OK), 0);
	work(scene);
	assert_int_equal(scene->send.state, SEND_DONE);
}

static void test_again(void **state)
{
	struct scene *scene = *state;
	const uint8_t packet[109] = { 1 };

	add_trace(scene);
	add(scene, SPOOL_RUN, SPOOL_PACKET, 0, packet, sizeof packet);
	/* Each time all of it, for nothing was stored. */
	for (int i = 0; i < 3; i++) {
		scene->send.producer.data.used = 0;
		connect(scene);
		work(scene);
		assert_int_equal(say(scene, 3, 0, 5, WIRE_OK), 0);
		work(scene);
		assert_int_equal(say(scene, 3, 0, 6, WIRE_OK), 0);
		work(scene);
		assert_int_equal(scene->send.producer.data.used, WIRE_SIZE_data + sizeof packet);
		send_lost(&scene->send);
		assert_int_equal(scene->send.producer.control.used + scene->send.producer.data.used,
				 0);
	}
}

/*
 * A relay that accepts each session and then answers something wrong is asked less and less often,
 * as one that cannot be reached; until it stores something, or does nothing wrong for a while.
 */
static void test_pause(void **state)
{
	struct scene *scene = *state;
	const uint8_t packet[109] = { 1 };
	unsigned pause_ms = SEND_PAUSE_LEAST_MS;

	add_trace(scene);
	add(scene, SPOOL_RUN, SPOOL_PACKET, 0, packet, sizeof packet);
	for (int i = 0; i < 9; i++) {
		connect(scene);
		work(scene);
		assert_int_equal(say(scene, 3, 0, 5, WIRE_ERR_FATAL), -1);
		send_lost(&scene->send);
		assert_int_equal(send_pause(&scene->send), pause_ms);
		pause_ms = 2 * pause_ms < SEND_PAUSE_MOST_MS ? 2 * pause_ms : SEND_PAUSE_MOST_MS;
	}
	connect(scene);
	work(scene);
	assert_false(scene->send.is_proven);
	assert_int_equal(say(scene, 3, 0, 5, WIRE_OK), 0);
	work(scene);
	assert_int_equal(say(scene, 3, 0, 6, WIRE_OK), 0);
	work(scene);
	assert_int_equal(say(scene, 3, WIRE_OK, WIRE_OK, 0), 0);
	work(scene);
	assert_true(scene->send.is_proven);
	send_lost(&scene->send);
	assert_int_equal(send_pause(&scene->send), SEND_PAUSE_LEAST_MS);
	assert_int_equal(send_pause(&scene->send), 2 * SEND_PAUSE_LEAST_MS);
	connect(scene);
	work(scene);
	assert_false(scene->send.is_proven);
	scene->now += SEND_PAUSE_MOST_MS * UINT64_C(1000000);
	work(scene);
	send_lost(&scene->send);
	assert_int_equal(send_pause(&scene->send), SEND_PAUSE_LEAST_MS);
}

/* Until when there is nothing: at once behind what was sent, else seldom. */
static void test_beacons(void **state)
{
	struct scene *scene = *state;
	const uint8_t packet[109] = { 1 };
	const struct send_place begin = { { 0, 0 } };

	add_trace(scene);
	add(scene, SPOOL_RUN, SPOOL_PACKET, 0, packet, sizeof packet);
	connect(scene);
	work(scene);
	assert_int_equal(say(scene, 3, 0, 5, WIRE_OK), 0);
	work(scene);
	assert_int_equal(say(scene, 3, 0, 6, WIRE_OK), 0);
	work(scene);
	assert_int_equal(say(scene, 3, WIRE_OK, WIRE_OK, 0), 0);
	(void)commands(scene, (uint32_t[16]){ 0 });
	send_horizon(&scene->send, 10, &begin);
	work(scene);
	expect_commands(scene, 1, WIRE_SEND_INDEX);
	send_horizon(&scene->send, 20, &begin);
	work(scene);
	expect_commands(scene, 0);			/* all was shown */
	add_until(scene, SPOOL_RUN, SPOOL_PACKET, 0, packet, sizeof packet, 30);
	send_horizon(&scene->send, 29, &begin);
	work(scene);
	/* The packet; there is no silence to tell of. */
	expect_commands(scene, 2, WIRE_SEND_INDEX, WIRE_DATA_PENDING);
	send_horizon(&scene->send, 31, &begin);
	work(scene);
	expect_commands(scene, 1, WIRE_SEND_INDEX);
}

static void test_refusals(void **state)
{
	struct scene *scene = *state;

	send_begin(&scene->send, 1, scene->now);
	assert_int_equal(say(scene, 2, 3, 0), -1);	/* another major version */
	send_lost(&scene->send);
	send_begin(&scene->send, 1, scene->now);
	assert_int_equal(say(scene, 3, 2, 4, 0), 0);	/* 2.4, and the begin of another reply */
	assert_int_equal(scene->send.state, SEND_CREATE);
	assert_int_equal(say(scene, 2, 1, WIRE_ERR_FATAL), -1);
	send_lost(&scene->send);
	connect(scene);
	assert_int_equal(say(scene, 1, WIRE_OK), -1);	/* nobody asked */
	send_lost(&scene->send);
	send_begin(&scene->send, 1, scene->now);
	assert_int_equal(say(scene, 2, 2, 13), 0);
	assert_int_equal(say(scene, 3, WIRE_OK, 0, 0), 0);
	/* A path of two gigabytes. */
	assert_int_equal(say(scene, 4, 0, 1, WIRE_OK, 0x7fffffff), -1);
}

static void test_limit(void **state)
{
	struct scene *scene = *state;
	static const uint8_t packet[60000];
	struct spool_record record = { .kind = SPOOL_PACKET };
	unsigned count = 0;
	int rc;

	while ((rc = spool_add(scene->spool, SPOOL_RUN, &record,
			       &(struct iovec){ (void *)packet, sizeof packet }, 1, NULL)) == 0)
		count++;
	assert_int_equal(rc, -ENOBUFS);
	assert_int_equal(count, SPOOL_LEAST / (sizeof packet + SPOOL_RECORD));
	spool_release(scene->spool,
		      &(struct spool_stored){ .position = 3 * (sizeof packet + SPOOL_RECORD) });
	assert_int_equal(spool_waiting(scene->spool), (count - 3) * (sizeof packet + SPOOL_RECORD));
	add(scene, SPOOL_RUN, SPOOL_PACKET, 0, packet, sizeof packet);
}

static void test_adopt(void **state)
{
	struct scene *scene = *state;
	const uint64_t whole = SPOOL_RECORD + 109;
	const char *name = strrchr(spool_path(scene->spool), '/') + 1;
	const uint8_t packet[109] = { 1 };
	char path[PATH_MAX], keep[256], text[64];
	struct spool_stored stored;
	struct spool *again;
	FILE *file;

	add_trace(scene);
	for (int i = 0; i < 3; i++)
		add(scene, SPOOL_RUN, SPOOL_PACKET, 0, packet, sizeof packet);
	assert_int_equal(spool_note(scene->spool, "for whom"), 0);
	spool_release(scene->spool, &(struct spool_stored){ whole, 2, 7, { 1, 3, 0 } });
	assert_int_equal(spool_adopt(scene->parent, name, &again), -EWOULDBLOCK);
	(void)snprintf(keep, sizeof keep, "%s", name);
	/* As if its recorder had been killed, ... */
	spool_close(scene->spool, true);
	(void)snprintf(path, sizeof path, "%s/%s/run-%020d", scene->parent, keep, 0);
	file = fopen(path, "r+");
	assert_non_null(file);
	/* ... in the middle of a packet. */
	assert_int_equal(ftruncate(fileno(file), (off_t)(3 * whole - 1)), 0);
	(void)fclose(file);
	assert_int_equal(spool_adopt(scene->parent, keep, &scene->spool), 0);
	scene->send.spool = scene->spool;
	spool_noted(scene->spool, text, sizeof text);
	assert_string_equal(text, "for whom");
	stored = spool_stored(scene->spool);
	assert_int_equal(stored.position, whole);
	assert_int_equal(stored.lost_packets, 2);
	assert_int_equal(stored.lost_events, 7);
	assert_int_equal(spool_end(scene->spool, SPOOL_RUN), 2 * whole);
	assert_int_equal(spool_adopt(scene->parent, "none", &again), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, begin, end),
		cmocka_unit_test_setup_teardown(test_again, begin, end),
		cmocka_unit_test_setup_teardown(test_pause, begin, end),
		cmocka_unit_test_setup_teardown(test_beacons, begin, end),
		cmocka_unit_test_setup_teardown(test_refusals, begin, end),
		cmocka_unit_test_setup_teardown(test_limit, begin, end),
		cmocka_unit_test_setup_teardown(test_adopt, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
