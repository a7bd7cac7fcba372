/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream file as input, behind one byte that chooses the metadata and how to read: LTTng's
 * compact and large headers, kymo's own, and one of every type with headers that do not end on
 * bytes; a time window, only what is bound, threads, a file that grows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctf/read/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define U(size) "integer { size = " #size "; align = 8; }"
#define TIME(size) "integer { size = " #size "; align = 8; map = clock.m.value; }"
#define TRACE(order) "trace { major = 1; minor = 8; byte_order = " order "; packet.header := struct { " \
	U(32) " magic; " U(32) " stream_id; }; }; clock { name = m; };\n"
#define PACKET "packet.context := struct { " TIME(64) " timestamp_begin; " TIME(64) " timestamp_end; " \
	U(64) " content_size; " U(64) " packet_size; " U(64) " packet_seq_num; " U(32) " events_discarded; };"
#define LTTNG(bits, low, last, al) "event.header := struct { enum : integer { size = " #bits "; align = " #al "; } " \
	"{ compact = 0 ... " #last ", extended } id; variant <id> { struct { integer { size = " #low \
	"; align = " #al "; map = clock.m.value; } timestamp; } compact; struct { " U(32) " id; " TIME(64) \
	" timestamp; } extended; } v; } align(8);"
#define CONTEXT "event.context := struct { integer { size = 32; align = 8; } _vpid; integer { size = 8; " \
	"encoding = UTF8; } _procname[17]; };"
#define EVENTS "event { name = a; id = 0; fields := struct { " U(64) " x; string s; " U(8) " n; " U(16) " q[n]; }; };" \
	"event { name = b; id = 1; fields := struct { " U(64) " x; }; };" \
	"event { name = c; id = 2; fields := struct { enum : " U(8) " { p = 0, r = 1 ... 9, } t; " \
	"variant <t> { string p; struct { integer { size = 3; } u; integer { size = 9; signed = true; } w; } r; } v; " \
	"floating_point { exp_dig = 8; mant_dig = 24; align = 32; } f; string words[3]; }; };" \
	"event { name = d; id = 3; fields := struct { " U(32) " n; struct { } none[n]; struct { " U(8) " m; " \
	"integer { size = 5; } bits[m]; } rows[2]; }; };"

static const char *const metadata[] = {
	TRACE("le") "stream { " PACKET LTTNG(16, 32, 65534, 8) CONTEXT " };" EVENTS,
	TRACE("le") "stream { " PACKET LTTNG(5, 27, 30, 1) " };" EVENTS,
	TRACE("le") "stream { " PACKET "event.header := struct { " U(16) " id; " TIME(64) " timestamp; }; };" EVENTS,
	TRACE("be") "stream { " PACKET "event.header := struct { integer { size = 3; } id; integer { size = 40; "
		"map = clock.m.value; } t; }; };" EVENTS,
	TRACE("be") "stream { " PACKET LTTNG(16, 32, 65534, 8) CONTEXT " };" EVENTS,
	TRACE("le") "stream { event.header := struct { " U(8) " id; }; };" EVENTS,
};

static char directory[] = "/dev/shm/kymo-fuzz.XXXXXX";
static FILE *null;

static void remove_all(void)
{
	char path[64];

	snprintf(path, sizeof path, "%s/s", directory);
	unlink(path);
	snprintf(path, sizeof path, "%s/metadata", directory);
	unlink(path);
	rmdir(directory);
}

static void store(const char *name, const void *bytes, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	file = fopen(path, "w");
	if (!file || fwrite(bytes, 1, size, file) != size)
		abort();
	fclose(file);
}

static const struct kymo_ctf_bind table[] = {
	{ "a", { "x", "s", "n", "q" } },
	{ "c", { "t", "f", "v.p", "v.r.w", "words[1]" } },
	{ "d", { "rows[1].m", "n" } },
};

static void print_all(struct kymo_ctf_reader *reader)
{
	struct kymo_ctf_event event;
	struct kymo_err err;

	while (kymo_ctf_next(reader, &event, &err) > 0) {
		if (event.bound == 0 && event.value[1].present)
			fputs(event.value[1].bytes, null);
		if (event.bound == 1 && event.value[2].present)
			fputs(event.value[2].bytes, null);
		if (event.bound == 1 && event.value[4].present)
			fputs(event.value[4].bytes, null);
		if (event.bound == 1 && kymo_ctf_label(&event, 0))
			fputs(kymo_ctf_label(&event, 0), null);
		kymo_ctf_print_event(reader, &event, null);
		kymo_ctf_print_event_json(reader, &event, null);
	}
}

static struct kymo_ctf_reader *open_it(unsigned how)
{
	struct kymo_ctf_reader *reader;
	struct kymo_err err;

	if (kymo_ctf_open(directory, &reader, &err))
		abort();	/* the metadata is right */
	(void)kymo_ctf_bind(reader, table, 3, &err);
	kymo_ctf_only_bound(reader, how & 16);
	if (how & 32)
		kymo_ctf_window(reader, 1000, INT64_MAX - 1000, NULL);
	return reader;
}

static void read_all(unsigned how)
{
	struct kymo_ctf_reader *reader = open_it(how);

	/* A thread each time is slow: sometimes is enough. */
	kymo_ctf_threads(reader, how >= 250 ? 2 : 1);
	print_all(reader);
	for (unsigned i = 0; i < kymo_ctf_stream_count(reader); i++)
		(void)kymo_ctf_stream(reader, i);
	kymo_ctf_close(reader);
}

/* The file comes in two pieces. */
static void read_growing(unsigned how, const uint8_t *data, size_t size)
{
	struct kymo_ctf_reader *reader;
	struct kymo_err err;

	store("s", data, size / 2);
	reader = open_it(how);
	kymo_ctf_growing(reader, true);
	print_all(reader);
	store("s", data, size);
	if (kymo_ctf_refresh(reader, &err) < 0)
		abort();
	print_all(reader);
	kymo_ctf_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text;

	if (!null) {
		null = fopen("/dev/null", "w");
		if (!null || !mkdtemp(directory) || atexit(remove_all))
			abort();
	}
	if (!size)
		return 0;
	text = metadata[(data[0] & 15) % (sizeof metadata / sizeof metadata[0])];
	store("metadata", text, strlen(text));
	if ((data[0] & 192) == 128) {
		read_growing(data[0], data + 1, size - 1);
		return 0;
	}
	store("s", data + 1, size - 1);
	read_all(data[0]);
	return 0;
}
