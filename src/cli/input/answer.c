/* SPDX-License-Identifier: Apache-2.0 */
/* See answer.h. */
#include "cli/input/answer.h"

#include <stdio.h>

#include "base/text.h"
#include "cli/common/screen.h"
#include "cli/input/input_runs.h"
#include "cli/input/trace_time.h"

#define WARNINGS_SHOWN 5u

static void close_all(struct answer *answer)
{
	kymo_ctf_close(answer->reader);
	simclock_free(answer->clock);
	align_destroy(answer->align);
}

/* The reader is open. */
static int open_times(struct answer *answer, const struct cli_times *times, struct kymo_err *err)
{
	if ((times->merge || !cli_one_run(answer->verb, &answer->traces, answer->reader, err)) &&
	    !cli_clock(times->clock, answer->reader, answer->traces.name, &answer->clock, err) &&
	    !cli_read_window(answer->reader, answer->clock, times, &answer->begin_ns,
			     &answer->end_ns, err))
		return 0;
	close_all(answer);
	return -1;
}

int answer_open(struct answer *answer, const char *verb, int argc, char **argv,
		const struct cli_times *times, struct kymo_err *err)
{
	*answer = (struct answer){.verb = verb, .warnings = WARNINGS_SHOWN};
	if (cli_traces(&answer->traces, argc, argv, err) ||
	    cli_traces_open(&answer->traces, verb, &answer->reader, &answer->align, err))
		return -1;
	return open_times(answer, times, err);
}

int answer_follow(struct answer *answer, const char *verb, int argc, char **argv,
		  const struct cli_times *times, struct kymo_err *err)
{
	*answer = (struct answer){.verb = verb, .warnings = WARNINGS_SHOWN};
	if (times->clock)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--clock sim requires a complete trace; leave out --follow");
	if (cli_traces(&answer->traces, argc, argv, err))
		return -1;
	if (answer->traces.count > 1)
		return err_set(
			err, KYMO_EXIT_USAGE,
			"--follow only works with one trace; let a relay bring those of several "
			"hosts into one directory (kymo relay -o DIR), and follow that");
	if (kymo_ctf_open(answer->traces.path[0], &answer->reader, err))
		return -1;
	kymo_ctf_threads(answer->reader, 0);
	kymo_ctf_growing(answer->reader, true);
	return open_times(answer, times, err);
}

int answer_begin(struct answer *answer, int format, struct kymo_err *err)
{
	screen_page();
	if (table_open(&answer->table, stdout, (enum table_format)format))
		return err_no_memory(err);
	screen_dress(answer->table);
	progress_begin(&answer->progress, false);
	progress_extent(&answer->progress, answer->reader);
	table_clock(answer->table, answer->clock ? cli_stamp : NULL, answer->clock);
	return 0;
}

int answer_close(struct answer *answer, int status, bool strict)
{
	const bool loss = status >= 0 && answer->lost && strict;

	progress_clear(&answer->progress);
	if (loss)
		status = KYMO_EXIT_LOSS;
	if (answer->table && cli_close(answer->verb, answer->table, KYMO_EXIT_OK) && status >= 0)
		status = KYMO_EXIT_FAILED;
	if (answer->warnings)
		answer_warn(answer->verb, answer->reader, answer->warnings);
	close_all(answer);
	if (loss && status == KYMO_EXIT_LOSS)
		fprintf(stderr, "kymo %s: events were lost, and --strict makes that an error\n",
			answer->verb);
	return status;
}

void answer_warn(const char *verb, const struct kymo_ctf_reader *reader, unsigned most)
{
	unsigned count = kymo_ctf_warning_count(reader);
	char clean[4096];

	for (unsigned i = 0; i < count && i < most; i++) {
		text_clean(clean, sizeof(clean), kymo_ctf_warning(reader, i));
		fprintf(stderr, "kymo %s: warning: %s\n", verb, clean);
	}
	if (count > most)
		fprintf(stderr, "kymo %s: %u more warnings; `kymo info` shows them\n", verb, count - most);
}
