/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo stop`: ends the recorder of the runtime directory, and waits until it is gone. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cli/common.h"
#include "recorder/control.h"
#include "recorder/domain.h"

#define ASK_MS	5000
#define LOOK_MS	20

struct options {
	int64_t timeout;
	bool quiet;
};

static const struct opt opts[] = {
	{ "timeout", 't', OPT_TIME, offsetof(struct options, timeout), "TIME",
	  "wait so long for its end (default 30s)", NULL },
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Whether recorder @pid still has the runtime directory or, where we can see that, still runs. */
static bool is_there(const struct rundir *dir, int pid, int process)
{
	struct pollfd ended = { .fd = process, .events = POLLIN };
	struct domain_info info;

	if (process >= 0)
		return poll(&ended, 1, LOOK_MS) <= 0;
	(void)poll(NULL, 0, LOOK_MS);
	return domain_inspect(dir, &info, NULL) == 0 && info.active && info.pid == pid;
}

static int ask(const struct rundir *dir, int pid, int64_t timeout_ns, struct err *err)
{
	const int timeout_ms = timeout_ns / 1000000 < ASK_MS ? (int)(timeout_ns / 1000000) : ASK_MS;
	struct json_object *request = json_object_new_object(), *reply;
	int rc;

	json_object_object_add(request, "request", json_object_new_string("stop"));
	rc = control_ask(dir, request, timeout_ms, &reply, err);
	json_object_put(request);
	json_object_put(reply);
	if (rc == 1)
		return err_set(err, EXIT_FAILED, "process %d records but cannot be asked to stop: a program that "
			       "records itself ends its session itself; a kymo record ends with \"kill -INT %d\"",
			       pid, pid);
	return rc;
}

static int stop(const struct rundir *dir, const struct options *options, struct domain_info *info,
		struct err *err)
{
	const int64_t timeout = options->timeout ? options->timeout : 30000000000;
	const int64_t until = now_ns() + timeout;
	int process, rc;

	if (domain_inspect(dir, info, err) < 0)
		return -1;
	if (!info->active)
		return err_set(err, EXIT_EMPTY, "nobody is recording in %s", dir->path);
	process = info->pid > 0 ? (int)syscall(SYS_pidfd_open, info->pid, 0) : -1;
	rc = ask(dir, info->pid, timeout, err);
	while (rc == 0 && is_there(dir, info->pid, process))
		if (now_ns() >= until)
			rc = err_set(err, EXIT_FAILED, "recorder %d was told to stop but is still there; it waits "
				     "for its command, or for its disk", info->pid);
	if (process >= 0)
		(void)close(process);
	return rc;
}

static int run(int argc, char **argv)
{
	struct options options = { 0 };
	struct domain_info info;
	struct rundir dir;
	struct err err;
	int rc;

	if (opt_parse(opts, &options, &argc, &argv, NULL, &err) < 0)
		return cli_fail("stop", &err);
	if (argc || options.timeout < 0) {
		if (argc)
			(void)err_set(&err, EXIT_USAGE, "'%s': there are no operands", argv[0]);
		else
			(void)err_set(&err, EXIT_USAGE, "--timeout cannot be negative");
		return cli_fail("stop", &err);
	}
	rc = rundir_open(&dir, NULL, false, &err);
	if (rc == 1)
		rc = err_set(&err, EXIT_EMPTY, "nobody is recording: there is no %s", dir.path);
	if (rc == 0) {
		rc = stop(&dir, &options, &info, &err);
		rundir_close(&dir);
	}
	if (rc < 0)
		return cli_fail("stop", &err);
	if (!options.quiet && info.trace_path[0] == '/')	/* a flight recorder has no trace of its own */
		fprintf(stderr, "trace: %s\n", info.trace_path);
	return EXIT_OK;
}

const struct verb verb_stop = {
	.name = "stop",
	.synopsis = "",
	.summary = "end the active recorder",
	.description =
		"Asks the \"kymo record\" of the runtime directory ($KYMO_DIR, else /dev/shm/kymo-UID) to end, as "
		"Ctrl-C would, and waits until it has completed its trace and is gone. A command that it "
		"started is sent SIGINT and gets some seconds to end.\n\n"
		"Exit status 6 when nobody records.",
	.examples = "kymo stop\n",
	.opts = opts,
	.run = run,
};
