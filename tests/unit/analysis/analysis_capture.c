/* SPDX-License-Identifier: Apache-2.0 */
/* Captures, made by hand: both formats, byte orders, links and IP versions, parts, requests,
 * damage, and messages that match. */
#include "analysis/capture/capture.h"
#include "feed.h"

#include <stdio.h>

struct bytes {
	uint8_t at[4096];
	size_t size;
};

static void put(struct bytes *b, uint64_t value, unsigned size, bool little)
{
	for (unsigned i = 0; i < size; i++) {
		const unsigned byte = little ? i : size - 1 - i;

		b->at[b->size++] = byte < 8 ? (uint8_t)(value >> 8 * byte) : 0;
	}
}

static void put_bytes(struct bytes *b, const void *bytes, size_t size)
{
	memcpy(b->at + b->size, bytes, size);
	b->size += size;
}

static const uint8_t writer[16] = { 1, 16, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 2, 3 };

/* ---- RTPS ---- */

static void rtps(struct bytes *b, bool little)
{
	static const uint8_t info_dst[] = { 0x0e, 1, 12, 0 };

	put_bytes(b, "RTPS\2\1\1\20", 8);
	put_bytes(b, writer, 12);
	(void)little;
	put_bytes(b, info_dst, 4);
	put_bytes(b, writer, 12);
}

/* 2 s and a half, in time of RTPS. */
#define STAMP_NS 2500000000

static void stamp(struct bytes *b, bool little)
{
	put(b, 0x09, 1, little);
	put(b, little, 1, little);
	put(b, 8, 2, little);
	put(b, 2, 4, little);
	put(b, 1u << 31, 4, little);
}

static void data(struct bytes *b, bool little, uint32_t number, uint32_t part, unsigned length)
{
	put(b, part ? 0x16 : 0x15, 1, little);
	put(b, little, 1, little);
	put(b, length, 2, little);
	put(b, 0, 8, little);
	put_bytes(b, writer + 12, 4);
	put(b, 0, 4, little);
	put(b, number, 4, little);
	if (part) {
		put(b, part, 4, little);
		put(b, 1, 2, little);
		put(b, 1000, 2, little);
		put(b, 5000, 4, little);
	}
}

static void acknack(struct bytes *b, uint32_t number, uint32_t missing)
{
	put(b, 0x06, 1, true);
	put(b, 1, 1, true);
	put(b, 24, 2, true);
	put(b, 0, 4, true);
	put_bytes(b, writer + 12, 4);
	put(b, 0, 4, true);
	put(b, number, 4, true);
	put(b, missing, 4, true);
	put(b, 1, 4, true);
}

/* ---- frames: IPv4 over Ethernet, with a VLAN; IPv6 after 16 bytes of the cooked link ---- */

static void ethernet(struct bytes *frame, const struct bytes *payload, uint8_t to)
{
	static const uint8_t link[18] = { [12] = 0x81, [16] = 0x08 };
	const uint8_t ip[] = { 0x46,
			       0,
			       (uint8_t)((payload->size + 32) >> 8),
			       (uint8_t)(payload->size + 32),
			       0,
			       0,
			       0,
			       0,
			       64,
			       17,
			       0,
			       0,
			       10,
			       0,
			       0,
			       1,
			       10,
			       0,
			       0,
			       to,
			       0,
			       0,
			       0,
			       0 };

	put_bytes(frame, link, sizeof(link));
	put_bytes(frame, ip, sizeof(ip));
	put(frame, 7000, 2, false);
	put(frame, 7411, 2, false);
	put(frame, 0, 4, false);
	put_bytes(frame, payload->at, payload->size);
}

static void cooked(struct bytes *frame, const struct bytes *payload, uint8_t type)
{
	const uint8_t link[16] = { [1] = type, [2] = 0x03, [3] = 0x04, [14] = 0x86, [15] = 0xdd };
	const uint8_t ip[48] = { 0x60, [6] = 60, [7] = 64, [23] = 1, [39] = 1, [40] = 17 };

	put_bytes(frame, link, sizeof(link));
	put_bytes(frame, ip, sizeof(ip));
	put(frame, 7000, 2, false);
	put(frame, 7411, 2, false);
	put(frame, 0, 4, false);
	put_bytes(frame, payload->at, payload->size);
}

/* ---- files ---- */

static void pcap(struct bytes *file, unsigned link, bool little, bool nano)
{
	put(file, nano ? 0xa1b23c4d : 0xa1b2c3d4, 4, little);
	put(file, 0, 16, little);
	put(file, link, 4, little);
}

static void pcap_frame(struct bytes *file, uint32_t part, const struct bytes *frame, bool little)
{
	put(file, 3, 4, little);
	put(file, part, 4, little);
	put(file, frame->size, 4, little);
	put(file, frame->size, 4, little);
	put_bytes(file, frame->at, frame->size);
}

