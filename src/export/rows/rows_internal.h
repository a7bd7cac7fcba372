/* SPDX-License-Identifier: Apache-2.0 */
/* What the formats of rows.h share: the pass. */
#ifndef KYMO_EXPORT_ROWS_INTERNAL_H
#define KYMO_EXPORT_ROWS_INTERNAL_H

#include "export/rows/rows.h"

/** rows_pass() - hand every row to @take, which returns 0, or -1 with @err filled. Context: reads
 * the trace; allocates and blocks. Return: 0, or -1 with @err filled. */
int rows_pass(struct tables *tables, const struct rows_options *options, struct rows_result *result,
	      int (*take)(void *context, const struct tables_row *row, struct kymo_err *err),
	      void *context, struct kymo_err *err);

#endif
