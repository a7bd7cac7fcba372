/* SPDX-License-Identifier: Apache-2.0 */
/* Members of JSON that came from elsewhere: of the type that is expected, or not there. */
#ifndef KYMO_BASE_JSON_GET_H
#define KYMO_BASE_JSON_GET_H

#include <stdint.h>

#include <json-c/json.h>

/** json_get() - member @key; NULL: @object has none, or is none. */
static inline struct json_object *json_get(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	(void)json_object_object_get_ex(object, key, &value);
	return value;
}

/** json_get_u64() - 0: there is no such number, or it is negative. */
static inline uint64_t json_get_u64(struct json_object *object, const char *key)
{
	struct json_object *value = json_get(object, key);

	return json_object_is_type(value, json_type_int) ? json_object_get_uint64(value) : 0;
}

/** json_get_text() - NULL: there is no such text. It lives as long as @object. */
static inline const char *json_get_text(struct json_object *object, const char *key)
{
	struct json_object *value = json_get(object, key);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

#endif
