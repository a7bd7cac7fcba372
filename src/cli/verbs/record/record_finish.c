/* SPDX-License-Identifier: Apache-2.0 */
/* The end of `kymo record`: the summary, and the exit status. */
#include "cli/verbs/record/record_finish.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/verbs/record/nothing_traced.h"
#include "cli/verbs/record/recorded.h"

/* The command's own failure comes first, then ours. */
static int outcome(const struct record_result *result, const struct record_wishes *wishes)
{
	if (result->command_ended && result->command_status)
		return result->command_status;
	if (result->command_left)
		return KYMO_EXIT_FAILED;
	if (wishes->strict &&
	    (recorded_lossy(&result->stats) || result->kernel.lost || result->stacks.lost))
		return KYMO_EXIT_LOSS;
	return KYMO_EXIT_OK;
}

/* What the relay has is less than what was recorded: the last line does not hide it. */
static void print_sent(const struct record_relay *relay)
{
	const struct sender_rest *rest = &relay->rest;
	const uint64_t missing = rest->events + rest->lost_events + rest->unstored.events;

	fprintf(stderr, "sent:  %s", relay->url);
	if (missing)
		fprintf(stderr, ", but the relay does not have %" PRIu64 " of the events", missing);
	else if (rest->unstored.facts)
		fprintf(stderr, ", but the relay does not have %" PRIu64 " of the init events",
			rest->unstored.facts);
	fputc('\n', stderr);
}

int record_finish_trace(const struct record_result *result, const struct record_options *record,
			const struct record_wishes *wishes, const struct record_relay *relay)
{
	const struct session_stats *stats = &result->stats;
	int status;

	if (!stats->bytes && !result->kernel.events && !result->stacks.samples &&
	    !result->stacks.waits)
		return nothing_traced(result, record);
	status = recorded_print("record", stats, record->kernel ? &result->kernel : NULL,
				record->stacks_hz ? &result->stacks : NULL, record->session.output,
				wishes->format, wishes->quiet);
	if (relay->url && !wishes->quiet)
		print_sent(relay);
	for (unsigned i = 0; i < record->session.more_count && !wishes->quiet; i++)
		fprintf(stderr, "also:  %s\n", record->session.more[i]);
	if (status != KYMO_EXIT_OK)
		return status;
	status = outcome(result, wishes);
	if (status == KYMO_EXIT_OK &&
	    (relay->rest.events || relay->rest.lost_events || relay->rest.unstored.events ||
	     relay->rest.unstored.facts) &&
	    wishes->strict)
		return KYMO_EXIT_LOSS;
	return status;
}

int record_finish_flight(const struct record_result *result, const struct record_options *record,
			 const struct record_wishes *wishes, const struct flight_show *flight)
{
	int status;

	flight_tidy(flight);
	if (!result->stats.recorded && !result->stats.init_events && !result->stats.dropped)
		return nothing_traced(result, record);
	status = flight_summary(flight, result, wishes->strict, wishes->quiet);
	if (record->kernel)
		recorded_kernel("record", &result->kernel, wishes->quiet);
	if (status == KYMO_EXIT_OK && wishes->strict && result->kernel.lost)
		status = KYMO_EXIT_LOSS;
	if (status == KYMO_EXIT_OK && result->command_left)
		status = KYMO_EXIT_FAILED;
	return result->command_ended && result->command_status ? result->command_status : status;
}
