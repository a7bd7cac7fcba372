/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in and out of messages. See wire.h. */
#include "relay/wire/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

uint64_t wire_take(struct wire_in *in, unsigned bytes)
{
	uint64_t value = 0;

	if (wire_left(in) < bytes) {
		in->short_of = true;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | in->at[i];
	in->at += bytes;
	return value;
}

const uint8_t *wire_bytes(struct wire_in *in, size_t size)
{
	const uint8_t *bytes = in->at;

	if (wire_left(in) < size) {
		in->short_of = true;
		return NULL;
	}
	in->at += size;
	return bytes;
}

const char *wire_name(struct wire_in *in, size_t size)
{
	const uint8_t *bytes = size ? wire_bytes(in, size) : NULL;

	if (bytes && memchr(bytes, 0, size) == bytes + size - 1)
		return (const char *)bytes;
	in->short_of = true;
	return NULL;
}

static void take_bytes(struct wire_in *in, uint8_t *to, size_t size)
{
	const uint8_t *bytes = wire_bytes(in, size);

	if (bytes)
		memcpy(to, bytes, size);
}

/* A text in a field of fixed size, filled up with zeros. A field without a NUL is invalid. */
static void take_chars(struct wire_in *in, char *text, size_t size)
{
	const uint8_t *bytes = wire_bytes(in, size);

	text[0] = 0;
	if (!bytes)
		return;
	if (memchr(bytes, 0, size))
		memcpy(text, bytes, size);
	else
		in->short_of = true;
}

uint8_t *wire_room(struct wire_out *out, size_t size)
{
	if (out->failed || size > SIZE_MAX / 4 - out->used ||
	    !ARRAY_FIT(out->bytes, out->used + size, out->room)) {
		out->failed = true;
		return NULL;
	}
	out->used += size;
	return out->bytes + out->used - size;
}

void wire_add(struct wire_out *out, uint64_t value, unsigned bytes)
{
	uint8_t *at = wire_room(out, bytes);

	for (unsigned i = 0; at && i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

void wire_add_bytes(struct wire_out *out, const void *bytes, size_t size)
{
	uint8_t *at = size ? wire_room(out, size) : NULL;

	if (at)
		memcpy(at, bytes, size);
}

static void add_chars(struct wire_out *out, const char *text, size_t size)
{
	size_t length = strnlen(text, size - 1);
	uint8_t *at = wire_room(out, size);

	if (!at)
		return;
	memcpy(at, text, length);
	memset(at + length, 0, size - length);
}

void wire_out_free(struct wire_out *out)
{
	free(out->bytes);
	*out = (struct wire_out){ 0 };
}

#define U8(field) message->field = (uint8_t)wire_take(in, 1);
#define U32(field) message->field = (uint32_t)wire_take(in, 4);
#define U64(field) message->field = wire_take(in, 8);
#define BYTES(field, size) take_bytes(in, message->field, size);
#define CHARS(field, size) take_chars(in, message->field, size);
#define MESSAGE(name, fields)                                                 \
	bool wire_get_##name(struct wire_in *in, struct wire_##name *message) \
	{                                                                     \
		fields return !in->short_of;                                  \
	}
#include "relay/wire/wire.def"

#define U8(field) wire_add(out, message->field, 1);
#define U32(field) wire_add(out, message->field, 4);
#define U64(field) wire_add(out, message->field, 8);
#define BYTES(field, size) wire_add_bytes(out, message->field, size);
#define CHARS(field, size) add_chars(out, message->field, size);
#define MESSAGE(name, fields)                                                         \
	void wire_put_##name(struct wire_out *out, const struct wire_##name *message) \
	{                                                                             \
		fields                                                                \
	}
#include "relay/wire/wire.def"

bool wire_is_facts(const char *channel)
{
	const char *last = strrchr(channel, '_');

	last = last ? last + 1 : channel;
	return strcmp(last, "init") == 0 || strcmp(last, "known") == 0;
}
