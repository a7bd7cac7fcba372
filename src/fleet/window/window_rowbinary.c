/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window as ClickHouse's RowBinary: values one after the other, little-endian; a text or an array
 * begins with its length, a Nullable with a byte that is 1 for NULL.
 *
 * Packed, a window is one row of arrays, so that names are beside names and sums beside sums: about
 * half the size once it is compressed.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
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

/* ---- packed ---- */

enum {
#define PACKED(name, type, value) PACKED_##name,
#include "fleet/window/window_packed.def"
	PACKED_COLUMNS
};

struct column {
	FILE *out;
	char *data;
	size_t size;
};

struct window_packed {
	uint64_t rows;
	unsigned scale; /* of the last one */
	struct column column[PACKED_COLUMNS];
};

struct window_packed *window_packed_new(void)
{
	struct window_packed *packed = calloc(1, sizeof(*packed));

	for (unsigned i = 0; packed && i < PACKED_COLUMNS; i++) {
		struct column *column = &packed->column[i];

		column->out = open_memstream(&column->data, &column->size);
		if (!column->out) {
			window_packed_free(packed);
			return NULL;
		}
	}
	return packed;
}

void window_packed_free(struct window_packed *packed)
{
	for (unsigned i = 0; packed && i < PACKED_COLUMNS; i++) {
		if (packed->column[i].out)
			(void)fclose(packed->column[i].out);
		free(packed->column[i].data);
	}
	free(packed);
}

static void put_byte(FILE *out, bool value)
{
	putc_unlocked(value, out);
}

static void put_i16(FILE *out, int64_t value)
{
	const uint16_t bytes = htole16((uint16_t)value);

	fwrite_unlocked(&bytes, sizeof(bytes), 1, out);
}

static void put_lows(FILE *out, const struct window_row *row)
{
	put_length(out, row->buckets);
	for (size_t i = 0; i < row->buckets; i++)
		putc_unlocked((int)(row->bucket[i] & 0xff), out);
}

static void put_highs(FILE *out, const struct window_row *row)
{
	size_t count = row->buckets;

	while (count && row->bucket[count - 1] <= 0xff)
		count--;
	put_length(out, count);
	for (size_t i = 0; i < count; i++)
		put_u64(out, row->bucket[i] >> 8);
}

int window_packed_put(void *context, const struct window_row *it, struct kymo_err *err)
{
	struct window_packed *packed = context;

	(void)err;
	packed->rows++;
	packed->scale = it->scale;
#define PACK_TEXT put_text
#define PACK_BYTE put_byte
#define PACK_U64 put_u64
#define PACK_I16 put_i16
#define PACK_LOWS put_lows
#define PACK_HIGHS put_highs
#define PACKED(name, type, value) PACK_##type(packed->column[PACKED_##name].out, value);
#include "fleet/window/window_packed.def"
	return 0;
}

int window_packed_write(struct window_packed *packed, FILE *out, const struct window_source *of,
			int64_t begin_ns, int64_t length_ns)
{
	bool failed = false;

	put_text(out, of->robot);
	put_text(out, of->boot);
	put_text(out, of->software);
	put_text(out, of->labels);
	put_u64(out, (uint64_t)begin_ns);
	put_real(out, (double)length_ns / 1e9);
	put_u64(out, packed->scale);
	for (unsigned i = 0; i < PACKED_COLUMNS; i++) {
		struct column *column = &packed->column[i];

		failed |= fflush(column->out) || ferror(column->out);
		put_length(out, packed->rows);
		fwrite_unlocked(column->data, 1, column->size, out);
	}
	return failed || ferror(out) ? -1 : 0;
}
