/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source of the kernel's events: an instance of tracefs of its own, instances/kymo-PID, whose
 * pages are read. Other tracing is not touched. The instance is removed at the end; if the recorder
 * was killed, by the next recorder. In a PID namespace its name also contains the inode of the
 * namespace.
 *
 * System calls have an instance of their own, instances/kymo-PID-calls, with chosen threads and the
 * threads that they create (set_event_pid, event-fork). The kernel leaves out the calls of other
 * threads, and many calls do not push out the switches.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/now.h"
#include "kernel/kernel_source.h"

#define PREFIX "kymo-"
#define CALLS_SUFFIX "-calls"
#define SIZE_LEAST (128u << 10)

struct tracefs_pipe {
	int raw, stats;			/* -1: the CPU is switched off */
	struct kpages pages;
	uint64_t begin_ns; /* of the last page */
	uint64_t lost;
};

struct tracefs {
	struct ksource source;		/* first */
	char path[PATH_MAX];		/* of the instance */
	int dir;
	bool follows;       /* threads were added: it runs */
	unsigned pages_max; /* of one capture: those of the buffer, and those that are filled
			       meanwhile */
	struct tracefs_pipe pipe[];
};

static struct tracefs_pipe *cpu_pipe(const struct ksource *source, unsigned cpu)
{
	return &((struct tracefs *)source)->pipe[cpu];
}

/* ---- files ---- */

/* Return: 0; -errno. */
static int put(const struct tracefs *tracefs, const char *name, const char *value)
{
	int fd = openat(tracefs->dir, name, O_WRONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		rc = -errno;
	(void)close(fd);
	return rc;
}

/* The number in @name. Return: @otherwise: there is none. */
static unsigned long get(const struct tracefs *tracefs, const char *name, unsigned long otherwise)
{
	int fd = openat(tracefs->dir, name, O_RDONLY | O_CLOEXEC);
	char text[32] = "";
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		(void)close(fd);
	return size > 0 ? strtoul(text, NULL, 10) : otherwise;
}

/* In another PID namespace the same number is another process. */
static void name_instance(char name[64], long pid)
{
	const uint64_t space = namespace_other_pid();

	if (space)
		(void)snprintf(name, 64, PREFIX "%ld-%" PRIu64, pid, space);
	else
		(void)snprintf(name, 64, PREFIX "%ld", pid);
}

static bool is_named(const char *name, const char *instance)
{
	const size_t size = strlen(instance);

	return strncmp(name, instance, size) == 0 &&
	       (!name[size] || strcmp(name + size, CALLS_SUFFIX) == 0);
}

/* Removes instances whose recorder has ended. The kernel does not remove an instance that is in
 * use. */
static void remove_left(const char *instances)
{
	const struct dirent *entry;
	DIR *dir = opendir(instances);
	char mine[64];
	long pid;

	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		pid = strtol(entry->d_name + strlen(PREFIX), NULL, 10);
		name_instance(mine, pid);
		if (pid > 0 && is_named(entry->d_name, mine) &&
		    (pid == getpid() || (kill((pid_t)pid, 0) < 0 && errno == ESRCH)))
			(void)unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	if (dir)
		(void)closedir(dir);
}

/* ---- opening ---- */

static void tracefs_close(struct ksource *source)
{
	struct tracefs *tracefs = (struct tracefs *)source;

	for (unsigned i = 0; i < source->cpus; i++) {
		if (tracefs->pipe[i].raw >= 0)
			(void)close(tracefs->pipe[i].raw);
		if (tracefs->pipe[i].stats >= 0)
			(void)close(tracefs->pipe[i].stats);
		free(tracefs->pipe[i].pages.data);
	}
	if (tracefs->dir >= 0) {
		(void)close(tracefs->dir);
		(void)rmdir(tracefs->path);	/* with all that is enabled in it */
	}
	free(tracefs);
}

static int make_instance(struct tracefs *tracefs, const char *suffix)
{
	const char *root = format_tracefs();
	char name[64];

	if (!root)
		return -ENOENT;
	(void)snprintf(tracefs->path, sizeof(tracefs->path), "%s/instances", root);
	remove_left(tracefs->path);
	name_instance(name, getpid());
	(void)snprintf(tracefs->path, sizeof(tracefs->path), "%s/instances/%s%s", root, name, suffix);
	if (mkdir(tracefs->path, 0700) < 0)
		return -errno;
	tracefs->dir = open(tracefs->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return tracefs->dir < 0 ? -errno : 0;
}

/* With little memory, the buffer is smaller. */
static int set_size(struct tracefs *tracefs, size_t size)
{
	char text[32];
	int rc;

	do {
		(void)snprintf(text, sizeof(text), "%zu", size >> 10);
		rc = put(tracefs, "buffer_size_kb", text);
		size /= 2;
	} while (rc == -ENOMEM && size >= SIZE_LEAST);
	return rc;
}

static int enable(struct tracefs *tracefs, const struct kformat *format)
{
	char name[128];
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < kevent_count; i++) {
		if (!format[i].id || !kevents[i].system)
			continue;
		(void)snprintf(name, sizeof(name), "events/%s/%s/enable", kevents[i].system, kevents[i].raw);
		rc = put(tracefs, name, "1");
	}
	return rc;
}

static int open_pipe(const struct tracefs *tracefs, struct tracefs_pipe *pipe, unsigned cpu,
		     size_t page)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	pipe->raw = openat(tracefs->dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	(void)snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu);
	pipe->stats = openat(tracefs->dir, name, O_RDONLY | O_CLOEXEC);
	pipe->pages.size = page;
	if (pipe->raw < 0 || pipe->stats < 0)
		return errno == ENOENT && pipe->raw < 0 ? 0 : -errno;
	return 0;
}

