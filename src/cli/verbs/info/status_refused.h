/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files in the runtime directory that cannot be recorded, for `kymo status`: of other versions, or
 * damaged.
 */
#ifndef KYMO_CLI_STATUS_REFUSED_H
#define KYMO_CLI_STATUS_REFUSED_H

#include "base/table/table.h"

struct status_refused {
	struct status_refusal *item;
	unsigned count;
};

/**
 * status_refused_add() - a file @name and why; at most some dozens are kept. Context: allocates,
 * reads /proc.
 */
void status_refused_add(struct status_refused *refused, const char *name, const char *text);

/** status_refused_print() - as a section of @table, if there are any. */
void status_refused_print(const struct status_refused *refused, struct table *table);

void status_refused_free(struct status_refused *refused);

#endif
