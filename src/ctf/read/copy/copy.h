/* SPDX-License-Identifier: Apache-2.0 */
/* A trace written again as plain CTF: unpacked, whole, cut to a window of time. */
#ifndef KYMO_CTF_COPY_H
#define KYMO_CTF_COPY_H

#include <stdint.h>

#include "ctf/read/reader.h"

struct ctf_copied {
	uint64_t packets, bytes;	/* of stream files */
	uint64_t uncut;			/* packets at an end of the window that could not be cut */
	uint64_t left_out;		/* packets that were not whole and could not be made so */
	unsigned traces;
};

/**
 * ctf_copy() - write all traces that @reader has below the existing, empty directory @to
 * @version: of CTF: 1 or 2: metadata of the other version are converted; 0: as they are
 * @begin_ns, @end_ns: epoch; copies events with begin <= ns <= end, and of kymo's own facts all up
 * to the end
 *
 * Packets, and metadata without @version, are copied as they stand. A packet at an end of the
 * window, or one that ends in the middle of an event, is cut between events where its layout allows
 * it (LTTng's header and context, nothing aligned beyond bytes); else it stays whole.
 * Return: 0; -1 with @err; what was written stays. Context: allocates, blocks; rewinds @reader, and
 * removes its time window.
 */
int ctf_copy(struct kymo_ctf_reader *reader, const char *to, int64_t begin_ns, int64_t end_ns,
	     unsigned version, struct ctf_copied *copied, struct kymo_err *err);

#endif
