/* SPDX-License-Identifier: Apache-2.0 */
/* Which streams metadata declare, and whether they can be understood, at each point of their
 * coming. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "relay/model/declared.h"
#include "base/array.h"

#define TRACE	"/* CTF 1.8 */\ntrace { packet.header := struct { uint32_t magic; }; };\nclock { name = \"a { b\"; };\n"
#define EVENT	"event {\n\tname = \"x\\\"}\"; id = 0;\n\tstream_id = 1;\n\tfields := struct { uint8_t id; };\n};\n"
#define STREAM	"stream {\n\tid = 1; // }\n\tevent.header := struct { enum : u { a = 0 } id; };\n};\n"

static void add(struct declared *declared, const char *text)
{
	declared_add(declared, (const uint8_t *)text, strlen(text));
}

static void test_order(void **state)
{
	struct declared declared = { 0 };

	(void)state;
	add(&declared, TRACE);
	assert_false(declared_is_whole(&declared));	/* nothing has a clock */
	add(&declared, EVENT);
	assert_false(declared_is_whole(&declared));	/* its stream is not there */
	assert_int_equal(declared_streams(&declared), 0);
	add(&declared, STREAM);
	assert_true(declared_is_whole(&declared));
	assert_int_equal(declared_streams(&declared), 2);
	add(&declared, EVENT);
	assert_true(declared_is_whole(&declared));
	add(&declared, "event { stream_id = 0; };");
	assert_false(declared_is_whole(&declared));
	add(&declared, "stream { id = 0; };");
	assert_true(declared_is_whole(&declared));
	assert_int_equal(declared_streams(&declared), 3);
}

static void test_pieces(void **state)
{
	static const char text[] = TRACE STREAM EVENT;

	(void)state;
	for (size_t cut = 0; cut < sizeof(text); cut++) {
		struct declared declared = { 0 };

		declared_add(&declared, (const uint8_t *)text, cut);
		if (cut > sizeof(TRACE) && cut < sizeof(TRACE STREAM) - 4)
			assert_false(declared_is_whole(&declared));
		declared_add(&declared, (const uint8_t *)text + cut, sizeof(text) - 1 - cut);
		assert_true(declared_is_whole(&declared));
		assert_int_equal(declared_streams(&declared), 2);
	}
}

/* As LTTng sends them: a packet of 128 bytes, whose padding is not there. */
static void test_packets(void **state)
{
	static const char text[] = "stream { id = 5; };";
	uint8_t packet[2 * 128] = { 0x57, 0x1d, 0xd1, 0x75 };
	struct declared declared = { 0 };
	const uint32_t content = 8 * (37 + sizeof(text) - 1), size = 8 * 128;

	(void)state;
	memcpy(packet + 24, &content, 4);
	memcpy(packet + 28, &size, 4);
	memcpy(packet + 37, text, sizeof(text) - 1);
	memcpy(packet + 128, packet, 128);
	packet[128 + 37 + 14] = '6';
	declared_add(&declared, packet, 128 + content / 8);
	assert_int_equal(declared_streams(&declared), (uint64_t)3 << 5);
	declared_add(&declared, packet, 50);		/* a part of one */
	assert_true(declared_is_whole(&declared));
	assert_int_equal(declared_streams(&declared), DECLARED_ALL);
}

static void test_others(void **state)
{
	static const char *const all[] = {
		"metadata", "stream { };", "stream { id = 64; };", "event { stream_id = 18446744073709551616; };",
		"stream { id = one; };",
	};

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(all); i++) {
		struct declared declared = { 0 };

		add(&declared, all[i]);
		assert_true(declared_is_whole(&declared));
		assert_true(declared_streams(&declared) == DECLARED_ALL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
