/* SPDX-License-Identifier: Apache-2.0 */
/* The end of `kymo record`: the summary, and the exit status. */
#ifndef KYMO_CLI_RECORD_FINISH_H
#define KYMO_CLI_RECORD_FINISH_H

#include "cli/verbs/record/record_wishes.h"

/**
 * record_finish_trace() - print the summary of a trace
 *
 * Return: exit status: that of the command if the command failed, else ours. Context: blocks: reads
 * files.
 */
int record_finish_trace(const struct record_result *result, const struct record_options *record,
			const struct record_wishes *wishes, const struct record_relay *relay);

/**
 * record_finish_flight() - the same for a flight recorder, and remove a directory without
 * snapshots.
 */
int record_finish_flight(const struct record_result *result, const struct record_options *record,
			 const struct record_wishes *wishes, const struct flight_show *flight);

#endif
