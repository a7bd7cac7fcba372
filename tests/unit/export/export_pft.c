// SPDX-License-Identifier: Apache-2.0
/*
 * The Perfetto writer, read back with a small protobuf walker of our own: sequences begin with
 * their start packet, slices nest, losses repair, blocks are whole, sizes are as promised.
 * What a real reader makes of it is tests/system/export/perfetto_writer.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "export/pft/pft.h"

#define SEQUENCES_MAX 64

struct field {
	uint32_t number;
	uint64_t value;		/* varint, fixed64, or length */
	const uint8_t *data;	/* length-delimited */
};

static uint64_t get_varint(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	fail_msg("varint cut");
	return 0;
}

static int next_field(const uint8_t **at, const uint8_t *end, struct field *field)
{
	uint64_t tag;

	if (*at == end)
		return 0;
	tag = get_varint(at, end);
	*field = (struct field){ .number = (uint32_t)(tag >> 3) };
	switch (tag & 7) {
	case 0:
		field->value = get_varint(at, end);
		break;
	case 1:
		assert_true(end - *at >= 8);
		memcpy(&field->value, *at, 8);
		*at += 8;
		break;
	case 2:
		field->value = get_varint(at, end);
		assert_true((uint64_t)(end - *at) >= field->value);
		field->data = *at;
		*at += field->value;
		break;
	default:
		fail_msg("wire type %u", (unsigned)(tag & 7));
	}
	return 1;
}

/* What the walker learns. */
struct seen {
	uint64_t packets, begins, ends, instants, starts, restarts, blocks;
	uint8_t started[SEQUENCES_MAX];
	int64_t clock[SEQUENCES_MAX], opened[SEQUENCES_MAX][8];
	unsigned depth[SEQUENCES_MAX];
	int64_t duration;
	uint64_t interned;
	struct { uint8_t *data; size_t size, room; } flat;	/* packets with blocks inflated */
};

static void see_snapshot(struct seen *seen, uint64_t sequence, struct field snapshot)
{
	const uint8_t *at = snapshot.data, *end = at + snapshot.value;
	struct field clock, field;

	while (next_field(&at, end, &clock)) {
		const uint8_t *in = clock.data, *stop = clock.data + clock.value;
		uint64_t id = 0, ns = 0;

		while (clock.data && next_field(&in, stop, &field)) {
			id = field.number == 1 ? field.value : id;
			ns = field.number == 2 ? field.value : ns;
		}
		if (id == 64)
			seen->clock[sequence] = (int64_t)ns;
	}
}

static void see_event(struct seen *seen, uint64_t sequence, struct field event)
{
	const uint8_t *at = event.data, *end = at + event.value;
	struct field field;
	unsigned *depth = &seen->depth[sequence];

	while (next_field(&at, end, &field)) {
		if (field.number != 9)
			continue;
		if (field.value == 1) {
			assert_true(*depth < 8);
			seen->opened[sequence][(*depth)++] = seen->clock[sequence];
			seen->begins++;
		} else if (field.value == 2) {
			assert_true(*depth > 0);
			seen->duration += seen->clock[sequence] - seen->opened[sequence][--*depth];
			seen->ends++;
		} else {
			seen->instants++;
		}
	}
}

static void see_packets(struct seen *seen, const uint8_t *at, const uint8_t *end);

static void see_packet(struct seen *seen, const uint8_t *at, const uint8_t *end)
{
	struct field field, part[200] = { { 0 } };
	uint64_t sequence;

	seen->packets++;
	while (next_field(&at, end, &field))
		if (field.number < 200)
			part[field.number] = field;
	sequence = part[10].value;
	assert_true(sequence < SEQUENCES_MAX);
	if (part[50].data) {
		static uint8_t block[512 << 10];
		uLongf size = sizeof(block);

		assert_int_equal(uncompress(block, &size, part[50].data, part[50].value), Z_OK);
		seen->blocks++;
		seen->packets--;
		see_packets(seen, block, block + size);
	}
	if (part[13].value == 1) {
		/* The first, after a loss, or only said again. */
		assert_true(!part[42].value || !part[87].value);
		assert_true(part[87].value || seen->started[sequence]);
		seen->started[sequence] = 1;
		seen->starts++;
		seen->restarts += part[42].value != 0;
		see_snapshot(seen, sequence, part[6]);
	} else if (sequence > 1) {
		assert_true(seen->started[sequence]);	/* nothing precedes the start packet */
	}
	if (part[12].data)
		seen->interned++;
	seen->clock[sequence] += (int64_t)part[8].value;
	if (part[11].data)
		see_event(seen, sequence, part[11]);
}

