/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child reads the trace while the recorder writes it, as any reader may. So it can neither
 * delay nor harm the recording. It ends when the recorder has ended, even if that was killed: then
 * the pipe between them is closed.
 */
#include "cli/verbs/record/record_perfetto.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/verbs/export/export.h"
#include "export/pft/pft.h"

#define POLL_MS 50	/* how often the child checks whether the trace exists */

/* Whether there is a trace to read; false: the recording is over, and there is none. */
static bool await_trace(const char *trace, int closed)
{
	struct pollfd over = { .fd = closed, .events = POLLIN };
	struct kymo_ctf_reader *reader;
	bool last = false;
	struct kymo_err err;

	for (;;) {
		if (!kymo_ctf_open(trace, &reader, &err)) {
			kymo_ctf_close(reader);
			return true;
		}
		if (last)
			return false;
		last = poll(&over, 1, POLL_MS) > 0;
	}
}

static int child(const char *file, const char *trace, bool quiet, int closed)
{
	struct export_request request = {
		.verb = "record",
		.output = file,
		.level = PFT_LEVEL_DEFAULT,
		.follow = true,
		.until_closed = closed,
		.quiet = quiet,
	};
	struct kymo_err err = { 0 };
	bool lost;

	/* These signals are for the recorder, whose end this child notices. */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	if (!await_trace(trace, closed))
		return KYMO_EXIT_OK;
	cli_traces_one(&request.traces, trace);
	if (export_name(trace, request.name, &err) || export_perfetto(&request, &lost, &err))
		return cli_fail("record", &err);
	return KYMO_EXIT_OK;
}

int record_perfetto_begin(struct record_perfetto *perfetto, const char *file, const char *trace,
			  bool quiet, struct kymo_err *err)
{
	int ends[2], status;

	perfetto->child = 0;
	if (strcmp(file, "-") == 0)
		return err_set(err, KYMO_EXIT_USAGE, "--perfetto requires a file; - is standard output");
	if (!access(file, F_OK))
		return err_set(err, KYMO_EXIT_FAILED, "%s already exists; choose another file with --perfetto", file);
	if (pipe2(ends, O_CLOEXEC))
		return err_set(err, KYMO_EXIT_FAILED, "--perfetto: cannot create a pipe: %s", strerror(errno));
	(void)fflush(NULL);
	perfetto->child = fork();
	if (!perfetto->child) {
		(void)close(ends[1]);
		status = child(file, trace, quiet, ends[0]);
		(void)fflush(NULL);
		_exit(status);
	}
	(void)close(ends[0]);
	perfetto->open = ends[1];
	if (perfetto->child > 0)
		return 0;
	(void)close(ends[1]);
	perfetto->child = 0;
	return err_set(err, KYMO_EXIT_FAILED, "--perfetto: cannot create a process: %s", strerror(errno));
}

int record_perfetto_end(struct record_perfetto *perfetto)
{
	int status = 0;
	pid_t ended;

	if (!perfetto->child)
		return 0;
	(void)close(perfetto->open);
	do
		ended = waitpid(perfetto->child, &status, 0);
	while (ended < 0 && errno == EINTR);
	perfetto->child = 0;
	/*
	 * If another part of the program already collected the child, it has reported its error
	 * itself.
	 */
	return ended > 0 && status ? -1 : 0;
}
