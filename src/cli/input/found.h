/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many findings a recording has, and the first of them, kept in the user's cache by the verbs
 * that read all of it, for `kymo ls`, which reads no events.
 *
 *   found_open(&keeper, &traces, &times);
 *   ... read the trace ...
 *   found_put(&keeper, summary);
 *   found_close(&keeper);
 *
 * The same rules as for other answers: kept.h. Context: as kept.h.
 */
#ifndef KYMO_CLI_INPUT_FOUND_H
#define KYMO_CLI_INPUT_FOUND_H

#include "cli/input/input_traces.h"
#include "cli/input/kept.h"
#include "summary/summary.h"

struct found {
	unsigned findings;
	char first[1024]; /* a sentence; "": there is none */
	char ask[1024];   /* what `kymo why` takes to explain it; "": it can't */
};

struct found_keeper {
	struct kept kept;
};

/** found_open() - before @traces are read; findings of several together, or of some @times, are not
 * kept. */
void found_open(struct found_keeper *keeper, const struct cli_traces *traces,
		const struct cli_times *times);

/** found_put() - @summary is of the whole trace. @keeper: struct found_keeper */
void found_put(void *keeper, const struct summary *summary);
void found_close(struct found_keeper *keeper);

/** found_get() - what is kept of the recording @path. Return: false: nothing. */
bool found_get(const char *path, struct found *found);

#endif
