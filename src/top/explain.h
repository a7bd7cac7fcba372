/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `kymo why` about a row of the board, for the last slices. */
#ifndef KYMO_TOP_EXPLAIN_H
#define KYMO_TOP_EXPLAIN_H

#include "top/source.h"

/**
 * explain_row() - why the worst instance of @row took so long
 * @width: columns of the text
 *
 * Return: the text, or why there is none; to be freed. NULL: no memory. Context: reads the trace;
 * blocks.
 */
char *explain_row(const struct source *source, const struct board_row *row, unsigned width);

#endif
