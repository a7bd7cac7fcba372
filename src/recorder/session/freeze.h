/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private copy of a region as it is at one moment, whatever its process does: runs and overwrites
 * its rings, hangs, is stopped or dead. Nothing in the region is changed, and nobody waits.
 *
 * The copy is a region of its own whose rings stand still: mode DISCARD, rpos at the oldest record
 * that was copied whole. It is drained like the region of a process that died.
 */
#ifndef KYMO_RECORDER_FREEZE_H
#define KYMO_RECORDER_FREEZE_H

#include "recorder/runtime/region_view.h"

struct freeze_stats {
	uint64_t overwritten;		/* records that were in rings once and had been overwritten */
	uint64_t bytes;			/* of ring blocks that were copied */
	unsigned rings;			/* with something in them */
	unsigned missed;		/* rings of which no block stood still long enough */
	unsigned refused;		/* rings with an impossible size or place */
};

/**
 * freeze_region() - copy @from as it is
 * @from: mapped, for looking is enough; what its process has added since is mapped too
 * @copy: filled; end it with region_close(). Holds a descriptor and as much memory as is used.
 *
 * Every record in the copy is whole, in order and there once; of each ring they are the last ones
 * without a gap. Facts whose writing had not ended are left out, as in every init log.
 * Return: 0; -1 with @err: no memory, or the region is shorter than it says. Context: blocks.
 */
int freeze_region(struct region *from, struct region *copy, struct freeze_stats *stats, struct kymo_err *err);

#endif
