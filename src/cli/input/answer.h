/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What verbs have in common that read traces and print tables: open the traces, find the times that
 * were asked for, show progress on stderr, warn, close, and end with the right status.
 *
 *   if (answer_open(&answer, "why", argc, argv, &o.times, err))
 *       return -1;
 *   options.progress = progress_trace, options.context = &answer.progress;
 *   status = answer_begin(&answer, format, err) ? -1 :
 *            why_run(answer.reader, ..., answer.table, &answer.lost, err);
 *   return answer_close(&answer, status, o.strict);
 *
 * Context: not thread-safe; allocates and blocks.
 */
#ifndef KYMO_CLI_INPUT_ANSWER_H
#define KYMO_CLI_INPUT_ANSWER_H

#include <stdbool.h>

#include "analysis/simclock/simclock.h"
#include "base/err.h"
#include "base/table/table.h"
#include "cli/common/progress.h"
#include "cli/input/input_traces.h"
#include "cli/input/kept.h"
#include "ctf/read/reader.h"

struct answer {
	const char *verb;
	struct cli_traces traces;
	struct kymo_ctf_reader *reader;
	struct align *align;		/* NULL: the traces are of one host */
	/* that the reader is attached to; NULL: times are the system's */
	struct simclock *clock;
	int64_t begin_ns, end_ns;	/* INT64_MIN, INT64_MAX: all */
	struct table *table;		/* NULL: before answer_begin() */
	struct progress progress;	/* of reading; for progress_trace() */
	unsigned warnings;              /* of the reader that answer_close() prints; 0: none */
	bool lost;			/* events were lost */
	/* The answer is to be kept: set by the caller after answer_open(); NULL: it is not. */
	struct answer_kept *kept;
	FILE *held;                     /* then the table goes here first */
	char *text;
	size_t text_size;
};

#define ANSWER_COMMAND_MAX 4096u

/* The answer to the same question, from before. */
struct answer_kept {
	char command[ANSWER_COMMAND_MAX]; /* the whole command line; "": too long, nothing is kept */
	struct kept kept;
	struct cli_traces traces;
	bool is_plain; /* set by verbs that do not print through a pager */
};

/** answer_command() - remember the command line, before opt_parse() changes its order. */
void answer_command(struct answer_kept *kept, const char *verb, int argc, char **argv);

/**
 * answer_recall() - print the answer that was kept for the command line
 * @argc, @argv: the operands that are traces
 * @kept: to be closed with kept_close(&kept->kept); it is for answer_open() to keep the answer
 *
 * Return: whether it was printed; the exit status is KYMO_EXIT_OK then.
 */
bool answer_recall(struct answer_kept *kept, int argc, char **argv);

/** answer_is_clean() - are the accounts of the traces as they should be? Else there are warnings on
 * stderr, which an answer that is kept would not have the next time. */
bool answer_is_clean(const struct cli_traces *traces);

/**
 * answer_open() - open the traces among the operands, with --clock, --begin, --end and --merge
 * @verb: lent
 *
 * Return: 0; -1 with @err filled, and nothing is open.
 */
int answer_open(struct answer *answer, const char *verb, int argc, char **argv,
		const struct cli_times *times, struct kymo_err *err);

/**
 * answer_open_about() - the same; if there is no trace, the error is about the operand, too
 * @about: the operand that was taken for the name of something in the trace; NULL: none
 */
int answer_open_about(struct answer *answer, const char *verb, int argc, char **argv,
		      const struct cli_times *times, const char *about, struct kymo_err *err);

/** answer_follow() - the same for one trace that is still being written, which cannot be read once
 * before. */
int answer_follow(struct answer *answer, const char *verb, int argc, char **argv,
		  const struct cli_times *times, struct kymo_err *err);

/**
 * answer_begin() - begin the table on stdout, and the progress. @format: enum table_format. Return:
 * 0; -1 with @err: no memory.
 */
int answer_begin(struct answer *answer, int format, struct kymo_err *err);

/**
 * answer_close() - end the table, print what the reader warned of, close everything
 * @status: an exit status, or -1: it failed
 *
 * Return: @status; KYMO_EXIT_LOSS when events were lost and @strict.
 */
int answer_close(struct answer *answer, int status, bool strict);

/** answer_warn() - print on stderr what the reader of a trace could mend: the first @most. */
void answer_warn(const char *verb, const struct kymo_ctf_reader *reader, unsigned most);

#endif
