/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that a consumer binds, wherever they lie. */
#include "ctf_bytes.h"

static void bindings(void **state)
{
	static const struct kymo_ctf_bind table[] = {
		{ "a", { "number", "text", "list", "fixed", "bytes", "real", "missing", "cpu_id" } },
		{ "b", { "number" } },
		{ "not in this trace", { "x" } },
	};
	const int16_t list[3] = { 1, -2, 3 };
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	double real = 2.5;

	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN
		 "event.context := struct { integer { size = 32; signed = true; } _vtid; "
		 "integer { size = 8; encoding = UTF8; } _procname[4]; " U(64) " _init_timestamp; }; };\n"
		 "event { name = a; id = 0; fields := struct { integer { size = 16; signed = true; } _number; "
		 "string text; " U(8) " __list_length; integer { size = 16; signed = true; align = 8; } "
		 "_list[__list_length]; integer { size = 8; encoding = UTF8; } fixed[4]; " U(8) " bytes[3]; "
		 "floating_point { exp_dig = 11; mant_dig = 53; align = 8; } real; }; };\n"
		 "event { name = b; id = 70000; };"
		 "event { name = c; id = 2; fields := struct { string number; }; };");
	file_begin("s", 1);
	packet_begin(100);
	event_begin(0, 101);
	put_u64((uint32_t)-7, 4);
	put("name", 4);
	put_u64(55, 8);
	put_u64((uint16_t)-300, 2);
	put_text("");
	put_u64(3, 1);
	put(list, sizeof list);
	put("four", 4);
	put("\1\2\3", 3);
	put(&real, 8);
	event_begin(2, 102);
	put_u64(8, 4);
	put("ab\0\0", 4);
	put_u64(0, 8);
	put_text("not bound");
	packet_end(0);
	file_end();
	reader = open_trace();
	assert_int_equal(kymo_ctf_bind(reader, table, 3, NULL), 0);
	NEXT(reader, &event);
	assert_int_equal(event.bound, 0);
	assert_int_equal(event.clock_ns, 101);
	assert_int_equal(event.ns, 1000101);
	assert_int_equal(event.vpid, -42);
	assert_int_equal(event.vtid, -7);
	assert_int_equal(event.cpu, 3);
	assert_int_equal(event.init_ns, 55);
	assert_string_equal(event.procname, "name");	/* has no NUL in the trace */
	assert_int_equal(event.value[0].i, -300);
	assert_int_equal(event.value[1].size, 0);
	assert_string_equal(event.value[1].bytes, "");
	assert_int_equal(event.value[2].size, 3);
	assert_memory_equal(event.value[2].bytes, list, sizeof list);
	assert_string_equal(event.value[3].bytes, "four");
	assert_int_equal(event.value[3].size, 4);
	assert_int_equal(event.value[4].size, 3);
	assert_memory_equal(event.value[4].bytes, "\1\2\3", 3);
	assert_true(event.value[5].f > 2.4 && event.value[5].f < 2.6);
	assert_false(event.value[6].present);
	assert_int_equal(event.value[6].u, 0);
	assert_int_equal(event.value[7].u, 3);		/* from the packet context */
	NEXT(reader, &event);
	assert_int_equal(event.bound, KYMO_CTF_UNBOUND);
	assert_string_equal(event.class->name, "c");
	assert_string_equal(event.procname, "ab");
	assert_string_equal(event.class->field[0].type, "string");
	END(reader, &event);
	assert_int_equal(kymo_ctf_warning_count(reader), 0);
	kymo_ctf_close(reader);
}

