/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* Programs that record themselves: include/kymo/session.h, with the real tracer in this process. */
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "inside.h"
#include "recorder/session/session.h"
#include "recorder/runtime/status.h"

/*
 * A child that was forked beside a running thread may allocate and start threads with glibc, but
 * not with the sanitizers: their allocator's locks are as the thread held them.
 */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define CHILD_MAY_DO_ALL 0
#elif defined __has_feature
#define CHILD_MAY_DO_ALL (!__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer))
#else
#define CHILD_MAY_DO_ALL 1
#endif

/* ---- tests ---- */

static void a_program_records_itself(void **state)
{
	struct kymo_session_stats stats;
	struct kymo_session *session;

	(void)state;
	emit(10);					/* nobody records */
	session = start(in("t-a"));
	emit(100);
	good(stop(session, &stats));
	emit(10);
	assert_int_equal(stats.recorded, 100);
	assert_int_equal(stats.processes, 1);
	check_trace(in("t-a"), 100, 0);
	assert_string_equal(said, "");
}

static void sinks_hold_their_time(void **state)
{
	struct kymo_session_stats stats;
	struct kymo_session *session;

	(void)state;
	session = start(in("t-a"));
	emit(10);
	good(kymo_session_add_sink(session, in("t-b")));
	emit(20);
	good(kymo_session_add_sink(session, in("t-c")));
	bad(kymo_session_add_sink(session, in("t-c")), "already");
	emit(5);
	good(kymo_session_remove_sink(session, in("t-b"), &stats));
	assert_int_equal(stats.recorded, 25);
	bad(kymo_session_remove_sink(session, in("t-b"), NULL), "no sink at");
	good(kymo_session_remove_sink(session, in("t-a"), &stats));
	assert_int_equal(stats.recorded, 35);
	emit(7);
	bad(kymo_session_remove_sink(session, in("t-c"), NULL), "the only sink");
	bad(kymo_session_statistics(session, in("t-a"), &stats), "no sink at");
	good(kymo_session_statistics(session, in("t-c"), &stats));
	good(stop(session, &stats));
	assert_int_equal(stats.recorded, 42);
	check_trace(in("t-a"), 35, 0);
	check_trace(in("t-b"), 25, 0);
	check_trace(in("t-c"), 12, 0);
}

struct emitter {
	pthread_t thread;
	bool stop;
	uint64_t emitted;
};

static void *emitting(void *context)
{
	struct emitter *emitter = context;

	while (!__atomic_load_n(&emitter->stop, __ATOMIC_RELAXED)) {
		emit(50);
		emitter->emitted += 50;
		usleep(200);
	}
	return NULL;
}

/* Until the sink at @path has an event: a sink that never had one leaves no trace. */
static void wait_for_events(struct kymo_session *session, const char *path)
{
	struct kymo_session_stats stats = { 0 };

	for (unsigned i = 0; i < 20000 && !stats.recorded; i++) {
		usleep(3000);
		good(kymo_session_statistics(session, path, &stats));
	}
	assert_true(stats.recorded);
}

/* Nothing stands still meanwhile: what a sink says it has is what others find in it. */
static void sinks_come_and_go_under_load(void **state)
{
	struct emitter emitter[3] = { 0 };
	struct kymo_session_stats stats, all;
	struct kymo_session *session;
	uint64_t emitted = 0;
	char name[16];

	(void)state;
	session = start(in("t-all"));
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&emitter[i].thread, NULL, emitting, &emitter[i]),
				 0);
	for (unsigned i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "t-%u", i);
		good(kymo_session_add_sink(session, in(name)));
		wait_for_events(session, in(name));
		if (i % 2)
			continue;
		good(kymo_session_remove_sink(session, in(name), &stats));
		if (i % 6 == 0)
			check_trace(in(name), stats.recorded, stats.dropped);
		if (i < 2)
			continue;
		snprintf(name, sizeof name, "t-%u", i - 1);
		good(kymo_session_remove_sink(session, in(name), &stats));
		if (i % 6 == 0)
			check_trace(in(name), stats.recorded, stats.dropped);
	}
	for (unsigned i = 0; i < 3; i++) {
		__atomic_store_n(&emitter[i].stop, true, __ATOMIC_RELAXED);
		pthread_join(emitter[i].thread, NULL);
		emitted += emitter[i].emitted;
	}
	good(stop(session, &all));
	assert_int_equal(all.recorded + all.dropped, emitted);
	check_trace(in("t-all"), all.recorded, all.dropped);
}

