// SPDX-License-Identifier: Apache-2.0
/* The protobuf writer: varints, lengths of messages inside messages, growth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/pft/pb.h"

static void expect(struct pb *pb, const void *bytes, size_t size)
{
	assert_false(pb->failed);
	assert_int_equal(pb->depth, 0);
	assert_int_equal(pb->size, size);
	assert_memory_equal(pb->data, bytes, size);
	pb_free(pb);
}

static void varints(void **state)
{
	struct pb pb = { 0 };

	(void)state;
	pb_varint(&pb, 0);
	pb_varint(&pb, 127);
	pb_varint(&pb, 128);
	pb_varint(&pb, 16383);
	pb_varint(&pb, 16384);
	pb_varint(&pb, (uint64_t)-1);
	expect(&pb, "\x00\x7f\x80\x01\xff\x7f\x80\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 19);
}

static void fields(void **state)
{
	struct pb pb = { 0 };

	(void)state;
	pb_uint(&pb, 8, 100);
	pb_uint(&pb, 126, 300);
	pb_text(&pb, 2, "hi");
	pb_fixed64(&pb, 47, 0x0102030405060708);
	pb_double(&pb, 5, 1.0);
	expect(&pb, "\x40\x64" "\xf0\x07\xac\x02" "\x12\x02hi" "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01"
	       "\x29\x00\x00\x00\x00\x00\x00\xf0\x3f", 29);
}

static void documented_event(void **state)
{
	struct pb pb = { 0 };

	(void)state;
	pb_open(&pb, 1);
	pb_uint(&pb, 8, 100);
	pb_uint(&pb, 10, 2);
	pb_open(&pb, 11);
	pb_uint(&pb, 9, 1);
	pb_uint(&pb, 10, 2);
	pb_close(&pb);
	pb_close(&pb);
	expect(&pb, "\x0a\x0a\x40\x64\x50\x02\x5a\x04\x48\x01\x50\x02", 12);
}

/* Content of 0, 127, 128, 16383, 16384 bytes, at two depths: both lengths must be right. */
static void lengths(void **state)
{
	static const size_t sizes[] = { 0, 1, 126, 127, 128, 129, 16383, 16384, 16385, 2097152 };
	static uint8_t content[2097152];

	(void)state;
	memset(content, 'x', sizeof(content));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct pb pb = { 0 }, inner = { 0 }, outer = { 0 };

		pb_open(&pb, 1);
		pb_open(&pb, 2);
		pb_raw(&pb, content, sizes[i]);
		pb_close(&pb);
		pb_uint(&pb, 3, 1);
		pb_close(&pb);

		pb_bytes(&inner, 2, content, sizes[i]);
		pb_uint(&inner, 3, 1);
		pb_bytes(&outer, 1, inner.data, inner.size);
		expect(&pb, outer.data, outer.size);
		pb_free(&inner);
		pb_free(&outer);
	}
}

static void too_large(void **state)
{
	struct pb pb = { 0 };

	(void)state;
	pb_uint(&pb, 1, 1);
	assert_int_equal(pb_grow(&pb, SIZE_MAX / 2), -1);
	assert_true(pb.failed);
	pb_open(&pb, 1);
	pb_uint(&pb, 1, 1);
	pb_bytes(&pb, 1, "x", 1);
	pb_close(&pb);
	assert_int_equal(pb.size, 2);
	pb_free(&pb);
	assert_false(pb.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varints),          cmocka_unit_test(fields),
		cmocka_unit_test(documented_event), cmocka_unit_test(lengths),
		cmocka_unit_test(too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
