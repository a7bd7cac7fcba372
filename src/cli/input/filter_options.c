/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/input/filter_options.h"

static int add_all(struct filter_rules *rules, enum filter_kind kind, const struct opt_list *list, struct kymo_err *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < list->count; i++)
		rc = filter_rules_add(rules, kind, list->item[i], err);
	return rc;
}

int filter_wish(const struct filter_wishes *wishes, struct filter_rules *rules, struct kymo_err *err)
{
	int rc = 0;

	for (unsigned kind = 0; rc == 0 && kind < FILTER_KINDS; kind++)
		rc = add_all(rules, (enum filter_kind)kind, &wishes->kind[kind], err);
	for (unsigned i = 0; rc == 0 && i < wishes->files.count; i++)
		rc = filter_rules_file(rules, wishes->files.item[i], err);
	return rc;
}
