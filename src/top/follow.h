/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace onto a board: one that grows, from now on, or a complete one from its begin to its
 * end.
 *
 * Context of all functions: not thread-safe; allocate and block.
 */
#ifndef KYMO_TOP_FOLLOW_H
#define KYMO_TOP_FOLLOW_H

#include <stdbool.h>

#include "live/watch.h"
#include "top/board.h"

/* Zeroed but for `board` is a valid start. */
struct follow {
	struct board *board;
	bool whole;      /* read it to its end */
	bool renews;     /* it loses its oldest chunks: open it again when many have come */
	bool from_begin; /* of a growing trace: count what is there at first; else it has only names
			  */

	/* Its own. */
	struct kymo_ctf_reader *reader; /* NULL: nothing could be opened yet */
	unsigned traces;                /* when it was opened, at opened_ns of CLOCK_MONOTONIC */
	int64_t opened_ns;
	unsigned renewals;
	struct watch watch;
	int64_t until; /* events up to this time, epoch, were read */
	uint64_t warnings;
	bool over;           /* nothing more will come */
	struct kymo_err why; /* it could not be opened */
};

/**
 * follow_files() - read what is new in the directory @path, which a recorder writes or wrote
 *
 * A whole trace is read for some ms; call it again until @follow->over.
 * Return: 0, or -1 with @err. A trace that does not exist yet is not an error.
 */
int follow_files(struct follow *follow, const char *path, struct kymo_err *err);

/** follow_until() - the same for a trace that a relay sends, of which is known: @until is complete.
 * @news: its files changed. */
int follow_until(struct follow *follow, const char *path, bool news,
		 int64_t (*until)(void *context, const struct kymo_ctf_reader *reader),
		 void *context, struct kymo_err *err);

void follow_close(struct follow *follow);

#endif
