/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command: finds the verb in the table and runs it. Everything that is printed here about verbs
 * (help, manual pages, completion, suggestions) comes from the verbs' own tables.
 */
#include <errno.h>
#include <json-c/json_c_version.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>
#include <zlib.h>

#include "abi/points.h"
#include "abi/region.h"
#include "base/array.h"
#include "base/opt.h"
#include "base/shared_map.h"
#include "base/text.h"
#include "cli/common/common.h"
#include "cli/common/screen.h"
#include "cli/verb_table.h"

#define VERB(name) extern const struct verb verb_##name;
#include "cli/commands.def"
#undef VERB

static const struct verb *const verbs[] = {
#define VERB(name) &verb_##name,
#include "cli/commands.def"
#undef VERB
	NULL,
};

static const struct verb *find_verb(const char *name)
{
	for (unsigned i = 0; verbs[i]; i++) {
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	}
	return strcmp(name, "list") ? NULL : &verb_events; /* its name before */
}

#define HELP_COLUMNS 80
#define VERB_COLUMNS 13 /* of the names of verbs */

static void overview(FILE *out)
{
	fputs("Usage: kymo VERB [OPTION...] [OPERAND...]\n\n"
	      "Records what a robot did, and explains why it was late.\n\nVerbs:\n", out);
	for (unsigned i = 0; verbs[i]; i++) {
		fprintf(out, "  %-10s ", verbs[i]->name);
		text_fold(out, verbs[i]->summary, HELP_COLUMNS, VERB_COLUMNS, VERB_COLUMNS);
		fputc('\n', out);
	}
	fputs("\nMore:\n"
	      "  kymo help VERB                 what a verb does, its options, examples\n"
	      "  kymo help --format json        verbs, options, exit statuses, for programs\n"
	      "  kymo --version                 version and what is built in\n"
	      "  kymo --completion SHELL        completion script for bash, zsh or fish\n"
	      "  kymo --man [VERB|7]            manual page, 7: the overview; for `man -l -`\n\n"
	      "Begin with:\n"
	      "  kymo record -- ros2 launch my_robot robot.launch.py\n"
	      "  kymo report\n", out);
}

/* What ends or removes something is proposed only if nothing else is near. */
static bool is_harmful(const char *verb)
{
	return !strcmp(verb, "stop") || !strcmp(verb, "rm");
}

/* The beginning of a verb is that verb. */
static void try_verb(struct text_nearest *best, const char *name, const char *verb)
{
	if (strlen(name) >= 2 && strncmp(name, verb, strlen(name)) == 0 &&
	    (!best->name || best->distance))
		*best = (struct text_nearest){ verb, 0 };
	else
		text_nearest_try(best, name, verb);
}

static int unknown_verb(const char *name)
{
	struct text_nearest best = { 0 };
	char clean[256];

	for (unsigned i = 0; verbs[i]; i++)
		if (!is_harmful(verbs[i]->name))
			try_verb(&best, name, verbs[i]->name);
	for (unsigned i = 0; verbs[i] && !best.name && strlen(name) >= 2; i++)
		try_verb(&best, name, verbs[i]->name);
	text_clean(clean, sizeof clean, name);
	fprintf(stderr, "kymo: unknown %s '%s'", *name == '-' ? "option" : "verb", clean);
	if (best.name)
		fprintf(stderr, "; did you mean '%s'%s?\n", best.name,
			strcmp(best.name, "stop") ? "" : ", which ends a recording");
	else
		fputs("; 'kymo help' lists the verbs\n", stderr);
	return KYMO_EXIT_USAGE;
}

struct help_options {
	int format;
};

static const struct opt help_opts[] = { CLI_OPT_FORMAT(struct help_options), CLI_OPT_SCREEN(0),
					CLI_OPT_END };

static int help(int argc, char **argv)
{
	struct help_options options = { 0 };
	const struct verb *verb = NULL;
	struct kymo_err err;

	if (opt_parse(help_opts, &options, &argc, &argv, NULL, &err) < 0)
		return cli_fail("help", &err);
	if (argc && strcmp(argv[0], "help") != 0) {
		verb = find_verb(argv[0]);
		if (!verb)
			return unknown_verb(argv[0]);
	}
	screen_page();
	if (options.format != TABLE_TEXT)
		return verb_table_print(verbs, verb, (enum table_format)options.format);
	if (verb)
		opt_help(verb, stdout);
	else
		overview(stdout);
	return KYMO_EXIT_OK;
}

