/* SPDX-License-Identifier: Apache-2.0 */
/* See taking.h. */
#include "top/taking.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/now.h"
#include "base/text.h"
#include "recorder/control/control.h"
#include "recorder/record/record.h"
#include "recorder/runtime/domain.h"
#include "recorder/runtime/status.h"
#include "relay/store/store_tree.h"

#define MOST_BYTES (64ull << 20) /* that the trace has; the oldest of them go */
#define CHUNK_BYTES (32ull << 20)
#define OWN_NAME "/kymo-top."
#define TRACE_NAME "trace"
#define ASK_MS 10000
#define LOCK_TRIES 10
#define LEFT_S 60 /* a living recorder writes the trace's kymo.json each second */
#define END_NS INT64_C(3000000000) /* in which a recorder that was killed has ended */
#define END_WAIT_MS 100
#define LEAST_BYTES (4ull << 20)  /* free ones of a place; the trace takes half of them at most */
#define FULL_BYTES (128ull << 10) /* with fewer, the recorder can't write, or soon can't */

struct taking {
	struct taking_options options;
	char directory[64]; /* has the trace, and nothing else */
	int directory_fd;   /* locked as long as we or the child live */
	char path[80];
	char beside[1024]; /* "": nobody */
	bool is_beside;
	struct rundir dir;
	pid_t parent, child;
};

/* What the child reports once: status KYMO_EXIT_OK, or why it can't begin. */
struct taking_report {
	struct kymo_err err;
};

/* ---- in the child ---- */

static volatile sig_atomic_t ready_fd = -1;

static void tell(const struct kymo_err *err)
{
	const struct taking_report report = { *err };

	if (write(ready_fd, &report, sizeof(report)) <
	    0) /* the parent is gone: so will be the child */
		return;
	(void)close(ready_fd);
	ready_fd = -1;
}

static void on_started(void *context)
{
	const struct kymo_err none = { KYMO_EXIT_OK, "" };

	(void)context;
	tell(&none);
}

static int record_alone(const struct taking *taking, struct kymo_err *err)
{
	struct record_options options = {
		.session = { .output = taking->path,
			     .version = taking->options.version,
			     .streams = STREAMS_PROCESS,
			     .paused = taking->options.counts,
			     .counts = taking->options.counts,
			     .files = { .rotate_size = taking->options.chunk_bytes,
					.max_size = taking->options.most_bytes } },
		.started = on_started,
		.yields = true,
	};
	struct record_result result;

	if (taking->options.pid) {
		options.session.pids[0] = taking->options.pid;
		options.session.pid_count = 1;
	}
	return record_run(&options, &result, err);
}

static int ask(const struct taking *taking, struct json_object *request, struct kymo_err *err)
{
	struct json_object *reply = NULL;
	const int rc = control_ask(&taking->dir, request, ASK_MS, &reply, err);

	json_object_put(request);
	json_object_put(reply);
	if (rc == 1 && !taking->is_beside)
		return err_set(err, KYMO_EXIT_FAILED,
			       "the recorder of the programs does not answer");
	if (rc == 1)
		return err_set(
			err, KYMO_EXIT_FAILED,
			"the recorder that writes %s does not answer; a program that records "
			"itself can't be watched, but its trace can: kymo top %s",
			taking->beside, taking->beside);
	return rc;
}

static struct json_object *request(const char *what, const char *key, const char *value)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "request", json_object_new_string(what));
	json_object_object_add(object, key, json_object_new_string(value));
	return object;
}

/* Until a signal: the parent's end is one. Or until the recorder has ended, and its sinks with it.
 */
static void wait_for_end(const struct taking *taking, const sigset_t *signals)
{
	const struct timespec second = { .tv_sec = 1 };
	struct domain_info info = { .active = true };

	while (info.active && getppid() == taking->parent &&
	       sigtimedwait(signals, NULL, &second) < 0)
		if (domain_inspect(&taking->dir, &info, NULL) < 0)
			return;
}

static int record_beside(const struct taking *taking, struct kymo_err *err)
{
	struct json_object *add = request("sink_add", "output", taking->path);
	sigset_t signals;

	json_object_object_add(add, "rotate_size",
			       json_object_new_uint64(taking->options.chunk_bytes));
	json_object_object_add(add, "max_size",
			       json_object_new_uint64(taking->options.most_bytes));
	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGINT);
	(void)sigaddset(&signals, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	if (ask(taking, add, err) < 0)
		return -1;
	on_started(NULL);
	wait_for_end(taking, &signals);
	/* A recorder that ended meanwhile has no sinks any more, which is not an error. */
	(void)ask(taking, request("sink_remove", "sink", taking->path), err);
	return 0;
}

static void remove_directory(const struct taking *taking)
{
	char *slash = strrchr(taking->directory, '/');
	char above[sizeof(taking->directory)];
	int parent;

	(void)snprintf(above, sizeof(above), "%.*s", (int)(slash - taking->directory),
		       taking->directory);
	parent = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return;
	(void)tree_remove(parent, slash + 1);
	(void)close(parent);
}

