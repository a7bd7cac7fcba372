/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal digits of numbers, for output of which numbers are the most. See text.h. */
#include <string.h>

#include "base/text.h"

static const char two_digits[200] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
				    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";

/* In two short chains of divisions. */
void text_nine_digits(char out[9], uint32_t value)
{
	const uint32_t high = value / 100000, low = value % 100000;

	memcpy(out, &two_digits[2 * (high / 100)], 2);
	memcpy(out + 2, &two_digits[2 * (high % 100)], 2);
	out[4] = (char)('0' + low / 10000);
	memcpy(out + 5, &two_digits[2 * (low / 100 % 100)], 2);
	memcpy(out + 7, &two_digits[2 * (low % 100)], 2);
}

/*
 * Nine digits at a time, so that most divisions are of 32 bits. TEXT_DIGITS_MAX bytes are copied
 * however few the digits are: a copy of constant size is no call.
 */
size_t text_digits(char out[TEXT_DIGITS_MAX], uint64_t value)
{
	char digits[2 * TEXT_DIGITS_MAX];
	size_t at = TEXT_DIGITS_MAX;
	uint32_t rest;

	for (; value >= 1000000000; value /= 1000000000) {
		at -= 9;
		text_nine_digits(digits + at, (uint32_t)(value % 1000000000));
	}
	for (rest = (uint32_t)value; rest >= 100; rest /= 100) {
		at -= 2;
		memcpy(digits + at, &two_digits[2 * (rest % 100)], 2);
	}
	if (rest >= 10) {
		at -= 2;
		memcpy(digits + at, &two_digits[2 * rest], 2);
	} else {
		digits[--at] = (char)('0' + rest);
	}
	memset(digits + TEXT_DIGITS_MAX, 0, TEXT_DIGITS_MAX);
	memcpy(out, digits + at, TEXT_DIGITS_MAX);
	return TEXT_DIGITS_MAX - at;
}

char *text_u64_exact(char out[TEXT_QUANTITY_MAX], uint64_t value)
{
	out[text_digits(out, value)] = 0;
	return out;
}

char *text_i64_exact(char out[TEXT_QUANTITY_MAX], int64_t value)
{
	const size_t sign = value < 0;

	out[0] = '-';
	(void)text_u64_exact(out + sign, sign ? 0 - (uint64_t)value : (uint64_t)value);
	return out;
}
