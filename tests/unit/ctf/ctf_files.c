/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a trace: thousands of one stream are opened a fixed number of times each, and what
 * is not a regular file is never opened.
 */
#include "ctf_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "ctf/read/reader_impl.h"
#include "ctf/read/stream_impl.h"

static unsigned opens;

/* The reader is linked statically, so this one is called instead of libc's. */
int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode = 0;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	opens++;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#define EVENT "event { id = 1; name = \"e\"; fields := struct { " U(8) " x; }; };"

/* @overlapping: all have the same times, so each is a stream of its own. */
static unsigned opens_of(unsigned files, bool overlapping)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	unsigned read = 0;
	char name[32];

	metadata(BEGIN "stream { " PACKET PLAIN " };" EVENT);
	for (unsigned i = 0; i < files; i++) {
		uint64_t begin = overlapping ? 1000 : 1000 + 100 * i;

		snprintf(name, sizeof name, "s_%u", i);
		file_begin(name, 7);
		p.seq = i;
		packet_begin(begin);
		event_begin(1, begin + 10);
		put_u64(5, 1);
		packet_end(0);
		file_end();
	}
	opens = 0;
	reader = open_trace();
	while (kymo_ctf_next(reader, &event, NULL) > 0)
		read += event.bound != KYMO_CTF_LOSS;
	for (unsigned i = 0; i < kymo_ctf_stream_count(reader); i++)
		(void)kymo_ctf_stream(reader, i)->packets;
	assert_int_equal(kymo_ctf_stream_count(reader), overlapping ? files : 1);
	kymo_ctf_close(reader);
	assert_int_equal(read, files);
	return opens;
}

static void opens_grow_with_the_files(void **state)
{
	unsigned few, many;

	for (unsigned overlapping = 0; overlapping < 2; overlapping++) {
		few = opens_of(50, overlapping);
		assert_int_equal(clean(state), 0);
		many = opens_of(1000, overlapping);
		assert_int_equal(clean(state), 0);
		assert_in_range(few, 50, 50 * 8);
		assert_in_range(many, 1000, 1000 * 8);
	}
}

/* Each is a stream of its own, which begins when the one before has ended. */
static void write_streams(unsigned first, unsigned count)
{
	char name[32];

	metadata(BEGIN "stream { " PACKET PLAIN " };" EVENT);
	for (unsigned i = first; i < first + count; i++) {
		snprintf(name, sizeof name, "s_%u", i);
		file_begin(name, i);
		packet_begin(1000 + 100 * i);
		event_begin(1, 1010 + 100 * i);
		put_u64(5, 1);
		packet_end(0);
		file_end();
	}
}

static void files_are_opened_when_their_time_comes(void **state)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;

	(void)state;
	write_streams(0, 100);
	reader = open_trace();
	for (unsigned again = 0; again < 2; again++) {
		opens = 0;
		for (unsigned i = 0; i < 100; i++) {
			NEXT(reader, &event);
			assert_int_equal(event.clock_ns, 1010 + 100 * i);
			assert_in_range(opens, i + 1, i + 2);
		}
		END(reader, &event);
		assert_int_equal(kymo_ctf_rewind(reader, NULL), 0);
	}
	/* What begins behind the end of the window is not opened. */
	kymo_ctf_until(reader, 1000000 + 1500);
	opens = 0;
	for (unsigned i = 0; i < 5; i++)
		NEXT(reader, &event);
	END(reader, &event);
	assert_in_range(opens, 5, 6);
	kymo_ctf_until(reader, INT64_MAX);
	for (unsigned i = 5; i < 100; i++) {
		NEXT(reader, &event);
		assert_int_equal(event.clock_ns, 1010 + 100 * i);
	}
	END(reader, &event);
	kymo_ctf_close(reader);
}

/* ---- memory ---- */

