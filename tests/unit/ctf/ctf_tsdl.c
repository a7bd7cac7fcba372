/* SPDX-License-Identifier: Apache-2.0 */
/* The TSDL parser: what it makes of declarations, and where it says errors are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ctf/tsdl/tsdl_metadata.h"

#define TRACE "trace { major = 1; minor = 8; byte_order = le; };\n"

static struct ctf_metadata *parse(const char *text, struct kymo_err *err)
{
	struct ctf_metadata *metadata = NULL;
	char *copy = strdup(text);

	if (tsdl_parse(copy, strlen(copy), "m", &metadata, err))
		metadata = NULL;
	free(copy);
	return metadata;
}

static const struct ctf_type *field(const struct ctf_metadata *m, unsigned event, const char *name)
{
	const struct ctf_type *fields = m->event[event].fields;

	for (uint32_t i = 0; i < fields->member_count; i++)
		if (!strcmp(fields->member[i].name, name))
			return fields->member[i].type;
	return NULL;
}

static void scalars(void **state)
{
	struct kymo_err err = { 0 };
	struct ctf_metadata *m = parse("/* CTF 1.8 */" TRACE
		"typealias integer { size = 0x40; align = 010; signed = true; base = hex; } := unsigned long int;\n"
		"typedef integer { size = 3; } u3, u3x2[2];\n"
		"event { name = \"a\\tb\\x41\\\"\"; id = 7; loglevel = -1; fields := struct {\n"
		"  unsigned long int l; u3 a; u3x2 b;   // two\n"
		"  floating_point { exp_dig = 11; mant_dig = 53; align = 32; byte_order = be; } d;\n"
		"  integer { size = 8; encoding = UTF8; map = clock.c.value; custom = 3; } c;\n"
		"  string { encoding = ASCII; } s;\n"
		"}; };", &err);
	const struct ctf_type *t;

	(void)state;
	assert_non_null(m);
	assert_string_equal(m->event[0].name, "a\tbA\"");
	assert_int_equal(m->event[0].id, 7);
	t = field(m, 0, "l");
	assert_int_equal(t->size, 64);
	assert_int_equal(t->align, 8);
	assert_int_equal(t->base, 16);
	assert_true(t->is_signed);
	assert_int_equal(field(m, 0, "a")->align, 1);
	t = field(m, 0, "b");
	assert_int_equal(t->kind, CTF_KIND_ARRAY);
	assert_int_equal(t->length, 2);
	t = field(m, 0, "d");
	assert_int_equal(t->kind, CTF_KIND_FLOAT);
	assert_int_equal(t->size, 64);
	assert_int_equal(t->align, 32);
	assert_int_equal(t->order, CTF_ORDER_BE);
	t = field(m, 0, "c");
	assert_true(t->is_text);
	assert_string_equal(t->clock, "c");
	assert_int_equal(field(m, 0, "s")->kind, CTF_KIND_STRING);
	assert_int_equal(m->event[0].fields->align, 32);
	tsdl_free(m);
}

static void compounds(void **state)
{
	struct kymo_err err = { 0 };
	struct ctf_metadata *m = parse(TRACE
		"typealias integer { size = 8; } := u8;\n"
		"enum color : u8 { red, green = 5, blue, \"light blue\" = 9 ... 11, };\n"
		"struct point { u8 x, y; } align(64);\n"
		"variant thing { u8 red; struct point green; };\n"
		"event { name = e; fields := struct {\n"
		"  enum color c; struct point p[3][2]; u8 n; struct point q[n];\n"
		"  variant thing <c> v; variant <c> { string blue; } w;\n"
		"}; };", &err);
	const struct ctf_type *t;

	(void)state;
	assert_non_null(m);
	t = field(m, 0, "c");
	assert_int_equal(t->range_count, 4);
	assert_int_equal(t->range[0].begin, 0);
	assert_int_equal(t->range[2].begin, 6);
	assert_string_equal(t->range[3].label, "light blue");
	assert_int_equal(t->range[3].end, 11);
	t = field(m, 0, "p");
	assert_int_equal(t->length, 3);
	assert_int_equal(t->element->length, 2);
	assert_int_equal(t->align, 64);
	t = field(m, 0, "q");
	assert_int_equal(t->kind, CTF_KIND_SEQUENCE);
	assert_string_equal(t->path, "n");
	t = field(m, 0, "v");
	assert_int_equal(t->kind, CTF_KIND_VARIANT);
	assert_string_equal(t->path, "c");
	assert_int_equal(t->member_count, 2);
	tsdl_free(m);
}

