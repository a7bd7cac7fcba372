/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few thousand damaged copies of a real trace: whatever the reader makes of them, it must not
 * crash, hang or give more than is there. Always the same copies; most telling under sanitizers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

#include "ctf/read/reader.h"

#ifdef __SANITIZE_THREAD__ /* looks for nothing in one thread, and takes 20 times as long */
#define COPIES 300
#else
#define COPIES 3000
#endif
#define STREAM_BYTES 8192	/* two packets */
#define EVENTS_MAX 100000	/* no damage makes so many out of two packets */

struct text {
	uint8_t bytes[65536];
	size_t size;
};

static char directory[] = "/dev/shm/kymo-mutate.XXXXXX";
static struct text metadata, plain_metadata, stream;
static uint64_t random_state = 12345;
static FILE *null;
static unsigned opened, refused;

static unsigned below(unsigned limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % limit;
}

static void load(struct text *text, const char *name, size_t limit)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof path, KYMO_FIXTURES "/lifecycle/ust/uid/0/64-bit/%s", name);
	file = fopen(path, "r");
	assert_non_null(file);
	text->size = fread(text->bytes, 1, limit, file);
	fclose(file);
}

/* The same without packets. */
static void unpack(void)
{
	for (size_t at = 0; at + 37 <= metadata.size;) {
		uint32_t content, packet;

		memcpy(&content, metadata.bytes + at + 24, 4);
		memcpy(&packet, metadata.bytes + at + 28, 4);
		memcpy(plain_metadata.bytes + plain_metadata.size, metadata.bytes + at + 37,
		       content / 8 - 37);
		plain_metadata.size += content / 8 - 37;
		at += packet / 8;
	}
}

static void damage(struct text *text, size_t from)
{
	static const uint8_t telling[] = { 0, 1, 0x7f, 0x80, 0xff, '{', '}', ';', '<', '[', '9', '"' };
	size_t at = from + below((unsigned)(text->size - from)),
	       other = below((unsigned)text->size);
	size_t size = 1 + below(64);

	if (at + size > text->size || other + size > text->size)
		size = 1;
	switch (below(6)) {
	case 0:
		text->bytes[at] ^= (uint8_t)(1u << below(8));
		break;
	case 1:
		text->bytes[at] = telling[below(sizeof telling)];
		break;
	case 2:
		memset(text->bytes + at, telling[below(5)], size < 8 ? size : 8);
		break;
	case 3:
		memmove(text->bytes + at, text->bytes + other, size);
		break;
	case 4:
		memmove(text->bytes + at, text->bytes + at + size, text->size - at - size);
		text->size -= size;
		break;
	default:
		if (!below(4))
			text->size = at + 1;
		else
			text->bytes[at] = (uint8_t)below(256);
	}
}

static void store(const char *name, const struct text *text)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text->bytes, 1, text->size, file), text->size);
	fclose(file);
}

static void read_all(bool print, bool only_bound)
{
	static const struct kymo_ctf_bind table[] = {
		{ "ros2:rcl_init", { "context_handle", "version", "vpid", "procname" } },
		{ "ros2:rmw_publisher_init", { "gid", "rmw_publisher_handle", "cpu_id" } },
		{ "ros2:callback_start", { "callback", "is_intra_process" } },
		{ "ros2:rcl_lifecycle_transition", { "start_label", "goal_label" } },
	};
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	struct kymo_err err = { 0 };
	unsigned count = 0;

	if (kymo_ctf_open(directory, &reader, &err)) {
		refused++;
		assert_int_equal(err.status, KYMO_EXIT_INPUT);
		assert_true(err.text[0]);
		return;
	}
	opened++;
	assert_int_equal(kymo_ctf_bind(reader, table, sizeof table / sizeof table[0], &err), 0);
	kymo_ctf_only_bound(reader, only_bound);
	while (kymo_ctf_next(reader, &event, &err) > 0) {
		assert_true(count++ < EVENTS_MAX);
		for (unsigned i = 0; event.bound == 3 && i < 2; i++)
			if (event.value[i].present && event.value[i].bytes)
				fputs(event.value[i].bytes, null);
		fputs(event.procname, null);
		if (print)
			kymo_ctf_print_event(reader, &event, null);
		else
			kymo_ctf_print_event_json(reader, &event, null);
	}
	for (unsigned i = 0; i < kymo_ctf_stream_count(reader); i++)
		assert_true(kymo_ctf_stream(reader, i)->packets <= STREAM_BYTES);
	kymo_ctf_close(reader);
}

static void damaged_copies(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COPIES; i++) {
		struct text text = i % 3 ? stream : i % 2 ? plain_metadata : metadata;

		for (unsigned k = 1 + below(3); k > 0; k--)
			damage(&text, i % 3 || below(3) ? 0 : text.size / 2);
		/* Most of what can go wrong in a stream does in a packet's first bytes. */
		for (unsigned k = below(3); i % 3 == 2 && k > 0 && text.size > 200; k--)
			text.bytes[below(90)] ^= (uint8_t)(1u << below(8));
		store(i % 3 ? "metadata" : "s", i % 3 ? &plain_metadata : &stream);
		store(i % 3 ? "s" : "metadata", &text);
		read_all(i & 1, i & 2);
	}
	/* Both kinds of end must be met, or the copies are damaged too much or too little. */
	assert_true(opened > COPIES / 4 && refused > COPIES / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(damaged_copies) };
	char command[300];
	int failed;

	null = fopen("/dev/null", "w");
	if (!null || !mkdtemp(directory))
		return 1;
	load(&metadata, "metadata", sizeof metadata.bytes);
	load(&stream, "ros2_1", STREAM_BYTES);
	unpack();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof command, "rm -rf %s", directory);
	fclose(null);
	return failed + (system(command) ? 1 : 0);
}
