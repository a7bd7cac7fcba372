/* SPDX-License-Identifier: Apache-2.0 */
/* How a trace directory is kept: in one piece or in chunks, of what size, compressed or not. */
#ifndef KYMO_RECORDER_SINK_FILES_H
#define KYMO_RECORDER_SINK_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* How a trace directory is kept. Zeroed: one trace that grows. */
struct sink_files {
	uint64_t rotate_size;		/* bytes of a chunk, beyond the facts that it repeats; 0: of any size */
	uint64_t rotate_ns;		/* age of a chunk; 0: of any age */
	uint64_t max_size;		/* bytes of everything: the oldest complete chunk goes; 0: without limit */
	const char *rules;		/* what is recorded at first, for the metadata; NULL: the session's filter */
	bool compress;			/* what is complete */
};

/* What their limits are called where somebody set them, for messages. */
struct sink_files_names {
	const char *rotate_size, *rotate_ns, *max_size;
};

/** sink_files_check() - whether @files make sense together. Return: 0; -1 with @err. */
int sink_files_check(const struct sink_files *files, const struct sink_files_names *names, struct kymo_err *err);

/** sink_files_have_chunks() - whether @files ask for chunks (chunks.h). */
bool sink_files_have_chunks(const struct sink_files *files);

#define SINK_FILES_CHUNKS 8		/* that max_size holds, if rotate_size is 0 */

#endif
