/* SPDX-License-Identifier: Apache-2.0 */
/* A trace, cut into blocks of time: what one run a side is judged by. */
#ifndef KYMO_CLI_DIFF_BLOCKS_H
#define KYMO_CLI_DIFF_BLOCKS_H

#include "base/err.h"
#include "compare/blocks.h"

/**
 * diff_blocks_read() - read the trace @path once more, in blocks
 * @run: its summary
 * @blocks: emptied first; left empty if @path is a summary, which has no blocks
 *
 * Context: blocks; shows progress on stderr. Return: 0, or -1 with @err.
 */
int diff_blocks_read(struct blocks *blocks, const struct summary *run, const char *verb,
		     const char *path, struct kymo_err *err);
void diff_blocks_free(struct blocks *blocks);

#endif
