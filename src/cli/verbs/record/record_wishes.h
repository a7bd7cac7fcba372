/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `kymo record` and `kymo start`, and what they ask of the recorder. */
#ifndef KYMO_CLI_RECORD_WISHES_H
#define KYMO_CLI_RECORD_WISHES_H

#include "cli/common/common.h"
#include "cli/input/record_options.h"
#include "cli/verbs/record/record_flight.h"
#include "cli/verbs/record/record_hosts.h"
#include "cli/verbs/record/record_relay.h"

struct record_wishes {
	struct opt_list output;
	const char *perfetto;
	struct opt_list processes, users;
	const char *verb;
	bool all, attach, paused, wait, agent, kernel_all, syscalls, cycles, functions;
	int malloc;
	bool strict, quiet;
	int64_t duration, block;
	uint64_t ring_size;
	struct sink_wishes files;
	struct flight_wishes flight;
	struct filter_wishes filter;
	struct relay_wishes relay;
	struct hosts_wishes hosts;
	int kernel, format, streams;
	bool stacks;
	uint64_t stacks_rate; /* RECORD_NO_RATE: not given */
	struct opt_list kernel_event;
	uint64_t kernel_ring;
};

/* The table of the options, for struct record_wishes. */
#define RECORD_NO_RATE UINT64_MAX
#define RECORD_NO_WISHES .flight = FLIGHT_NO_WISHES, .stacks_rate = RECORD_NO_RATE

extern const struct opt record_opts[];

/**
 * record_wishes_read() - parse the command line into @wishes, and set @record to what they ask for
 * @wishes: RECORD_NO_WISHES with the verb
 *
 * Attaches programs if --attach is given. @record gets an environment and a filter, which the
 * caller frees, also after an error. Return: 0; -1 with @err. Context: allocates, blocks.
 */
int record_wishes_read(int argc, char **argv, struct record_wishes *wishes,
		       struct record_options *record, struct kymo_err *err);

/**
 * record_wishes_output() - where the trace goes
 * @output: storage for the path of a new session
 *
 * A flight recorder asks for a place when it has something. Return: 0; -1 with @err. Context:
 * blocks.
 */
int record_wishes_output(const struct record_wishes *wishes, struct record_options *record,
			 struct flight_show *flight, char output[CLI_PATH_MAX],
			 struct kymo_err *err);

#endif