static void blocks(void **state)
{
	struct kymo_err err = { 0 };
	struct ctf_metadata *m = parse(
		"env { hostname = \"h\"; vpid = -4; };\n"
		"clock { name = a; freq = 5; offset_s = -2; offset = 3; uuid = \"x\"; };\n"
		"clock { name = \"b\"; };\n"
		"event { name = \"e\"; id = 1; stream_id = 2; model.emf.uri = \"u\"; loglevel = 13; };\n"
		"trace { major = 1; minor = 8; byte_order = be; uuid = \"00112233-4455-6677-8899-AabbCcddEeff\";\n"
		"  packet.header := struct { integer { size = 32; } magic; }; };\n"
		"stream { id = 2; packet.context := struct { string s; }; };\n"
		"callsite { name = \"e\"; func = \"f\"; };\n", &err);

	(void)state;
	assert_non_null(m);
	assert_int_equal(m->order, CTF_ORDER_BE);
	assert_true(m->has_uuid);
	assert_int_equal(m->uuid[15], 0xff);
	assert_int_equal(m->uuid[10], 0xaa);
	assert_string_equal(tsdl_env(m, "hostname")->text, "h");
	assert_int_equal(tsdl_env(m, "vpid")->number, -4);
	assert_null(tsdl_env(m, "nothing"));
	assert_int_equal(m->clock_count, 2);
	assert_int_equal(m->clock[0].offset_s, -2);
	assert_int_equal(m->clock[1].freq, 1000000000);
	assert_int_equal(m->stream[0].id, 2);
	assert_int_equal(m->event[0].loglevel, 13);
	tsdl_free(m);
}

/* What is being written may end anywhere: the blocks in front of that are there. */
static void torn_ends(void **state)
{
	static const char whole[] = TRACE "stream { };\nevent { name = \"first one\"; id = 1; };\n/* note */\n"
		"event { name = second; id = 2; fields := struct { string s; }; };\n";

	(void)state;
	for (size_t size = strlen(TRACE); size < sizeof whole; size++) {
		struct kymo_err err = { 0 };
		char text[sizeof whole];
		struct ctf_metadata *m;
		uint32_t events;

		memcpy(text, whole, size);
		text[size] = 0;
		m = parse(text, &err);
		if (!m)
			fail_msg("%zu bytes: %s", size, err.text);
		events = (size > (size_t)(strstr(whole, "};\n/*") - whole)) + (size >= sizeof whole - 3);
		assert_int_equal(m->event_count, events);
		tsdl_free(m);
	}
}

/* Containers of containers: refused, not followed to the end of the stack. */
static void deep_containers(void **state)
{
	enum { COUNT = 4000000 };
	static char text[sizeof TRACE + 5 * COUNT];
	struct ctf_metadata *m;
	struct kymo_err err = { 0 };
	size_t used = sizeof TRACE - 1;

	(void)state;
	memcpy(text, TRACE, used);
	for (unsigned i = 0; i < COUNT; i++, used += 5)
		memcpy(text + used, "enum:", 5);
	assert_int_equal(tsdl_parse(text, used, "m", &m, &err), -1);
	assert_non_null(strstr(err.text, "inside each other"));
}

