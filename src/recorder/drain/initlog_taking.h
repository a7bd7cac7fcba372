/* SPDX-License-Identifier: Apache-2.0 */
/* One record of the init log becomes a fact for one sink. */
#ifndef KYMO_RECORDER_INITLOG_TAKING_H
#define KYMO_RECORDER_INITLOG_TAKING_H

#include "recorder/drain/drain.h"
#include "recorder/drain/sink_deliver.h"
#include "recorder/runtime/initlog_cursor.h"

/* Reading the log once for one sink. Facts are collected in `batch`, and go to the sink many at a
 * time. */
struct initlog_taking {
	struct drained_process *process;
	struct drain *drain;
	struct sink *sink;
	struct sink_process *at;
	struct sink_facts batch;
	uint32_t *where;    /* [BATCH_EVENTS], allocated with the first fact */
	uint64_t position;  /* in the log: each fact with an origin before it is in the batch or was
			       handed over */
	uint64_t at_record; /* position of the record that is being read */
	uint64_t bad;       /* invalid records before it */
};

/** initlog_taking_at() - the sink has all facts before the position. */
void initlog_taking_at(struct initlog_taking *taking);

/** initlog_taking_write() - hand the batch over to the sink. Return: 0, or -errno of the sink. */
int initlog_taking_write(struct initlog_taking *taking);

/**
 * initlog_taking_record() - add one record to the batch
 *
 * Return: 0, also when the record is invalid; -ESTALE: overwritten meanwhile; -errno of the sink.
 */
int initlog_taking_record(struct initlog_taking *taking, const struct log_place *record);

#endif
