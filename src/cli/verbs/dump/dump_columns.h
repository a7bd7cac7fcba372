/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events on standard output as columns, for programs that read many of them: kymo.Handler of the
 * Python package (ros2/kymo_py/kymo/handler.py) does.
 *
 * The output is lines of JSON, some followed by bytes:
 *
 *   {"row": 0, "event": "ros2:callback_start",
 *    "fields": {"callback": "u", "is_intra_process": "i"}}	(one line)
 *   {"batch": 2, "rows": {"0": 2}, "strings": 1, "string_bytes": 6, "bytes": 74}
 *   <bytes>
 *   {"lost": 12, "packets": 0, "begin_ns": ..., "end_ns": ...}
 *
 * A batch has up to some ten thousand events in the order of time. Its bytes, in the byte order of
 * the machine:
 *
 *   uint16_t row[batch]		to which row each event belongs
 *   for each row of the batch:
 *     int64_t ns[count]		time, since the Unix epoch
 *     int32_t vpid[], vtid[], cpu[]
 *     uint32_t procname[]		number of a string
 *     for each field, by its letter:
 *       i int64_t, u uint64_t, f double, s uint32_t: number of a string,
 *       x: of a string, hexadecimal
 *   strings, each ends with NUL
 *
 * Up to eight fields of an event; structures, and arrays of anything but bytes and text, are left
 * out. A field that an event does not have is 0, or the empty string.
 *
 * Context: not thread-safe; blocks.
 */
#ifndef KYMO_CLI_DUMP_COLUMNS_H
#define KYMO_CLI_DUMP_COLUMNS_H

#include "cli/input/input_events.h"

struct dump_columns {
	uint64_t printed, lost;
};

/**
 * dump_columns() - print all events whose name matches one of @names; without names: all
 * @events: opened, without a selection
 * Return: 0; -1 with @err.
 */
int dump_columns(struct events *events, const struct opt_list *names, struct dump_columns *done,
		 struct kymo_err *err);

#endif
