/* SPDX-License-Identifier: Apache-2.0 */
/* How a verb fails, and where traces are. See common.h. */
#include "cli/common/common.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "base/text.h"
#include "cli/common/screen.h"

#define ROS_DOMAIN_LARGEST 232u	/* the ports of a larger one are no ports */
#define REGION_LEAST 524288u	/* bytes: a smaller place has no room for a program with a thread */

/* As one write where no terminal is: other programs write there, too. On a terminal whole, too:
 * threads of `kymo serve` say something at the same time. */
static void say(const char *verb, const char *clean)
{
	(void)fflush(stdout);
	if (!isatty(STDERR_FILENO)) {
		fprintf(stderr, "kymo %s: %s\n", verb, clean);
		return;
	}
	flockfile(stderr);
	screen_say(stderr, (unsigned)fprintf(stderr, "kymo %s: ", verb), 2, clean);
	funlockfile(stderr);
}

int cli_fail(const char *verb, const struct kymo_err *err)
{
	char clean[4 * sizeof err->text];

	if (!*err->text)
		return (int)err->status;
	text_clean(clean, sizeof clean, err->text);
	say(verb, clean);
	if (err->status == KYMO_EXIT_USAGE)
		fprintf(stderr, "Try 'kymo %s --help'.\n", verb);
	return err->status ? (int)err->status : KYMO_EXIT_FAILED;
}

void cli_say(void *verb, const char *text)
{
	char clean[4096];

	text_clean(clean, sizeof clean, text);
	say(verb, clean);
}

int cli_no_operands(int argc, char **argv, struct kymo_err *err)
{
	return argc ? err_set(err, KYMO_EXIT_USAGE, "unexpected operand '%s': this verb only has options", argv[0]) : 0;
}

int cli_table(const char *verb, int format, struct table **table)
{
	struct kymo_err err;

	if (!table_open(table, stdout, (enum table_format)format)) {
		screen_dress(*table);
		return 0;
	}
	(void)err_no_memory(&err);
	(void)cli_fail(verb, &err);
	return -1;
}

void cli_cell(struct table *table, bool known, uint64_t value)
{
	if (known)
		table_u64(table, value);
	else
		table_none(table);
}

static volatile sig_atomic_t stopped;

static void on_stop(int signal)
{
	(void)signal;
	stopped = 1;
}

const volatile sig_atomic_t *cli_stop_signals(void)
{
	const struct sigaction action = {.sa_handler = on_stop};

	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	return &stopped;
}

int cli_close(const char *verb, struct table *table, int status)
{
	struct kymo_err err;
	int error = table_close(table);

	if (!error || error == -EPIPE)
		return status;
	err_set(&err, KYMO_EXIT_FAILED, "cannot write the output: %s", strerror(-error));
	return cli_fail(verb, &err);
}

static int join(char path[CLI_PATH_MAX], const char *directory, const char *name,
		struct kymo_err *err)
{
	int length = snprintf(path, CLI_PATH_MAX, "%s%s", directory, name);

	if (length < 0 || length >= CLI_PATH_MAX)
		return err_set(err, KYMO_EXIT_FAILED, "the path %.100s... is too long: more than %d bytes",
			       directory, CLI_PATH_MAX - 1);
	return 0;
}

int cli_trace_dir(char path[CLI_PATH_MAX], struct kymo_err *err)
{
	static const struct {
		const char *variable, *below;
	} places[] = {
		{ "ROS_TRACE_DIR", "" }, { "ROS_HOME", "/tracing" }, { "HOME", "/.ros/tracing" },
	};

	for (size_t i = 0; i < COUNT_OF(places); i++) {
		const char *value = getenv(places[i].variable);

		if (value && *value)
			return join(path, value, places[i].below, err);
	}
	return err_set(err, KYMO_EXIT_FAILED,
		       "no directory for traces: none of ROS_TRACE_DIR, ROS_HOME and HOME is set");
}

/* session-YYYYMMDDHHMMSS, with anything behind it. */
static bool is_session(const char *name)
{
	return !strncmp(name, "session-", 8) && strspn(name + 8, "0123456789") == 14;
}

