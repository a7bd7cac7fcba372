/* SPDX-License-Identifier: Apache-2.0 */
/* The structs of accounts.def as JSON. */
#include "accounts/accounts_internal.h"

/* clang-format off */
#define GROUP(GROUP, group)						\
	case ACCOUNTS_##GROUP: {					\
		typedef struct accounts_##group members;		\
		static const struct accounts_field fields[] = {
#define MEMBER(kind, key, meaning) { KIND_##kind, #key, offsetof(members, key) },
#define END { 0, NULL, 0 } }; return fields; }
/* clang-format on */

const struct accounts_field *accounts_fields(enum accounts_group group)
{
	switch (group) {
#include "accounts/accounts.def"
	}
	return NULL;
}

void accounts_put(struct json_object *object, enum accounts_group group, const void *of)
{
	for (const struct accounts_field *field = accounts_fields(group); field->key; field++) {
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
	for (const struct accounts_field *field = accounts_fields(group); field->key; field++) {
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
