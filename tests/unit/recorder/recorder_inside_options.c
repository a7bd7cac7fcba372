/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* What a program that records itself may ask for: rules, chunks, a bound, compression. */
#include <dirent.h>
#include <unistd.h>

#include "inside.h"
#include "base/array.h"

#define OPTIONS(...)                                                                         \
	(struct kymo_session_options)                                                        \
	{                                                                                    \
		.size = sizeof(struct kymo_session_options), .message = message, __VA_ARGS__ \
	}

static struct kymo_session *start_with(const char *path, struct kymo_session_options options)
{
	struct kymo_session *session;

	said[0] = 0;
	good(kymo_session_start(path, &options, &session));
	running = session;
	return session;
}

static void emit_others(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		KYMO_INSTANT("inside", "left_out", ("i", i));
		KYMO_INSTANT("other", "thing", ("i", i));
	}
}

/* Lines of babeltrace2 that have @text, of one trace or of many. */
static unsigned long lines(const char *traces, const char *text)
{
	unsigned long count = 0;
	char command[512];
	FILE *out;

	if (system("command -v babeltrace2 >/dev/null"))
		skip();
	snprintf(command, sizeof command, "for trace in %s; do babeltrace2 \"$trace\" || echo FAILED; done 2>&1 | "
		 "grep -c -e '%s'", traces, text);
	out = popen(command, "r");
	assert_int_equal(fscanf(out, "%lu", &count), 1);
	pclose(out);
	return count;
}

static void rules_say_what_is_recorded(void **state)
{
	struct kymo_session_stats stats;
	struct kymo_session *session;

	(void)state;
	session = start_with(in("t-a"), OPTIONS(.rules = "category inside\n# a comment\nevent !left_out"));
	emit(10);
	emit_others(10);
	good(kymo_session_set_rules(session, "category other; event !*left*"));
	emit(20);
	emit_others(20);
	bad(kymo_session_set_rules(session, "category inside; colour red"), "colour");
	emit(30);
	emit_others(30);
	good(kymo_session_set_rules(session, NULL));
	emit(40);
	good(stop(session, &stats));
	assert_int_equal(stats.recorded, 10 + 20 + 30 + 40);
	/* None of the others was even emitted. */
	assert_int_equal(stats.recorded + stats.filtered, 100);
	assert_int_equal(lines(in("t-a"), "inside:event"), 50);
	assert_int_equal(lines(in("t-a"), "other:thing"), 50);
	assert_int_equal(lines(in("t-a"), ":"), 100);
	emit_others(1);
	session = start_with(in("t-b"), OPTIONS(.rules = "process !*"));
	emit(10);
	good(stop(session, &stats));
	assert_int_equal(stats.recorded, 0);
}

/* @files below @path whose names have @text in them. */
static unsigned count_names(const char *path, const char *text)
{
	const struct dirent *entry;
	unsigned count = 0;
	DIR *dir = opendir(path);

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		count += entry->d_name[0] != '.' && strstr(entry->d_name, text);
	closedir(dir);
	return count;
}

/* So slowly that none is dropped; 25 bytes each. */
static void emit_slowly(struct kymo_session *session, unsigned count)
{
	struct kymo_session_stats stats;

	good(kymo_session_statistics(session, NULL, &stats));
	for (unsigned i = 0; i < count; i += 2000) {
		emit(2000);
		wait_until(session, NULL, stats.recorded + i + 2000);
	}
}

static void traces_have_chunks(void **state)
{
	const struct kymo_session_options options = OPTIONS(.rotate_size = 64 << 10);
	struct kymo_session_stats stats;
	struct kymo_session *session;
	char chunks[256];

	(void)state;
	session = start_with(in("t-a"), options);
	emit_slowly(session, 10000);
	good(kymo_session_add_sink(session, in("t-b")));
	emit_slowly(session, 10000);
	good(stop(session, &stats));
	assert_int_equal(stats.recorded, 20000);
	snprintf(chunks, sizeof chunks, "'%s'/archives/*", in("t-a"));
	assert_in_range(count_names(in("t-a/archives"), "-"), 4, 8);
	assert_int_equal(lines(chunks, "inside:event"), 20000);
	assert_int_equal(lines(chunks, "FAILED"), 0);
	snprintf(chunks, sizeof chunks, "'%s'/archives/*", in("t-b"));
	assert_in_range(count_names(in("t-b/archives"), "-"), 2, 5);
	assert_int_equal(lines(chunks, "inside:event"), 10000);
	assert_string_equal(said, "");
}

