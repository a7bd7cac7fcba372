/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that is shown: which kind a given file is, and a new one, temporary or kept, from a
 * trace.
 */
#include "cli/verbs/open/open_shown.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "cli/input/input_runs.h"
#include "cli/input/open_kind.h"
#include "cli/verbs/export/export.h"
#include "cli/verbs/open/ui_server.h"
#include "export/pft/pft.h"

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
 * A trace may be large: its file has no name, so that nothing stays behind whatever happens. The
 * page is written under a name and renamed, so it gets a folder, until it has been read. Return: 0;
 * -1 with @err.
 */
static int make_temporary(struct open_shown *shown, struct kymo_err *err)
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

void open_shown_remove(struct open_shown *shown)
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

static int make_file(const struct open_wishes *options, const char *trace, struct open_shown *shown,
		     struct kymo_err *err)
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
static int use_file(const struct open_wishes *options, const char *path, struct open_shown *shown,
		    struct kymo_err *err)
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

static int use_trace(const struct open_wishes *options, const char *trace, struct open_shown *shown,
		     struct kymo_err *err)
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

static bool wants_ui(const struct open_wishes *options)
{
	const char *suffix = options->output ? strrchr(options->output, '.') : NULL;

	return options->perfetto || options->at || options->is_ui_named ||
	       (suffix && (!strcmp(suffix, ".pftrace") || !strcmp(suffix, ".perfetto-trace")));
}

int open_shown_find(const struct open_wishes *options, const char *path, struct open_shown *shown,
		    struct kymo_err *err)
{
	struct stat status;

	if (!stat(path, &status) && !S_ISDIR(status.st_mode))
		return use_file(options, path, shown, err);
	shown->is_page = !wants_ui(options);
	return use_trace(options, path, shown, err);
}
