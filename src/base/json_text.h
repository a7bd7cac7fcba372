/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON written straight into memory, for what is long and written often. Layout as json-c's PRETTY has it:
 * a line for each member, two spaces for each level; or all of it in one line.
 *
 * Context of all functions: allocate as it grows; without memory nothing more is added, and `failed` is set.
 */
#ifndef KYMO_BASE_JSON_TEXT_H
#define KYMO_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed to begin with; `text` is to be freed, and is not terminated. */
struct json_text {
	char *text;
	size_t size, room;
	unsigned depth;
	bool one_line;
	bool inside;			/* the object or array has something: a comma comes first */
	bool failed;
};

/** json_text_raw() - @size bytes as they are. */
void json_text_raw(struct json_text *json, const char *text, size_t size);

/* A decimal number, without a comma. */
void json_text_put_u64(struct json_text *json, uint64_t value);
void json_text_put_i64(struct json_text *json, int64_t value);

/** json_text_open() - begin an object or an array. @key: NULL: it is in an array, or the first; @bracket: '{' or '['. */
void json_text_open(struct json_text *json, const char *key, char bracket);
void json_text_close(struct json_text *json, char bracket);

/* Members of an object; keys stand as they are. */
void json_text_u64(struct json_text *json, const char *key, uint64_t value);
void json_text_i64(struct json_text *json, const char *key, int64_t value);
void json_text_bool(struct json_text *json, const char *key, bool value);
void json_text_string(struct json_text *json, const char *key, const char *value);

#endif
