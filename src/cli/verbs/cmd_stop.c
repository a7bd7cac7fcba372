/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo stop`: ends the recorder of the runtime directory, and waits until it is gone. */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/now.h"
#include "base/text.h"
#include "cli/common/ask.h"
#include "cli/common/common.h"
#include "cli/verbs/record/recorded.h"

#define ASK_NS	5000000000
#define POLL_MS	20
/* for a recorder that no longer listens because it is about to end */
#define ENDS_NS	3000000000

struct options {
	int64_t timeout;
	bool quiet;
};

static const struct opt opts[] = {
	{ "timeout", 't', OPT_TIME, offsetof(struct options, timeout), "TIME",
	  "how long to wait for its end (default 30s)", NULL },
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

/* Whether the recorder still owns the runtime directory or, if that can be seen, still runs. */
static bool still_runs(const struct rundir *dir, const struct domain_info *asked, int process)
{
	struct pollfd ended = { .fd = process, .events = POLLIN };
	struct domain_info info;

	if (process >= 0)
		return poll(&ended, 1, POLL_MS) <= 0;
	(void)poll(NULL, 0, POLL_MS);
	return domain_inspect(dir, &info, NULL) == 0 && info.active && info.pid == asked->pid &&
	       info.generation == asked->generation;
}

static int stop(const struct rundir *dir, const struct options *options,
		const struct domain_info *info, struct kymo_err *err)
{
	const int64_t timeout = options->timeout ? options->timeout : 30000000000;
	const int64_t until = now_ns() + timeout;
	struct json_object *reply = NULL;
	int process, rc;

	process =
		info->pid > 0 && !info->elsewhere ? (int)syscall(SYS_pidfd_open, info->pid, 0) : -1;
	rc = ask_for(dir, info, "stop", timeout < ASK_NS ? timeout : ASK_NS, &reply, err);
	json_object_put(reply);
	if (rc < 0) {
		const int64_t late = now_ns() + (timeout < ENDS_NS ? timeout : ENDS_NS);
		bool there = true;

		while (there && now_ns() < late)
			there = still_runs(dir, info, process);
		rc = there ? -1 : 0;
	}
	while (rc == 0 && still_runs(dir, info, process))
		if (now_ns() >= until)
			rc = err_set(err, KYMO_EXIT_FAILED, "recorder %d was asked to stop, but still runs; it waits "
				     "for its command, or for its disk", info->pid);
	if (process >= 0)
		(void)close(process);
	return rc;
}

/* What is in the trace, and where it is. A flight recorder has no trace of its own. */
static void summary(const struct domain_info *info)
{
	char clean[4 * sizeof info->trace_path], above[sizeof info->trace_path];
	struct accounts accounts;
	char problem[512];

	if (info->trace_path[0] != '/')
		return;
	text_clean(clean, sizeof clean, info->trace_path);
	(void)snprintf(above, sizeof above, "%.*s/", (int)(strrchr(info->trace_path, '/') - info->trace_path),
		       info->trace_path);
	/* The trace of a recorder in a container may not be visible here. */
	if (access(above, X_OK) == 0 && access(info->trace_path, F_OK) < 0)
		fprintf(stderr, "nothing was traced, so there is no trace %s\n", clean);
	else {
		accounts_read(&accounts, info->trace_path, problem);
		if (accounts.ended)
			recorded_accounts("stop", &accounts);
		accounts_free(&accounts);
		fprintf(stderr, "trace: %s\nnext:  kymo report %s\n", clean, clean);
	}
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };
	struct domain_info info;
	struct rundir dir;
	int rc;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) < 0 ||
	    cli_no_operands(argc, argv, err) < 0)
		return -1;
	if (options.timeout < 0)
		return err_set(err, KYMO_EXIT_USAGE, "--timeout cannot be negative");
	if (ask_open(&dir, &info, err) < 0)
		return -1;
	rc = stop(&dir, &options, &info, err);
	rundir_close(&dir);
	if (rc == 0 && !options.quiet)
		summary(&info);
	return rc;
}

const struct verb verb_stop = {
	.name = "stop",
	.synopsis = "",
	.summary = "end the active recorder",
	.description = "Asks the \"kymo record\" of the runtime directory ($KYMO_DIR, else "
		       "/dev/shm/kymo-UID) to end, as Ctrl-C would. Waits until the recorder has "
		       "completed its trace and is gone. A command that the recorder started, and "
		       "all that it started, receive SIGINT, and SIGTERM after 5 s. The recorder "
		       "reports what still runs 2 s later, and exits with 1.\n\n"
		       "Exit status: 6 when no recorder is running.",
	.examples = "kymo stop\n",
	.opts = opts,
	.run = run,
};
