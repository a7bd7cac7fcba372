/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the stream of a trace that has every kind of type: reading ends, and gives either
 * events or an error with a sentence.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctf/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"trace { major = 1; minor = 8; byte_order = le;\n"
	"	packet.header := struct { uint32_t magic; uint32_t stream_id; }; };\n"
	"clock { name = monotonic; freq = 1000000000; offset = 0; };\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := ts64;\n"
	"typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := ts27;\n"
	"stream { id = 0;\n"
	"	packet.context := struct { ts64 timestamp_begin; ts64 timestamp_end;\n"
	"		uint64_t content_size; uint64_t packet_size; uint64_t events_discarded;\n"
	"		uint64_t packet_seq_num; uint32_t cpu_id; };\n"
	"	event.header := struct { enum : integer { size = 5; align = 1; signed = false; }\n"
	"		{ compact = 0 ... 30, extended = 31 } id;\n"
	"		variant <id> { struct { ts27 timestamp; } compact;\n"
	"			struct { uint32_t id; ts64 timestamp; } extended; } v; } align(8);\n"
	"	event.context := struct { uint32_t _vtid; }; };\n"
	"event { name = \"a:text\"; id = 0; stream_id = 0; fields := struct {\n"
	"	string _text; uint64_t _number; }; };\n"
	"event { name = \"a:sequence\"; id = 1; stream_id = 0; fields := struct {\n"
	"	uint32_t _length; uint8_t _bytes[_length]; uint16_t _fixed[3]; }; };\n"
	"event { name = \"a:variant\"; id = 2; stream_id = 0; fields := struct {\n"
	"	enum : uint8_t { one = 1, two = 2 } _tag;\n"
	"	variant <_tag> { uint64_t one; string two; } _choice;\n"
	"	floating_point { exp_dig = 8; mant_dig = 24; align = 32; } _float; }; };\n"
	"event { name = \"a:nothing\"; id = 3; stream_id = 0; fields := struct { }; };\n";

static char directory[64], stream_path[96], metadata_path[96];

static void clean_up(void)
{
	(void)unlink(stream_path);
	(void)unlink(metadata_path);
	(void)rmdir(directory);
}

static void prepare(void)
{
	int fd;

	(void)snprintf(directory, sizeof directory, "/dev/shm/kymo-fuzz.XXXXXX");
	if (!mkdtemp(directory))
		abort();
	(void)snprintf(stream_path, sizeof stream_path, "%s/stream", directory);
	(void)snprintf(metadata_path, sizeof metadata_path, "%s/metadata", directory);
	fd = open(metadata_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, metadata, sizeof metadata - 1) != sizeof metadata - 1)
		abort();
	(void)close(fd);
	(void)atexit(clean_up);
}

static void read_all(struct ctf_reader *reader)
{
	static const struct ctf_bind wanted[] = {
		{ "a:text", { "text", "number" } }, { "a:sequence", { "bytes", "fixed" } },
		{ "a:variant", { "tag", "choice", "float" } }, { "a:nothing", { "vtid" } },
	};
	static FILE *null;
	struct ctf_event event;
	struct err err = { 0 };
	unsigned events = 0;
	int more;

	if (!null)
		null = fopen("/dev/null", "w");
	if (ctf_bind(reader, wanted, 4, &err))
		abort();
	/* An event takes at least a byte, but for empty ones of a damaged stream. */
	while ((more = ctf_next(reader, &event, &err)) > 0 && events++ < 100000) {
		for (unsigned i = 0; event.bound == 0 && event.value[0].present && i < 1; i++)
			(void)strlen(event.value[0].bytes);
		if (event.class && events < 100) {
			ctf_print_event(reader, &event, null);
			ctf_print_event_json(reader, &event, null);
		}
	}
	if (more > 0 || (more < 0 && !err.text[0]))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctf_reader *reader;
	struct err err = { 0 };
	int fd;

	if (!*directory)
		prepare();
	fd = open(stream_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	(void)close(fd);
	if (!ctf_open(directory, &reader, &err)) {
		read_all(reader);
		ctf_close(reader);
	} else if (!err.text[0]) {
		abort();
	}
	return 0;
}
