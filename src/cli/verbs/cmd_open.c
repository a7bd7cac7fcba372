/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo open`: a trace in the browser. kymo serves a page on the loopback: that of `kymo report
 * --html`, or one that shows the Perfetto UI and hands it the trace. It ends when the browser has
 * the page, or closes it.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json_text.h"
#include "cli/common/common.h"
#include "cli/input/input_runs.h"
#include "cli/input/open_kind.h"
#include "cli/input/trace_time.h"
#include "cli/verbs/export/export.h"
#include "cli/verbs/open/open_browser.h"
#include "cli/verbs/open/open_handover.h"
#include "cli/verbs/open/open_view.h"
#include "cli/verbs/open/ui_server.h"
#include "export/pft/pft.h"

#define UI "https://ui.perfetto.dev"
#define WAIT_NS 600000000000
#define WIDTH 80

struct options {
	const char *output, *ui, *at;
	uint64_t port;
	int64_t wait_ns;
	bool is_ui_named; /* with --ui */
	bool perfetto, browser, no_browser, force, quiet;
	struct cli_times times; /* of it, only merge */
};

static const struct opt opts[] = {
	{ "perfetto", 0, OPT_FLAG, offsetof(struct options, perfetto), NULL,
	  "show the trace in the Perfetto UI (default: the page of kymo report --html)", NULL },
	{ "at", 0, OPT_TEXT, offsetof(struct options, at), "TIME",
	  "in the Perfetto UI: open there (default: at the worst instance, with its tracks pinned)", NULL },
	CLI_OPT_OUTPUT(struct options, "FILE",
		       "keep the page, or the file for the UI (default: a temporary file)"),
	{ "ui", 0, OPT_TEXT, offsetof(struct options, ui), "DIR|URL",
	  "the Perfetto UI: a folder, which kymo serves, or an address (default: $KYMO_UI, else " UI ")",
	  NULL },
	{ "port", 0, OPT_U64, offsetof(struct options, port), "PORT",
	  "serve on this port of 127.0.0.1 (default: 9001, or if that is in use any free port)", NULL },
	{ "wait", 0, OPT_TIME, offsetof(struct options, wait_ns), "TIME",
	  "end if no browser came within TIME (default: 10min)", NULL },
	{ "browser", 'B', OPT_FLAG, offsetof(struct options, browser), NULL,
	  "start the desktop's browser with xdg-open, and fail if that fails (default: try it if there "
	  "is a display)",
	  NULL },
	{ "no-browser", 0, OPT_FLAG, offsetof(struct options, no_browser), NULL,
	  "start no browser, only print the address", NULL },
	{ "force", 0, OPT_FLAG, offsetof(struct options, force), NULL,
	  "write FILE again, even if it is current", NULL },
	CLI_OPT_MERGE(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

/* What the server gives to the browser. */
struct shown {
	char title[CLI_PATH_MAX]; /* of the trace, for people */
	char name[256];		  /* of the file, in its address */
	char file[PATH_MAX];
	int temporary;		/* a descriptor; -1: none */
	char folder[CLI_PATH_MAX]; /* temporary, with only the file; "": none */
	bool is_page;  /* for browsers, not for the UI */
	struct open_view view;
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

static int no_temporary(const char *path, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "cannot create %s: %s; choose another folder with TMPDIR", path,
		       strerror(errno));
}

/*
 * A trace may be large: its file has no name, so that nothing stays behind whatever happens. The page is written
 * under a name and renamed, so it gets a folder, until it has been read. Return: 0; -1 with @err.
 */
static int make_temporary(struct shown *shown, struct kymo_err *err)
{
	const char *set = getenv("TMPDIR");
	char path[CLI_PATH_MAX - 16];

	if ((size_t)snprintf(path, sizeof(path), "%s/kymo-open-XXXXXX", set && *set ? set : "/tmp") >= sizeof(path))
		return err_set(err, KYMO_EXIT_FAILED, "TMPDIR is too long");
	if (shown->is_page) {
		if (!mkdtemp(path))
			return no_temporary(path, err);
		(void)snprintf(shown->folder, sizeof(shown->folder), "%s", path);
		(void)snprintf(shown->file, sizeof(shown->file), "%s/page.html", path);
		return 0;
	}
	shown->temporary = mkostemp(path, O_CLOEXEC);
	if (shown->temporary < 0)
		return no_temporary(path, err);
	(void)unlink(path);
	(void)snprintf(shown->file, sizeof(shown->file), "/proc/self/fd/%d", shown->temporary);
	return 0;
}

static void remove_temporary(struct shown *shown)
{
	if (shown->temporary >= 0)
		(void)close(shown->temporary);
	if (*shown->folder) {
		(void)unlink(shown->file);
		(void)rmdir(shown->folder);
	}
	shown->temporary = -1;
	*shown->folder = 0;
}

static int make_file(const struct options *options, const char *trace, struct shown *shown, struct kymo_err *err)
{
	struct export_request request = {
		.verb = "open",
		.output = shown->file,
		.format = shown->is_page ? EXPORT_HTML : EXPORT_PERFETTO,
		.times = options->times,
		.level = options->output ? PFT_LEVEL_DEFAULT : 1,
		.until_closed = -1,
		.force = options->force || !options->output,
		.quiet = true,		/* this verb has a summary of its own */
	};
	bool lost = false;

	if (!request.force && is_current(shown->file, trace))
		return 0;
	cli_traces_one(&request.traces, trace);
	(void)snprintf(request.name, sizeof(request.name), "%s", shown->title);
	if ((shown->is_page ? export_page : export_perfetto)(&request, &lost, err))
		return -1;
	if (lost && !options->quiet && !shown->is_page)
		cli_say("open", "warning: events were lost while recording; \"TRACE DATA LOST\" marks where");
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

/* Whether @file is a page for browsers. */
static bool has_page(const char *file)
{
	static const char begin[] = "<!DOCTYPE html>";
	char head[sizeof(begin)] = "";
	const int fd = file_open(file);
	const ssize_t size = fd < 0 ? -1 : read(fd, head, sizeof(begin) - 1);

	if (fd >= 0)
		(void)close(fd);
	return size == sizeof(begin) - 1 && !strcasecmp(head, begin);
}

/* A file that was written before. */
static int use_file(const struct options *options, const char *path, struct shown *shown, struct kymo_err *err)
{
	if (options->output)
		return err_set(err, KYMO_EXIT_USAGE, "%s is already a file for the UI; -o requires a trace", path);
	if (options->at)
		return err_set(err, KYMO_EXIT_USAGE, "--at requires a trace; %s is a file", path);
	if (export_name(path, shown->title, err))
		return -1;
	shown->is_page = !options->perfetto && has_page(path);
	if (!shown->is_page && check_kind(path, err))
		return -1;
	(void)ui_server_name(shown->name, path);
	if (!realpath(path, shown->file))
		return err_set(err, KYMO_EXIT_FAILED, "cannot find %s: %s", path, strerror(errno));
	return 0;
}

static int use_trace(const struct options *options, const char *trace, struct shown *shown, struct kymo_err *err)
{
	struct cli_traces traces;
	char name[CLI_PATH_MAX + sizeof(".pftrace")];

	cli_traces_one(&traces, trace);
	if (options->output && export_is_stdout(options->output))
		return err_set(err, KYMO_EXIT_USAGE, "the UI loads files; choose one with -o");
	if (export_name(trace, shown->title, err) ||
	    (!options->times.merge && cli_one_run_below("open", &traces, err)) ||
	    (!shown->is_page && open_view(trace, options->at, options->quiet, &shown->view, err)))
		return -1;
	(void)snprintf(name, sizeof(name), "%s.%s", shown->title, shown->is_page ? "html" : "pftrace");
	(void)ui_server_name(shown->name, name);
	if (!options->output)
		return make_temporary(shown, err) || make_file(options, trace, shown, err) ? -1 : 0;
	(void)snprintf(shown->file, sizeof(shown->file), "%s", options->output);
	if (make_file(options, trace, shown, err))
		return -1;
	if (!realpath(options->output, shown->file))
		return err_set(err, KYMO_EXIT_FAILED, "cannot find %s: %s", options->output, strerror(errno));
	return 0;
}

static bool wants_ui(const struct options *options)
{
	const char *suffix = options->output ? strrchr(options->output, '.') : NULL;

	return options->perfetto || options->at || options->is_ui_named ||
	       (suffix && (!strcmp(suffix, ".pftrace") || !strcmp(suffix, ".perfetto-trace")));
}

/* A directory is a trace, anything else a page, or a file that the UI may load. */
static int find_file(const struct options *options, const char *path, struct shown *shown, struct kymo_err *err)
{
	struct stat status;

	if (!stat(path, &status) && !S_ISDIR(status.st_mode))
		return use_file(options, path, shown, err);
	shown->is_page = !wants_ui(options);
	return use_trace(options, path, shown, err);
}

static bool is_address(const char *ui)
{
	return !strncmp(ui, "http://", 7) || !strncmp(ui, "https://", 8);
}

/* What a browser may load: the page, the trace, and the UI in a frame. */
static void set_policy(char head[1024], const char *ui)
{
	const char *host = is_address(ui) ? strchr(strchr(ui, ':') + 3, '/') : NULL;
	const int size = is_address(ui) ? (int)(host ? host - ui : (long)strlen(ui)) : 0;

	(void)snprintf(head, 1024,
		       "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; "
		       "style-src 'unsafe-inline'; connect-src 'self'; frame-src %.*s; base-uri 'none'; "
		       "form-action 'none'; frame-ancestors 'none'\r\nX-Frame-Options: DENY\r\n",
		       size ? size : 6, size ? ui : "'self'");
}

/* @text after "Shows: ", in lines of a terminal's width. */
static void print_shows(const char *text)
{
	size_t column = WIDTH;
	const char *before = "Shows:";

	while (*text) {
		const size_t word = strcspn(text, " ");

		if (column + 1 + word > WIDTH) {
			printf("%s", before);
			before = "\n      ";
			column = 6;
		}
		printf(" %.*s", (int)word, text);
		column += 1 + word;
		text += word;
		text += strspn(text, " ");
	}
	printf("\n");
}

static int read_page(const char *path, char **page, size_t *size, struct kymo_err *err)
{
	FILE *file = file_stream(path);
	struct json_text text = { 0 };
	char part[65536];
	size_t count;

	if (!file)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read %s: %s", path, file_why(-errno));
	while ((count = fread(part, 1, sizeof(part), file)) > 0)
		json_text_raw(&text, part, count);
	(void)fclose(file);
	*page = text.text;
	*size = text.size;
	return text.failed ? err_no_memory(err) : 0;
}

static void print_words(const struct options *options, const struct shown *shown, const struct ui_server *server)
{
	if (options->quiet) {
		printf("%s\n", ui_server_address(server));
		return;
	}
	if (shown->temporary < 0 && !*shown->folder)
		printf("File:  %s\n", shown->file);
	if (!shown->is_page)
		printf("UI:    %s\n", options->ui);
	printf("Page:  %s\n", ui_server_address(server));
	if (*shown->view.what)
		print_shows(shown->view.what);
	printf("Then:  kymo ends when %s. It stays in your browser.\n",
	       shown->is_page ? "the browser has the page" : "you close the page");
}

/* Return: 0; -1 with @err: a browser was wanted. */
static int start_browser(const struct options *options, const struct ui_server *server, struct kymo_err *err)
{
	const char *problem;

	if (options->no_browser)
		return 0;
	if (!options->browser && !open_has_display()) {
		if (!options->quiet)
			open_print_tunnel(stdout, ui_server_port(server));
		return fflush(stdout) ? -1 : 0;
	}
	problem = open_browser(ui_server_address(server));
	if (problem && options->browser)
		return err_set(err, KYMO_EXIT_FAILED, "%s; open the address yourself, without --browser", problem);
	if (problem)
		fprintf(stderr, "kymo open: warning: %s; open the address yourself\n", problem);
	return 0;
}

/* The page that is served: the report, or what hands over the trace. @policy: set to lines of its head. */
static int prepare_page(const struct options *options, const struct shown *shown, struct ui_server_options *server,
			char policy[1024], char **page, struct kymo_err *err)
{
	if (!shown->is_page) {
		set_policy(policy, options->ui);
		return open_handover(is_address(options->ui) ? options->ui : "", shown->title, shown->name,
				     &shown->view, page, &server->page_size, err);
	}
	(void)snprintf(policy, 1024, "X-Frame-Options: DENY\r\n");
	server->trace = server->folder = NULL;
	server->page_is_all = true;
	return read_page(shown->file, page, &server->page_size, err);
}

static int serve(const struct options *options, const struct shown *shown, struct kymo_err *err)
{
	const volatile sig_atomic_t *stop = cli_stop_signals();
	char policy[1024], *page = NULL;
	struct ui_server_options server_options = {
		.folder = is_address(options->ui) ? NULL : options->ui,
		.trace = shown->file,
		.name = shown->name,
		.port = (unsigned)options->port,
		.page_head = policy,
		.wait_ns = options->wait_ns,
	};
	struct ui_server *server = NULL;
	int rc;

	if (prepare_page(options, shown, &server_options, policy, &page, err))
		return -1;
	server_options.page = page;
	rc = ui_server_begin(&server_options, &server, err);
	if (!rc) {
		print_words(options, shown, server);
		rc = fflush(stdout) ? err_set(err, KYMO_EXIT_FAILED, "cannot write to standard output: %s",
					      strerror(errno)) : 0;
	}
	if (!rc)
		rc = start_browser(options, server, err);
	if (!rc)
		rc = ui_server_run(server, stop, err);
	ui_server_end(server);
	free(page);
	return rc;
}

/* An address goes into a header of HTTP. */
static bool is_plain(const char *ui)
{
	for (; *ui; ui++)
		if (!isgraph((unsigned char)*ui) || strchr("\"'<>;,\\", *ui))
			return false;
	return true;
}

static int choose_ui(struct options *options, struct kymo_err *err)
{
	const char *set = getenv("KYMO_UI");

	options->is_ui_named = options->ui;
	if (!options->ui)
		options->ui = set && *set ? set : UI;
	if (!*options->ui)
		return err_set(err, KYMO_EXIT_USAGE, "--ui is empty; name a folder or an address");
	if (is_address(options->ui) && (strlen(options->ui) > 512 || !is_plain(options->ui)))
		return err_set(err, KYMO_EXIT_USAGE, "--ui: '%.100s' is not an address", options->ui);
	if (options->port > UINT16_MAX)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--port %llu is too large; a port is at most 65535",
			       (unsigned long long)options->port);
	if (options->browser && options->no_browser)
		return err_set(err, KYMO_EXIT_USAGE, "--browser and --no-browser are opposites; leave out one");
	return 0;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { .wait_ns = WAIT_NS };
	struct shown *shown;
	char trace[CLI_PATH_MAX];
	int rc;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) || choose_ui(&options, err) ||
	    cli_trace(argc, argv, trace, err))
		return -1;
	shown = calloc(1, sizeof(*shown));
	if (!shown)
		return err_no_memory(err);
	shown->temporary = -1;
	rc = find_file(&options, trace, shown, err) || serve(&options, shown, err) ? -1 : 0;
	remove_temporary(shown);
	free(shown);
	return rc;
}

const struct verb verb_open = {
	.name = "open",
	.synopsis = "[TRACE|FILE]",
	.summary = "show a trace in the browser",
	.description =
		"Shows TRACE, or without it the newest trace, in your browser: the page of `kymo report "
		"--html`, or with --perfetto the Perfetto UI, at the worst instance that `kymo report` "
		"found, with the tracks of its nodes, topics and threads pinned at the top. --ui, --at and "
		"-o NAME.pftrace imply --perfetto. You may also name a FILE that was written before: a page, a "
		".pftrace, Chrome's JSON, an archive. For another kind of file, kymo open says what to do "
		"instead.\n\n"
		"kymo serves the page and the trace on 127.0.0.1, and starts the desktop's browser. The page "
		"with the UI hands it the trace. The trace is sent nowhere: the UI is a program that "
		"runs in your browser. kymo ends when the browser has the page or you close the UI, after "
		"Ctrl-C, or if no browser came.\n\n"
		"The address has a random part, so other users of the machine can't read the trace. "
		"Requests that name another host are refused.\n\n"
		"Without a display, as on a robot, kymo prints the ssh command that forwards the port to "
		"your desk.\n\n"
		"Without the internet, name the folder of a Perfetto UI with --ui, which kymo then serves, "
		"too.\n\n" CLI_TIME_HELP,
	.examples = "kymo open\n"
		    "kymo open --perfetto\n"
		    "kymo open --at +4.325s\n"
		    "kymo open session-20261120220000 -o /tmp/robot.pftrace\n"
		    "kymo open --no-browser --port 9100\n"
		    "kymo open --ui ~/perfetto-ui",
	.opts = opts,
	.run = run,
};
