/* SPDX-License-Identifier: Apache-2.0 */
/* See answer.h. */
#include "cli/answer.h"

#include <stdio.h>

#include "cli/common.h"
#include "cli/input/trace_time.h"

#define WARNINGS_SHOWN 5u

int answer_begin(struct answer *answer, const char *verb, const struct kymo_ctf_reader *reader, int format,
		 const struct simclock *clock, struct kymo_err *err)
{
	*answer = (struct answer){ .verb = verb };
	if (table_open(&answer->table, stdout, format))
		return err_no_memory(err);
	progress_begin(&answer->progress, false);
	progress_extent(&answer->progress, reader);
	table_clock(answer->table, clock ? cli_stamp : NULL, clock);
	return 0;
}

int answer_finish(struct answer *answer, int status, bool strict, const struct kymo_err *err)
{
	progress_clear(&answer->progress);
	if (status < 0)
		status = err->status ? (int)err->status : KYMO_EXIT_FAILED;
	else if (answer->lost && strict)
		status = KYMO_EXIT_LOSS;
	return cli_close(answer->verb, answer->table, status);
}

void answer_warn(const char *verb, const struct kymo_ctf_reader *reader)
{
	unsigned count = kymo_ctf_warning_count(reader), i;

	for (i = 0; i < count && i < WARNINGS_SHOWN; i++)
		fprintf(stderr, "kymo %s: warning: %s\n", verb, kymo_ctf_warning(reader, i));
	if (count > WARNINGS_SHOWN)
		fprintf(stderr, "kymo %s: %u more warnings: `kymo info` shows them.\n", verb, count - WARNINGS_SHOWN);
}

int answer_end(const char *verb, int status, const struct kymo_err *err)
{
	if (*err->text)
		return cli_fail(verb, err);
	if (status == KYMO_EXIT_LOSS)
		fprintf(stderr, "kymo %s: events were lost, and --strict makes that an error\n", verb);
	return status;
}
