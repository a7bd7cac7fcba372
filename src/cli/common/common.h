/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the verbs share: the option rows that several of them have, where traces are, and how a verb
 * fails. A verb's own file holds its options struct, its table and its run().
 */
#ifndef KYMO_CLI_COMMON_H
#define KYMO_CLI_COMMON_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"
#include "base/selection.h"
#include "base/table/table.h"

/* Option rows. @type is the verb's options struct; the named member receives the value. */

/* int format: enum table_format */
#define CLI_OPT_FORMAT(type) \
	{ "format", 'f', OPT_CHOICE, offsetof(type, format), NULL, "how to print", "table|json|csv" }
/* Of a verb whose text meets a terminal; see screen.h. No member of @type. */
#define CLI_OPT_SCREEN(wide_letter)                                                     \
	{ "wide",   wide_letter,                                                        \
	  OPT_FLAG, OPT_SCREEN(wide),                                                   \
	  NULL,     "print all columns whole, though rows are wider than the terminal", \
	  NULL },                                                                       \
		{ "color",                                                              \
		  0,                                                                    \
		  OPT_CHOICE,                                                           \
		  OPT_SCREEN(color),                                                    \
		  NULL,                                                                 \
		  "when to use colors",                                                 \
		  "auto|always|never" },                                                \
	{                                                                               \
		"no-pager", 0, OPT_FLAG, OPT_SCREEN(no_pager), NULL,                    \
			"do not show a long text through a pager", NULL                 \
	}
/* const char *output */
#define CLI_OPT_OUTPUT(type, value, help) \
	{ "output", 'o', OPT_TEXT, offsetof(type, output), value, help, NULL }
/* uint64_t pid, 0 = none */
#define CLI_OPT_PID(type, help) \
	{ "pid", 'p', OPT_U64, offsetof(type, pid), "PID", help, NULL }
/* bool quiet */
#define CLI_OPT_QUIET(type) \
	{ "quiet", 'q', OPT_FLAG, offsetof(type, quiet), NULL, "print errors only", NULL }
/* int malloc, CLI_MALLOC_SUMS: only sums */
#define CLI_OPT_MALLOC(type)                                                                     \
	{                                                                                        \
		"malloc", 0, OPT_SWITCH, offsetof(type, malloc), NULL,                           \
			"also record what the command allocates and frees, and mutexes that it " \
			"waits for; =sums: "                                                     \
			"not each call, but the sums of each run of a callback",                 \
			"sums"                                                                   \
	}
#define CLI_MALLOC_SUMS 2
/* bool functions */
#define CLI_OPT_FUNCTIONS(type)                                                                \
	{                                                                                      \
		"functions", 0, OPT_FLAG, offsetof(type, functions), NULL,                     \
			"also record entry and exit of each function, in programs built with " \
			"-finstrument-functions, -pg or -mfentry",                                              \
			NULL                                                                   \
	}
/* bool strict */
#define CLI_OPT_STRICT(type) \
	{ "strict", 0, OPT_FLAG, offsetof(type, strict), NULL, "exit with 4 if events were lost", NULL }
/* struct selection selection; @letter: of --node, 0 where it means something else */
#define CLI_OPT_SELECTION(type, letter) \
	{ "node", letter, OPT_LIST, offsetof(type, selection.node), "GLOB", \
	  "only nodes whose full name matches; '!GLOB' leaves out; may be repeated", NULL }, \
	{ "topic", 't', OPT_LIST, offsetof(type, selection.topic), "GLOB", \
	  "only topics that match; likewise", NULL }, \
	{ "process", 0, OPT_LIST, offsetof(type, selection.process), "GLOB", \
	  "only processes whose name or pid matches; likewise", NULL }
/* struct cli_times times; see trace_time.h */
#define CLI_OPT_WINDOW(type, what) \
	{ "begin", 'b', OPT_TEXT, offsetof(type, times.begin), "TIME", "leave out " what " earlier", NULL }, \
	{ "end", 'E', OPT_TEXT, offsetof(type, times.end), "TIME", "leave out " what " later", NULL }
/* int64_t window_ns */
#define CLI_OPT_OVER_TIME(type, what)                                                       \
	{                                                                                   \
		"window", 0, OPT_TIME, offsetof(type, window_ns), "TIME",                   \
			"length of the windows of the " what " windows (default: 1s)", NULL \
	}
/* const char *model */
#define CLI_OPT_MODEL(type, what)                                                           \
	{                                                                                   \
		"model", 0, OPT_TEXT, offsetof(type, model), "FILE",                        \
			"your own model of behaviour: activities, regions and states, for " \
			"the " what " (docs/answers/behaviour.md)",                                 \
			NULL                                                                \
	}
/* The same, of a verb that follows one of them */
#define CLI_OPT_MODEL_OPERAND(type)                                                           \
	{                                                                                     \
		"model", 0, OPT_TEXT, offsetof(type, model), "FILE",                          \
			"your own model of behaviour: name one of its activities or regions " \
			"instead of a chain (docs/answers/behaviour.md)",                     \
			NULL                                                                  \
	}
/* struct opt_list capture */
#define CLI_OPT_CAPTURE(type, what)                                                           \
	{                                                                                     \
		"capture", 0, OPT_LIST, offsetof(type, capture), "[HOST=]FILE",               \
			"packets that tcpdump or Wireshark captured meanwhile (pcap, pcapng), " \
			"for the " what "; may be repeated (docs/network/capture.md)",        \
			NULL                                                                  \
	}
