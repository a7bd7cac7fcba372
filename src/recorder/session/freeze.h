/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private copy of a region at one moment, whether its process runs and overwrites its rings,
 * hangs, is stopped or dead. Nothing in the region is changed, and the process does not wait.
 *
 * The copy is a region of its own whose rings stand still: mode DISCARD, rpos at the oldest record
 * that was copied whole. It is drained like the region of a process that died.
 */
#ifndef KYMO_RECORDER_FREEZE_H
#define KYMO_RECORDER_FREEZE_H

#include "recorder/runtime/region_view.h"

struct freeze_stats {
	uint64_t overwritten; /* records that were in rings once and had been overwritten */
	uint64_t bytes;       /* of ring blocks that were copied */
	unsigned rings;       /* with something in them */
	unsigned missed;      /* rings in which every block was overwritten while it was copied */
	unsigned refused;     /* rings with an impossible size or place */
};

/**
 * freeze_region() - copy @from
 * @from: mapped, read-only is enough; what its process has added since is mapped, too
 * @copy: filled; end it with region_close(). Holds a descriptor and as much memory as is used.
 *
 * Every record in the copy is whole, in order, and there once. Of each ring, the copy has the last
 * records, without a gap. Facts that were not completely written are left out, as in every init
 * log.
 * Return: 0; -1 with @err: no memory, or the region is shorter than it says. Context: blocks.
 */
int freeze_region(struct region *from, struct region *copy, struct freeze_stats *stats,
		  struct kymo_err *err);

#endif