static void child(const struct taking *taking)
{
	struct kymo_err err = { KYMO_EXIT_FAILED, "" };

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)signal(SIGPIPE, SIG_IGN);
	if (getppid() != taking->parent)
		_exit(KYMO_EXIT_FAILED);
	if ((taking->is_beside ? record_beside : record_alone)(taking, &err) < 0 && ready_fd >= 0)
		tell(&err);
	if (getppid() != taking->parent)
		remove_directory(taking);
	_exit(KYMO_EXIT_OK);
}

/* ---- in the parent ---- */

/* A directory of ours whose `kymo top` and child were killed: nobody has it locked. But an older
 * `kymo top` does not lock, and a recorder may still write what a killed one asked it for: so
 * nothing has changed in the trace for a while, either. */
static bool is_left(int fd)
{
	struct stat own, trace;

	if (fstat(fd, &own) < 0 || own.st_uid != geteuid() || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return false;
	if (fstatat(fd, TRACE_NAME, &trace, AT_SYMLINK_NOFOLLOW) < 0)
		trace = own; /* killed before it had a trace */
	return time(NULL) - trace.st_mtime >= LEFT_S;
}

static void remove_if_left(int place, const char *name)
{
	const int fd = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	if (is_left(fd))
		(void)tree_remove(place, name);
	(void)close(fd);
}

static void remove_left(const char *path)
{
	static const char start[] = OWN_NAME;
	const char *name = &start[1]; /* without the slash */
	DIR *place = opendir(path);
	const struct dirent *entry;

	while (place && (entry = readdir(place)))
		if (strncmp(entry->d_name, name, strlen(name)) == 0)
			remove_if_left(dirfd(place), entry->d_name);
	if (place)
		(void)closedir(place);
}

/* Until it is locked, another `kymo top` may take the new directory for one that was left. Return:
 * 0; 1: so it was, try again; -1 with errno. */
static int make_locked(struct taking *taking, const char *place)
{
	struct stat st;

	(void)snprintf(taking->directory, sizeof(taking->directory), "%s" OWN_NAME "XXXXXX", place);
	if (!mkdtemp(taking->directory))
		return -1;
	taking->directory_fd = open(taking->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (taking->directory_fd >= 0 && flock(taking->directory_fd, LOCK_EX) == 0 &&
	    fstat(taking->directory_fd, &st) == 0 && st.st_nlink)
		return 0;
	if (taking->directory_fd >= 0)
		(void)close(taking->directory_fd);
	taking->directory_fd = -1;
	(void)rmdir(taking->directory);
	return 1;
}

static uint64_t free_bytes(const char *path)
{
	struct statvfs space;

	return statvfs(path, &space) ? UINT64_MAX : (uint64_t)space.f_bavail * space.f_frsize;
}

/* Return: 0; -1 with @why. */
static int make_in(struct taking *taking, const char *place, char *why, size_t size)
{
	char left[TEXT_QUANTITY_MAX];
	uint64_t room;
	int rc = 1;

	remove_left(place);
	room = free_bytes(place);
	for (int try = 0; rc == 1 && try < LOCK_TRIES && room >= LEAST_BYTES; try++)
		rc = make_locked(taking, place);
	if (rc) {
		(void)snprintf(why, size, "%s%s%s", place, room < LEAST_BYTES ? " has only " : ": ",
			       room < LEAST_BYTES ? text_bytes(left, room) : strerror(errno));
		return -1;
	}
	(void)snprintf(taking->path, sizeof(taking->path), "%s/" TRACE_NAME, taking->directory);
	/* The traced programs need shared memory, too. */
	if (taking->options.most_bytes > room / 2) {
		taking->options.most_bytes = room / 2;
		taking->options.chunk_bytes = room / 4;
	}
	return 0;
}

static int make_directory(struct taking *taking, struct kymo_err *err)
{
	char why[2][128] = { "", "" };

	if (make_in(taking, "/dev/shm", why[0], sizeof(why[0])) == 0 ||
	    make_in(taking, "/tmp", why[1], sizeof(why[1])) == 0)
		return 0;
	taking->directory[0] = 0;
	return err_set(err, KYMO_EXIT_FAILED,
		       "cannot keep the newest events, which takes 4 MiB at least: %s, %s; free some "
		       "space there",
		       why[0], why[1]);
}

static int start_child(struct taking *taking, struct kymo_err *err)
{
	struct taking_report report;
	ssize_t size;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create a pipe: %s", strerror(errno));
	(void)fflush(NULL);
	taking->parent = getpid();
	taking->child = fork();
	if (taking->child == 0) {
		(void)close(fd[0]);
		ready_fd = fd[1];
		child(taking);
	}
	(void)close(fd[1]);
	if (taking->child < 0) {
		(void)close(fd[0]);
		return err_set(err, KYMO_EXIT_FAILED, "cannot start a process: %s",
			       strerror(errno));
	}
	do
		size = read(fd[0], &report, sizeof(report));
	while (size < 0 && errno == EINTR);
	(void)close(fd[0]);
	if (size != sizeof(report))
		return err_set(err, KYMO_EXIT_FAILED,
			       "the process that records ended without a reason");
	if (report.err.status == KYMO_EXIT_OK)
		return 0;
	*err = report.err;
	return -1;
}

static int find_recorder(struct taking *taking, struct kymo_err *err)
{
	struct domain_info info;

	if (rundir_open(&taking->dir, NULL, true, err) < 0 ||
	    domain_inspect(&taking->dir, &info, err) < 0)
		return -1;
	taking->is_beside = info.active;
	/* Another `kymo top` is no recording. */
	if (info.active && !strstr(info.trace_path, OWN_NAME))
		(void)snprintf(taking->beside, sizeof(taking->beside), "%s",
			       info.trace_path[0] ? info.trace_path : "(in memory)");
	return 0;
}

/* After a `kymo top` or `kymo serve` was killed, its recorder ends, too, and does not answer any
 * more. */
static int start_beside_or_alone(struct taking *taking, struct kymo_err *err)
{
	const int64_t end = now_ns() + END_NS;

	for (;;) {
		if (find_recorder(taking, err) < 0)
			return -1;
		if (start_child(taking, err) == 0)
			return 0;
		if (taking->child < 0 || !taking->is_beside || taking->beside[0] || now_ns() > end)
			return -1;
		while (waitpid(taking->child, NULL, 0) < 0 && errno == EINTR)
			;
		taking->child = -1;
		rundir_close(&taking->dir);
		(void)poll(NULL, 0, END_WAIT_MS);
	}
}

static void find_pid(void *context, const struct process_status *status)
{
	int *pid = context;

	if (status->alive != ALIVE_DEAD && (status->host_pid == *pid || (int)status->pid == *pid))
		*pid = 0;
}

static int check_pid(int pid, struct kymo_err *err)
{
	struct rundir dir;
	int missing = pid;
	int rc = rundir_open(&dir, NULL, false, err);

	if (rc < 0)
		return -1;
	if (rc == 0) {
		rc = status_read(&dir, find_pid, NULL, &missing, err);
		rundir_close(&dir);
		if (rc < 0)
			return -1;
	}
	return missing ? err_set(err, KYMO_EXIT_EMPTY,
				 "process %d was not started with \"kymo run\", or has ended; "
				 "\"kymo status\" "
				 "lists the programs that can be watched",
				 pid)
		       : 0;
}

int taking_begin(struct taking **out, const struct taking_options *options, struct kymo_err *err)
{
	struct taking *taking = calloc(1, sizeof(*taking));

	if (!taking)
		return err_no_memory(err);
	taking->options = *options;
	if (!options->most_bytes) {
		taking->options.chunk_bytes = CHUNK_BYTES;
		taking->options.most_bytes = MOST_BYTES;
	}
	taking->child = taking->dir.fd = taking->directory_fd = -1;
	if ((options->pid && check_pid(options->pid, err) < 0) || make_directory(taking, err) < 0 ||
	    start_beside_or_alone(taking, err) < 0) {
		taking_end(taking);
		return -1;
	}
	*out = taking;
	return 0;
}

void taking_end(struct taking *taking)
{
	if (!taking)
		return;
	if (taking->child > 0) {
		(void)kill(taking->child, SIGTERM);
		while (waitpid(taking->child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (taking->directory[0])
		remove_directory(taking);
	if (taking->directory_fd >= 0)
		(void)close(taking->directory_fd);
	if (taking->dir.fd >= 0)
		rundir_close(&taking->dir);
	free(taking);
}

const char *taking_path(const struct taking *taking)
{
	return taking->path;
}

const char *taking_beside(const struct taking *taking)
{
	return taking->beside[0] ? taking->beside : NULL;
}

bool taking_only_counts(const struct taking *taking)
{
	return taking->options.counts && !taking->is_beside;
}

/* By now the recorder of the runtime directory may be another one, which refuses by the trace. */
int taking_record(struct taking *taking, bool record, struct kymo_err *err)
{
	return ask(taking, request(record ? "resume" : "pause", "trace", taking->path), err);
}

bool taking_is_over(struct taking *taking)
{
	if (taking->child > 0 && waitpid(taking->child, NULL, WNOHANG) == taking->child)
		taking->child = -1;
	return taking->child < 0;
}

bool taking_no_room(const struct taking *taking, char *text, size_t size)
{
	const uint64_t room = free_bytes(taking->directory);
	char left[TEXT_QUANTITY_MAX];

	if (room >= FULL_BYTES)
		return false;
	(void)snprintf(text, size,
		       "%s has only %s left: events of this time are lost; free some",
		       taking->directory, text_bytes(left, room));
	return true;
}
