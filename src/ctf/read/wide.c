/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-16 and UTF-32 to UTF-8. */
#include "ctf/read/wide.h"

#include <stdlib.h>

static uint32_t unit_at(const uint8_t *at, unsigned unit, bool big_endian)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < unit; i++)
		value |= (uint32_t)at[i] << 8 * (big_endian ? unit - 1 - i : i);
	return value;
}

uint64_t wide_length(const uint8_t *at, uint64_t size, unsigned unit)
{
	uint64_t length = 0;

	while (size - length >= unit && unit_at(at + length, unit, false))
		length += unit;
	return length;
}

static char *put(char *to, uint32_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
		return to;
	}
	if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			*to++ = (char)(0xe0 | code >> 12);
		} else {
			*to++ = (char)(0xf0 | code >> 18);
			*to++ = (char)(0x80 | (code >> 12 & 63));
		}
		*to++ = (char)(0x80 | (code >> 6 & 63));
	}
	*to++ = (char)(0x80 | (code & 63));
	return to;
}

char *wide_text(const uint8_t *at, uint64_t size, unsigned unit, bool big_endian)
{
	char *text = malloc(size / unit * 4 + 1), *to = text;

	for (uint64_t i = 0; text && i + unit <= size; i += unit) {
		uint32_t code = unit_at(at + i, unit, big_endian), low;

		if (unit == 2 && code >> 10 == 0xd800 >> 10 && i + 4 <= size) {
			low = unit_at(at + i + 2, 2, big_endian);
			if (low >> 10 == 0xdc00 >> 10) {
				code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
				i += 2;
			}
		}
		if (code > 0x10ffff || code >> 11 == 0xd800 >> 11)
			code = 0xfffd;
		to = put(to, code);
	}
	if (text)
		*to = 0;
	return text;
}