/* A limit on file sizes meets only the sink whose files are long already. */
static void a_full_disk_meets_one_sink(void **state)
{
	struct kymo_session_stats stats;
	struct kymo_session *session;
	struct rlimit limit, small;

	(void)state;
	session = start(in("t-full"));
	emit(3000);
	wait_until(session, in("t-full"), 3000);
	good(kymo_session_statistics(session, in("t-full"), &stats));
	good(kymo_session_add_sink(session, in("t-free")));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = stats.bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	emit(2000);
	wait_until(session, in("t-free"), 2000);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_true(has_said("t-full: File too large"));
	for (unsigned i = 0; i < 1000 && !has_said("t-full can be written again"); i++)
		usleep(10000);
	assert_true(has_said("t-full can be written again"));
	emit(70);
	good(kymo_session_remove_sink(session, in("t-free"), &stats));
	assert_int_equal(stats.recorded, 2070);
	assert_int_equal(stats.dropped + stats.unwritten, 0);
	bad(stop(session, &stats), "could not be written all the time");
	assert_true(stats.unwritten > 0);
	assert_int_equal(stats.dropped, 0);
	assert_int_equal(stats.recorded, 5070);		/* by one of the two */
	check_trace(in("t-full"), 5070 - stats.unwritten, stats.unwritten);
	check_trace(in("t-free"), 2070, 0);
}

static void a_removed_directory_is_made_again(void **state)
{
	struct kymo_session *session;
	char command[256];

	(void)state;
	session = start(in("t-a"));
	emit(10);
	good(kymo_session_add_sink(session, in("t-c")));	/* the ten are in files now */
	snprintf(command, sizeof command, "mv '%s' '%s'", in("t-a"), in("t-away"));
	assert_int_equal(system(command), 0);
	for (unsigned i = 0; i < 1200 && !has_said("was removed"); i++)
		usleep(50000);
	assert_true(has_said("10 events are gone with it"));
	emit(20);
	bad(stop(session, NULL), "t-a");
	check_trace(in("t-away"), 10, 0);
	check_trace(in("t-a"), 20, 0);
	check_trace(in("t-c"), 20, 0);
	session = start(in("t-b"));			/* and another one can begin */
	emit(10);
	good(stop(session, NULL));
	check_trace(in("t-b"), 10, 0);
}

static void what_cannot_be_is_said(void **state)
{
	struct kymo_session_options options = { .size = sizeof options, .nice = 20 };
	struct kymo_session *session, *second;
	const int cpu = 1023;

	(void)state;
	bad(kymo_session_start(in("t-none/a.pftrace"), NULL, &session), "No such file");
	assert_null(session);
	bad(kymo_session_start("/proc/nonexistent/t", NULL, &session), "cannot create the trace directory");
	bad(kymo_session_start(NULL, NULL, &session), "NULL");
	bad(kymo_session_start("", NULL, &session), "empty");
	bad(kymo_session_start("net://localhost/robot", NULL, &session), "link it with libkymo-session");
	assert_null(session);
	bad(kymo_session_start(in("t-a"), &options, &session), "nice");
	options = (struct kymo_session_options){ .size = 8 };
	bad(kymo_session_start(in("t-a"), &options, &session), "size");
	options = (struct kymo_session_options){ .size = sizeof options,
						 .cpus = &cpu,
						 .cpu_count = 1 };
	bad(kymo_session_start(in("t-a"), &options, &session), "processors");
	assert_int_equal(mkdir(in("t-full"), 0755) | mkdir(in("t-full/x"), 0755), 0);
	bad(kymo_session_start(in("t-full"), NULL, &session), "choose another place");
	assert_null(strstr(kymo_session_error(), "-o DIR"));
	session = start(in("t-a"));
	bad(kymo_session_start(in("t-b"), NULL, &second), "already has a session");
	good(stop(session, NULL));
	assert_int_equal(access(in("t-a"), F_OK), -1);	/* nothing happened */
	good(kymo_session_stop(NULL, NULL));
	bad(kymo_session_add_sink(NULL, in("t-b")), "no session");
	bad(kymo_session_add_sink(NULL, NULL), "NULL");
	bad(kymo_session_remove_sink(NULL, NULL, NULL), "NULL");
}