static void errors_have_places(void **state)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "trace {\n  byte_order = le\n};", "m:3:1: expected ;, found \"}\"" },
		{ TRACE "event { name = \"x\"; fields := struct {\n  u8 a; }; };", "m:3:3: unknown type \"u8\"" },
		{ TRACE "event { id = 1; };", "m:2:1: this event has no name" },
		{ TRACE "env { a = \"open\n\"; };", "m:2:11: the string is not closed" },
		{ TRACE "typealias integer { size = 65; } := x;", "m:2:28: expected a size of 1 to 64 bits" },
		{ TRACE "typealias integer { align = 3; } := x;", "m:2:29: expected a power of two" },
		{ TRACE "typealias integer { signed = true; } := x;", "m:2:11: this integer has no size" },
		{ TRACE "event { name = a; fields := struct { string a, a; }; };", "m:2:48: \"a\" is already declared" },
		{ TRACE "typedef string t; typedef string t;", "m:2:34: the type \"t\" is already defined" },
		{ TRACE "enum e { a };", "m:2:8: this enum has no container" },
		{ TRACE "clock { name = c; freq = 0; };", "m:2:26: a clock cannot have a frequency of 0" },
		{ TRACE "env { a = 99999999999999999999; };", "m:2:11: the number does not fit into 64 bits" },
		{ TRACE "$", "m:2:1: \"$\" has no meaning here" },
		{ "trace { major = 2; };", "m:1:17: this is CTF 2" },
		{ "env { };", "m: this metadata has no trace block" },
		{ "hello world", "m:1:1: expected trace, env, clock" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct kymo_err err = { 0 };
		struct ctf_metadata *m = parse(cases[i].text, &err);

		assert_null(m);
		assert_int_equal(err.status, KYMO_EXIT_INPUT);
		if (!strstr(err.text, cases[i].says))
			fail_msg("expected \"%s\", got \"%s\"", cases[i].says, err.text);
	}
}

static void depth_is_bounded(void **state)
{
	const char *open = "struct { ", *nested = TRACE "event { name = a; fields := ";
	size_t count = 100000, at;
	char *text = malloc(strlen(nested) + count * strlen(open) + 1);
	struct ctf_metadata *m = NULL;
	struct kymo_err err = { 0 };

	(void)state;
	at = strlen(nested);
	memcpy(text, nested, at);
	for (size_t i = 0; i < count; i++, at += strlen(open))
		memcpy(text + at, open, strlen(open) + 1);
	assert_int_equal(tsdl_parse(text, at, "m", &m, &err), -1);
	assert_non_null(strstr(err.text, "blocks inside each other"));
	free(text);
}

static void put32(char *at, uint32_t value, bool big)
{
	value = big ? __builtin_bswap32(value) : value;
	memcpy(at, &value, sizeof value);
}

/* LTTng's packets, written by either kind of machine; the second ends the file before its size. */
static void packets(void **state)
{
	static const char *const part[2] = { "trace { byte_or", "der = le; };" };

	(void)state;
	for (int big = 0; big < 2; big++) {
		struct ctf_metadata *m = NULL;
		char text[2 * 128] = { 0 };
		struct kymo_err err = { 0 };

		for (int i = 0; i < 2; i++) {
			char *packet = text + i * 128;

			put32(packet, 0x75d11d57, big);
			put32(packet + 24, (uint32_t)(37 + strlen(part[i])) * 8, big);
			put32(packet + 28, 128 * 8, big);
			memcpy(packet + 37, part[i], strlen(part[i]));
		}
		assert_int_equal(tsdl_parse(text, 128 + 37 + strlen(part[1]), "m", &m, &err), 0);
		assert_int_equal(m->order, CTF_ORDER_LE);
		tsdl_free(m);
		put32(text, 0x75d11d57, big);
		put32(text + 24, 4096 * 8, big);
		assert_int_equal(tsdl_parse(text, sizeof text, "m", &m, &err), -1);
		assert_non_null(strstr(err.text, "does not fit"));
	}
}

/* Without its beginning the metadata is of no use: what to do follows the reason. */
static void cut_off(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "/* CTF 1.8", "m:1:1: a comment is not closed" },
		{ "typealias integer { size = 8; }",
		  "m:1:32: expected :=, found the end of the metadata" },
		{ "trace { major = 1; byte_or",
		  "m:1:27: expected = or :=, found the end of the metadata" },
		{ "\x1e{ \"type\": \"pre", "m: fragment 1 (JSON): the file ends within it" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct kymo_err err = { 0 };

		assert_null(parse(cases[i].text, &err));
		if (!strstr(err.text, cases[i].says) || !strstr(err.text, "copy it again"))
			fail_msg("expected \"%s\" and a remedy, got \"%s\"", cases[i].says,
				 err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalars),          cmocka_unit_test(compounds),
		cmocka_unit_test(blocks),           cmocka_unit_test(errors_have_places),
		cmocka_unit_test(torn_ends),        cmocka_unit_test(deep_containers),
		cmocka_unit_test(depth_is_bounded), cmocka_unit_test(packets),
		cmocka_unit_test(cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
