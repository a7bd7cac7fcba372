/* SPDX-License-Identifier: Apache-2.0 */
/* The table behind accounts.def: where each member is in its struct. */
#ifndef KYMO_ACCOUNTS_INTERNAL_H
#define KYMO_ACCOUNTS_INTERNAL_H

#include <stddef.h>

#include "accounts/accounts.h"

enum accounts_kind { KIND_U64, KIND_I64, KIND_NS, KIND_BOOL, KIND_TEXT, KIND_NULLABLE };

struct accounts_field {
	enum accounts_kind kind;
	const char *key;
	size_t offset;			/* in struct accounts_<group> */
};

/** accounts_fields() - those of @group; the last one has no key. Context: wait-free. */
const struct accounts_field *accounts_fields(enum accounts_group group);

/** accounts_describe_snapshot() - @accounts->snapshot_text, of what was read. */
void accounts_describe_snapshot(struct accounts *accounts);

/** accounts_describe_rules() - what was recorded, for people. Return: malloc'ed; NULL:
 * everything. */
char *accounts_describe_rules(struct json_object *root);

#endif
