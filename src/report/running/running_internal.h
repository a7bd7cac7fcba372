/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the running tables share: each kind of object has an array of what happened to
 * it in this block.
 */
#ifndef KYMO_REPORT_RUNNING_INTERNAL_H
#define KYMO_REPORT_RUNNING_INTERNAL_H

#include "analysis/model/model.h"
#include "base/histogram.h"
#include "base/map.h"
#include "report/running/running.h"

struct running_tally {				/* of a callback or a topic */
	struct histogram times;		/* durations; latencies */
	uint64_t count;			/* runs; published messages */
	uint64_t taken;
	uint64_t last_id;		/* of a publisher: its last message; stays */
};

struct running_tallies {
	struct running_tally *of;		/* by index */
	unsigned count;
};

struct running_process {
	uint64_t count;
	int32_t pid;
	char name[32];
};

struct running {
	const struct selection *selection;
	struct kymo_ctf_reader *reader;
	struct model *model;
	struct running_tallies callbacks, topics, publishers;
	unsigned traces;		/* that the model was reported of */
	uint64_t *classes;		/* events by index of the class */
	unsigned class_count;
	struct map processes; /* struct running_process by pid and trace */
	uint64_t events, lost_events, lost_packets, lost;
	int64_t first_ns, last_ns;	/* of this block; 0: nothing yet */
	bool hides;      /* what nodes do when they start: /rosout, /parameter_events */
	unsigned hidden; /* rows of this block */
	bool no_memory;
};

/* The next block begins. */
void running_forget(struct running *running);

#endif
