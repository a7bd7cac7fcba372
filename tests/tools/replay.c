/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays a call log: every ros_trace_* call of a recorded ROS 2 run, with its arguments, made
 * again through the PLT of a program linked against libtracetools.so, one process per recorded
 * pid and one thread per recorded tid. A tracer preloaded into it meets what it meets in the
 * field. The parent process itself makes no such call.
 *
 *   ts_ns,pid,tid,comm,caller,fn,a0,a1,a2,a3,a4
 *
 * --speed: as recorded; full, each thread as fast as it can; or order, which is full but with the
 * calls of a process one after the other as they stand in the log.
 *
 * A do_ call is made only where the enabled_ call before it returned true, as callers do.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/points.h"
#include "tracetools/tracetools.h"

#define ARGS_MAX	5
#define COLUMNS		6	/* before the arguments */
#define LANES_MAX	256	/* recorded threads; real logs have a dozen */
#define GID_BYTES	24

/* ---- the functions: one row per tracepoint, called with arguments read from the log ---- */

union value {
	const void *pointer;
	uint64_t number;
	const char *string;
	const uint8_t *gid;
};

enum family { PLAIN, ENABLED, DO };

struct function {
	const char *name;
	uint16_t from, to;		/* tracetools versions with this shape */
	uint8_t fields;
	enum kymo_kind kind[KYMO_FIELDS_MAX];
	bool (*call)(enum family family, const union value *v);
};

