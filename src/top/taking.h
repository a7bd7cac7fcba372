/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the events of running programs into a small trace of its own, in memory, which vanishes at
 * the end:
 *
 *   nobody records      a recorder of our own, or one that lets the programs only count; at its
 *                       end the programs are as before. It makes room for others
 *   a recorder runs     one more sink of that recorder; its own trace is not touched
 *
 * A child process does it, so that nothing gets lost while the screen is busy. The child ends with
 * its parent, however the parent ends, and leaves nothing behind.
 */
#ifndef KYMO_TOP_TAKING_H
#define KYMO_TOP_TAKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct taking;

struct taking_options {
	int pid; /* only this process, which must run; 0: all of the runtime directory */
	const char *version; /* of kymo */
	bool counts; /* programs only count, if nobody records; the trace has names only */
	/* Of the trace, whose oldest chunks are removed; 0: 32 and 64 MiB. */
	uint64_t chunk_bytes, most_bytes;
};

/**
 * taking_begin() - Return: 0; -1 with @err: KYMO_EXIT_EMPTY when @pid has no program of kymo.
 * Context: forks: call it before threads begin; blocks until the child records.
 */
int taking_begin(struct taking **taking, const struct taking_options *options,
		 struct kymo_err *err);

/** taking_end() - end the child, remove the trace. NULL is fine. Context: blocks. */
void taking_end(struct taking *taking);

/** taking_path() - of the trace. */
const char *taking_path(const struct taking *taking);

/** taking_beside() - where the recorder beside us writes; NULL: nobody else records. */
const char *taking_beside(const struct taking *taking);

/** taking_only_counts() - nobody records: the programs count, and the trace has names only. */
bool taking_only_counts(const struct taking *taking);

/**
 * taking_record() - programs that only count are recorded from now on; or, with false, only count
 * again, and what was recorded is in the trace
 *
 * Return: 0; -1 with @err: their recorder does not do it. Context: blocks.
 */
int taking_record(struct taking *taking, bool record, struct kymo_err *err);

/**
 * taking_no_room() - whether the file system of the trace is full, so that the trace does not grow
 * @text: what the user should know; untouched if there is room
 *
 * Context: one system call.
 */
bool taking_no_room(const struct taking *taking, char *text, size_t size);

/** taking_is_over() - whether the child has ended: another terminal ended the recording. Context:
 * wait-free. */
bool taking_is_over(struct taking *taking);

#endif
