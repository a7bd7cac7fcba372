/* SPDX-License-Identifier: Apache-2.0 */
/* The structs of accounts.def as JSON. */
#include "accounts/accounts_internal.h"

#define FIELD(group, kind, key) { #key, KIND_##kind, offsetof(struct accounts_##group, key) },

static const struct accounts_field root_fields[] = {
#define ROOT(kind, key, meaning) FIELD(root, kind, key)
#include "accounts/accounts.def"
	{ 0 }
};

static const struct accounts_field host_fields[] = {
#define HOST(kind, key, meaning) FIELD(host, kind, key)
#include "accounts/accounts.def"
	{ 0 }
};

static const struct accounts_field totals_fields[] = {
#define TOTALS(kind, key, meaning) FIELD(totals, kind, key)
#include "accounts/accounts.def"
	{ 0 }
};

static const struct accounts_field earlier_fields[] = {
#define EARLIER(kind, key, meaning) FIELD(earlier, kind, key)
#include "accounts/accounts.def"
	{ 0 }
};

static const struct accounts_field kernel_fields[] = {
#define KERNEL(kind, key, meaning) FIELD(kernel, kind, key)
#include "accounts/accounts.def"
	{ 0 }
};

static const struct accounts_field chunks_fields[] = {
#define CHUNKS(kind, key, meaning) FIELD(chunks, kind, key)
#include "accounts/accounts.def"
	{ 0 }
};

static const struct accounts_field removed_fields[] = {
#define REMOVED(kind, key, meaning) FIELD(removed, kind, key)
#include "accounts/accounts.def"
	{ 0 }
};

static const struct accounts_field snapshot_fields[] = {
#define SNAPSHOT(kind, key, meaning) FIELD(snapshot, kind, key)
#include "accounts/accounts.def"
	{ 0 }
};

static const struct accounts_field pause_fields[] = {
#define PAUSE(kind, key, meaning) FIELD(pause, kind, key)
#include "accounts/accounts.def"
	{ 0 }
};

static const struct accounts_field clock_fields[] = {
#define CLOCK(kind, key, meaning) FIELD(clock, kind, key)
#include "accounts/accounts.def"
	{ 0 }
};

static const struct accounts_field clock_changes_fields[] = {
#define CLOCK_CHANGES(kind, key, meaning) FIELD(clock_changes, kind, key)
#include "accounts/accounts.def"
	{ 0 }
};

static const struct accounts_field process_fields[] = {
#define PROCESS(kind, key, meaning) FIELD(process, kind, key)
#include "accounts/accounts.def"
	{ 0 }
};

static const struct accounts_field thread_fields[] = {
#define THREAD(kind, key, meaning) FIELD(thread, kind, key)
#include "accounts/accounts.def"
	{ 0 }
};

const struct accounts_field *const accounts_fields[ACCOUNTS_GROUPS] = {
	[ACCOUNTS_ROOT] = root_fields, [ACCOUNTS_HOST] = host_fields, [ACCOUNTS_TOTALS] = totals_fields,
	[ACCOUNTS_EARLIER] = earlier_fields, [ACCOUNTS_KERNEL] = kernel_fields, [ACCOUNTS_CHUNKS] = chunks_fields,
	[ACCOUNTS_REMOVED] = removed_fields, [ACCOUNTS_SNAPSHOT] = snapshot_fields, [ACCOUNTS_PAUSE] = pause_fields,
	[ACCOUNTS_CLOCK] = clock_fields, [ACCOUNTS_CLOCK_CHANGES] = clock_changes_fields, [ACCOUNTS_PROCESS] = process_fields,
	[ACCOUNTS_THREAD] = thread_fields,
};

void accounts_put(struct json_object *object, enum accounts_group group, const void *of)
{
	for (const struct accounts_field *field = accounts_fields[group]; field->key; field++) {
		const void *at = (const char *)of + field->offset;
		const char *text = field->kind >= KIND_TEXT ? *(const char *const *)at : NULL;
		struct json_object *value = NULL;

		if (field->kind == KIND_U64 && *(const uint64_t *)at != ACCOUNTS_UNKNOWN)
			value = json_object_new_uint64(*(const uint64_t *)at);
		else if (field->kind == KIND_I64 || field->kind == KIND_NS)
			value = json_object_new_int64(*(const int64_t *)at);
		else if (field->kind == KIND_BOOL)
			value = json_object_new_boolean(*(const bool *)at);
		else if (text)
			value = json_object_new_string(text);
		if (value || field->kind == KIND_NULLABLE)
			json_object_object_add(object, field->key, value);
	}
}

struct json_object *accounts_object(enum accounts_group group, const void *of)
{
	struct json_object *object = json_object_new_object();

	accounts_put(object, group, of);
	return object;
}

void accounts_text(struct json_text *json, enum accounts_group group, const void *of)
{
	for (const struct accounts_field *field = accounts_fields[group]; field->key; field++) {
		const void *at = (const char *)of + field->offset;
		const char *text = field->kind >= KIND_TEXT ? *(const char *const *)at : NULL;

		if (field->kind == KIND_U64 && *(const uint64_t *)at != ACCOUNTS_UNKNOWN)
			json_text_u64(json, field->key, *(const uint64_t *)at);
		else if (field->kind == KIND_I64 || field->kind == KIND_NS)
			json_text_i64(json, field->key, *(const int64_t *)at);
		else if (field->kind == KIND_BOOL)
			json_text_bool(json, field->key, *(const bool *)at);
		else if (text)
			json_text_string(json, field->key, text);
	}
}
