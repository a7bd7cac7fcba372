/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/info/status_refused.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/common/common.h"
#include "recorder/runtime/region_view.h"

#define REFUSED_MAX 64

struct status_refusal {
	int pid;			/* as seen here; 0: not known, or it ended */
	char file[REGION_NAME_MAX];
	char text[1024];
};

static const struct table_column columns[] = { { "pid", "pid" }, { "file", NULL }, { "problem", "cannot be recorded" } };

void status_refused_add(struct status_refused *refused, const char *name, const char *text)
{
	struct status_refusal *item;

	if (!refused->item)
		refused->item = calloc(REFUSED_MAX, sizeof *refused->item);
	if (!refused->item || refused->count == REFUSED_MAX)
		return;
	item = &refused->item[refused->count++];
	(void)region_owner(name, &item->pid);
	(void)snprintf(item->file, sizeof item->file, "%s", name);
	text_clean(item->text, sizeof item->text, text);
}

void status_refused_print(const struct status_refused *refused, struct table *table)
{
	if (refused->count)
		table_section(table, "refused", NULL, columns, COUNT_OF(columns));
	for (unsigned i = 0; i < refused->count; i++) {
		const struct status_refusal *item = &refused->item[i];

		cli_cell(table, item->pid, (uint64_t)item->pid);
		table_text(table, item->file);
		table_text(table, item->text);
	}
}

void status_refused_free(struct status_refused *refused)
{
	free(refused->item);
	*refused = (struct status_refused){ 0 };
}
