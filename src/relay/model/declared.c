/* SPDX-License-Identifier: Apache-2.0 */
/* The idea: count braces, and look at names and numbers directly inside of stream and event blocks.
 * See declared.h. */
#include "relay/model/declared.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC		0x75d11d57u
#define CTF2_BEGIN	0x1e	/* JSON, which is not looked into */
/* magic, UUID, checksum, content size, packet size, three schemes, version */
#define HEAD		37u
#define CONTENT_AT	24u		/* u32, bits */
#define PACKET_AT	28u

/* ---- text ---- */

static void end_word(struct declared *declared)
{
	declared->word[declared->length < DECLARED_WORD ? declared->length : DECLARED_WORD - 1] =
		'\0';
	declared->length = 0;
}

/* The word before "=" is a known key, and the word after it is its number. */
static void take_value(struct declared *declared)
{
	char *end;
	unsigned long long id;

	if (declared->depth != 1 ||
	    !((declared->block == BLOCK_STREAM && strcmp(declared->key, "id") == 0) ||
	      (declared->block == BLOCK_EVENT && strcmp(declared->key, "stream_id") == 0)))
		return;
	id = strtoull(declared->word, &end, 0);
	if (*end || end == declared->word || id >= 64)
		declared->streams = DECLARED_ALL;
	else if (declared->block == BLOCK_STREAM)
		declared->streams |= (uint64_t)1 << id;
	else
		declared->wanted |= (uint64_t)1 << id;
	declared->has_id = true;
}

static void open_brace(struct declared *declared)
{
	declared->has_blocks = true;
	if (declared->depth++)
		return;
	declared->block = strcmp(declared->word, "stream") == 0 ? BLOCK_STREAM :
			  strcmp(declared->word, "event") == 0 ? BLOCK_EVENT : BLOCK_OTHER;
	declared->has_id = false;
	declared->key[0] = '\0';
}

static void close_brace(struct declared *declared)
{
	if (declared->depth && --declared->depth)
		return;
	if (declared->block == BLOCK_STREAM && !declared->has_id)
		declared->streams = DECLARED_ALL;	/* a trace with one stream class */
	declared->block = BLOCK_OTHER;
	declared->word[0] = '\0';
}

static void take_mark(struct declared *declared, char c)
{
	if (declared->length)
		end_word(declared);
	switch (c) {
	case '{':
		open_brace(declared);
		break;
	case '}':
		close_brace(declared);
		break;
	case '=':
		memcpy(declared->key, declared->word, sizeof(declared->key));
		declared->word[0] = '\0';
		break;
	case ';':
		take_value(declared);
		declared->key[0] = declared->word[0] = '\0';
		break;
	case '"':
		declared->in = TEXT_STRING;
		break;
	default:
		break;
	}
}

static void take(struct declared *declared, char c)
{
	const char before = declared->before;

	declared->before = c;
	switch (declared->in) {
	case TEXT_STRING:
		if (before == '\\')
			declared->before =
				'\0'; /* the second of two backslashes is quoted itself */
		else if (c == '"')
			declared->in = TEXT;
		return;
	case TEXT_LINE:
		if (c == '\n')
			declared->in = TEXT;
		return;
	case TEXT_COMMENT:
		if (before == '*' && c == '/')
			declared->in = TEXT;
		return;
	default:
		break;
	}
	if (before == '/' && (c == '*' || c == '/')) {
		declared->in = c == '*' ? TEXT_COMMENT : TEXT_LINE;
		declared->before = '\0';
	} else if (isalnum((unsigned char)c) || c == '_') {
		if (declared->length < DECLARED_WORD)
			declared->word[declared->length] = c;
		declared->length++;
	} else {
		take_mark(declared, c);
	}
}

static void take_text(struct declared *declared, const uint8_t *bytes, size_t size)
{
	if (size && *bytes == CTF2_BEGIN)
		declared->streams = DECLARED_ALL;
	for (size_t i = 0; i < size; i++)
		take(declared, (char)bytes[i]);
}

/* ---- packets ---- */

static uint32_t number(const uint8_t *bytes, bool swapped)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return swapped ? __builtin_bswap32(value) : value;
}

void declared_add(struct declared *declared, const uint8_t *bytes, size_t size)
{
	bool swapped;

	if (size < HEAD || (number(bytes, false) != MAGIC && number(bytes, true) != MAGIC)) {
		take_text(declared, bytes, size);
		return;
	}
	swapped = number(bytes, false) != MAGIC;
	while (size >= HEAD && number(bytes, swapped) == MAGIC) {
		const uint64_t content = number(bytes + CONTENT_AT, swapped) / 8,
			       packet = number(bytes + PACKET_AT, swapped) / 8;

		/* The bytes end before the padding of the last packet. */
		if (content < HEAD || content > packet || content > size)
			break;
		take_text(declared, bytes + HEAD, content - HEAD);
		if (packet >= size)
			return;
		bytes += packet;
		size -= packet;
	}
	declared->streams = DECLARED_ALL; /* it continues in another piece, or it is not a packet */
}

uint64_t declared_streams(const struct declared *declared)
{
	return declared->has_blocks ? declared->streams : DECLARED_ALL;
}

bool declared_is_whole(const struct declared *declared)
{
	return declared_streams(declared) == DECLARED_ALL ||
	       (!declared->depth && declared->in == TEXT && declared->streams &&
		!(declared->wanted & ~declared->streams));
}
