/* SPDX-License-Identifier: Apache-2.0 */
/* Points in time as people write them on a command line, and as they read them. */
#ifndef KYMO_CLI_TRACE_TIME_H
#define KYMO_CLI_TRACE_TIME_H

#include <stdint.h>

#include "analysis/tables/tables.h"
#include "base/err.h"
#include "ctf/reader.h"

#define CLI_TIME_MAX 40		/* bytes of a printed point in time with its NUL */

/* What cli_read_point() says it accepts, for --help. */
#define CLI_TIME_HELP "TIME is +DURATION from the trace's beginning (+1.5s, +250ms), a local time " \
	"\"[YYYY-MM-DD ]HH:MM:SS[.nnnnnnnnn]\", or seconds since the epoch \"1763670336.5\"."

/**
 * cli_read_point() - a point in time from a command line
 * @first_ns: epoch time of the trace's first event: the base of +DURATION, and the day of a time
 *            without date
 *
 * Return: 0, or -1 with @err filled (EXIT_USAGE).
 */
int cli_read_point(const char *option, const char *text, int64_t first_ns, int64_t *out_ns,
		   struct err *err);

/**
 * cli_first_time() - epoch time of the first event of @reader, 0 when it has none
 *
 * The reader stands at its beginning afterwards. Return: 0, or -1 with @err filled.
 */
int cli_first_time(struct ctf_reader *reader, int64_t *first_ns, struct err *err);

/**
 * cli_read_window() - the values of --begin and --end
 * @begin, @end: NULL: not given; then *begin_ns is INT64_MIN, *end_ns INT64_MAX
 *
 * The reader stands at its beginning afterwards.
 * Return: 0, or -1 with @err filled: EXIT_USAGE, or what reading gave.
 */
int cli_read_window(struct ctf_reader *reader, const char *begin, const char *end, int64_t *begin_ns,
		    int64_t *end_ns, struct err *err);

/**
 * cli_select_tables() - tables_select() with the options of --begin, --end, --node, ...
 * @trace: the path of @tables' trace
 *
 * Return: 0, or -1 with @err filled.
 */
int cli_select_tables(struct tables *tables, const char *trace, const struct selection *selection,
		      const char *begin, const char *end, struct err *err);

/** cli_print_point() - "2026-11-20 20:25:36.328671318", local time. Return: @out. */
char *cli_print_point(char out[CLI_TIME_MAX], int64_t ns);

#endif
