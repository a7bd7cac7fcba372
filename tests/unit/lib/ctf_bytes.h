/* SPDX-License-Identifier: Apache-2.0 */
/* Small traces made byte by byte, for the tests of the reader. */
#ifndef KYMO_TESTS_CTF_BYTES_H
#define KYMO_TESTS_CTF_BYTES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <endian.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/read/reader.h"

#define U(size) "integer { size = " #size "; align = 8; }"
#define TIME(size) "integer { size = " #size "; align = 8; map = clock.m.value; }"
#define BEGIN "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { " \
	U(32) " magic; " U(32) " stream_id; " U(64) " stream_instance_id; }; };\n" \
	"clock { name = m; offset = 1000000; };\n"
#define PACKET "packet.context := struct { " TIME(64) " timestamp_begin; " TIME(64) " timestamp_end; " \
	U(64) " content_size; " U(64) " packet_size; " U(64) " packet_seq_num; " U(32) " events_discarded; " \
	U(32) " cpu_id; integer { size = 32; align = 8; signed = true; } vpid; };"
#define PLAIN "event.header := struct { " U(16) " id; " TIME(64) " timestamp; };"
#define HEADER_BYTES (16 + 52)

static char directory[] = "/dev/shm/kymo-reader.XXXXXX";

/* The packet under construction, and the file it goes to. */
static struct {
	uint8_t bytes[1 << 21];
	size_t used;
	uint64_t end;
	uint32_t discarded;
	uint64_t instance, seq;
	FILE *file;
} p;

static inline void put(const void *bytes, size_t size)
{
	memcpy(p.bytes + p.used, bytes, size);
	p.used += size;
}

static inline void put_u64(uint64_t value, size_t size)
{
	put(&value, size);
}

static inline void put_text(const char *text)
{
	put(text, strlen(text) + 1);
}

static inline void file_begin(const char *name, uint64_t instance)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	p.file = fopen(path, "w");
	assert_non_null(p.file);
	p.instance = instance;
	p.seq = p.discarded = 0;
}

static inline void packet_begin(uint64_t begin)
{
	p.used = 0;
	put_u64(0xc1fc1fc1, 4);
	put_u64(0, 4);
	put_u64(p.instance, 8);
	put_u64(begin, 8);
	p.used = HEADER_BYTES - 8;
	put_u64(3, 4);			/* cpu_id */
	put_u64((uint32_t)-42, 4);	/* vpid */
	p.end = begin;
}

static inline void event_begin(unsigned id, uint64_t time)
{
	put_u64(id, 2);
	put_u64(time, 8);
	p.end = time;
}

/* @cut: bytes that do not make it into the file. */
static inline void packet_end(size_t cut)
{
	const uint64_t context[4] = { p.end, p.used * 8, (p.used + 8) * 8, p.seq++ };
	size_t size = p.used;

	memcpy(p.bytes + 24, context, sizeof context);
	memcpy(p.bytes + 56, &p.discarded, 4);
	put_u64(0, 8);			/* padding */
	assert_int_equal(fwrite(p.bytes, 1, p.used - cut, p.file), p.used - cut);
	p.used = size;
}

static inline void file_end(void)
{
	fclose(p.file);
}

static inline void write_text(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
}

static inline void metadata(const char *text)
{
	write_text("metadata", text);
}

static inline struct kymo_ctf_reader *open_trace(void)
{
	struct kymo_ctf_reader *reader = NULL;
	struct kymo_err err = { 0 };

	if (kymo_ctf_open(directory, &reader, &err))
		fail_msg("%s", err.text);
	return reader;
}

static inline int clean(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof command, "find %s -mindepth 1 -delete", directory);
	return system(command);
}

#define NEXT(reader, event) assert_int_equal(kymo_ctf_next(reader, event, NULL), 1)
#define END(reader, event) assert_int_equal(kymo_ctf_next(reader, event, NULL), 0)

#endif
