/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index file as input, for a stream that is right: whatever it says, what is read in a window
 * of time must be what is read without it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/read/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define U(size) "integer { size = " #size "; align = 8; }"
#define PACKETS 6
#define EVENTS 3
#define HEADER 60

static const char metadata[] = "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { "
	U(32) " magic; " U(32) " stream_id; }; }; clock { name = m; }; stream { packet.context := struct { "
	U(64) " timestamp_begin; " U(64) " timestamp_end; " U(64) " content_size; " U(64) " packet_size; "
	U(64) " packet_seq_num; " U(64) " events_discarded; " U(32) " cpu_id; }; event.header := struct { "
	U(16) " id; integer { size = 64; align = 8; map = clock.m.value; } timestamp; }; };"
	"event { name = a; fields := struct { " U(64) " x; }; };";

static char directory[] = "/dev/shm/kymo-fuzz.XXXXXX";

static void path_of(char path[64], const char *name)
{
	snprintf(path, 64, "%s/%s", directory, name);
}

static void remove_all(void)
{
	static const char *const names[] = { "index/s.idx", "s", "metadata" };
	char path[64];

	for (unsigned i = 0; i < 3; i++) {
		path_of(path, names[i]);
		unlink(path);
	}
	path_of(path, "index");
	rmdir(path);
	rmdir(directory);
}

static void store(const char *name, const void *bytes, size_t size)
{
	char path[64];
	FILE *file;

	path_of(path, name);
	file = fopen(path, "w");
	if (!file || fwrite(bytes, 1, size, file) != size)
		abort();
	fclose(file);
}

/* Times are 100, 110, 120; 200, 210, 220; ... */
static void store_stream(void)
{
	uint8_t bytes[PACKETS][HEADER + EVENTS * 18] = { 0 };
	const uint32_t magic = 0xc1fc1fc1;

	for (uint64_t k = 0; k < PACKETS; k++) {
		const uint64_t bits = sizeof bytes[k] * 8;
		const uint64_t context[] = {
			100 * (k + 1), 100 * (k + 1) + 20, bits, bits, k, k / 2
		};

		memcpy(bytes[k], &magic, 4);
		memcpy(bytes[k] + 8, context, sizeof context);
		for (uint64_t i = 0; i < EVENTS; i++) {
			uint64_t time = 100 * (k + 1) + 10 * i;

			memcpy(bytes[k] + HEADER + 18 * i + 2, &time, 8);
			memcpy(bytes[k] + HEADER + 18 * i + 10, &k, 8);
		}
	}
	store("s", bytes, sizeof bytes);
}

static void expect(struct kymo_ctf_reader *reader, int64_t begin, int64_t end)
{
	struct kymo_ctf_event event;
	struct kymo_err err;

	if (kymo_ctf_window(reader, begin, end, &err))
		abort();
	for (int64_t k = 1; k <= PACKETS; k++)
		for (int64_t i = 0; i < EVENTS; i++) {
			int64_t time = 100 * k + 10 * i;

			if (time < begin || time > end)
				continue;
			do {
				if (kymo_ctf_next(reader, &event, &err) != 1)
					abort();
			} while (event.bound == KYMO_CTF_LOSS);
			if (event.ns != time)
				abort();
		}
	if (kymo_ctf_next(reader, &event, &err) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kymo_ctf_reader *reader;
	struct kymo_err err;
	char path[64];

	if (!strcmp(directory + sizeof directory - 7, "XXXXXX")) {
		if (!mkdtemp(directory) || atexit(remove_all))
			abort();
		path_of(path, "index");
		if (mkdir(path, 0700))
			abort();
		store("metadata", metadata, sizeof metadata - 1);
		store_stream();
	}
	store("index/s.idx", data, size);
	if (kymo_ctf_open(directory, &reader, &err))
		abort();
	(void)kymo_ctf_stream(reader, 0);
	for (int64_t begin = 95; begin < 700; begin += 55)
		expect(reader, begin, begin + 130);
	kymo_ctf_close(reader);
	return 0;
}