static void chunks_by_age(void **state)
{
	struct kymo_session *session;

	(void)state;
	session = start_with(in("t-a"), OPTIONS(.rotate_ns = 100000000));
	for (unsigned i = 0; i < 60000 && count_names(in("t-a/archives"), "-") < 3; i++) {
		emit(1);
		usleep(1000);
	}
	good(stop(session, NULL));
	/* The last one is taken away when it is empty. */
	assert_in_range(count_names(in("t-a/archives"), "-"), 2, 60000);
}

/* The oldest went, and what is complete is compressed: each has a packed stream, and no other. */
static void a_bound_and_compression(void **state)
{
	struct kymo_session_stats stats;
	struct kymo_session *session;
	char command[256], first[64] = "";
	FILE *out;

	(void)state;
	session = start_with(in("t-a"), OPTIONS(.max_size = 512 << 10));
	emit_slowly(session, 40000);
	good(stop(session, &stats));
	assert_int_equal(stats.recorded, 40000);
	snprintf(command, sizeof command, "du -sb '%s' | cut -f1; ls '%s'/archives | sed 's/.*-//' | sort -n | head -1",
		 in("t-a"), in("t-a"));
	out = popen(command, "r");
	assert_non_null(fgets(first, sizeof first, out));
	assert_in_range(strtoul(first, NULL, 10), 200 << 10, 600 << 10);
	assert_non_null(fgets(first, sizeof first, out));
	assert_in_range(strtoul(first, NULL, 10), 2, 100);
	pclose(out);

	session = start_with(in("t-b"), OPTIONS(.rotate_size = 64 << 10, .compress = 1));
	emit_slowly(session, 10000);
	good(stop(session, &stats));
	snprintf(command, sizeof command, "find '%s/archives' -type f -path '*-0/*' ! -name metadata ! -name '*.idx' ! -name sync | "
		 "sed 's/.*[.]//' | sort -u", in("t-b"));
	out = popen(command, "r");
	assert_non_null(fgets(first, sizeof first, out));
	assert_string_equal(first, "zst\n");
	assert_null(fgets(first, sizeof first, out));
	pclose(out);
}

static void what_makes_no_sense_is_said(void **state)
{
	static const struct {
		struct kymo_session_options options;
		const char *why;
	} wrong[] = {
		{ { .rules = "topic" }, "rules" },
		{ { .rules = "colour red" }, "colour" },
		{ { .rotate_size = 1000 }, "kymo_session_options.rotate_size must be at least 64K" },
		{ { .rotate_ns = 1000 }, "kymo_session_options.rotate_ns must be at least 100ms" },
		{ { .max_size = 1000 }, "kymo_session_options.max_size must be at least 512K" },
		{ { .rotate_size = 1 << 20, .max_size = 1 << 20 }, "at least twice kymo_session_options.rotate_size" },
	};

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
		struct kymo_session_options options = wrong[i].options;
		struct kymo_session *session;

		options.size = sizeof options;
		bad(kymo_session_start(in("t-a"), &options, &session), wrong[i].why);
		assert_int_equal(access(in("t-a"), F_OK), -1);
	}
	bad(kymo_session_set_rules(NULL, "topic /a"), "no session");
}

#define TEST(name) cmocka_unit_test_teardown(name, clear)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(rules_say_what_is_recorded),
		TEST(traces_have_chunks),
		TEST(chunks_by_age),
		TEST(a_bound_and_compression),
		TEST(what_makes_no_sense_is_said),
	};

	inside_begin(argc, argv);
	return inside_end(cmocka_run_group_tests(tests, NULL, NULL));
}