static void see_packets(struct seen *seen, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *from = at;
	struct field packet;

	while (next_field(&at, end, &packet)) {
		assert_int_equal(packet.number, 1);
		see_packet(seen, packet.data, packet.data + packet.value);
		if (!(packet.value > 2 && packet.data[0] == 0x92 && packet.data[1] == 0x03)) {
			if (seen->flat.size + (size_t)(at - from) > seen->flat.room) {
				seen->flat.room = 2 * seen->flat.room + (size_t)(at - from);
				seen->flat.data = realloc(seen->flat.data, seen->flat.room);
				assert_non_null(seen->flat.data);
			}
			memcpy(seen->flat.data + seen->flat.size, from, (size_t)(at - from));
			seen->flat.size += (size_t)(at - from);
		}
		from = at;
	}
}

static int out_fd;
static struct pft *out_pft;

static struct pft *start(int level)
{
	out_fd = memfd_create("trace", MFD_CLOEXEC);
	assert_true(out_fd >= 0);
	assert_int_equal(pft_open(&out_pft, out_fd, level, NULL), 0);
	return out_pft;
}

/* Closes and walks what was written. Return: bytes of the file. */
static size_t finish(struct seen *seen)
{
	size_t size;
	uint8_t *data;

	assert_int_equal(pft_close(out_pft, NULL), 0);
	size = (size_t)lseek(out_fd, 0, SEEK_END);
	data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, out_fd, 0);
	assert_ptr_not_equal(data, MAP_FAILED);
	memset(seen, 0, sizeof(*seen));
	see_packets(seen, data, data + size);
	munmap(data, size);
	close(out_fd);
	return size;
}

#define T0 INT64_C(1000000000000)

/* 12 500 cycles of a 1 kHz loop with three nested children: 100 000 events. */
static void write_workload(struct pft *pft)
{
	static const char *const names[] = { "Loop", "Sense", "Plan", "Act" };
	struct pft_track *process = pft_process(pft, 0, 4242, "robot");
	struct pft_track *thread = pft_thread(pft, process, 4243, "rt_loop");
	uint64_t state = 1;
	struct pft_event event[4] = { 0 };

	for (unsigned i = 0; i < 4; i++)
		event[i].name = pft_string(pft, names[i]);
#define JITTER \
	((int64_t)((state = state * 6364136223846793005u + 1442695040888963407u) >> 33) % 10000)
	for (int64_t i = 0; i < 12500; i++) {
		int64_t at = T0 + i * 1000000 + JITTER;

		pft_begin(thread, at, &event[0]);
		for (unsigned child = 1; child < 4; child++) {
			at += 2000 + JITTER;
			pft_begin(thread, at, &event[child]);
			at += 200000 + JITTER;
			pft_end(thread, at);
		}
		pft_end(thread, at + 2000 + JITTER);
	}
}

/* Where the second packet begins; the first is shorter than 128 bytes. */
static size_t rest_at(const struct seen *seen)
{
	return 2 + seen->flat.data[1];
}

static void bytes_per_event(void **state)
{
	struct seen plain, small, fast;
	double plain_bytes, small_bytes;

	(void)state;
	write_workload(start(PFT_LEVEL_NONE));
	plain_bytes = (double)finish(&plain);
	write_workload(start(PFT_LEVEL_DEFAULT));
	small_bytes = (double)finish(&small);
	write_workload(start(1));
	assert_true(finish(&fast) > small_bytes);
	print_message("bytes per event: %.2f, at level 6 %.2f\n", plain_bytes / 1e5, small_bytes / 1e5);
	assert_true(plain_bytes / 1e5 <= 12.6);
	assert_true(small_bytes / 1e5 <= 3.5);

	assert_int_equal(plain.begins, 50000);
	assert_int_equal(plain.ends, 50000);
	/* One, and one for each half MiB of packets. */
	assert_int_equal(plain.starts, 1 + 1250000 / (512 << 10));
	assert_int_equal(plain.restarts, 0);
	assert_int_equal(plain.blocks, 0);
	assert_true(small.blocks >= 1250000 / (256 << 10) && small.blocks <= 1250000 / (64 << 10));
	assert_int_equal(small.begins, plain.begins);
	assert_int_equal(small.ends, plain.ends);
	assert_int_equal(small.duration, plain.duration);
	/* At all levels the same packets but for the first, which holds a random identity. */
	assert_int_equal(fast.flat.size - rest_at(&fast), small.flat.size - rest_at(&small));
	assert_memory_equal(fast.flat.data + rest_at(&fast), small.flat.data + rest_at(&small),
			    small.flat.size - rest_at(&small));
	free(fast.flat.data);
	free(plain.flat.data);
	free(small.flat.data);
}

