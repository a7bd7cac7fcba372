/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace as CARET records it, for caret_analyze: init events with CARET's provider and
 * their original time as a field, caret_init for each process, the source timestamps of
 * publications as dds_bind_addr_to_stamp, and vpid, vtid and procname with each event.
 */
#ifndef KYMO_EXPORT_CARET_H
#define KYMO_EXPORT_CARET_H

#include <stdint.h>

#include "ctf/read/reader.h"

struct caret_exported {
	uint64_t events, bytes, lost;
	unsigned processes;
	uint64_t stamps; /* dds_bind_addr_to_stamp events: without any, caret_analyze refuses the
			    trace */
	uint64_t groups; /* callback groups in executors: without any, it finds no paths */
};

/**
 * caret_export() - write the events of @reader as one CTF trace into the existing, empty directory
 * @to
 *
 * Return: 0; -1 with @err: traces of several hosts (KYMO_EXIT_INPUT), no event of ROS 2
 * (KYMO_EXIT_INPUT), or writing failed. Context: allocates, blocks; binds and rewinds @reader.
 */
int caret_export(struct kymo_ctf_reader *reader, const char *to, struct caret_exported *done,
		 struct kymo_err *err);

#endif
