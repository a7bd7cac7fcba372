/* SPDX-License-Identifier: Apache-2.0 */
/* The writer by itself: many streams with few descriptors, indexes, repaired writes, metadata. */
#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/points.h"
#include "babeltrace.h"
#include "ctf/format/index.h"
#include "ctf/write/writer.h"
#include "base/array.h"

static int setup(void **state)
{
	static char path[32];

	snprintf(path, sizeof path, "/dev/shm/kymo-test-XXXXXX");
	*state = path;
	return mkdtemp(path) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];

	snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
	return system(command);
}

static struct ctf_writer *create(const char *dir)
{
	const struct ctf_trace_desc desc = {
		.name = "a \"name\"\\", .hostname = "host\n", .uid = 1000,
		.boot_id = "7f8e3f0e-8a5c-4c53-8dd4-97c1e4a9b1c0",
		.clock_offset_ns = 1795204104943873910, .created_s = 1795204104,
		.version_minor = 1,
	};
	struct ctf_writer *writer = NULL;
	struct kymo_err err = { 0 };

	if (ctf_writer_create(dir, &desc, &writer, &err) < 0)
		fail_msg("%s", err.text);
	return writer;
}

static size_t put_event(uint8_t *at, uint64_t ns, uint64_t callback)
{
	const uint16_t id = KYMO_POINT_callback_end;

	memcpy(at, &id, 2);
	memcpy(at + 2, &ns, 8);
	memcpy(at + 10, &callback, 8);
	return 18;
}

/* @count events from time @ns on, one a nanosecond. */
static int put_packet(struct ctf_out *out, uint64_t ns, unsigned count)
{
	uint8_t bytes[18 * 100];
	struct ctf_packet packet = {
		.begin = ns,
		.end = ns + count,
		.vpid = 1,
		.vtid = 2,
		.procname = "name",
		.events = bytes,
		.size = 18 * count,
		.count = count,
	};

	assert_true(count <= 100);
	for (unsigned i = 0; i < count; i++)
		(void)put_event(bytes + 18 * i, ns + i, i);
	return ctf_out_packet(out, &packet);
}

static unsigned open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

#define STREAMS (CTF_WRITER_OPEN_MAX + 100)
#define ROUNDS 3

static void more_streams_than_descriptors(void **state)
{
	struct ctf_writer *writer[2];
	struct ctf_out *out[STREAMS];
	unsigned before = open_files();
	struct babeltrace seen;

	for (unsigned i = 0; i < 2; i++) {
		char dir[64];

		snprintf(dir, sizeof dir, "%s/%u", (char *)*state, i);
		assert_int_equal(mkdir(dir, 0700), 0);
		writer[i] = create(dir);
		assert_int_equal(ctf_writer_declare_version(writer[i], CTF_CLASS_RUN, KYMO_V(8, 2)),
				 0);
	}
	for (unsigned i = 0; i < STREAMS; i++) {
		char name[32];

		snprintf(name, sizeof name, "1-%u_0", i);
		out[i] = ctf_out_create(writer[i % 2], CTF_CLASS_RUN, name);
		assert_non_null(out[i]);
	}
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < STREAMS; i++)
			assert_int_equal(put_packet(out[i], 1000 + round * 1000, 1 + i % 5), 0);
	assert_true(open_files() <= before + CTF_WRITER_OPEN_MAX + 2);
	ctf_writer_close(writer[0]);
	ctf_writer_close(writer[1]);
	assert_int_equal(open_files(), before);
	seen = babeltrace_read(*state, "ros2:callback_end");
	if (seen.status == 77)
		skip();
	assert_int_equal(seen.status, 0);
	assert_string_equal(seen.complaint, "");
	assert_int_equal(seen.matching, ROUNDS * STREAMS / 5 * (1 + 2 + 3 + 4 + 5));
}

static void check_index(const char *dir, const char *name, unsigned packets)
{
	struct ctf_index_entry entry;
	uint64_t offset = 0;
	uint32_t header[4];
	char path[256];
	struct stat st;
	FILE *file;

	snprintf(path, sizeof path, "%s/index/%s.idx", dir, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fread(header, sizeof header, 1, file), 1);
	assert_int_equal(be32toh(header[0]), 0xC1F1DCC1u);
	assert_int_equal(be32toh(header[1]), 1);
	assert_int_equal(be32toh(header[2]), 1);
	assert_int_equal(be32toh(header[3]), 88);
	for (unsigned i = 0; i < packets; i++) {
		assert_int_equal(fread(&entry, sizeof entry, 1, file), 1);
		assert_int_equal(be64toh(entry.offset), offset);
		assert_int_equal(be64toh(entry.packet_seq_num), i);
		assert_int_equal(be64toh(entry.timestamp_begin), 1000 * (i + 1));
		assert_int_equal(be64toh(entry.events_discarded_len), 64);
		assert_int_equal(be64toh(entry.events),
				 (be64toh(entry.packet_size) / 8 - CTF_PACKET_HEAD_MAX) / 18);
		offset += be64toh(entry.packet_size) / 8;
	}
	assert_int_equal(fread(&entry, 1, 1, file), 0);
	fclose(file);
	snprintf(path, sizeof path, "%s/%s", dir, name);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, offset);
}