static void options_are_followed(void **state)
{
	const int cpu = 0;
	const struct kymo_session_options options = {
		.size = sizeof options, .nice = 5, .thread_name = "a name that is too long",
		.cpus = &cpu, .cpu_count = 1, .poll_ms = 20,
	};
	char command[256], line[256] = "";
	struct kymo_session *session;
	FILE *out;

	(void)state;
	good(kymo_session_start(in("t-a"), &options, &session));
	emit(1);
	snprintf(command, sizeof command, "cd /proc/%d/task; for t in *; do grep -q 'a name that is' $t/comm && "
		 "{ awk '{printf \"%%s %%s \", $(NF-33), $(NF-11)}' $t/stat; "
		 "grep -E 'SigBlk|Cpus_allowed_list' $t/status | tr '\\n\\t' '  '; }; done", getpid());
	out = popen(command, "r");
	assert_non_null(out);
	assert_non_null(fgets(line, sizeof line, out));
	pclose(out);
	if (strncmp(line, "5 0 ", 4) || !strstr(line, "Cpus_allowed_list: 0 ") || !strstr(line, "SigBlk: fffffff"))
		fail_msg("the thread is '%s'", line);
	good(stop(session, NULL));
	check_trace(in("t-a"), 1, 0);
}

/* Memory is the address sanitizer's to check; descriptors and threads are counted here. */
static unsigned count_entries(const char *what)
{
	char path[64];
	unsigned count = 0;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/self/%s", what);
	dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* A thread that was joined may be seen for a moment longer. */
static void check_entries(const char *what, unsigned wanted)
{
	unsigned count = count_entries(what);

	for (unsigned i = 0; i < 6000 && count > wanted; i++) {
		usleep(10000);
		count = count_entries(what);
	}
	assert_true(count <= wanted);
}

static void nothing_is_left_of_many(void **state)
{
	const unsigned rounds = getenv("KYMO_TEST_ROUNDS") ? (unsigned)atoi(getenv("KYMO_TEST_ROUNDS")) : 200;
	const unsigned files = count_entries("fd"), threads = count_entries("task");
	struct kymo_session_stats stats;

	(void)state;
	for (unsigned i = 0; i < rounds; i++) {
		struct kymo_session *session = start(in("t-a"));

		emit(i % 3);
		good(stop(session, &stats));
		assert_int_equal(stats.recorded, i % 3);
		assert_int_equal(clear(NULL), 0);
	}
	check_entries("fd", files);
	check_entries("task", threads);
}

static void a_forked_child_has_none(void **state)
{
	struct kymo_session_stats stats;
	struct kymo_session *session, *own;
	int status;
	pid_t child;

	(void)state;
	if (!CHILD_MAY_DO_ALL)
		skip();
	session = start(in("t-a"));
	emit(3);
	child = fork();
	if (child == 0) {
		if (kymo_session_add_sink(session, in("t-x")) == 0 || kymo_session_stop(session, NULL) == 0 ||
		    !strstr(kymo_session_error(), "forked"))
			_exit(1);
		emit(1000);			/* not of the parent's session */
		if (kymo_session_start(in("t-b"), NULL, &own) < 0)
			_exit(2);
		emit(4);
		if (kymo_session_stop(own, &stats) < 0 || stats.recorded != 4)
			_exit(3);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	emit(5);
	good(stop(session, &stats));
	assert_int_equal(stats.recorded, 8);
	check_trace(in("t-a"), 8, 0);
	check_trace(in("t-b"), 4, 0);
}

static uint64_t count_events(const char *path)
{
	char command[256];
	uint64_t count = 0;
	FILE *out;

	snprintf(command, sizeof command, "babeltrace2 '%s' | grep -c inside:event", path);
	out = popen(command, "r");
	assert_int_equal(fscanf(out, "%" SCNu64, &count), 1);
	pclose(out);
	return count;
}

/* What it had written opens; the rest is in shared memory, and a child that lives on does not lock
 * it. */
static void a_killed_program_loses_nothing(void **state)
{
	const struct session_options remains = {
		.output = in("t-remains"), .version = "0", .only_dead = true,
	};
	struct session_stats stats;
	struct session *session;
	struct kymo_err err;
	int status, end[2], up[2];
	pid_t child;

	(void)state;
	if (!CHILD_MAY_DO_ALL || system("command -v babeltrace2 >/dev/null"))
		skip();
	assert_int_equal(pipe(end) | pipe(up), 0);
	child = fork();
	if (child == 0) {
		struct kymo_session *own;
		char byte;

		if (!kymo_thread_ready() || kymo_session_start(in("t-killed"), NULL, &own) < 0)
			_exit(1);
		emit(500);
		usleep(150000);			/* those are written, or soon */
		if (fork() == 0) {
			close(end[1]);
			_exit(write(up[1], "", 1) != 1 || read(end[0], &byte, 1) != 0);
		}
		if (read(up[0], &byte, 1) != 1)	/* until then it has what its parent had */
			_exit(2);
		emit(300);
		(void)kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(session_begin(&remains, &session, &err), 0);
	assert_int_equal(session_end(session, &err), 0);
	session_stats(session, &stats);
	session_free(session);
	for (unsigned i = 0; i < 2; i++) {
		close(end[i]);
		close(up[i]);
	}
	assert_true(stats.recorded > 0);
	assert_int_equal(stats.recorded + count_events(in("t-killed")), 800);
	check_trace(in("t-remains"), stats.recorded, 0);
}

/* ---- beside `kymo record` ---- */

static void say(void *context, const char *text)
{
	snprintf(context, 1024, "%s", text);
}

/*
 * In a child, as another program would: records all until @end is readable. Tells @ready when it
 * has begun, and once more when it has got the process that it had to leave alone first.
 * Return: 0 when as expected.
 */
static int outside(int ready, int end, unsigned processes, unsigned foreign)
{
	struct pollfd ended = { .fd = end, .events = POLLIN };
	char text[1024] = "";
	struct session_options options = {
		.output = in("t-outside"), .version = "0", .say = say, .context = text,
	};
	struct session_stats stats;
	struct session *session;
	struct kymo_err err;

	if (session_begin(&options, &session, &err) < 0)
		return fprintf(stderr, "%s\n", err.text), 1;
	if (foreign && !strstr(text, "is not recorded here"))
		return 2;
	if (write(ready, "", 1) != 1)
		return 3;
	while (poll(&ended, 1, 5) == 0) {
		unsigned before;

		session_stats(session, &stats);
		before = stats.processes;
		(void)session_poll(session);
		session_stats(session, &stats);
		if (stats.processes > before && write(ready, "", 1) != 1)
			return 3;
	}
	if (session_end(session, &err) < 0)
		return 4;
	session_stats(session, &stats);
	session_free(session);
	return stats.processes == processes && stats.foreign == foreign ? 0 : 5;
}

struct recorder {
	pid_t pid;
	int ready, end;
};

static void hear(const struct recorder *recorder)
{
	char byte;

	assert_int_equal(read(recorder->ready, &byte, 1), 1);
}

static struct recorder record_outside(unsigned processes, unsigned foreign)
{
	struct recorder recorder;
	int ready[2], end[2];

	assert_int_equal(pipe(ready) | pipe(end), 0);
	recorder = (struct recorder){ .pid = fork(), .ready = ready[0], .end = end[1] };
	if (recorder.pid == 0) {
		close(end[1]);
		_exit(outside(ready[1], end[0], processes, foreign));
	}
	close(end[0]);
	close(ready[1]);
	hear(&recorder);
	return recorder;
}

static void check_child(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void end_recorder(const struct recorder *recorder)
{
	close(recorder->end);
	close(recorder->ready);
	check_child(recorder->pid);
}

static void keep(void *context, const struct process_status *status)
{
	*(struct process_status *)context = *status;
}

/* `kymo status` shows it; the recorder tells its counts a few times a second. */
static void who_records_itself_is_seen(void **state)
{
	struct kymo_session *session = start(in("t-a"));
	struct process_status status = { 0 };
	struct rundir dir;
	struct kymo_err err;

	(void)state;
	emit(10);
	assert_int_equal(rundir_open(&dir, in("run"), false, &err), 0);
	for (unsigned i = 0; i < 6000 && status.recorded != 10; i++) {
		usleep(10000);
		assert_int_equal(status_read(&dir, keep, NULL, &status, &err), 1);
	}
	assert_int_equal(status.recorded, 10);
	assert_int_equal(status.lost, 0);
	assert_int_equal(status.recorder_pid, getpid());
	assert_int_equal(status.state, KYMO_STATE_RECORD);
	assert_int_equal(status.alive, ALIVE_YES);
	assert_true(status.produced >= 10);
	good(stop(session, NULL));
	assert_int_equal(status_read(&dir, keep, NULL, &status, &err), 1);
	assert_int_equal(status.recorder_pid, 0);
	assert_int_equal(status.state, KYMO_STATE_WAIT);
	rundir_close(&dir);
}

static void who_records_itself_is_left_alone(void **state)
{
	struct kymo_session_stats stats;
	struct kymo_session *session;
	struct recorder recorder;

	(void)state;
	if (!CHILD_MAY_DO_ALL)
		skip();
	session = start(in("t-a"));
	emit(10);
	recorder = record_outside(0, 1);
	emit(10);
	end_recorder(&recorder);
	emit(10);
	good(stop(session, &stats));
	assert_int_equal(stats.recorded, 30);
	check_trace(in("t-a"), 30, 0);
}

static void who_records_itself_no_more_is_recorded(void **state)
{
	struct kymo_session *session;
	struct recorder recorder;

	(void)state;
	if (!CHILD_MAY_DO_ALL)
		skip();
	session = start(in("t-a"));
	recorder = record_outside(1, 1);
	emit(10);
	good(stop(session, NULL));
	hear(&recorder);
	emit(20);
	end_recorder(&recorder);
	check_trace(in("t-a"), 10, 0);
	check_trace(in("t-outside"), 20, 0);
}

static void who_is_recorded_cannot_record_itself(void **state)
{
	struct kymo_session *session;
	struct recorder recorder;

	(void)state;
	emit(1);
	recorder = record_outside(1, 0);
	emit(10);
	bad(kymo_session_start(in("t-a"), NULL, &session), "being recorded already");
	bad(kymo_session_start(in("t-a"), NULL, &session), "t-outside");
	assert_int_equal(access(in("t-a"), F_OK), -1);
	emit(10);
	end_recorder(&recorder);
	check_trace(in("t-outside"), 20, 0);
	session = start(in("t-a"));
	emit(2);
	good(stop(session, NULL));
	check_trace(in("t-a"), 2, 0);
}

/* With `all` it is a recorder like `kymo record`: of the domain, of which there can be one. */
static void one_for_all(void **state)
{
	const struct kymo_session_options options = { .size = sizeof options, .all = 1 };
	struct kymo_session_stats stats;
	struct kymo_session *session;
	struct session_options other = { .output = in("t-b"), .version = "0" };
	struct session *second;
	struct kymo_err err;
	pid_t child;

	(void)state;
	good(kymo_session_start(in("t-a"), &options, &session));
	assert_int_equal(session_begin(&other, &second, &err), -1);
	assert_non_null(strstr(err.text, "already"));
	emit(3);
	child = fork();
	if (child == 0) {
		emit(4);			/* registers, in RECORD at once */
		_exit(0);
	}
	check_child(child);
	good(stop(session, &stats));
	assert_int_equal(stats.recorded, 7);
	assert_int_equal(stats.processes, 2);
	check_trace(in("t-a"), 7, 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, clear)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_program_records_itself),
		TEST(sinks_hold_their_time),
		TEST(sinks_come_and_go_under_load),
		TEST(a_full_disk_meets_one_sink),
		TEST(a_removed_directory_is_made_again),
		TEST(what_cannot_be_is_said),
		TEST(options_are_followed),
		TEST(nothing_is_left_of_many),
		TEST(a_forked_child_has_none),
		TEST(a_killed_program_loses_nothing),
		TEST(who_records_itself_is_seen),
		TEST(who_records_itself_is_left_alone),
		TEST(who_records_itself_no_more_is_recorded),
		TEST(who_is_recorded_cannot_record_itself),
		TEST(one_for_all),
	};

	inside_begin(argc, argv);
	return inside_end(cmocka_run_group_tests(tests, NULL, NULL));
}
