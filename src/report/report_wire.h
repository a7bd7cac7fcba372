/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of captured packets (analysis/capture), by publisher and by message: for the section wire
 * of the report, for flow and for why. Context: as base/table.h.
 */
#ifndef KYMO_REPORT_WIRE_H
#define KYMO_REPORT_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/capture/capture.h"
#include "base/table/table.h"

/**
 * wire_publishers() - a table with one row for each publisher whose messages have packets
 * @wanted: which of them; NULL: all
 *
 * Return: the number of rows, or -1 with @err (no memory).
 */
int wire_publishers(struct table *table, const char *title, const struct capture *capture,
		    const struct model *model,
		    bool (*wanted)(const void *context, const struct model_publisher *publisher),
		    const void *context, struct kymo_err *err);

/* Columns of single messages; the caller may put its own columns before them. */
#define WIRE_MESSAGE_COLUMNS \
	{ "message", "Message" }, \
	{ "topic", "Topic" }, \
	{ "packets", "Packets" }, \
	{ "again", "Again" }, \
	{ "packets_lost", "Lost" }, \
	{ "again_after_ns", "Sent again" }, \
	{ "to_wire_ns", "To wire" }, \
	{ "on_wire_ns", "On wire" }, \
	{ "from_wire_ns", "Off wire" }, \
	{ "first_ns", NULL }, \
	{ "arrived_ns", NULL }

/** wire_message_cells() - the cells of WIRE_MESSAGE_COLUMNS. */
void wire_message_cells(struct table *table, const struct capture_message *message);

/**
 * wire_message_text() - what its packets say of its delay: "a packet was lost, and sent again 38.2 ms
 * after the first one"; "" if nothing. Return: @buffer.
 */
char *wire_message_text(const struct capture_message *message, char *buffer, size_t size);

#endif