/* A recorder that was killed before it wrote anything leaves a directory with nothing in it. */
static bool is_empty(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	bool empty = true;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;		/* opening it will say why */
	}
	while (empty && (entry = readdir(dir)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(dir);
	return empty;
}

static int newest_session(char path[CLI_PATH_MAX], struct kymo_err *err)
{
	char directory[CLI_PATH_MAX], name[NAME_MAX + 2] = "";
	struct dirent *entry;
	DIR *dir;

	if (cli_trace_dir(directory, err))
		return -1;
	dir = opendir(directory);
	if (!dir && errno != ENOENT)
		return err_set(err, KYMO_EXIT_INPUT, "cannot look for traces in %s: %s", directory,
			       strerror(errno));
	while (dir && (entry = readdir(dir))) {
		struct stat status;

		/* strverscmp: -10 is newer than -9. */
		if (!is_session(entry->d_name) ||
		    (*name && strverscmp(entry->d_name, name + 1) <= 0) ||
		    fstatat(dirfd(dir), entry->d_name, &status, 0) || !S_ISDIR(status.st_mode) ||
		    is_empty(dirfd(dir), entry->d_name))
			continue;
		(void)snprintf(name, sizeof name, "/%s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (!*name)
		return err_set(err, KYMO_EXIT_INPUT,
			       "no trace given, and %s contains no session-*; name a trace of \"kymo "
			       "ls\", or record one with \"kymo record\"",
			       directory);
	return join(path, directory, name, err);
}

int cli_one_operand(int argc, char **argv, struct kymo_err *err)
{
	return argc > 1 ? err_set(err, KYMO_EXIT_USAGE,
				  "unexpected operand '%s': only one trace at a time", argv[1])
			: 0;
}

bool cli_means_path(const char *operand)
{
	const char *slash = strrchr(operand, '/');
	char parent[CLI_PATH_MAX];
	struct stat status;

	if (!strncmp(operand, "./", 2) || !strncmp(operand, "../", 3))
		return true;
	if (!slash || slash == operand || strpbrk(operand, "*?[") ||
	    slash - operand >= CLI_PATH_MAX)
		return false;
	(void)snprintf(parent, sizeof(parent), "%.*s", (int)(slash - operand), operand);
	return stat(parent, &status) == 0 && S_ISDIR(status.st_mode);
}

int cli_trace(int argc, char **argv, char path[CLI_PATH_MAX], struct kymo_err *err)
{
	struct stat status;

	if (cli_one_operand(argc, argv, err))
		return -1;
	if (argc < 1)
		return newest_session(path, err);
	if (stat(argv[0], &status))
		return err_set(err, KYMO_EXIT_INPUT,
			       "cannot open the trace %s: %s; name a trace directory (\"kymo ls\" lists them)", argv[0],
			       strerror(errno));
	return join(path, argv[0], "", err);
}

static int make_directories(const char *path, struct kymo_err *err)
{
	char checked[CLI_PATH_MAX];
	struct stat status;

	if (join(checked, path, "", err))
		return -1;
	make_parents(checked);
	if (!mkdir(checked, 0777) ||
	    (errno == EEXIST && !stat(checked, &status) && S_ISDIR(status.st_mode)))
		return 0;
	return err_set(err, KYMO_EXIT_FAILED,
		       "cannot create the directory %s for traces: %s; set ROS_TRACE_DIR to another place, or choose one with -o",
		       path, strerror(errno));
}

int cli_ros_domain(const char *text, const char *from, uint32_t *domain, struct kymo_err *err)
{
	uint64_t number;

	if (!text_read_u64(text, &number) || number > ROS_DOMAIN_LARGEST)
		return err_set(err, KYMO_EXIT_USAGE,
			       "%s: invalid ROS domain '%s'; it is a number up to %u", from, text,
			       ROS_DOMAIN_LARGEST);
	*domain = (uint32_t)number;
	return 0;
}

int cli_exists(const char *path, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED,
		       "%s already exists; choose another name with -o, or overwrite it with "
		       "--force",
		       path);
}

int cli_absolute(char *absolute, size_t size, const char *path, struct kymo_err *err)
{
	char here[PATH_MAX] = "";

	if (path[0] != '/' && !getcwd(here, sizeof here))
		return err_set(err, KYMO_EXIT_FAILED, "cannot find the current directory: %s", strerror(errno));
	if ((size_t)snprintf(absolute, size, "%s%s%s", here, here[0] ? "/" : "", path) >= size)
		return err_set(err, KYMO_EXIT_FAILED, "the path '%.100s...' is too long", path);
	return 0;
}

int cli_new_session(char path[CLI_PATH_MAX], struct kymo_err *err)
{
	char directory[CLI_PATH_MAX], name[64];
	time_t now = time(NULL);
	struct stat status;
	struct tm local;

	if (cli_trace_dir(directory, err) || make_directories(directory, err))
		return -1;
	if (!localtime_r(&now, &local) || !strftime(name, sizeof name, "/session-%Y%m%d%H%M%S", &local))
		return err_set(err, KYMO_EXIT_FAILED, "the clock shows no date; choose a directory with -o");
	for (unsigned n = 1; n < 1000; n++) {
		char suffix[80];

		(void)snprintf(suffix, sizeof suffix, n > 1 ? "%s-%u" : "%s", name, n);
		if (join(path, directory, suffix, err))
			return -1;
		if (lstat(path, &status) && errno == ENOENT)
			return 0;
	}
	return err_set(err, KYMO_EXIT_FAILED, "too many sessions %s%s already exist; choose a directory with -o",
		       directory, name);
}

bool cli_no_room(const char *dir, char *text, size_t size)
{
	char left[TEXT_QUANTITY_MAX];
	struct statvfs space;

	if (statvfs(dir, &space) || (uint64_t)space.f_bavail * space.f_frsize >= REGION_LEAST)
		return false;
	(void)snprintf(text, size, "%s has only %s left", dir, text_bytes(left, (uint64_t)space.f_bavail * space.f_frsize));
	return true;
}
