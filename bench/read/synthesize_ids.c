/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace with many event classes, each id as likely as the others: a reader that is quick
 * because the same few ids come again and again is not quick here. Four shapes in turn:
 *
 *   id % 4 == 0   u64                        id % 4 == 2   i32, string of 1 to 15 characters
 *   id % 4 == 1   u64, u32, u8               id % 4 == 3   u8 count, u32[count] up to 7
 *
 * usage: bench_synthesize_ids DIR EVENTS STREAMS IDS
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PACKET 65536u
#define EVENT_MAX 64u
#define STEP_NS 200

struct stream {
	FILE *file;
	uint32_t used;
	uint64_t begin, end;
	uint8_t bytes[PACKET];
};

struct packet_head {
	uint32_t magic, stream;
	uint64_t begin, end, content_bits, packet_bits, discarded;
} __attribute__((packed));

static uint64_t random_state = 1;

static uint32_t next_random(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(random_state >> 33);
}

static void fail(const char *what)
{
	fprintf(stderr, "bench_synthesize_ids: %s\n", what);
	exit(1);
}

static FILE *open_in(const char *directory, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	if (!file)
		fail("cannot create a file");
	return file;
}

static void write_metadata(const char *directory, unsigned ids)
{
	static const char *const fields[] = {
		"u64 a;", "u64 a; u32 b; u8 c;", "i32 a; string text;", "u8 count; u32 values[count];",
	};
	FILE *out = open_in(directory, "metadata");

	fprintf(out, "/* CTF 1.8 */\n"
		"typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
		"typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
		"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
		"typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
		"typealias integer { size = 32; align = 8; signed = true; } := i32;\n"
		"trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };\n"
		"clock { name = monotonic; freq = 1000000000; offset_s = 1700000000; };\n"
		"typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time_t;\n"
		"stream { id = 0; event.header := struct { u16 id; time_t timestamp; };\n"
		"  packet.context := struct { time_t timestamp_begin; time_t timestamp_end; u64 content_size;\n"
		"    u64 packet_size; u64 events_discarded; }; };\n");
	for (unsigned i = 0; i < ids; i++)
		fprintf(out, "event { name = \"bench:event_%u\"; id = %u; stream_id = 0; fields := struct { %s }; };\n",
			i, i, fields[i % 4]);
	if (fclose(out))
		fail("cannot write the metadata");
}

static void flush(struct stream *stream)
{
	const struct packet_head head = {
		.magic = 0xc1fc1fc1, .begin = stream->begin, .end = stream->end,
		.content_bits = 8 * (uint64_t)stream->used,
		.packet_bits = 8 * (uint64_t)stream->used,
	};

	if (stream->used == sizeof(head))
		return;
	memcpy(stream->bytes, &head, sizeof(head));
	if (fwrite(stream->bytes, stream->used, 1, stream->file) != 1)
		fail("cannot write");
	stream->used = sizeof(head);
}

static void put(struct stream *stream, const void *from, size_t size)
{
	memcpy(stream->bytes + stream->used, from, size);
	stream->used += (uint32_t)size;
}

static void put_event(struct stream *stream, uint16_t id, uint64_t ns)
{
	static const uint8_t zeros[32];
	const uint64_t number = next_random();
	uint8_t count;

	if (stream->used + EVENT_MAX > PACKET)
		flush(stream);
	if (stream->used == sizeof(struct packet_head))
		stream->begin = ns;
	stream->end = ns;
	put(stream, &id, sizeof(id));
	put(stream, &ns, sizeof(ns));
	switch (id % 4) {
	case 0:
		put(stream, &number, 8);
		break;
	case 1:
		put(stream, &number, 8);
		put(stream, &number, 5);
		break;
	case 2:
		put(stream, &number, 4);
		put(stream, "fifteen letters", 1 + number % 15);
		put(stream, "", 1);
		break;
	default:
		count = number % 8;
		put(stream, &count, 1);
		put(stream, zeros, count * 4u);
	}
}

int main(int argc, char **argv)
{
	uint64_t events = argc == 5 ? strtoull(argv[2], NULL, 10) : 0, ns = 1000000000;
	unsigned streams = argc == 5 ? (unsigned)atoi(argv[3]) : 0,
		 ids = argc == 5 ? (unsigned)atoi(argv[4]) : 0;
	struct stream *stream;
	char name[32];

	if (!events || !streams || !ids || ids > UINT16_MAX)
		fail("usage: bench_synthesize_ids DIR EVENTS STREAMS IDS");
	stream = calloc(streams, sizeof(*stream));
	if (!stream || mkdir(argv[1], 0777))
		fail("cannot create the trace");
	write_metadata(argv[1], ids);
	for (unsigned i = 0; i < streams; i++) {
		snprintf(name, sizeof(name), "stream_%u", i);
		stream[i].file = open_in(argv[1], name);
		stream[i].used = sizeof(struct packet_head);
	}
	for (uint64_t i = 0; i < events; i++) {
		ns += STEP_NS / 2 + next_random() % STEP_NS;
		/* A stream has the word for seven events, as a callback has. */
		put_event(&stream[i / 7 % streams], (uint16_t)(next_random() % ids), ns);
	}
	for (unsigned i = 0; i < streams; i++) {
		flush(&stream[i]);
		if (fclose(stream[i].file))
			fail("cannot write");
	}
	printf("%" PRIu64 "\n", events);
	free(stream);
	return 0;
}
