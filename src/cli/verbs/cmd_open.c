/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo open`: a trace in the browser. kymo serves a page on the loopback: that of `kymo report
 * --html`, or one that shows the Perfetto UI and hands it the trace. It ends when the browser has
 * the page, or closes it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_text.h"
#include "cli/common/common.h"
#include "cli/input/trace_time.h"
#include "cli/verbs/open/open_browser.h"
#include "cli/verbs/open/open_handover.h"
#include "cli/verbs/open/open_shown.h"
#include "cli/verbs/open/ui_server.h"

#define UI "https://ui.perfetto.dev"
#define WAIT_NS 600000000000
#define WIDTH 80

static const struct opt opts[] = {
	{ "perfetto", 0, OPT_FLAG, offsetof(struct open_wishes, perfetto), NULL,
	  "show the trace in the Perfetto UI (default: the page of kymo report --html)", NULL },
	{ "at", 0, OPT_TEXT, offsetof(struct open_wishes, at), "TIME",
	  "in the Perfetto UI: open there (default: at the worst instance, with its tracks pinned)", NULL },
	CLI_OPT_OUTPUT(struct open_wishes, "FILE",
		       "keep the page, or the file for the UI (default: a temporary file)"),
	{ "ui", 0, OPT_TEXT, offsetof(struct open_wishes, ui), "DIR|URL",
	  "the Perfetto UI: a folder, which kymo serves, or an address (default: $KYMO_UI, else " UI ")",
	  NULL },
	{ "port", 0, OPT_U64, offsetof(struct open_wishes, port), "PORT",
	  "serve on this port of 127.0.0.1 (default: 9001, or if that is in use any free port)", NULL },
	{ "wait", 0, OPT_TIME, offsetof(struct open_wishes, wait_ns), "TIME",
	  "end if no browser came within TIME (default: 10min)", NULL },
	{ "browser", 'B', OPT_FLAG, offsetof(struct open_wishes, browser), NULL,
	  "start the desktop's browser with xdg-open, and fail if that fails (default: try it if there "
	  "is a display)",
	  NULL },
	{ "no-browser", 0, OPT_FLAG, offsetof(struct open_wishes, no_browser), NULL,
	  "start no browser, only print the address", NULL },
	{ "force", 0, OPT_FLAG, offsetof(struct open_wishes, force), NULL,
	  "write FILE again, even if it is current", NULL },
	CLI_OPT_MERGE(struct open_wishes),
	CLI_OPT_QUIET(struct open_wishes),
	CLI_OPT_END
};

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

static void print_words(const struct open_wishes *options, const struct open_shown *shown,
			const struct ui_server *server)
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
static int start_browser(const struct open_wishes *options, const struct ui_server *server,
			 struct kymo_err *err)
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

/*
 * The page that is served: the report, or what hands over the trace. @policy: set to lines of its
 * head.
 */
static int prepare_page(const struct open_wishes *options, const struct open_shown *shown,
			struct ui_server_options *server, char policy[1024], char **page,
			struct kymo_err *err)
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

static int serve(const struct open_wishes *options, const struct open_shown *shown,
		 struct kymo_err *err)
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

static int choose_ui(struct open_wishes *options, struct kymo_err *err)
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
	struct open_wishes options = { .wait_ns = WAIT_NS };
	struct open_shown *shown;
	char trace[CLI_PATH_MAX];
	int rc;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) || choose_ui(&options, err) ||
	    cli_trace(argc, argv, trace, err))
		return -1;
	shown = calloc(1, sizeof(*shown));
	if (!shown)
		return err_no_memory(err);
	shown->temporary = -1;
	rc = open_shown_find(&options, trace, shown, err) || serve(&options, shown, err) ? -1 : 0;
	open_shown_remove(shown);
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
