/* SPDX-License-Identifier: Apache-2.0 */
/* See answer.h. */
#include "cli/input/answer.h"

#include <stdio.h>

#include "base/text.h"
#include "cli/input/trace_time.h"

#define WARNINGS_SHOWN 5u

static void close_all(struct answer *answer)
{
	kymo_ctf_close(answer->reader);
	simclock_free(answer->clock);
	align_destroy(answer->align);
}

int answer_open(struct answer *answer, const char *verb, int argc, char **argv, const struct cli_times *times, struct kymo_err *err)
{
	*answer = (struct answer){ .verb = verb };
	if (cli_traces(&answer->traces, argc, argv, err) ||
	    cli_traces_open(&answer->traces, verb, &answer->reader, &answer->align, err))
		return -1;
	if (!cli_clock(times->clock, answer->reader, answer->traces.name, &answer->clock, err) &&
	    !cli_read_window(answer->reader, answer->clock, times, &answer->begin_ns, &answer->end_ns, err))
		return 0;
	close_all(answer);
	return -1;
}

int answer_begin(struct answer *answer, int format, struct kymo_err *err)
{
	if (table_open(&answer->table, stdout, (enum table_format)format))
		return err_no_memory(err);
	progress_begin(&answer->progress, false);
	progress_extent(&answer->progress, answer->reader);
	table_clock(answer->table, answer->clock ? cli_stamp : NULL, answer->clock);
	return 0;
}

int answer_close(struct answer *answer, int status, bool strict, const struct kymo_err *err)
{
	progress_clear(&answer->progress);
	if (status < 0)
		status = err->status ? (int)err->status : KYMO_EXIT_FAILED;
	else if (answer->lost && strict)
		status = KYMO_EXIT_LOSS;
	if (answer->table)
		status = cli_close(answer->verb, answer->table, status);
	answer_warn(answer->verb, answer->reader, WARNINGS_SHOWN);
	close_all(answer);
	if (*err->text)
		return cli_fail(answer->verb, err);
	if (status == KYMO_EXIT_LOSS)
		fprintf(stderr, "kymo %s: events were lost, and --strict makes that an error\n", answer->verb);
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