static void pcapng(struct bytes *file, unsigned link, bool little)
{
	put(file, 0x0a0d0d0a, 4, little);
	put(file, 28, 4, little);
	put(file, 0x1a2b3c4d, 4, little);
	put(file, 0, 12, little);
	put(file, 28, 4, little);
	put(file, 1, 4, little);
	put(file, 28, 4, little);
	put(file, link, 2, little);
	put(file, 0, 6, little);
	put(file, 9, 2, little);		/* times in ns */
	put(file, 1, 2, little);
	put(file, little ? 9 : 0x09000000, 4, little);
	put(file, 28, 4, little);
}

static void pcapng_frame(struct bytes *file, uint64_t ns, const struct bytes *frame, bool little)
{
	const unsigned padded = (unsigned)(frame->size + 3) & ~3u;

	put(file, 6, 4, little);
	put(file, 32 + padded, 4, little);
	put(file, 0, 4, little);
	put(file, ns >> 32, 4, little);
	put(file, ns & UINT32_MAX, 4, little);
	put(file, frame->size, 4, little);
	put(file, frame->size, 4, little);
	put_bytes(file, frame->at, frame->size);
	put(file, 0, padded - (unsigned)frame->size, little);
	put(file, 32 + padded, 4, little);
}

static struct captures *opened(struct bytes *file, size_t size)
{
	FILE *stream = fmemopen(file->at, size ? size : 1, "r");
	struct captures *captures = NULL;
	struct kymo_err err = { 0 };

	assert_non_null(stream);
	if (captures_read_stream(&captures, stream, &err))
		assert_int_equal(err.status, KYMO_EXIT_INPUT);
	fclose(stream);
	return captures;
}

static void check_first(const struct captures *captures, int64_t ns)
{
	const struct capture_packet *packet;
	char text[CAPTURE_ADDRESS_MAX];

	assert_non_null(captures);
	assert_null(captures_warning(captures, 0));
	assert_int_equal(captures_count(captures), 1);
	packet = captures_packet(captures, 0);
	assert_int_equal(packet->ns, ns);
	assert_int_equal(packet->source_ns, STAMP_NS);
	assert_int_equal(packet->sequence, 7);
	assert_memory_equal(packet->writer, writer, 16);
	assert_string_equal(capture_address_text(&packet->to, text), packet->to.is_ipv6 ? "[::1]:7411" : "10.0.0.2:7411");
}

static void formats(void **state)
{
	struct captures *captures;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		const bool little = i & 1, nano = i & 2, is_cooked = i & 4;
		struct bytes payload = { .size = 0 }, frame = { .size = 0 }, file = { .size = 0 },
			     ng = { .size = 0 };

		rtps(&payload, little);
		stamp(&payload, little);
		data(&payload, little, 7, 0, 0);
		if (is_cooked)
			cooked(&frame, &payload, 0);
		else
			ethernet(&frame, &payload, 2);
		pcap(&file, is_cooked ? 113 : 1, little, nano);
		pcap_frame(&file, nano ? 4000 : 4, &frame, little);
		captures = opened(&file, file.size);
		check_first(captures, 3000004000);
		captures_free(captures);
		pcapng(&ng, is_cooked ? 113 : 1, little);
		pcapng_frame(&ng, 3000000005, &frame, little);
		captures = opened(&ng, ng.size);
		check_first(captures, 3000000005);
		captures_free(captures);
	}
}

/* Each file, cut off after each byte: no crash, and what was whole is there. */
static void cut_off(void **state)
{
	struct bytes payload = { .size = 0 }, frame = { .size = 0 },
		     file[2] = { { .size = 0 }, { .size = 0 } };
	struct captures *captures;

	(void)state;
	rtps(&payload, true);
	stamp(&payload, true);
	data(&payload, true, 7, 0, 0);
	ethernet(&frame, &payload, 2);
	pcap(&file[0], 1, true, false);
	pcapng(&file[1], 1, true);
	for (unsigned i = 0; i < 2; i++) {
		pcap_frame(&file[0], i, &frame, true);
		pcapng_frame(&file[1], 3000000000 + i, &frame, true);
	}
	for (unsigned which = 0; which < 2; which++) {
		for (size_t size = 0; size < file[which].size; size++) {
			struct bytes copy = { .size = size };
			const size_t last = which ? 32 + ((frame.size + 3) & ~3u) : 16 + frame.size;

			memcpy(copy.at, file[which].at, size);
			captures = opened(&copy, size);
			if (captures && size > file[which].size - last) {
				assert_int_equal(captures_count(captures), 1);
				assert_non_null(strstr(captures_warning(captures, 0), "in the middle of a packet"));
			}
			captures_free(captures);
		}
	}
	/* And each byte turned. */
	for (unsigned which = 0; which < 2; which++)
		for (size_t at = 0; at < file[which].size; at++)
			for (unsigned bit = 0; bit < 8; bit += 7) {
				struct bytes copy = file[which];

				copy.at[at] ^= (uint8_t)(1 << bit);
				captures_free(opened(&copy, copy.size));
			}
}