static int set_up(struct tracefs *tracefs, const char *suffix, size_t size, unsigned cpus)
{
	size_t page;
	int rc = make_instance(tracefs, suffix);

	rc = rc ? rc : put(tracefs, "tracing_on", "0");
	rc = rc ? rc : put(tracefs, "trace_clock", "mono");
	rc = rc ? rc : put(tracefs, "options/overwrite", "0");	/* a full buffer drops new events, and counts them */
	rc = rc ? rc : set_size(tracefs, size);
	if (rc)
		return rc;
	(void)put(tracefs, "options/record-cmd", "0");		/* names of threads, for a text that nobody reads */
	page = get(tracefs, "buffer_subbuf_size_kb", (unsigned long)sysconf(_SC_PAGESIZE) >> 10) << 10;
	if (page < 64 || page > (1u << 20))
		return -EINVAL;
	tracefs->pages_max = (unsigned)(2 * size / page) + 64;
	for (; rc == 0 && tracefs->source.cpus < cpus; tracefs->source.cpus++)
		rc = open_pipe(tracefs, &tracefs->pipe[tracefs->source.cpus], tracefs->source.cpus,
			       page);
	return rc;
}

static int open_instance(struct ksource **source, const struct ksource_ops *ops, const char *suffix,
			 const struct kformat *format, size_t size, struct kymo_err *err)
{
	const bool calls = ops == &ksource_tracefs_calls;
	unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	struct tracefs *tracefs = calloc(1, sizeof(*tracefs) + cpus * sizeof(tracefs->pipe[0]));
	int rc;

	if (!tracefs)
		return err_no_memory(err), -ENOMEM;
	tracefs->source.ops = ops;
	tracefs->dir = -1;
	rc = set_up(tracefs, suffix, size, cpus);
	if (rc == 0) /* system calls cost all threads something, so they start with the first
			followed thread */
		rc = calls ? put(tracefs, "options/event-fork", "1") : enable(tracefs, format);
	if (rc < 0) {
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot create an instance of tracefs, %s: %s", tracefs->path, strerror(-rc));
		tracefs_close(&tracefs->source);
		return rc;
	}
	*source = &tracefs->source;
	return 0;
}

static int tracefs_open(struct ksource **source, const struct kformat *format, size_t size,
			struct kymo_err *err)
{
	return open_instance(source, &ksource_tracefs, "", format, size, err);
}

static int tracefs_open_calls(struct ksource **source, const struct kformat *format, size_t size,
			      struct kymo_err *err)
{
	return open_instance(source, &ksource_tracefs_calls, CALLS_SUFFIX, format, size, err);
}

