/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over a trace for `kymo info`: how many events each thread wrote, and where events are
 * missing; and its chunks. */
#ifndef KYMO_CLI_INFO_COLLECT_H
#define KYMO_CLI_INFO_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/pool.h"
#include "cli/input/input_events.h"
#include "ctf/read/reader.h"
#include "base/table/table.h"

struct info_process {
	const char *host;
	uint32_t trace;			/* the first that had something of it */
	int32_t vpid;
	char name[32];
	uint64_t events, threads;
};

struct info_thread {
	struct info_process *process;
	int32_t vtid;
	char name[32];
	uint64_t events;
	int64_t first_ns, last_ns;	/* epoch */
};

struct info_loss {
	uint32_t stream;
	int32_t vpid, vtid;		/* of the packet that reports it; 0 if it does not say */
	int64_t begin_ns, end_ns;	/* epoch */
	uint64_t lost, lost_packets, lost_in_packets;
};

struct info {
	struct pool pool;
	struct map process_map, thread_map;
	struct info_process **process;
	unsigned process_count, process_capacity;
	struct info_thread **thread;
	unsigned thread_count, thread_capacity;
	struct info_loss *loss;
	unsigned loss_count, loss_capacity;
	uint64_t events, lost, lost_packets, lost_in_packets;
	/* facts about objects that existed before kymo was attached */
	uint64_t asked, inferred;
	int64_t begin_ns, end_ns;	/* epoch; of the first and last event */
	bool failed;			/* out of memory */
};

/** info_collect() - read all of @events. Return: 0, or -1 with @err. Context: allocates, blocks. */
int info_collect(struct info *info, struct events *events, struct kymo_err *err);
void info_free(struct info *info);

/**
 * info_chunks() - print a section with a row for each chunk, if there are any
 * @begin_ns: times are since then; 0: since the epoch
 * @most: rows
 *
 * Return: how many chunks there are. Context: allocates, blocks.
 */
unsigned info_chunks(struct table *table, struct kymo_ctf_reader *reader, int64_t begin_ns,
		     unsigned most);

#endif
