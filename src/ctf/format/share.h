/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer's side of lock.h, for one trace directory that is read while it is written: its index/sync.
 *
 * Context of all functions: block; on the writer's thread.
 */
#ifndef KYMO_CTF_SHARE_H
#define KYMO_CTF_SHARE_H

#include <stdbool.h>

#include "ctf/format/lock.h"

/* Zeroed: the trace is not shared. */
struct ctf_share {
	bool active;
	int fd;				/* of index/sync */
	uint64_t points;		/* written so far */
};

/**
 * ctf_share_begin() - create index/sync below @dir_fd
 *
 * If that fails (no descriptors, a file system without locks), the trace is not shared, and readers go by
 * the clock. All writers of the program together use at most a fifth of its descriptors for it.
 */
void ctf_share_begin(struct ctf_share *share, int dir_fd);

/** ctf_share_point() - everything before @ns, CLOCK_MONOTONIC, is in the files, with its index entries. */
void ctf_share_point(struct ctf_share *share, uint64_t ns, uint64_t streams);

/** ctf_share_end() - nothing more comes. */
void ctf_share_end(struct ctf_share *share);

#endif
