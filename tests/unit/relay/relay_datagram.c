/* SPDX-License-Identifier: Apache-2.0 */
/* A packet cut into datagrams: all of it, once, in pieces that fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "relay/wire/datagram.h"

static void cut(uint32_t size, uint32_t most)
{
	const uint32_t piece = (most ? most : DATAGRAM_SIZE) - WIRE_SIZE_datagram;
	uint8_t packet[10000], again[sizeof(packet)];
	struct datagram_cut cutting = { .cookie = 1,
					.stream = 2,
					.seq = 3,
					.bytes = packet,
					.size = size,
					.padding = 4,
					.most = most };
	struct wire_out out = { 0 };
	uint32_t at = 0, count = 0;

	for (uint32_t i = 0; i < size; i++)
		packet[i] = (uint8_t)(i * 7 >> 2);
	while (datagram_cut(&cutting, &out) == 1) {
		struct wire_in in = { .at = out.bytes, .end = out.bytes + out.used };
		struct wire_datagram header;

		assert_true(out.used <= (most ? most : DATAGRAM_SIZE));
		assert_true(wire_get_datagram(&in, &header));
		assert_true(header.magic == DATAGRAM_MAGIC && header.size == size &&
			    header.cookie == 1 && header.stream == 2 && header.seq == 3 &&
			    header.padding == 4 && header.offset == at && header.piece == piece &&
			    !header.zero);
		assert_true(wire_left(&in) == piece || at + wire_left(&in) == size);
		memcpy(again + at, in.at, wire_left(&in));
		at += (uint32_t)wire_left(&in);
		count++;
	}
	assert_int_equal(at, size);
	assert_int_equal(count, size ? (size - 1) / piece + 1 : 1);
	assert_memory_equal(again, packet, size);
	assert_int_equal(datagram_cut(&cutting, &out), 0);
	wire_out_free(&out);
}

static void sizes(void **state)
{
	const uint32_t piece = DATAGRAM_SIZE - WIRE_SIZE_datagram;

	(void)state;
	assert_int_equal(WIRE_SIZE_datagram, 48);
	for (uint32_t size = 0; size < 4; size++)
		cut(size, WIRE_SIZE_datagram + 1);
	cut(piece - 1, 0);
	cut(piece, 0);
	cut(piece + 1, 0);
	cut(10000, 0);
	cut(10000, 300);
}

static void impossible(void **state)
{
	struct wire_out out = { 0 };

	(void)state;
	assert_int_equal(
		datagram_cut(&(struct datagram_cut){ .size = 1, .most = WIRE_SIZE_datagram }, &out),
		-1);
	assert_int_equal(
		datagram_cut(&(struct datagram_cut){ .size = DATAGRAM_PACKET_MAX + 1 }, &out), -1);
	wire_out_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sizes), cmocka_unit_test(impossible) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
