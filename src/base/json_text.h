/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON written directly into memory, where json-c would be too slow. The layout is json-c's PRETTY:
 * a line per member, two spaces per level; or everything in one line.
 *
 * Context of all functions: allocate when the text grows. Without memory nothing is added, and
 * `failed` is set.
 */
#ifndef KYMO_BASE_JSON_TEXT_H
#define KYMO_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Begin with zeros. You free `text`; it does not end with NUL. */
struct json_text {
	char *text;
	size_t size, room;
	unsigned depth;
	bool one_line;
	/* the object or array has a member: a comma comes before the next */
	bool inside;
	bool failed;
};

/** json_text_grow() - see to it that @size more bytes fit. Return: false: no memory. */
bool json_text_grow(struct json_text *json, size_t size);

/** json_text_raw() - @size bytes as they are. */
static inline void json_text_raw(struct json_text *json, const char *text, size_t size)
{
	if (!size || (json->room - json->size < size && !json_text_grow(json, size)))
		return;
	memcpy(json->text + json->size, text, size);
	json->size += size;
}

/* A decimal number, without a comma. */
void json_text_put_u64(struct json_text *json, uint64_t value);
void json_text_put_i64(struct json_text *json, int64_t value);
/* "." and the nine digits of @ns, which is below 10^9. */
void json_text_put_fraction(struct json_text *json, uint32_t ns);

/**
 * json_text_open() - begin an object or an array. @key: NULL: in an array, or the outermost;
 * @bracket: '{' or '['.
 */
void json_text_open(struct json_text *json, const char *key, char bracket);
void json_text_close(struct json_text *json, char bracket);

/* Members of an object; keys are written as they are. */
void json_text_u64(struct json_text *json, const char *key, uint64_t value);
void json_text_i64(struct json_text *json, const char *key, int64_t value);
void json_text_bool(struct json_text *json, const char *key, bool value);
void json_text_string(struct json_text *json, const char *key, const char *value);
/* @value as it is, such as the digits of a number. */
void json_text_plain(struct json_text *json, const char *key, const char *value);

/* Members that are left out where they say nothing: 0, false, "" or NULL. */
static inline void json_text_some_u64(struct json_text *json, const char *key, uint64_t value)
{
	if (value)
		json_text_u64(json, key, value);
}

static inline void json_text_some_i64(struct json_text *json, const char *key, int64_t value)
{
	if (value)
		json_text_i64(json, key, value);
}

static inline void json_text_flag(struct json_text *json, const char *key, bool value)
{
	if (value)
		json_text_bool(json, key, true);
}

static inline void json_text_some_string(struct json_text *json, const char *key, const char *value)
{
	if (value && *value)
		json_text_string(json, key, value);
}

#endif