static void too_many_files_are_refused(void **state)
{
	struct kymo_ctf_reader *reader;
	struct kymo_err err = { 0 };

	(void)state;
	write_streams(0, 100);
	setenv("KYMO_READ_MEMORY", "100K", 1);
	assert_int_equal(kymo_ctf_open(directory, &reader, &err), -1);
	assert_non_null(strstr(err.text, "too many files"));
	assert_non_null(strstr(err.text, "KYMO_READ_MEMORY=1G"));
	setenv("KYMO_READ_MEMORY", "1M", 1);
	reader = open_trace();
	kymo_ctf_growing(reader, true);
	write_streams(100, 300);
	assert_int_equal(kymo_ctf_refresh(reader, &err), 1);
	write_streams(400, 300);
	assert_int_equal(kymo_ctf_refresh(reader, &err), -1);
	assert_non_null(strstr(err.text, "too many files"));
	kymo_ctf_close(reader);
	setenv("KYMO_READ_MEMORY", "much", 1);
	assert_int_equal(kymo_ctf_open(directory, &reader, &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_USAGE);
	unsetenv("KYMO_READ_MEMORY");
}

/* Streams that are read at the same time share what the files leave. */
static void windows_are_in_the_limit(void **state)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	size_t windows = 0;
	char name[32];

	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN " };" EVENT);
	for (unsigned i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "s_%u", i);
		file_begin(name, 7);
		packet_begin(1000);
		for (unsigned j = 0; j < 1000; j++) {
			event_begin(1, 1010 + j);
			put_u64(5, 1);
		}
		packet_end(0);
		file_end();
	}
	setenv("KYMO_READ_MEMORY", "1M", 1);
	reader = open_trace();
	unsetenv("KYMO_READ_MEMORY");
	for (unsigned i = 0; i < 300 * 500; i++)
		NEXT(reader, &event);
	for (unsigned i = 0; i < reader->stream_count; i++)
		windows += reader->stream[i]->window.capacity;
	assert_int_equal(reader->stream_count, 300);
	assert_in_range(windows, 300 * 512, (1 << 20) - reader->held);
	for (unsigned i = 0; i < 300 * 500; i++)
		NEXT(reader, &event);
	END(reader, &event);
	kymo_ctf_close(reader);
}

static void path_of(char path[256], const char *name)
{
	snprintf(path, 256, "%s/%s", directory, name);
}

static void only_regular_files(void **state)
{
	char path[256], link[256];
	struct kymo_err err;
	char *text;
	size_t size;
	int fd;

	(void)state;
	opens = 0;
	path_of(path, "fifo");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_string_equal(file_why(file_open(path)), "not a regular file");
	assert_null(file_stream(path));
	path_of(link, "zero");
	assert_int_equal(symlink("/dev/zero", link), 0);
	assert_string_equal(file_why(file_open(link)), "not a regular file");
	assert_string_equal(file_why(file_open(directory)), "not a regular file");
	assert_int_equal(file_load(link, 100, &text, &size, &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_INPUT);
	assert_int_equal(opens, 0);
	path_of(path, "nothing");
	assert_int_equal(file_open(path), -ENOENT);
	write_text("some", "some text\n");
	path_of(path, "some");
	fd = file_open(path);
	assert_true(fd >= 0);
	close(fd);
}

static void load_has_a_limit(void **state)
{
	char path[256], *text;
	struct kymo_err err;
	size_t size;

	(void)state;
	write_text("some", "some text\n");
	path_of(path, "some");
	assert_int_equal(file_load(path, 10, &text, &size, &err), 0);
	assert_int_equal(size, 10);
	assert_string_equal(text, "some text\n");
	free(text);
	assert_int_equal(file_load(path, 9, &text, &size, &err), -1);
	assert_non_null(strstr(err.text, "larger than"));
	assert_int_equal(truncate(path, (off_t)1 << 36), 0);
	assert_int_equal(file_load(path, (size_t)32 << 20, &text, &size, &err), -1);
}

static void lines_have_a_limit(void **state)
{
	char path[256], *line = NULL;
	size_t room = 0;
	FILE *file;

	(void)state;
	write_text("lines", "one\n\nthree is long\nend");
	path_of(path, "lines");
	file = file_stream(path);
	assert_non_null(file);
	assert_int_equal(file_line(file, &line, &room, 8), 4);
	assert_string_equal(line, "one\n");
	assert_int_equal(file_line(file, &line, &room, 8), 1);
	assert_int_equal(file_line(file, &line, &room, 8), 0);
	fclose(file);
	file = file_stream(path);
	for (unsigned i = 0; i < 3; i++)
		assert_true(file_line(file, &line, &room, 100) > 0);
	assert_int_equal(file_line(file, &line, &room, 100), 3);
	assert_string_equal(line, "end");
	assert_int_equal(file_line(file, &line, &room, 100), 0);
	fclose(file);
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(opens_grow_with_the_files, clean),
		cmocka_unit_test_teardown(files_are_opened_when_their_time_comes, clean),
		cmocka_unit_test_teardown(too_many_files_are_refused, clean),
		cmocka_unit_test_teardown(windows_are_in_the_limit, clean),
		cmocka_unit_test_teardown(only_regular_files, clean),
		cmocka_unit_test_teardown(load_has_a_limit, clean),
		cmocka_unit_test_teardown(lines_have_a_limit, clean),
	};
	int failed;

	if (!mkdtemp(directory))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
