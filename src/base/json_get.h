/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of JSON that another program wrote: a member of another type than expected counts as
 * missing.
 *
 * Context of all functions: not thread-safe; neither allocate nor block.
 */
#ifndef KYMO_BASE_JSON_GET_H
#define KYMO_BASE_JSON_GET_H

#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

/** json_get() - member @key of @object; NULL: it has none, or is not an object. */
static inline struct json_object *json_get(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	(void)json_object_object_get_ex(object, key, &value);
	return value;
}

/** json_get_u64() - member @key as a number; 0: it is missing, not a whole number, or negative. */
static inline uint64_t json_get_u64(struct json_object *object, const char *key)
{
	struct json_object *value = json_get(object, key);

	return json_object_is_type(value, json_type_int) ? json_object_get_uint64(value) : 0;
}

/** json_length() - the elements of @array; 0: it is not an array. */
static inline size_t json_length(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

/** json_get_text() - member @key as a string, valid as long as @object; NULL: it is missing or not
 * a string. */
static inline const char *json_get_text(struct json_object *object, const char *key)
{
	struct json_object *value = json_get(object, key);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

#endif