static void loss_repairs_nesting(void **state)
{
	struct pft *pft = start(PFT_LEVEL_NONE);
	struct pft_track *thread = pft_thread(pft, pft_process(pft, 0, 1, "p"), 1, "t");
	struct pft_event event = { .name = pft_string(pft, "work") };
	struct pft_totals totals;
	struct seen seen;

	(void)state;
	pft_end(thread, T0);
	pft_begin(thread, T0 + 10, &event);
	pft_begin(thread, T0 + 20, &event);
	pft_loss(thread, T0 + 30, T0 + 90, 5, 0);
	pft_end(thread, T0 + 100);
	pft_begin(thread, T0 + 110, &event);
	pft_end(thread, T0 + 120);
	pft_totals(pft, &totals);
	assert_int_equal(totals.slices, 3);
	assert_int_equal(totals.orphan_ends, 2);
	assert_int_equal(totals.instants, 1);
	(void)finish(&seen);
	assert_int_equal(seen.begins, 3);
	assert_int_equal(seen.ends, 3);
	assert_int_equal(seen.duration, 20 + 10 + 10);
	assert_int_equal(seen.starts, 2);
	assert_int_equal(seen.restarts, 1);
	/* Names go out with the first "work", with the marker, and again with the "work" after it. */
	assert_int_equal(seen.interned, 3);
	free(seen.flat.data);
}

/* Callbacks are handed over when they end, inner ones first: times go back within the track. */
static void slices_out_of_order(void **state)
{
	struct pft *pft = start(PFT_LEVEL_NONE);
	struct pft_track *thread = pft_thread(pft, pft_process(pft, 0, 1, "p"), 1, "t");
	struct seen seen;

	(void)state;
	pft_slice(thread, T0 + 100, T0 + 150, NULL);
	pft_slice(thread, T0 + 10, T0 + 200, NULL);
	pft_slice(thread, T0 + 300, T0 + 299, NULL);	/* never ends before it begins */
	(void)finish(&seen);
	assert_int_equal(seen.begins, 3);
	assert_int_equal(seen.duration, 50 + 190);
	free(seen.flat.data);
}

static void strings(void **state)
{
	struct pft *pft = start(PFT_LEVEL_NONE);
	char longest[2 * PFT_TEXT_MAX], name[16];
	struct seen seen;

	(void)state;
	assert_int_equal(pft_string(pft, NULL), 0);
	assert_int_equal(pft_string(pft, ""), 0);
	assert_int_equal(pft_string(pft, "a"), pft_string(pft, "a"));
	assert_int_not_equal(pft_string(pft, "a"), pft_string(pft, "b"));
	assert_int_equal(pft_string(pft, "x\xff"), pft_string(pft, "x?"));
	assert_int_equal(pft_string(pft, "\xc0\x80\xed\xa0\x80"), pft_string(pft, "?????"));
	assert_int_not_equal(pft_string(pft, "\xf0\x9f\xa4\x96"), pft_string(pft, "????"));
	memset(longest, 'y', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	assert_int_not_equal(pft_string(pft, longest), 0);
	for (unsigned i = 0; i < 5000; i++) {
		uint32_t number;

		snprintf(name, sizeof(name), "s%u", i);
		number = pft_string(pft, name);
		assert_int_not_equal(number, 0);
		assert_int_equal(pft_string(pft, name), number);
	}
	(void)finish(&seen);
	free(seen.flat.data);
}

/* More than 1000 names on one sequence, used twice: each is sent once. */
static void many_names(void **state)
{
	struct pft *pft = start(PFT_LEVEL_NONE);
	struct pft_track *thread = pft_thread(pft, pft_process(pft, 0, 1, "p"), 1, "t");
	struct seen seen;
	char name[16];

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "n%u", i % 1000);
		pft_instant(thread, T0 + i, &(struct pft_event){ .name = pft_string(pft, name) });
	}
	(void)finish(&seen);
	assert_int_equal(seen.instants, 2000);
	assert_int_equal(seen.interned, 1000);
	free(seen.flat.data);
}

static void disk_full(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct kymo_err err = { 0 };
	struct pft *pft;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(pft_open(&pft, fd, PFT_LEVEL_DEFAULT, &err), 0);
	assert_true(pft_failed(pft));
	write_workload(pft);
	assert_int_equal(pft_close(pft, &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_FAILED);
	assert_non_null(strstr(err.text, strerror(ENOSPC)));
	close(fd);
}

static void no_track(void **state)
{
	(void)state;
	pft_begin(NULL, 0, NULL);
	pft_end(NULL, 0);
	pft_slice(NULL, 0, 0, NULL);
	pft_instant(NULL, 0, NULL);
	pft_loss(NULL, 0, 0, 0, 0);
	pft_process_name(NULL, "x");
	assert_null(pft_thread(NULL, NULL, 0, "x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_per_event),
		cmocka_unit_test(loss_repairs_nesting),
		cmocka_unit_test(slices_out_of_order),
		cmocka_unit_test(strings),
		cmocka_unit_test(many_names),
		cmocka_unit_test(disk_full),
		cmocka_unit_test(no_track),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
