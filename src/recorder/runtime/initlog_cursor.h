/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an init log while its process cleans it (src/abi/region.h). All of it is untrusted: every
 * number is checked, and what was read counts only if log_holds() says afterwards that it was not
 * overwritten.
 */
#ifndef KYMO_RECORDER_INITLOG_CURSOR_H
#define KYMO_RECORDER_INITLOG_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/runtime/region_view.h"

enum log_look {
	LOG_RECORD, /* a fact, a declaration, or the record that an object is gone */
	LOG_SKIP,   /* padding: go on at `next` */
	LOG_HOLE,   /* a record that is being written, or was never finished; `next`: behind it */
	LOG_BAD,    /* an invalid record; `next`: behind it */
	LOG_OVERTAKEN, /* the log was cleaned: its head is behind the position by now */
	LOG_END,       /* no more; also where there is no memory */
};

struct log_place {
	const uint8_t *payload; /* in shared memory */
	uint64_t next;          /* position behind it */
	struct kymo_log_record
		head; /* a copy, checked against the room; last, for its payload has no size */
};

/* From where to where the log has records; never more than its directory can hold. */
struct log_bounds {
	uint64_t head, tail;
};

/** log_bounds() - the bounds at this moment. Context: wait-free. */
struct log_bounds log_bounds(const struct region *region);

/** log_look() - what is at @position, below @tail. Context: wait-free; a hole is searched to its
 * chunk's end. */
enum log_look log_look(const struct region *region, uint64_t position, uint64_t tail,
		       struct log_place *place);

/** log_holds() - whether what was just read at @position was still valid. Context: wait-free. */
bool log_holds(const struct region *region, uint64_t position);

/* A fact that holds: where it was written first, and where it is now. */
struct log_fact {
	uint64_t origin, position;
};

struct log_facts {
	struct log_fact *fact;		/* sorted by origin, each once */
	size_t count;
	uint64_t until;			/* all before this position was looked at */
};

/**
 * log_collect() - the facts that a reader that begins now needs
 * @from: only facts whose origin is not before it
 * @limit: what ceased to hold before this position is left out
 * @over: a hole stays one
 *
 * Return: 0: free(facts->fact) afterwards; -EAGAIN: overtaken too often; -ENOMEM. Context:
 * allocates.
 */
int log_collect(const struct region *region, uint64_t from, uint64_t limit, bool over,
		struct log_facts *facts);

#endif