static void one(struct bytes *file, uint32_t us, uint8_t to, bool is_request, uint32_t number,
		uint32_t part, bool stamped)
{
	struct bytes payload = { .size = 0 }, frame = { .size = 0 };

	rtps(&payload, true);
	if (stamped)
		stamp(&payload, true);
	if (is_request)
		acknack(&payload, number, part);
	else
		data(&payload, true, number, part, 0);
	ethernet(&frame, &payload, to);
	pcap_frame(file, us, &frame, true);
}

static void sent_again(void **state)
{
	struct bytes file = { .size = 0 };
	const struct capture_packet *p;
	struct captures *captures;

	(void)state;
	pcap(&file, 1, true, false);
	one(&file, 0, 2, false, 1, 1, true);	/* the first part has the time */
	one(&file, 1, 2, false, 1, 2, false);
	one(&file, 2, 3, false, 1, 2, false);	/* to another reader */
	one(&file, 3, 2, true, 1, 0, false);	/* nothing is missing */
	one(&file, 4, 2, true, 1, 1, false);
	one(&file, 5, 4, false, 1, 2, false);	/* because it was asked for */
	one(&file, 6, 2, false, 2, 0, true);
	one(&file, 7, 2, false, 2, 0, true);	/* the same way, unasked */
	captures = opened(&file, file.size);
	assert_int_equal(captures_count(captures), 7);
	p = captures_packet(captures, 0);
	assert_int_equal(p[1].source_ns, STAMP_NS);
	assert_true(!p[1].seen && !p[1].again);
	assert_true(p[2].seen && !p[2].again);
	assert_int_equal(p[3].kind, CAPTURE_REQUEST);
	assert_true(p[4].seen && p[4].again);
	assert_true(!p[5].again && p[6].again);
	captures_free(captures);
}

/* A message of a trace, and its packet; another writer's message of the same nanosecond is not
 * meant. */
static void matches(void **state)
{
	struct feed *f = *state;
	uint8_t other[24] = { 9, 9, 9, [15] = 3 }, own[24];
	struct bytes file = { .size = 0 };
	const struct capture_message *message;
	struct captures *captures;
	struct capture *capture;
	struct kymo_err err;
	uint64_t at = 0;

	memset(own, 0, sizeof(own));
	memcpy(own, writer, sizeof(writer));
	pcap(&file, 1, true, false);
	one(&file, 0, 2, false, 1, 0, true);
	one(&file, 1, 2, true, 1, 1, false);
	one(&file, 9, 2, false, 1, 0, true);
	captures = opened(&file, file.size);
	assert_int_equal(capture_create(&capture, captures, f->model, NULL, &err), 0);
	on(f, 1, 1);
	EV(1, "rmw_publisher_init", "rmw_publisher_handle", P(0x1100), "#gid", other, P(24));
	publisher(f, 2, 0x100, 0x10, "/other");
	EV(3, "rmw_publisher_init", "rmw_publisher_handle", P(0x1300), "#gid", own, P(24));
	publisher(f, 4, 0x300, 0x10, "/t");
	publish(f, STAMP_NS - 2, 0x100);
	publish(f, STAMP_NS - 2, 0x300);
	publish(f, 3000000001 - 2, 0x300);	/* while it captured, and without a packet */
	model_finish(f->model);
	capture_finish(capture);
	assert_false(capture_failed(capture));
	message = capture_next(capture, &at);
	assert_non_null(message);
	assert_string_equal(message->publisher->topic->name, "/t");
	assert_ptr_equal(capture_message(capture, captures_packet(captures, 0)), message);
	assert_null(capture_message(capture, captures_packet(captures, 1)));
	assert_ptr_equal(capture_publisher(capture, captures_packet(captures, 1)),
			 message->publisher);
	assert_int_equal(message->packets, 2);
	assert_int_equal(message->again, 1);
	assert_int_equal(message->first_ns, 3000000000);
	assert_int_equal(message->last_ns, 3000000000);
	assert_null(capture_next(capture, &at));
	assert_int_equal(message->again_ns, 3000009000);
	assert_ptr_equal(capture_publication(capture, message->id), message);
	assert_null(capture_publication(capture, message->id - 1));	/* /other has no packet */
	assert_null(capture_publication(capture, 0));
	/* A later message of this publisher waited for it, if that was under way when it was sent
	 * again. */
	assert_ptr_equal(capture_before(capture, message->publisher, message->id + 1, 3000000001,
					3000009000),
			 message);
	assert_null(capture_before(capture, message->publisher, message->id + 1, 3000009001,
				   3000010000));
	assert_null(capture_before(capture, message->publisher, message->id + 1, 3000000001,
				   3000008999));
	assert_null(
		capture_before(capture, message->publisher, message->id, 3000000001, 3000009000));
	assert_null(capture_before(capture, NULL, message->id + 1, 3000000001, 3000009000));
	assert_true(capture_covers(capture, 3000000000) && capture_covers(capture, 3000009000));
	assert_false(capture_covers(capture, 2999999999) || capture_covers(capture, 3000009001));
	assert_int_equal(capture_missing(capture, message->publisher), 1);
	capture_destroy(capture);
	captures_free(captures);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),
		cmocka_unit_test(cut_off),
		cmocka_unit_test(sent_again),
		TEST(matches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
