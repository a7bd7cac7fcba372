/* SPDX-License-Identifier: Apache-2.0 */
/* What `kymo status` tells of files in the runtime directory that cannot be recorded: other versions, damaged ones. */
#ifndef KYMO_CLI_STATUS_REFUSED_H
#define KYMO_CLI_STATUS_REFUSED_H

#include "base/table.h"

struct status_refused {
	struct status_refusal *item;
	unsigned count;
};

/** status_refused_add() - a file @name and why; some dozens are kept, the rest is left out. Context: allocates, reads /proc. */
void status_refused_add(struct status_refused *refused, const char *name, const char *text);

/** status_refused_print() - as a section of @table; nothing when there are none. */
void status_refused_print(const struct status_refused *refused, struct table *table);

void status_refused_free(struct status_refused *refused);

#endif
