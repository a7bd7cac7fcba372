/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points in time as people write them on a command line, and as they read them.
 *
 * Context: not thread-safe. cli_first_time(), cli_read_window(), cli_select_tables() and
 * cli_clock() may read the trace: they allocate and block. The others compute.
 */
#ifndef KYMO_CLI_TRACE_TIME_H
#define KYMO_CLI_TRACE_TIME_H

#include <stdint.h>

#include "analysis/simclock/simclock.h"
#include "analysis/tables/tables.h"
#include "base/err.h"
#include "cli/common/common.h"
#include "ctf/read/reader.h"

#define CLI_TIME_MAX 40		/* bytes of a printed point in time with its NUL */

/* What cli_read_point() accepts, for --help. */
#define CLI_TIME_HELP "TIME is +DURATION from the trace's beginning (+1.5s, +250ms), a local time " \
	"\"[YYYY-MM-DD ]HH:MM:SS[.nnnnnnnnn]\", or seconds since the epoch \"1763670336.5\"."
/* The same of verbs with --clock. */
#define CLI_CLOCK_HELP CLI_TIME_HELP " With --clock sim TIME is of the simulation: +DURATION that passed in " \
	"it, or a time that its clock showed, for the first time."

/**
 * cli_read_point() - a point in time from a command line
 * @first_ns: epoch time of the trace's first event: the base of +DURATION, and the day of a time
 *            without date
 * @clock: NULL: of the system; else @first_ns and *@out_ns are elapsed times of this one, and what
 *         is no +DURATION is a stamp
 *
 * Return: 0, or -1 with @err filled (KYMO_EXIT_USAGE).
 */
int cli_read_point(const char *option, const char *text, int64_t first_ns,
		   const struct simclock *clock, int64_t *out_ns, struct kymo_err *err);

/**
 * cli_first_time() - time of the first event of @reader, 0 when it has none
 *
 * The reader stands at its beginning afterwards. Return: 0, or -1 with @err filled.
 */
int cli_first_time(struct kymo_ctf_reader *reader, int64_t *first_ns, struct kymo_err *err);

/**
 * cli_read_window() - the values of --begin and --end
 * @clock: what @reader is attached to, or NULL
 * @times: without --begin *@begin_ns becomes INT64_MIN, without --end *@end_ns INT64_MAX
 *
 * The reader stands at its beginning afterwards.
 * Return: 0, or -1 with @err filled: KYMO_EXIT_USAGE, also if the end is before the begin, or what
 * reading gave.
 */
int cli_read_window(struct kymo_ctf_reader *reader, const struct simclock *clock,
		    const struct cli_times *times, int64_t *begin_ns, int64_t *end_ns,
		    struct kymo_err *err);

/**
 * cli_select_tables() - tables_clock() and tables_select() with the options --clock, --begin,
 * --end, --node, ...
 * @path: of the traces, for messages
 * @clock: NULL for the system's times; it must live as long as @tables, and is to be freed also
 *   after a failure
 *
 * Return: 0, or -1 with @err filled.
 */
int cli_select_tables(struct tables *tables, const char *path, const struct selection *selection,
		      const struct cli_times *times, struct simclock **clock, struct kymo_err *err);

/* The choices of CLI_OPT_CLOCK(). */
enum cli_clock { CLI_CLOCK_SYSTEM, CLI_CLOCK_SIM };

/**
 * cli_clock() - --clock: with CLI_CLOCK_SIM the clock of @reader's trace, and @reader attached to
 * it
 * @clock: NULL for CLI_CLOCK_SYSTEM; to be freed
 *
 * Return: 0, or -1 with @err filled (KYMO_EXIT_INPUT: the trace has no time of a simulation).
 */
int cli_clock(int choice, struct kymo_ctf_reader *reader, const char *path, struct simclock **clock,
	      struct kymo_err *err);

/** cli_stamp() - simclock_stamp() for table_clock(); @clock: NULL: the time itself. */
int64_t cli_stamp(const void *clock, int64_t ns);

/**
 * cli_print_point() - "2026-11-20 20:25:36.328671318", local time; within two years of the epoch, as
 * simulations have it, "123.456789000 s". Return: @out.
 */
char *cli_print_point(char out[CLI_TIME_MAX], int64_t ns);

#endif
