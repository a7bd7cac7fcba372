/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/input/open_kind.h"

#include <string.h>

#define PACKET_TAG 0x0a		/* field 1 of Trace, with a length */
#define PACKET_BYTES_MAX (256u << 20)	/* readers accept no larger packets */
#define TAR_MAGIC_AT 257

static bool begins(const uint8_t *head, size_t size, const char *with, size_t length)
{
	return size >= length && !memcmp(head, with, length);
}

/* Return: the byte after the number at @at; 0: no number ends there. */
static size_t number(const uint8_t *head, size_t size, size_t at, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; at < size && shift < 64; shift += 7) {
		*value |= (uint64_t)(head[at] & 0x7f) << shift;
		if (!(head[at++] & 0x80))
			return at;
	}
	return 0;
}

/* Return: where the field at @at ends, which may be after @size; 0: it is not a field. */
static uint64_t field_end(const uint8_t *head, size_t size, size_t at)
{
	uint64_t tag, length;
	size_t value = number(head, size, at, &tag), end;

	if (!value || !(tag >> 3))
		return 0;
	switch (tag & 7) {
	case 0:
		return number(head, size, value, &length);
	case 1:
		return value + 8;
	case 2:
		end = number(head, size, value, &length);
		return end && length < PACKET_BYTES_MAX ? end + length : 0;
	case 5:
		return value + 4;
	default:
		return 0;
	}
}

/* A packet, whose fields, as far as they are here, end where it does; behind it the next one. */
static bool is_packet(const uint8_t *head, size_t size)
{
	uint64_t length, end, field;
	size_t at = number(head, size, 1, &length);

	if (head[0] != PACKET_TAG || !at || length < 2 || length >= PACKET_BYTES_MAX)
		return false;
	end = at + length;
	/* A number that begins close to the end of what is here may be cut. */
	for (field = at; field < end && field + 20 < size; at = (size_t)field) {
		field = field_end(head, size, at);
		if (!field || field > end)
			return false;
	}
	return end >= size || head[end] == PACKET_TAG;
}

/* Chrome's JSON is an object, or an array of objects. */
static bool is_json(const uint8_t *head, size_t size)
{
	size_t at = 0;

	if (begins(head, size, "\xef\xbb\xbf", 3))
		at = 3;
	while (at < size && strchr(" \t\r\n", head[at]) && head[at])
		at++;
	if (at == size || (head[at] != '{' && head[at] != '['))
		return false;
	for (at++; at < size && head[at] && strchr(" \t\r\n", head[at]); at++)
		;
	return at == size || head[at] == '"' || head[at] == '{' || head[at] == '}' || head[at] == ']';
}

static bool is_ctf(const uint8_t *head, size_t size)
{
	return begins(head, size, "\xc1\x1f\xfc\xc1", 4) || begins(head, size, "\xc1\xfc\x1f\xc1", 4) ||
	       begins(head, size, "\x57\x1d\xd1\x75", 4) || begins(head, size, "\x75\xd1\x1d\x57", 4) ||
	       begins(head, size, "/* CTF 1.8", 10);
}

enum open_kind open_kind(const uint8_t *head, size_t size)
{
	if (!size)
		return OPEN_EMPTY;
	if (begins(head, size, "SQLite format 3", 16))
		return OPEN_SQLITE;
	if (is_ctf(head, size))
		return OPEN_CTF;
	if (begins(head, size, "\x1f\x8b", 2))
		return OPEN_COMPRESSED;
	if (begins(head, size, "PK\x03\x04", 4) ||
	    (size > TAR_MAGIC_AT && begins(head + TAR_MAGIC_AT, size - TAR_MAGIC_AT, "ustar", 5)))
		return OPEN_ARCHIVE;
	if (is_json(head, size))
		return OPEN_JSON;
	return is_packet(head, size) ? OPEN_PERFETTO : OPEN_UNKNOWN;
}

const char *open_remedy(enum open_kind kind)
{
	switch (kind) {
	case OPEN_EMPTY:
		return "is empty; export the trace again";
	case OPEN_CTF:
		return "is one file of a CTF trace; name its directory";
	case OPEN_SQLITE:
		return "is a database for SQL; export the trace without --format sqlite";
	default:
		return "is not a file that the UI loads (.pftrace, Chrome's JSON, archives and gzip of these); name a "
		       "trace, or a file that `kymo export` wrote";
	}
}
