/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of executors as a table: what an executor of `kymo top` consists of. */
#ifndef KYMO_TOP_EXECUTOR_THREADS_H
#define KYMO_TOP_EXECUTOR_THREADS_H

#include "base/table/table.h"
#include "top/board.h"

/**
 * executor_threads() - write section "executor_threads"
 * @executor: a row of BOARD_EXECUTORS; NULL: the threads of all, with a column that names theirs
 *
 * Return: how many rows it has. Context: allocates.
 */
unsigned executor_threads(struct table *table, const struct board *board,
			  const struct board_row *executor);

#endif
