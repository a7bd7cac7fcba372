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
#include "cli/verbs/open/ui_server.h"
#include "cli/input/input_runs.h"
#include "cli/input/open_kind.h"
#include "export/pft/pft.h"
#include "base/array.h"

#define UI "https://ui.perfetto.dev"

extern char **environ;

struct options {
	const char *output, *ui;
	uint64_t port;
	bool browser, force, quiet;
	struct cli_times times; /* of it, only merge */
};

static const struct opt opts[] = {
	CLI_OPT_OUTPUT(struct options, "FILE",
		       "where to write the file for the UI (default: the trace's name with "
		       ".pftrace, in the current directory)"),
	{ "ui", 0, OPT_TEXT, offsetof(struct options, ui), "DIR|URL",
	  "the Perfetto UI: a folder, which is served on 127.0.0.1 beside the trace until Ctrl-C, "
	  "or an address "
	  "(default: $KYMO_UI, else " UI ")",
	  NULL },
	{ "port", 0, OPT_U64, offsetof(struct options, port), "PORT",
	  "with a folder: serve on this port (default: 9001, or if that is in use any free port)",
	  NULL },
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

static int start_browser(const char *address, struct kymo_err *err)
{
	char program[] = "xdg-open";
	char *const command[] = { program, (char *)(uintptr_t)address, NULL };
	posix_spawn_file_actions_t actions;
	int rc, status = 0;
	pid_t child;

	(void)posix_spawn_file_actions_init(&actions);
	/* xdg-open prints nothing on our standard output. */
	(void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&child, program, &actions, NULL, command, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (rc)
		return err_set(err, KYMO_EXIT_FAILED, "cannot start xdg-open: %s; open %s yourself",
			       strerror(rc), address);
	if (waitpid(child, &status, 0) < 0 || status)
		return err_set(err, KYMO_EXIT_FAILED, "xdg-open found no browser; open %s yourself",
			       address);
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

static bool is_address(const char *ui)
{
	return !strncmp(ui, "http://", 7) || !strncmp(ui, "https://", 8);
}

static int flushed(struct kymo_err *err)
{
	return fflush(stdout) ? err_set(err, KYMO_EXIT_FAILED,
					"cannot write to standard output: %s", strerror(errno))
			      : 0;
}

static int lead_to(const struct options *options, const char *file, struct kymo_err *err)
{
	if (options->quiet)
		printf("%s\n", file);
	else
		printf("File:  %s\n"
		       "UI:    %s\n"
		       "Then:  \"Open trace file\" on the left, or drop the file on the page.\n"
		       "       It stays in your browser; nothing is sent.\n",
		       file, options->ui);
	return flushed(err) || (options->browser && start_browser(options->ui, err)) ? -1 : 0;
}

static int serve(const struct options *options, const char *file, struct kymo_err *err)
{
	const volatile sig_atomic_t *stop = cli_stop_signals();
	struct ui_server *server;
	int rc;

	if (ui_server_begin(options->ui, file, (unsigned)options->port, &server, err))
		return -1;
	if (options->quiet)
		printf("%s\n", ui_server_address(server));
	else
		printf("File:  %s\n"
		       "UI:    %s\n"
		       "Then:  open this address on this machine. Ctrl-C ends it.\n",
		       file, ui_server_address(server));
	rc = flushed(err);
	if (!rc && options->browser)
		rc = start_browser(ui_server_address(server), err);
	if (!rc)
		rc = ui_server_run(server, stop, err);
	ui_server_end(server);
	return rc;
}

static int choose_ui(struct options *options, struct kymo_err *err)
{
	const char *set = getenv("KYMO_UI");

	if (!options->ui)
		options->ui = set && *set ? set : UI;
	if (!*options->ui)
		return err_set(err, KYMO_EXIT_USAGE, "--ui is empty; name a folder or an address");
	if (options->port > UINT16_MAX)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--port %llu is too large; a port is at most 65535",
			       (unsigned long long)options->port);
	if (options->port && is_address(options->ui))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--port requires --ui DIR; %s is not served by kymo", options->ui);
	return 0;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };
	char trace[CLI_PATH_MAX], file[PATH_MAX];

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) || choose_ui(&options, err) ||
	    cli_trace(argc, argv, trace, err) || find_file(&options, trace, file, err))
		return -1;
	return is_address(options.ui) ? lead_to(&options, file, err) : serve(&options, file, err);
}

const struct verb verb_open = {
	.name = "open",
	.synopsis = "[TRACE|FILE]",
	.summary = "show a trace in the Perfetto UI",
	.description =
		"Writes TRACE, or without it the newest trace, as a file for the Perfetto UI, as "
		"`kymo export` "
		"does, and says what to do with it. If the file already exists and is younger than "
		"the trace, it "
		"is used as it is. You may also name a FILE that was written before: a .pftrace, "
		"Chrome's JSON, "
		"an archive. For another kind of file, kymo open says what to do instead.\n\n"
		"Nothing is sent anywhere: the UI is a page that loads the file in your browser. "
		"kymo itself "
		"opens no connection, and it opens a browser only with --browser.\n\n"
		"Without the internet, name the folder of a Perfetto UI with --ui. kymo then "
		"serves that folder and the "
		"file on 127.0.0.1 until Ctrl-C, and prints an address that opens both. The "
		"address is random, so other "
		"users of the machine can't read the trace.",
	.examples = "kymo open\n"
		    "kymo open session-20261120220000 -o /tmp/robot.pftrace\n"
		    "kymo open --browser\n"
		    "kymo open --ui ~/perfetto-ui",
	.opts = opts,
	.run = run,
};