#define CLI_OPT_CLOCK(type) \
	{ "clock", 0, OPT_CHOICE, offsetof(type, times.clock), NULL, \
	  "which times to print: the system's, or those of the simulation (of /clock; N: its ROS domain, if " \
	  "there are several)", "system|sim[:N]" }
/* The same; see input_runs.h. */
#define CLI_OPT_MERGE(type)                                                   \
	{                                                                     \
		"merge", 0, OPT_FLAG, offsetof(type, times.merge), NULL,      \
			"read a directory of several recordings as one", NULL \
	}
#define CLI_OPT_END { 0 }

/* Which times of which recordings are wanted, as they were written. */
struct cli_times {
	const char *begin, *end;	/* NULL: not given */
	int clock;			/* enum cli_clock */
	bool merge;                     /* recordings of different times are read as one */
};

#define CLI_PATH_MAX 4096	/* bytes of a path with its NUL, as the kernel has it */

/**
 * cli_no_room() - why no program can be recorded: the runtime directory has no room for a region
 * @text: receives the sentence, without its beginning
 *
 * Return: false: there is room, or the directory cannot be used at all. Context: blocks.
 */
bool cli_no_room(const char *dir, char *text, size_t size);

/**
 * cli_fail() - print "kymo VERB: text" to stderr; nothing if the text is empty: the error was
 * printed before
 *
 * Return: the exit status of @err, so that a verb ends with `return cli_fail("info", &err);`.
 */
int cli_fail(const char *verb, const struct kymo_err *err);

/**
 * cli_say() - print "kymo VERB: @text" to stderr, without what a terminal would obey
 * @verb: const char *, so that this is a callback with the verb as its context
 */
void cli_say(void *verb, const char *text);

/** cli_no_operands() - for a verb that has none. Return: 0, or -1 with @err if @argc is not 0. */
int cli_no_operands(int argc, char **argv, struct kymo_err *err);

/** cli_one_operand() - for a verb that has one trace. Return: 0, or -1 with @err filled when there
 * are more. */
int cli_one_operand(int argc, char **argv, struct kymo_err *err);

/** cli_table() - a table on standard output. Return: 0, or -1: no memory, which was said. */
int cli_table(const char *verb, int format, struct table **table);

/** cli_cell() - a number in @table; an empty cell if it is not @known. */
void cli_cell(struct table *table, bool known, uint64_t value);

/** cli_stop_signals() - from now on SIGINT and SIGTERM only set the flag. Return: the flag, which
 * does not move. */
const volatile sig_atomic_t *cli_stop_signals(void);

/**
 * cli_close() - table_close() and the verb's exit status
 *
 * Return: @status when everything was written; otherwise says so on stderr and returns
 * KYMO_EXIT_FAILED. A reader that went away (EPIPE) is not a failure.
 */
int cli_close(const char *verb, struct table *table, int status);

/**
 * cli_trace_dir() - the directory that holds the traces: $ROS_TRACE_DIR, else $ROS_HOME/tracing,
 * else ~/.ros/tracing, as ros2_tracing has it. It need not exist.
 *
 * Return: 0, or -1 with @err filled.
 */
int cli_trace_dir(char path[CLI_PATH_MAX], struct kymo_err *err);

/**
 * cli_means_path() - whether @operand, which does not exist, can only be meant as a path
 *
 * It begins with ./ or ../, or its directory exists. /topic and /node/callback are names of ROS
 * unless there is such a directory, and "/" alone is none. Context: blocks as the disk does.
 */
bool cli_means_path(const char *operand);

/**
 * cli_trace() - the trace that a reading verb reads
 * @argc, @argv: operands; one at most
 *
 * The operand, or without one the newest session-YYYYMMDDHHMMSS below cli_trace_dir(). This checks
 * that the path exists, not that it is a trace.
 * Return: 0, or -1 with @err: KYMO_EXIT_USAGE for a second operand, KYMO_EXIT_INPUT for no trace.
 */
int cli_trace(int argc, char **argv, char path[CLI_PATH_MAX], struct kymo_err *err);

/** cli_ros_domain() - the number of a ROS domain in @text, which is @from. Return: 0, or -1 with
 * @err. */
int cli_ros_domain(const char *text, const char *from, uint32_t *domain, struct kymo_err *err);

/** cli_exists() - the error for a file @path that --force is needed for. Return: -1. */
int cli_exists(const char *path, struct kymo_err *err);

/** cli_absolute() - @path from the root directory. Return: 0, or -1 with @err filled. */
int cli_absolute(char *absolute, size_t size, const char *path, struct kymo_err *err);

/**
 * cli_new_session() - a path for a new trace, session-YYYYMMDDHHMMSS in local time
 *
 * Creates the directories above it. The path itself does not exist yet; if a session of the same
 * second exists, "-2", "-3", ... is added.
 * Return: 0, or -1 with @err filled.
 */
int cli_new_session(char path[CLI_PATH_MAX], struct kymo_err *err);

/**
 * complete_values() - print what a shell may offer for a value, one per line
 * @kind: "node", "topic", "process", "callback" or "session"
 * @words, @count: what was typed: the names are of the first trace among them, else of the newest
 *
 * Prints nothing if that is not known. Ends the process after a second. Context: blocks as the disk
 * does.
 */
void complete_values(const char *kind, int count, char **words);

#endif