static unsigned tracefs_follow(struct ksource *source, const int32_t *tid, unsigned count)
{
	struct tracefs *tracefs = (struct tracefs *)source;
	const int added = count ? pids_add(tracefs->dir, tid, count) : 0;

	if (added < 0)
		return 0; /* an empty list would be all threads */
	if (!tracefs->follows) {
		tracefs->follows = true;
		(void)put(tracefs, "tracing_on", "1");
		(void)put(tracefs, "events/raw_syscalls/enable", "1");
	}
	return (unsigned)added;
}

/* ---- reading ---- */

static void tracefs_start(struct ksource *source)
{
	(void)put((struct tracefs *)source, "tracing_on", "1");		/* our own instance: this cannot fail */
}

static void tracefs_stop(struct ksource *source)
{
	(void)put((struct tracefs *)source, "tracing_on", "0");
}

static bool tracefs_there(const struct ksource *source, unsigned cpu)
{
	return cpu_pipe(source, cpu)->raw >= 0;
}

/* "entries: 0\noverrun: 0\ncommit overrun: 0\nbytes: 0\n...dropped events: 0\nread events: 0\n" */
static uint64_t count_lost(const char *text)
{
	uint64_t sum = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "overrun: ", 9) == 0)
			sum += strtoull(line + 9, NULL, 10);
		else if (strncmp(line, "commit overrun: ", 16) == 0 || strncmp(line, "dropped events: ", 16) == 0)
			sum += strtoull(line + 16, NULL, 10);
	}
	return sum;
}

/*
 * Dropped events are counted first: then none of them is younger than the pages. A page that begins
 * after this call did is the last one: where the system calls of this thread are recorded, too,
 * each read(2) fills one more page.
 */
static uint64_t tracefs_capture(struct ksource *source, unsigned cpu)
{
	const struct tracefs *tracefs = (const struct tracefs *)source;
	const uint64_t now = (uint64_t)now_ns();
	struct tracefs_pipe *pipe = cpu_pipe(source, cpu);
	char text[512];
	uint8_t *page;
	ssize_t size = pread(pipe->stats, text, sizeof(text) - 1, 0);

	if (size > 0) {
		text[size] = '\0';
		pipe->lost = count_lost(text);
	}
	pages_forget(&pipe->pages);
	pipe->begin_ns = pipe->begin_ns <= now ? pipe->begin_ns : now;
	while (pipe->begin_ns <= now && (page = pages_room(&pipe->pages, tracefs->pages_max))) {
		do
			size = read(pipe->raw, page, pipe->pages.size);
		while (size < 0 && errno == EINTR);
		if (size <= 0)
			return UINT64_MAX; /* nothing more for now */
		memset(page + size, 0, pipe->pages.size - (size_t)size);
		memcpy(&pipe->begin_ns, page, sizeof(pipe->begin_ns));
		pipe->pages.count++;
	}
	return pipe->begin_ns;
}

static const struct krecord *tracefs_peek(struct ksource *source, unsigned cpu)
{
	return pages_peek(&cpu_pipe(source, cpu)->pages);
}

static void tracefs_next(struct ksource *source, unsigned cpu)
{
	pages_next(&cpu_pipe(source, cpu)->pages);
}

static uint64_t tracefs_lost(const struct ksource *source, unsigned cpu, bool *full)
{
	*full |= cpu_pipe(source, cpu)->lost != 0;
	return cpu_pipe(source, cpu)->lost;
}

/* What the two kinds of instances have in common. */
#define TRACEFS_OPS                                                             \
	.name = "tracefs", .stop = tracefs_stop, .there = tracefs_there,        \
	.capture = tracefs_capture, .peek = tracefs_peek, .next = tracefs_next, \
	.lost = tracefs_lost, .close = tracefs_close

const struct ksource_ops ksource_tracefs = {TRACEFS_OPS, .open = tracefs_open,
					    .start = tracefs_start};

const struct ksource_ops ksource_tracefs_calls = {
	TRACEFS_OPS,
	.open = tracefs_open_calls,
	.follow = tracefs_follow,
};