static int version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("kymo %s\n", KYMO_VERSION);
	printf("  shared memory layout %u, %u tracepoints in the table, CTF 1.8\n", KYMO_ABI_VERSION,
	       (unsigned)KYMO_POINTS_TABLE);
	printf("  verbs:");
	for (unsigned i = 0; verbs[i]; i++)
		printf(" %s", verbs[i]->name);
	printf("\n  built in: libuv %s, json-c %s, zlib %s, SQLite %s\n", uv_version_string(),
	       JSON_C_VERSION, zlibVersion(), sqlite3_libversion());
#if defined(__x86_64__)
	const char *arch = "x86-64";
#elif defined(__aarch64__)
	const char *arch = "aarch64";
#else
	const char *arch = "another architecture";
#endif
	printf("  built for %s with %s %s%s\n", arch,
#ifdef __clang__
	       "clang", __clang_version__,
#else
	       "gcc", __VERSION__,
#endif
#if defined(__SANITIZE_ADDRESS__)
	       ", address sanitizer"
#elif defined(__SANITIZE_THREAD__)
	       ", thread sanitizer"
#else
	       ""
#endif
	);
	return KYMO_EXIT_OK;
}

static int completion(int argc, char **argv)
{
	if (argc == 1 && !complete_print(verbs, argv[0], stdout))
		return KYMO_EXIT_OK;
	fputs("kymo: --completion requires a shell: bash, zsh or fish\n", stderr);
	return KYMO_EXIT_USAGE;
}

/* For the scripts of --completion. */
static int complete(int argc, char **argv)
{
	if (argc)
		complete_values(argv[0], argc - 1, argv + 1);
	return KYMO_EXIT_OK;
}

static int man(int argc, char **argv)
{
	const struct verb *verb;

	if (argc < 1) {
		manual_command(verbs, KYMO_VERSION, stdout);
		return KYMO_EXIT_OK;
	}
	if (!strcmp(argv[0], "7")) {
		manual_overview(verbs, KYMO_VERSION, stdout);
		return KYMO_EXIT_OK;
	}
	verb = find_verb(argv[0]);
	if (!verb)
		return unknown_verb(argv[0]);
	opt_man(verb, KYMO_VERSION, stdout);
	return KYMO_EXIT_OK;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} global[] = {
	{ "help", help },
	{ "--help", help },
	{ "-h", help },
	{ "--version", version },
	{ "-V", version },
	{ "version", version },
	{ "--completion", completion },
	{ "--complete", complete },
	{ "--man", man },
};

/* Whether standard output is a pipe whose reader went away, such as `head`. */
static bool reader_went_away(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLHUP);
}

/*
 * If stdout could not be written (a full disk), that is a failure. When an earlier write failed,
 * its reason is no longer known: errno is of whatever failed last.
 */
static int finish(int status)
{
	bool failed = ferror(stdout);

	errno = screen_end();
	failed |= errno != 0;
	if (!failed && !fflush(stdout))
		return status;
	if (status != KYMO_EXIT_OK || errno == EPIPE || reader_went_away())
		return status;
	fprintf(stderr, "kymo: cannot write the output%s%s\n", errno ? ": " : "",
		errno ? strerror(errno) : "");
	return KYMO_EXIT_FAILED;
}

/* A limit on the size of files is an error of the write, with its reason. */
static void on_file_limit(int number)
{
	(void)number;
}

static bool asks_help(const struct verb *verb, int argc, char **argv)
{
	const enum opt_help help = opt_asks_help(verb->opts, argc, argv);

	if (help)
		screen_page();
	if (help == OPT_HELP_FULL)
		opt_help(verb, stdout);
	else if (help == OPT_HELP_SHORT)
		opt_help_short(verb, stdout);
	return help != OPT_HELP_NONE;
}

int main(int argc, char **argv)
{
	struct kymo_err err = { 0 };
	const struct verb *verb;
	int status;

	if (argc < 2) {
		overview(stderr);
		return KYMO_EXIT_USAGE;
	}
	for (unsigned i = 0; i < COUNT_OF(global); i++) {
		if (!strcmp(argv[1], global[i].name))
			return finish(global[i].run(argc - 2, argv + 2));
	}
	verb = find_verb(argv[1]);
	if (!verb)
		return unknown_verb(argv[1]);
	if (asks_help(verb, argc - 2, argv + 2))
		return finish(KYMO_EXIT_OK);
	/* Here, so that no verb can forget it. A handler, because a command would inherit an
	 * ignored signal. */
	shared_map_guard();
	(void)signal(SIGXFSZ, on_file_limit);
	status = verb->run(argc - 2, argv + 2, &err);
	return finish(status < 0 ? cli_fail(verb->name, &err) : status);
}
