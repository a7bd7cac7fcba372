/* SPDX-License-Identifier: Apache-2.0 */
/* How a trace directory is kept: in one piece or in chunks, of what size, compressed or not. */
#ifndef KYMO_RECORDER_SINK_FILES_H
#define KYMO_RECORDER_SINK_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ctf/write/writer.h"

/* How a trace directory is kept. Zeroed: one trace that grows. */
struct sink_files {
	uint64_t rotate_size; /* bytes of a chunk, without the facts that it repeats; 0: no limit */
	uint64_t rotate_ns;   /* age of a chunk; 0: no limit */
	uint64_t
		max_size; /* bytes of all chunks: the oldest complete one is removed; 0: no limit */
	const char *rules; /* the rules at the begin, for the metadata; NULL: those of the session's
			      filter */
	bool compress;     /* compress what is complete */
	ctf_form_fn *form; /* of the metadata; NULL: TSDL */
};

/* How the user knows the limits, for messages: "--rotate-size". */
struct sink_files_names {
	const char *rotate_size, *rotate_ns, *max_size;
};

/**
 * sink_files_check() - whether @files make sense together
 *
 * rotate_size: at least 64 KiB; rotate_ns: at least 100 ms; max_size: at least 512 KiB, and twice
 * rotate_size. Each may also be 0.
 * Return: 0; -1 with @err (KYMO_EXIT_USAGE), which names the limit as @names does. Context: no
 * allocation, no system call.
 */
int sink_files_check(const struct sink_files *files, const struct sink_files_names *names,
		     struct kymo_err *err);

/** sink_files_have_chunks() - whether @files ask for chunks (chunks.h). */
bool sink_files_have_chunks(const struct sink_files *files);

#define SINK_FILES_CHUNKS 8		/* that max_size holds, if rotate_size is 0 */

#endif
