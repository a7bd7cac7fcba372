/* SPDX-License-Identifier: Apache-2.0 */
/* See taking.h. */
#include "top/taking.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/now.h"
#include "recorder/control/control.h"
#include "recorder/record/record.h"
#include "recorder/runtime/domain.h"
#include "recorder/runtime/status.h"
#include "top/taking_place.h"

#define MOST_BYTES (64ull << 20) /* that the trace has; the oldest of them go */
#define CHUNK_BYTES (32ull << 20)
#define ASK_MS 10000
#define END_NS INT64_C(3000000000) /* in which a recorder that was killed has ended */
#define END_WAIT_MS 100

struct taking {
	struct taking_options options;
	struct taking_place place;
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
		.session = { .output = taking->place.path,
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
	struct json_object *add = request("sink_add", "output", taking->place.path);
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
	(void)ask(taking, request("sink_remove", "sink", taking->place.path), err);
	return 0;
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
		taking_place_remove(&taking->place);
	_exit(KYMO_EXIT_OK);
}

/* ---- in the parent ---- */

/* The traced programs need shared memory, too: the trace takes half of what is free at most. */
static int make_place(struct taking *taking, struct kymo_err *err)
{
	uint64_t room;

	if (taking_place_make(&taking->place, &room, err) < 0)
		return -1;
	if (taking->options.most_bytes > room / 2) {
		taking->options.most_bytes = room / 2;
		taking->options.chunk_bytes = room / 4;
	}
	return 0;
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
	if (info.active && !strstr(info.trace_path, PLACE_NAME))
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
	taking->child = taking->dir.fd = taking->place.fd = -1;
	if ((options->pid && check_pid(options->pid, err) < 0) || make_place(taking, err) < 0 ||
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
	taking_place_remove(&taking->place);
	if (taking->place.fd >= 0)
		(void)close(taking->place.fd);
	if (taking->dir.fd >= 0)
		rundir_close(&taking->dir);
	free(taking);
}

const char *taking_path(const struct taking *taking)
{
	return taking->place.path;
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
	return ask(taking, request(record ? "resume" : "pause", "trace", taking->place.path), err);
}

bool taking_is_over(struct taking *taking)
{
	if (taking->child > 0 && waitpid(taking->child, NULL, WNOHANG) == taking->child)
		taking->child = -1;
	return taking->child < 0;
}

bool taking_no_room(const struct taking *taking, char *text, size_t size)
{
	return taking_place_full(&taking->place, text, size);
}