/* Fields inside structures, variants, arrays and sequences; labels. */
static void nested_bindings(void **state)
{
	static const struct kymo_ctf_bind table[] = {
		{ "a", { "pose.at.x", "pose.y", "v.text", "v.pair.n", "points[2].x", "words[1]", "kind", "pose" } },
		{ "b", { "grid[1][2]", "kinds[0]", "far[9]", "grid[1].x", "name[0]", "flags" } },
	};
	static const struct kymo_ctf_bind twice[] = { { "b", { "kinds[0]", "kinds[1]" } } };
	struct kymo_err err = { 0 };
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	const float y = -1.5f;

	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN " };\n"
		 "enum kind : " U(8) " { none, TEXT = 1 ... 3, PAIR = 7 };"
		 "event { name = a; id = 0; fields := struct { struct { struct { integer { size = 16; align = 8; "
		 "byte_order = be; } _x; } at; floating_point { exp_dig = 8; mant_dig = 24; align = 8; } y; } pose; "
		 "enum kind kind; variant <kind> { string TEXT; struct { " U(8) " m; " U(32) " n; } PAIR; } v0; "
		 "enum : " U(8) " { text, pair } choice; variant <choice> { string text; struct { " U(8) " n; } pair; } v; "
		 "struct { " U(8) " x, y; } points[3]; " U(8) " n; string words[n]; }; };"
		 "event { name = b; id = 1; fields := struct { " U(16) " grid[2][3]; enum kind kinds[2]; " U(8) " far[2]; "
		 "integer { size = 8; encoding = UTF8; } name[2]; integer { size = 3; } flags; }; };");
	file_begin("s", 1);
	packet_begin(100);
	for (unsigned i = 0; i < 2; i++) {
		event_begin(0, 101 + i);
		put_u64(htobe16(0x1234), 2);
		put(&y, 4);
		put_u64(2, 1);
		put_text("other");
		put_u64(i, 1);
		if (i)
			put_u64(99, 1);
		else
			put_text("chosen");
		put("\1\2\3\4\5\6", 6);
		put_u64(i + 1, 1);
		put_text("first");
		if (i)
			put_text("second");
	}
	event_begin(1, 103);
	for (unsigned i = 0; i < 6; i++)
		put_u64(10 + i, 2);
	put("\7\10\1\2", 4);
	put("ab\5", 3);
	packet_end(0);
	file_end();
	reader = open_trace();
	assert_int_equal(kymo_ctf_bind(reader, table, 2, &err), 0);
	for (unsigned i = 0; i < 2; i++) {
		NEXT(reader, &event);
		assert_int_equal(event.value[0].u, 0x1234);
		assert_true(event.value[1].f < -1.4 && event.value[1].f > -1.6);
		assert_int_equal(event.value[2].present, !i);
		assert_int_equal(event.value[3].present, i);
		if (i)
			assert_int_equal(event.value[3].u, 99);
		else
			assert_string_equal(event.value[2].bytes, "chosen");
		assert_int_equal(event.value[4].u, 5);
		assert_int_equal(event.value[5].present, i);
		if (i)
			assert_string_equal(event.value[5].bytes, "second");
		assert_int_equal(event.value[6].u, 2);
		assert_string_equal(kymo_ctf_label(&event, 6), "TEXT");
		assert_null(kymo_ctf_label(&event, 0));
		assert_false(event.value[7].present);
	}
	NEXT(reader, &event);
	assert_int_equal(event.value[0].u, 15);
	assert_int_equal(event.value[1].u, 7);
	assert_string_equal(kymo_ctf_label(&event, 1), "PAIR");
	assert_false(event.value[2].present);	/* there are two */
	assert_null(kymo_ctf_label(&event, 2));
	assert_false(event.value[3].present);
	assert_false(event.value[4].present);
	assert_int_equal(event.value[5].u, 5);
	END(reader, &event);
	assert_int_equal(kymo_ctf_bind(reader, twice, 1, &err), -1);
	assert_non_null(strstr(err.text, "kinds[1]"));
	kymo_ctf_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(bindings, clean),
		cmocka_unit_test_teardown(nested_bindings, clean),
	};
	int failed;

	if (!mkdtemp(directory))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
