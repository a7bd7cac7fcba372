/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo open`: a file for the Perfetto UI, and what to do with it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/verbs/export/export.h"
#include "cli/input/input_runs.h"
#include "cli/input/open_kind.h"
#include "export/pft/pft.h"
#include "base/array.h"

#define UI "https://ui.perfetto.dev"

extern char **environ;

struct options {
	const char *output;
	bool browser, force, quiet;
	struct cli_times times; /* of it, only merge */
};

static const struct opt opts[] = {
	CLI_OPT_OUTPUT(struct options, "FILE",
		       "where to write the file for the UI (default: the trace's name with "
		       ".pftrace, in the current directory)"),
	{ "browser", 'B', OPT_FLAG, offsetof(struct options, browser), NULL,
	  "open the UI in the desktop's browser, with xdg-open", NULL },
	{ "force", 0, OPT_FLAG, offsetof(struct options, force), NULL,
	  "write FILE again, even if it is current", NULL },
	CLI_OPT_MERGE(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

static bool is_after(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec > b->st_mtim.tv_sec ||
	       (a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec >= b->st_mtim.tv_nsec);
}

/* Whether @file was written after the directory @trace and its files changed last. */
static bool is_current(const char *file, const char *trace)
{
	static const char *const within[] = { "", "/metadata", "/kymo.json" };
	char path[CLI_PATH_MAX + 32];
	struct stat made, changed;

	if (stat(file, &made) || !S_ISREG(made.st_mode) || !made.st_size)
		return false;
	for (size_t i = 0; i < COUNT_OF(within); i++) {
		snprintf(path, sizeof(path), "%s%s", trace, within[i]);
		if (!stat(path, &changed) && !is_after(&made, &changed))
			return false;
	}
	return true;
}

static int make_file(const struct options *options, const char *trace, const char *file, const char *name,
		     struct kymo_err *err)
{
	struct export_request request = {
		.verb = "open",
		.output = file,
		.level = PFT_LEVEL_DEFAULT,
		.until_closed = -1,
		.force = options->force,
		.quiet = true,		/* this verb has a summary of its own */
	};
	bool lost = false;

	if (!options->force && is_current(file, trace))
		return 0;
	cli_traces_one(&request.traces, trace);
	if (!options->times.merge && cli_one_run_below("open", &request.traces, err))
		return -1;
	(void)snprintf(request.name, sizeof(request.name), "%s", name);
	if (export_perfetto(&request, &lost, err))
		return -1;
	if (lost && !options->quiet)
		cli_say("open", "warning: events were lost while recording; \"TRACE DATA LOST\" marks where");
	return 0;
}

static int start_browser(struct kymo_err *err)
{
	char program[] = "xdg-open", address[] = UI;
	char *const command[] = { program, address, NULL };
	posix_spawn_file_actions_t actions;
	int rc, status = 0;
	pid_t child;

	(void)posix_spawn_file_actions_init(&actions);
	/* xdg-open prints nothing on our standard output. */
	(void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&child, program, &actions, NULL, command, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (rc)
		return err_set(err, KYMO_EXIT_FAILED, "cannot start xdg-open: %s; open " UI " yourself",
			       strerror(rc));
	if (waitpid(child, &status, 0) < 0 || status)
		return err_set(err, KYMO_EXIT_FAILED, "xdg-open found no browser; open " UI " yourself");
	return 0;
}

/* Whether the UI can load @file. Return: 0; -1 with @err. */
static int check_kind(const char *file, struct kymo_err *err)
{
	uint8_t head[OPEN_HEAD_BYTES];
	enum open_kind kind;
	struct stat status;
	ssize_t size;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read %s: %s", file, strerror(errno));
	if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		(void)close(fd);
		return err_set(err, KYMO_EXIT_INPUT, "%s is not a file; the UI loads files", file);
	}
	size = read(fd, head, sizeof(head));
	(void)close(fd);
	if (size < 0)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read %s: %s", file, strerror(errno));
	kind = open_kind(head, (size_t)size);
	return open_is_loadable(kind) ? 0 : err_set(err, KYMO_EXIT_INPUT, "%s %s", file, open_remedy(kind));
}

/* A directory is a trace, anything else a file that the UI may load. */
static int find_file(const struct options *options, const char *trace, char file[PATH_MAX], struct kymo_err *err)
{
	char name[CLI_PATH_MAX], made[CLI_PATH_MAX + sizeof(".pftrace")];
	struct stat status;

	if (!stat(trace, &status) && !S_ISDIR(status.st_mode)) {
		if (options->output)
			return err_set(err, KYMO_EXIT_USAGE, "%s is already a file for the UI; -o requires a trace", trace);
		if (check_kind(trace, err))
			return -1;
		snprintf(made, sizeof(made), "%s", trace);
	} else {
		if (export_name(trace, name, err))
			return -1;
		snprintf(made, sizeof(made), "%s.pftrace", name);
		if (options->output)
			snprintf(made, sizeof(made), "%s", options->output);
		if (!strcmp(made, "-"))
			return err_set(err, KYMO_EXIT_USAGE, "the UI loads files; choose one with -o");
		if (make_file(options, trace, made, name, err))
			return -1;
	}
	if (!realpath(made, file))
		return err_set(err, KYMO_EXIT_FAILED, "cannot find %s: %s", made, strerror(errno));
	return 0;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };
	char trace[CLI_PATH_MAX], file[PATH_MAX];

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) ||
	    cli_trace(argc, argv, trace, err) || find_file(&options, trace, file, err))
		return -1;
	if (options.quiet)
		printf("%s\n", file);
	else
		printf("File:  %s\n"
		       "UI:    " UI "\n"
		       "Then:  \"Open trace file\" on the left, or drop the file on the page.\n"
		       "       It stays in your browser; nothing is sent.\n", file);
	if (fflush(stdout))
		return err_set(err, KYMO_EXIT_FAILED, "cannot write to standard output: %s",
			       strerror(errno));
	return options.browser && start_browser(err) ? -1 : KYMO_EXIT_OK;
}

const struct verb verb_open = {
	.name = "open",
	.synopsis = "[TRACE|FILE]",
	.summary = "show a trace in the Perfetto UI",
	.description =
		"Writes TRACE, or without it the newest trace, as a file for the Perfetto UI, as `kymo export` "
		"does, and says what to do with it. If the file already exists and is younger than the trace, it "
		"is used as it is. You may also name a FILE that was written before: a .pftrace, Chrome's JSON, "
		"an archive. For another kind of file, kymo open says what to do instead.\n\n"
		"Nothing is sent anywhere: the UI is a page that loads the file in your browser. kymo itself "
		"opens no connection, and it opens a browser only with --browser.",
	.examples =
		"kymo open\n"
		"kymo open session-20261120220000 -o /tmp/robot.pftrace\n"
		"kymo open --browser",
	.opts = opts,
	.run = run,
};