/* Rows of other versions are not in the library we are linked with: they must not bind. */
#define POINT(provider, id, ...)								\
	extern __typeof__(ros_trace_##id) ros_trace_##id __attribute__((weak));			\
	extern __typeof__(ros_trace_enabled_##id) ros_trace_enabled_##id __attribute__((weak));	\
	extern __typeof__(ros_trace_do_##id) ros_trace_do_##id __attribute__((weak));
#include "abi/tracepoints.def"
#undef POINT

#define VALUE_PTR(v)	, (v).pointer
#define VALUE_U64(v)	, (v).number
#define VALUE_I64(v)	, (int64_t)(v).number
#define VALUE_BOOL(v)	, (v).number != 0
#define VALUE_STR(v)	, (v).string
#define VALUE_GID16(v)	, (v).gid
#define VALUE_GID24(v)	, (v).gid
#define VALUE_PTRS(v)	, NULL, 0	/* no call log has such a call: see function_find() */
#define VALUE_SKIP(v)	, (v).pointer
#define VALUE_VERSION(v)
#define VALUE(kind, arg, ...) VALUE_##kind(v[at_##arg])
#define VALUES_()
#define VALUES_SOME(...) STUB_DROP_FIRST(~EACH(VALUE, __VA_ARGS__))
#define VALUES(...) KYMO_CAT(VALUES_, __VA_OPT__(SOME))(__VA_ARGS__)
#define POSITION(kind, arg, ...) at_##arg,

#define POINT(provider, id, name, phase, hook, from, to, text, ...)				\
	static bool call_##id(enum family family, const union value *v)				\
	{											\
		enum { EACH(POSITION, __VA_ARGS__) at_end };					\
		(void)v;									\
		if (family == ENABLED)								\
			return ros_trace_enabled_##id();					\
		if (family == DO)								\
			ros_trace_do_##id(VALUES(__VA_ARGS__));					\
		else										\
			ros_trace_##id(VALUES(__VA_ARGS__));					\
		return true;									\
	}
#include "abi/tracepoints.def"
#undef POINT

#define ONE(...) +1
#define KIND(kind, ...) KYMO_KIND_##kind,
#define POINT(provider, id, name, phase, hook, from, to, text, ...)				\
	{ #name, from, to, 0 EACH(ONE, __VA_ARGS__), { EACH(KIND, __VA_ARGS__) 0 }, call_##id },
static const struct function functions[] = {
#include "abi/tracepoints.def"
};
#undef POINT

/* ---- the log: lanes of calls, one lane per recorded thread ---- */

struct call {
	uint64_t ts_ns;
	size_t order;			/* calls of the process before it */
	const struct function *function;
	enum family family;
	union value value[KYMO_FIELDS_MAX];
};

struct lane {
	uint32_t pid, tid;
	const char *comm;
	struct call *calls;
	size_t count, room;
	size_t process_calls;		/* kept in the first lane of a process */
};

struct shared {
	uint64_t start_ns;		/* when the log's first call is due */
	pid_t pid[LANES_MAX], tid[LANES_MAX];
};

static struct lane lanes[LANES_MAX];
static size_t lane_count;
static struct shared *shared;
static bool full_speed, in_order;
static uint64_t first_ts_ns = UINT64_MAX;
static int version = KYMO_V(8, 2);

static const char *log_path;
static unsigned line = 1;

static void die(const char *what)
{
	fprintf(stderr, "replay: %s:%u: %s\n", log_path ? log_path : "?", line, what);
	exit(2);
}

static void *need(void *memory)
{
	if (!memory)
		die("out of memory");
	return memory;
}

/* One field of a row, unquoted in place; *quoted tells "(null)" from (null). */
static char *field_next(char **at, char *end, bool *last, bool *quoted)
{
	char *from = *at, *to = from, *field = from;

	*quoted = from < end && *from == '"';
	if (*quoted) {
		for (from++; ; from++) {
			if (from >= end)
				die("quoted field without an end");
			if (*from == '\n')
				line++;
			if (*from == '"' && (from + 1 == end || from[1] != '"'))
				break;
			from += *from == '"';
			*to++ = *from;
		}
		from++;
	} else {
		while (from < end && *from != ',' && *from != '\n' && *from != '\r')
			from++;
		to = from;
	}
	if (from < end && *from == '\r')
		from++;
	if (from < end && *from != ',' && *from != '\n')
		die("a field goes on after its closing quote");
	*last = from == end || *from == '\n';
	*at = from == end ? from : from + 1;
	*to = '\0';
	return field;
}

static uint64_t number_parse(const char *text)
{
	char *end;
	uint64_t number;

	errno = 0;
	if (text[0] == '-')
		number = (uint64_t)strtoll(text, &end, 10);
	else
		number = strtoull(text, &end, text[0] == '0' && text[1] == 'x' ? 16 : 10);
	if (end == text || *end || errno)
		die("not a number");
	return number;
}

static const uint8_t *gid_parse(char *text)
{
	uint8_t *gid = need(calloc(1, GID_BYTES));
	size_t digits = strlen(text);
	unsigned byte;

	if (digits % 2 || digits < 32 || digits > 2 * GID_BYTES)
		die("a gid has 32 to 48 hex digits");
	for (size_t i = 0; i < digits / 2; i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			die("a gid has 32 to 48 hex digits");
		gid[i] = byte;
	}
	return gid;
}

static union value value_parse(enum kymo_kind kind, char *text, bool quoted)
{
	bool null = !quoted && !strcmp(text, "(null)");

	switch (kind) {
	case KYMO_KIND_STR:
		return (union value){ .string = null ? NULL : text };
	case KYMO_KIND_GID16:
	case KYMO_KIND_GID24:
		return (union value){ .gid = null ? NULL : gid_parse(text) };
	default:
		return (union value){ .number = number_parse(text) };
	}
}

static const struct function *function_find(const char *text, enum family *family)
{
	static const char *const prefix[] = {
		[ENABLED] = "ros_trace_enabled_", [DO] = "ros_trace_do_", [PLAIN] = "ros_trace_"
	};
	const struct function *f;

	for (*family = DO; strncmp(text, prefix[*family], strlen(prefix[*family])); )
		if (*family == PLAIN)
			die("not a ros_trace function");
		else
			(*family)--;
	text += strlen(prefix[*family]);
	for (f = functions; f < functions + KYMO_POINTS_TABLE; f++)
		if (!strcmp(f->name, text) && f->from <= version && version <= f->to &&
		    f->kind[0] != KYMO_KIND_PTRS)
			return f;
	die("no such function in this tracetools version");
	return NULL;
}

static struct lane *lane_find(uint32_t pid, uint32_t tid, const char *comm)
{
	struct lane *lane;

	for (lane = lanes; lane < lanes + lane_count; lane++)
		if (lane->pid == pid && lane->tid == tid)
			return lane;
	if (lane_count == LANES_MAX)
		die("too many threads");
	lane_count++;
	*lane = (struct lane){ .pid = pid, .tid = tid, .comm = comm };
	return lane;
}

static void row_parse(char **at, char *end)
{
	char *column[COLUMNS + ARGS_MAX];
	bool quoted[COLUMNS + ARGS_MAX], last = false;
	struct call call = { 0 };
	struct lane *lane, *first;
	int columns = 0, argument = COLUMNS;

	while (!last) {
		if (columns == COLUMNS + ARGS_MAX)
			die("too many columns");
		column[columns] = field_next(at, end, &last, &quoted[columns]);
		columns++;
	}
	if (columns < COLUMNS)
		die("too few columns");
	call.ts_ns = number_parse(column[0]);
	if (call.ts_ns < first_ts_ns)
		first_ts_ns = call.ts_ns;
	lane = lane_find(number_parse(column[1]), number_parse(column[2]), column[3]);
	call.function = function_find(column[5], &call.family);
	for (int i = 0; i < call.function->fields && call.family != ENABLED; i++) {
		if (call.function->kind[i] == KYMO_KIND_VERSION)
			continue;
		if (argument == columns)
			die("too few arguments");
		call.value[i] =
			value_parse(call.function->kind[i], column[argument], quoted[argument]);
		argument++;
	}
	if (argument != columns)
		die("too many arguments");
	if (lane->count == lane->room) {
		lane->room = lane->room ? 2 * lane->room : 256;
		lane->calls = need(realloc(lane->calls, lane->room * sizeof(*lane->calls)));
	}
	for (first = lanes; first->pid != lane->pid; first++)
		;
	call.order = first->process_calls++;
	lane->calls[lane->count++] = call;
}

static void log_read(const char *path)
{
	static const char header[] = "ts_ns,pid,tid,comm,caller,fn,";
	FILE *file = fopen(path, "re");
	size_t size = 0, room = 0, got;
	char *text = NULL, *at, *end;

	log_path = path;
	if (!file)
		die(strerror(errno));
	do {
		if (size == room) {
			room = room ? 2 * room : 65536;
			text = need(realloc(text, room + 1));
		}
		got = fread(text + size, 1, room - size, file);
		size += got;
	} while (got);
	fclose(file);
	end = text + size;
	at = memchr(text, '\n', size);
	if (!at || strncmp(text, header, strlen(header)))
		die("not a call log");
	for (at++, line++; at < end; line++)
		row_parse(&at, end);
}

/* ---- playing ---- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void wait_until(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static size_t turn;			/* calls that the process has made */

static void turn_wait(size_t order)
{
	pthread_mutex_lock(&turn_lock);
	while (turn != order)
		pthread_cond_wait(&turn_changed, &turn_lock);
	pthread_mutex_unlock(&turn_lock);
}

static void turn_over(void)
{
	pthread_mutex_lock(&turn_lock);
	turn++;
	pthread_cond_broadcast(&turn_changed);
	pthread_mutex_unlock(&turn_lock);
}

static void lane_play(struct lane *lane)
{
	bool enabled = false;

	prctl(PR_SET_NAME, lane->comm);
	shared->pid[lane - lanes] = getpid();
	shared->tid[lane - lanes] = gettid();
	for (struct call *call = lane->calls; call < lane->calls + lane->count; call++) {
		if (!full_speed)
			wait_until(shared->start_ns + call->ts_ns - first_ts_ns);
		if (in_order)
			turn_wait(call->order);
		if (call->family != DO || enabled)
			enabled = call->function->call(call->family, call->value);
		if (in_order)
			turn_over();
	}
}

struct player {
	struct lane *lane;
	pthread_barrier_t *done;
	pthread_t thread;
};

/* No thread ends before all are done: a tid stands for one recorded thread. */
static void *player_main(void *argument)
{
	struct player *player = argument;

	lane_play(player->lane);
	pthread_barrier_wait(player->done);
	return NULL;
}

static void process_play(uint32_t pid)
{
	static struct player players[LANES_MAX];
	pthread_barrier_t done;
	struct lane *main_lane = NULL;
	unsigned count = 0;

	for (struct lane *lane = lanes; lane < lanes + lane_count; lane++)
		if (lane->pid == pid && lane->tid == pid)
			main_lane = lane;
		else if (lane->pid == pid)
			players[count++] = (struct player){ .lane = lane, .done = &done };
	pthread_barrier_init(&done, NULL, count + 1);
	if (main_lane)
		prctl(PR_SET_NAME, main_lane->comm);
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&players[i].thread, NULL, player_main, &players[i]))
			die("cannot create a thread");
	if (main_lane)
		lane_play(main_lane);
	pthread_barrier_wait(&done);
	for (unsigned i = 0; i < count; i++)
		pthread_join(players[i].thread, NULL);
}

/* One child per recorded pid; true if all ended well. */
static bool processes_play(void)
{
	bool good = true;
	int status;

	for (size_t i = 0; i < lane_count; i++) {
		size_t first = 0;

		while (lanes[first].pid != lanes[i].pid)
			first++;
		if (first != i)
			continue;
		switch (fork()) {
		case -1:
			die("cannot fork");
			break;
		case 0:
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			process_play(lanes[i].pid);
			exit(0);
		}
	}
	while (wait(&status) > 0)
		good &= WIFEXITED(status) && !WEXITSTATUS(status);
	return good;
}

static void map_write(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file) {
		fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	fprintf(file, "pid,tid,new_pid,new_tid\n");
	for (size_t i = 0; i < lane_count; i++)
		fprintf(file, "%u,%u,%d,%d\n", lanes[i].pid, lanes[i].tid, shared->pid[i],
			shared->tid[i]);
	if (fclose(file)) {
		fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
		exit(2);
	}
}

static void usage(void)
{
	fprintf(stderr, "usage: replay [--speed recorded|full|order] [--map FILE] [--tracetools 8.2] LOG\n");
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "speed", required_argument, NULL, 's' },
		{ "map", required_argument, NULL, 'm' },
		{ "tracetools", required_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	const char *map = NULL;
	int option, major, minor;
	bool good;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's' && (!strcmp(optarg, "full") || !strcmp(optarg, "recorded") || !strcmp(optarg, "order"))) {
			in_order = optarg[0] == 'o';
			full_speed = optarg[0] == 'f' || in_order;
		}
		else if (option == 'm')
			map = optarg;
		else if (option == 't' && sscanf(optarg, "%d.%d", &major, &minor) == 2)
			version = KYMO_V(major, minor);
		else
			usage();
	}
	if (optind + 1 != argc)
		usage();
	log_read(argv[optind]);
	/* The one strong reference: without it the linker would drop the library. */
	(void)ros_trace_compile_status();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		die("cannot map shared memory");
	shared->start_ns = now_ns() + 50000000;
	good = processes_play();
	if (map)
		map_write(map);
	return good ? 0 : 1;
}
