/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row of a window as ClickHouse's RowBinary: values one after the other, little-endian; a text or
 * an array begins with its length, a Nullable with a byte that is 1 for NULL.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "fleet/window/window.h"

static void put_length(FILE *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		putc_unlocked((int)(value & 0x7f) | 0x80, out);
	putc_unlocked((int)value, out);
}

static void put_u64(FILE *out, uint64_t value)
{
	const uint64_t bytes = htole64(value);

	fwrite_unlocked(&bytes, sizeof(bytes), 1, out);
}

static void put_real(FILE *out, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_u64(out, bits);
}

static void put_text(FILE *out, const char *text)
{
	put_length(out, strlen(text));
	fwrite_unlocked(text, 1, strlen(text), out);
}

static void put_buckets(FILE *out, const struct window_row *row)
{
	put_length(out, row->buckets);
	for (size_t i = 0; i < row->buckets; i++)
		put_u64(out, row->bucket[i]);
}

int window_rowbinary_put(void *context, const struct window_row *it, struct kymo_err *err)
{
	FILE *out = context;

#define PUT_TEXT(value) put_text(out, value)
#define PUT_I64(value) put_u64(out, (uint64_t)(int64_t)(value))
#define PUT_REAL(value) put_real(out, value)
#define PUT_U64(value) put_u64(out, value)
#define PUT_COUNT(value) \
	(putc_unlocked(!it->counts, out), it->counts ? put_u64(out, value) : (void)0)
#define PUT_BUCKETS(value) put_buckets(out, it)
#define COLUMN(name, kind, value, text) PUT_##kind(value);
#include "fleet/window/window.def"
	if (ferror(out))
		return err_set(err, KYMO_EXIT_FAILED, "cannot write RowBinary: %s",
			       strerror(errno));
	return 0;
}