static void the_index_covers_every_packet(void **state)
{
	static const unsigned counts[] = { 1, CTF_INDEX_PENDING, CTF_INDEX_PENDING + 1, 500 };
	struct ctf_writer *writer = create(*state);
	char name[32], path[256];

	assert_int_equal(ctf_writer_declare_version(writer, CTF_CLASS_RUN, 0), 0);
	for (unsigned c = 0; c < COUNT_OF(counts); c++) {
		struct ctf_out *out;

		snprintf(name, sizeof name, "1-%u_0", c);
		snprintf(path, sizeof path, "%s/index/%s.idx", (char *)*state, name);
		out = ctf_out_create(writer, CTF_CLASS_RUN, name);
		for (unsigned i = 0; i < counts[c]; i++)
			assert_int_equal(put_packet(out, 1000 * (i + 1), 1), 0);
		assert_int_equal(access(path, F_OK), -1);	/* not before it is complete */
		ctf_out_close(out);
		check_index(*state, name, counts[c]);
	}
	ctf_writer_close(writer);
}

static int write_with_a_limit(const char *dir)
{
	struct ctf_writer *writer = create(dir);
	struct ctf_out *out = ctf_out_create(writer, CTF_CLASS_RUN, "1-0_0");
	struct rlimit limit, small;
	char path[128];
	struct stat st;

	(void)signal(SIGXFSZ, SIG_IGN);
	snprintf(path, sizeof path, "%s/1-0_0", dir);
	if (ctf_writer_declare_version(writer, CTF_CLASS_RUN, KYMO_V(8, 2)) ||
	    put_packet(out, 1000, 10) || getrlimit(RLIMIT_FSIZE, &limit) || stat(path, &st))
		return 1;
	small = limit;
	small.rlim_cur = (rlim_t)st.st_size + 100;	/* ends in the middle of the next one */
	if (setrlimit(RLIMIT_FSIZE, &small) || put_packet(out, 2000, 10) == 0 ||
	    put_packet(out, 2000, 10) == 0)
		return 2;
	if (stat(path, &st) || st.st_size != 109 + 10 * 18)
		return 3;				/* the torn one is cut off */
	if (ctf_writer_declare(writer, KYMO_POINT_rcl_init) == 0)
		return 4;				/* metadata is longer than that already */
	if (setrlimit(RLIMIT_FSIZE, &limit) || put_packet(out, 2000, 10) ||
	    ctf_writer_declare(writer, KYMO_POINT_rcl_init))
		return 5;
	ctf_writer_close(writer);
	return 0;
}

static void a_failed_write_can_be_repeated(void **state)
{
	struct babeltrace seen;
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(write_with_a_limit(*state));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	seen = babeltrace_read(*state, NULL);
	if (seen.status == 77)
		skip();
	assert_int_equal(seen.status, 0);
	assert_string_equal(seen.complaint, "");
	assert_int_equal(seen.events, 20);
}

static char *read_metadata(const char *dir)
{
	char path[128], *text = calloc(1, 1 << 20);
	FILE *file;

	snprintf(path, sizeof path, "%s/metadata", dir);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	return text;
}

static unsigned occurrences(const char *text, const char *what)
{
	unsigned count = 0;

	while ((text = strstr(text, what))) {
		count++;
		text += strlen(what);
	}
	return count;
}

static void only_what_a_version_emits_is_declared(void **state)
{
	struct ctf_writer *writer = create(*state);
	char *text;

	assert_int_equal(ctf_writer_declare_version(writer, CTF_CLASS_RUN, KYMO_V(8, 2)), 0);
	/* No second time. */
	assert_int_equal(ctf_writer_declare_version(writer, CTF_CLASS_RUN, KYMO_V(8, 2)), 0);
	assert_int_equal(ctf_writer_declare(writer, KYMO_POINT_message_link_partial_sync), 0);
	text = read_metadata(*state);
	assert_int_equal(occurrences(text, "name = \"ros2:rmw_publish\""), 1);
	assert_int_equal(occurrences(text, "_rmw_publisher_handle;"),
			 2); /* also of publish_content */
	assert_int_equal(occurrences(text, "ros2_caret:dds_bind_addr_to_stamp"), 0); /* up to 7.x */
	assert_int_equal(occurrences(text, "ros2:rmw_send_request"),
			 1); /* by kymo's hook before 8.5 */
	assert_int_equal(occurrences(text, "ros2:rcl_init"), 0);		/* init: when it occurs */
	assert_non_null(strstr(text, "base = 16; } _subs[ __subs_length ];"));
	free(text);
	/* Humble's shape of the same name comes beside it. */
	assert_int_equal(ctf_writer_declare_version(writer, CTF_CLASS_RUN, KYMO_V(4, 1)), 0);
	ctf_writer_close(writer);
	text = read_metadata(*state);
	assert_int_equal(occurrences(text, "name = \"ros2:rmw_publish\""), 2);
	assert_int_equal(occurrences(text, "trace_name = \"a _name__\";"), 1);
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(more_streams_than_descriptors),
		TEST(the_index_covers_every_packet),
		TEST(a_failed_write_can_be_repeated),
		TEST(only_what_a_version_emits_is_declared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
