/* SPDX-License-Identifier: Apache-2.0 */
/* See trace_time.h. */
#include "cli/input/trace_time.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

#define NSEC_PER_SEC 1000000000
#define SIM_SECONDS (2 * 366 * 86400)	/* clocks of simulations begin at 0 */

/* ".nnn" up to nine digits, or nothing; the whole rest of @text. */
static bool read_fraction(const char *text, int64_t *ns)
{
	int64_t unit = NSEC_PER_SEC / 10;

	*ns = 0;
	if (!*text)
		return true;
	if (*text++ != '.' || !*text)
		return false;
	for (; isdigit((unsigned char)*text); text++, unit /= 10)
		*ns += (*text - '0') * unit;
	return !*text;
}

static bool read_clock(const char *text, int64_t first_ns, int64_t *out)
{
	time_t first = (time_t)(first_ns / NSEC_PER_SEC), seconds;
	int used = 0, skip = 0, year, month, day;
	struct tm tm;
	int64_t ns;

	if (!localtime_r(&first, &tm))
		return false;
	if (sscanf(text, "%4d-%2d-%2d%*1[ T]%n", &year, &month, &day, &skip) == 3 && skip) {
		tm.tm_year = year - 1900;
		tm.tm_mon = month - 1;
		tm.tm_mday = day;
		text += skip;
	}
	if (sscanf(text, "%2d:%2d:%2d%n", &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &used) != 3 || !used ||
	    !read_fraction(text + used, &ns))
		return false;
	tm.tm_isdst = -1;
	seconds = mktime(&tm);
	*out = (int64_t)seconds * NSEC_PER_SEC + ns;
	return seconds != (time_t)-1;
}

static bool read_epoch(const char *text, int64_t *out)
{
	int64_t seconds = 0, ns;

	if (!isdigit((unsigned char)*text))
		return false;
	for (; isdigit((unsigned char)*text); text++) {
		seconds = seconds * 10 + (*text - '0');
		if (seconds > INT64_MAX / NSEC_PER_SEC - 1)
			return false;
	}
	if (!read_fraction(text, &ns))
		return false;
	*out = seconds * NSEC_PER_SEC + ns;
	return true;
}

int cli_read_point(const char *option, const char *text, int64_t first_ns,
		   const struct simclock *clock, int64_t *out_ns, struct kymo_err *err)
{
	int64_t day_ns = clock ? simclock_stamp(clock, first_ns) : first_ns, offset;

	if (*text == '+' && text_read_time(text + 1, &offset) &&
	    !__builtin_add_overflow(first_ns, offset, out_ns))
		return 0;
	if (*text != '+' && (read_epoch(text, out_ns) || read_clock(text, day_ns, out_ns))) {
		if (clock)
			*out_ns = simclock_find(clock, *out_ns);
		return 0;
	}
	return err_set(err, KYMO_EXIT_USAGE, "option --%s: invalid time '%s'; write +1.5s (from the trace's "
		       "beginning), 20:25:36.5 or 2026-11-20 20:25:36 (local time), or seconds since "
		       "the epoch", option, text);
}

int cli_first_time(struct kymo_ctf_reader *reader, int64_t *first_ns, struct kymo_err *err)
{
	struct kymo_ctf_event event;
	int more;

	while ((more = kymo_ctf_next(reader, &event, err)) > 0 && event.bound == KYMO_CTF_LOSS)
		;
	*first_ns = more > 0 ? event.ns : 0;
	return more < 0 ? -1 : kymo_ctf_rewind(reader, err);
}

int cli_read_window(struct kymo_ctf_reader *reader, const struct simclock *clock,
		    const struct cli_times *times, int64_t *begin_ns, int64_t *end_ns,
		    struct kymo_err *err)
{
	const char *begin = times->begin, *end = times->end;
	int64_t first_ns;

	*begin_ns = INT64_MIN;
	*end_ns = INT64_MAX;
	if (!begin && !end)
		return 0;
	if (cli_first_time(reader, &first_ns, err) ||
	    (begin && cli_read_point("begin", begin, first_ns, clock, begin_ns, err)) ||
	    (end && cli_read_point("end", end, first_ns, clock, end_ns, err)))
		return -1;
	if (*begin_ns > *end_ns)
		return err_set(err, KYMO_EXIT_USAGE, "--end %s is before --begin %s", end,
			       begin);
	return 0;
}

int cli_clock(int choice, struct kymo_ctf_reader *reader, const char *path, struct simclock **clock,
	      struct kymo_err *err)
{
	*clock = NULL;
	if (choice == CLI_CLOCK_SYSTEM)
		return 0;
	if (simclock_read(clock, reader, path, OPT_CHOICE_NUMBER(choice), err))
		return -1;
	simclock_attach(*clock, reader);
	return 0;
}

int64_t cli_stamp(const void *clock, int64_t ns)
{
	return clock ? simclock_stamp(clock, ns) : ns;
}

/* What has to be known of the traces before rows are selected, from a reader of its own. */
static int read_times(const struct tables *tables, const char *path, const struct cli_times *times,
		      struct simclock **clock, int64_t *begin_ns, int64_t *end_ns,
		      struct kymo_err *err)
{
	struct kymo_ctf_reader *reader;
	int status;

	if (tables_reader(tables, &reader, err))
		return -1;
	kymo_ctf_threads(reader, 0);
	status = cli_clock(times->clock, reader, path, clock, err) ||
		 cli_read_window(reader, *clock, times, begin_ns, end_ns, err) ? -1 : 0;
	kymo_ctf_close(reader);
	return status;
}

int cli_select_tables(struct tables *tables, const char *path, const struct selection *selection,
		      const struct cli_times *times, struct simclock **clock, struct kymo_err *err)
{
	int64_t begin_ns = INT64_MIN, end_ns = INT64_MAX;

	*clock = NULL;
	if ((times->clock || times->begin || times->end) &&
	    read_times(tables, path, times, clock, &begin_ns, &end_ns, err))
		return -1;
	tables_clock(tables, *clock);
	return tables_select(tables, selection, begin_ns, end_ns, err);
}

char *cli_print_point(char out[CLI_TIME_MAX], int64_t ns)
{
	time_t second = (time_t)(ns / NSEC_PER_SEC);
	struct tm tm;
	size_t used;

	if (ns >= 0 && second < SIM_SECONDS) {
		(void)snprintf(out, CLI_TIME_MAX, "%lld.%09lld s", (long long)second, (long long)(ns % NSEC_PER_SEC));
		return out;
	}
	if (ns < 0 || !localtime_r(&second, &tm)) {
		(void)snprintf(out, CLI_TIME_MAX, "%lld ns", (long long)ns);
		return out;
	}
	used = strftime(out, CLI_TIME_MAX, "%Y-%m-%d %H:%M:%S", &tm);
	(void)snprintf(out + used, CLI_TIME_MAX - used, ".%09lld", (long long)(ns % NSEC_PER_SEC));
	return out;
}
