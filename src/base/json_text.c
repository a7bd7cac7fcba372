/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_text.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

bool json_text_grow(struct json_text *json, size_t size)
{
	json->failed |= !ARRAY_FIT(json->text, json->size + size, json->room);
	return !json->failed;
}

/* Return: where the next @size bytes go; NULL without memory. */
static char *room_for(struct json_text *json, size_t size)
{
	if (json->room - json->size < size && !json_text_grow(json, size))
		return NULL;
	return json->text + json->size;
}

static void put(struct json_text *json, char c)
{
	json_text_raw(json, &c, 1);
}

static void new_line(struct json_text *json)
{
	char *at = json->one_line ? NULL : room_for(json, 1 + 2 * (size_t)json->depth);

	if (!at)
		return;
	*at = '\n';
	memset(at + 1, ' ', 2 * (size_t)json->depth);
	json->size += 1 + 2 * (size_t)json->depth;
}

static void begin_member(struct json_text *json, const char *key)
{
	if (json->inside)
		put(json, ',');
	if (json->depth)
		new_line(json);
	json->inside = true;
	if (!key)
		return;
	put(json, '"');
	json_text_raw(json, key, strlen(key));
	json_text_raw(json, "\":", 2);
}

void json_text_open(struct json_text *json, const char *key, char bracket)
{
	begin_member(json, key);
	put(json, bracket);
	json->depth++;
	json->inside = false;
}

void json_text_close(struct json_text *json, char bracket)
{
	json->depth--;
	if (json->inside)
		new_line(json);
	put(json, bracket);
	json->inside = true;
}

void json_text_put_u64(struct json_text *json, uint64_t value)
{
	char *to = room_for(json, TEXT_DIGITS_MAX);

	if (to)
		json->size += text_digits(to, value);
}

void json_text_put_fraction(struct json_text *json, uint32_t ns)
{
	char digits[10] = { '.' };

	text_nine_digits(digits + 1, ns);
	json_text_raw(json, digits, sizeof digits);
}

void json_text_put_i64(struct json_text *json, int64_t value)
{
	if (value < 0)
		put(json, '-');
	json_text_put_u64(json, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void json_text_u64(struct json_text *json, const char *key, uint64_t value)
{
	begin_member(json, key);
	json_text_put_u64(json, value);
}

void json_text_i64(struct json_text *json, const char *key, int64_t value)
{
	begin_member(json, key);
	json_text_put_i64(json, value);
}

void json_text_bool(struct json_text *json, const char *key, bool value)
{
	begin_member(json, key);
	json_text_raw(json, value ? "true" : "false", value ? 4 : 5);
}

void json_text_plain(struct json_text *json, const char *key, const char *value)
{
	begin_member(json, key);
	json_text_raw(json, value, strlen(value));
}

void json_text_string(struct json_text *json, const char *key, const char *value)
{
	char step[TEXT_JSON_STEP_MAX];

	begin_member(json, key);
	put(json, '"');
	for (;;) {
		size_t size = text_json_plain(value);

		json_text_raw(json, value, size);
		value += size;
		if (!*value)
			break;
		size = text_json_step(&value, step);	/* changes @value */
		json_text_raw(json, step, size);
	}
	put(json, '"');
}
