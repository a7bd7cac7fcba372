/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer's half of lock.h for one trace directory that is written while others read it: its index/sync.
 *
 * Context of all functions: block; on the writer's thread.
 */
#ifndef KYMO_CTF_SHARE_H
#define KYMO_CTF_SHARE_H

#include <stdbool.h>

#include "ctf/format/lock.h"

/* Zeroed: nobody is let in. */
struct ctf_share {
	bool active;
	int fd;				/* of index/sync */
	uint64_t points;		/* made so far */
};

/**
 * ctf_share_begin() - make index/sync below @dir_fd
 *
 * Where that cannot be done (no descriptors, a file system without locks) nobody is let in, and readers go by
 * the clock. Traces of all writers together have at most a fifth of the descriptors for it.
 */
void ctf_share_begin(struct ctf_share *share, int dir_fd);

/** ctf_share_point() - everything before @ns, CLOCK_MONOTONIC, is in the files, with its index entries. */
void ctf_share_point(struct ctf_share *share, uint64_t ns, uint64_t streams);

/** ctf_share_end() - nothing more comes. */
void ctf_share_end(struct ctf_share *share);

#endif
