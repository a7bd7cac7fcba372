/* SPDX-License-Identifier: Apache-2.0 */
/* The structs of accounts.def as JSON. */
#include "accounts/accounts_internal.h"

#define FIELD(group, struct_of, kind, key) \
	{ ACCOUNTS_##group, KIND_##kind, #key, offsetof(struct accounts_##struct_of, key) },

/* All groups, each in one piece. */
static const struct accounts_field fields[] = {
#define ROOT(kind, key, meaning) FIELD(ROOT, root, kind, key)
#define HOST(kind, key, meaning) FIELD(HOST, host, kind, key)
#define TOTALS(kind, key, meaning) FIELD(TOTALS, totals, kind, key)
#define EARLIER(kind, key, meaning) FIELD(EARLIER, earlier, kind, key)
#define KERNEL(kind, key, meaning) FIELD(KERNEL, kernel, kind, key)
#define CHUNKS(kind, key, meaning) FIELD(CHUNKS, chunks, kind, key)
#define REMOVED(kind, key, meaning) FIELD(REMOVED, removed, kind, key)
#define SNAPSHOT(kind, key, meaning) FIELD(SNAPSHOT, snapshot, kind, key)
#define PAUSE(kind, key, meaning) FIELD(PAUSE, pause, kind, key)
#define CLOCK(kind, key, meaning) FIELD(CLOCK, clock, kind, key)
#define CLOCK_CHANGES(kind, key, meaning) FIELD(CLOCK_CHANGES, clock_changes, kind, key)
#define PROCESS(kind, key, meaning) FIELD(PROCESS, process, kind, key)
#define THREAD(kind, key, meaning) FIELD(THREAD, thread, kind, key)
#include "accounts/accounts.def"
	{ ACCOUNTS_GROUPS, 0, NULL, 0 }
};

const struct accounts_field *accounts_fields(enum accounts_group group)
{
	const struct accounts_field *field = fields;

	while (field->group != group)
		field++;
	return field;
}

void accounts_put(struct json_object *object, enum accounts_group group, const void *of)
{
	for (const struct accounts_field *field = accounts_fields(group); field->group == group; field++) {
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
	for (const struct accounts_field *field = accounts_fields(group); field->group == group; field++) {
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
