/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of caret_export(). */
#ifndef KYMO_EXPORT_CARET_INTERNAL_H
#define KYMO_EXPORT_CARET_INTERNAL_H

#include "abi/points.h"
#include "base/map.h"
#include "ctf/write/writer.h"
#include "caret/export/caret_export.h"

#define PACKET_BYTES	(256u << 10)
#define TEXT_MAX	4096u		/* longer ones are cut */
#define EVENT_MAX	((KYMO_FIELDS_MAX + 1) * TEXT_MAX)
#define ROWS_MAX	(2 * KYMO_POINTS_TABLE)
#define ID_OF(row)	(KYMO_POINTS_TABLE + (row))

/* An event that is read, and the one that is written for it. */
struct caret_row {
	char name[128];
	unsigned id;			/* of the table */
	struct kymo_point point;	/* as written */
	uint8_t from[KYMO_FIELDS_MAX];	/* value of each field of it */
	int true_time;			/* value with init_timestamp; -1: none */
};

struct caret_process {
	const char *distribution;
	bool told;			/* has its caret_init */
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
	uint64_t begin, end;		/* of the packet that is filled */
	size_t used;
	uint8_t bytes[PACKET_BYTES + EVENT_MAX];
};

/** caret_add_rows() - what is read and what is written for it, by the classes that the trace has. */
void caret_add_rows(struct caret_export *export);

/** caret_find_processes() - learn distributions, and who has a caret_init. Return: 0; -1 with @err. */
int caret_find_processes(struct caret_export *export, struct kymo_err *err);

/** caret_process_of() - the process of @event. Return: NULL: no memory. */
struct caret_process *caret_process_of(struct caret_export *export, const struct kymo_ctf_event *event);

#endif
