/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of caret_export() share. */
#ifndef KYMO_EXPORT_CARET_INTERNAL_H
#define KYMO_EXPORT_CARET_INTERNAL_H

#include "abi/points.h"
#include "base/map.h"
#include "ctf/write/writer.h"
#include "caret/export/caret_export.h"

#define PACKET_BYTES	(256u << 10)
#define TEXT_MAX	4096u		/* longer texts are cut */
#define EVENT_MAX	((KYMO_FIELDS_MAX + 1) * TEXT_MAX)
#define ROWS_MAX	(2 * KYMO_POINTS_TABLE)
#define ID_OF(row)	(KYMO_POINTS_TABLE + (row))

/* An event of the trace, and the event that is written for it. */
struct caret_row {
	char name[128];
	unsigned id;			/* of the table kymo_points */
	struct kymo_point point;	/* as written */
	uint8_t from[KYMO_FIELDS_MAX];	/* where the value of each of its fields is */
	int true_time;			/* index of the value with init_timestamp; -1: none */
};

struct caret_process {
	const char *distribution;
	bool told;			/* its caret_init is written */
};

struct caret_export {
	struct kymo_ctf_reader *reader;
	struct ctf_writer *writer;
	struct ctf_out *out;
	struct caret_exported *done;
	struct caret_row row[ROWS_MAX];
	struct kymo_ctf_bind bind[ROWS_MAX];
	unsigned rows, init_row, stamp_row, write_row;
	int64_t offset;			/* epoch minus the clock */
	struct map process;		/* by pid */
	uint64_t begin, end;		/* of the packet that is being filled */
	size_t used;
	uint8_t bytes[PACKET_BYTES + EVENT_MAX];
};

/** caret_add_rows() - the events to read, and what to write for them, by the event classes of the
 * trace. */
void caret_add_rows(struct caret_export *export);

/** caret_find_processes() - find each process's distribution, and whether it has a caret_init.
 * Return: 0; -1 with @err. */
int caret_find_processes(struct caret_export *export, struct kymo_err *err);

/** caret_process_of() - the process of @event. Return: NULL: out of memory. */
struct caret_process *caret_process_of(struct caret_export *export,
				       const struct kymo_ctf_event *event);

#endif
