/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window as ClickHouse's RowBinary: values one after the other, little-endian; a text or an array
 * begins with its length, a Nullable with a byte that is 1 for NULL.
 *
 * Packed, a window is one row of arrays, so that names are beside names and sums beside sums: about
 * half the size once it is compressed. Rows of one kind and metric are beside each other, in one
 * order of names: what the callbacks' durations, latencies and waits, the timers and the
 * subscriptions have in common is then one long repetition.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/text.h"
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

/* Where a row is in each column, and what it is ordered by. */
struct packed_row {
	const char *kind, *metric; /* static texts */
	bool is_timer;             /* its name is that of a timer's callback */
	size_t name, number;       /* of the first row with its name; of itself */
	long begin[PACKED_COLUMNS], end[PACKED_COLUMNS];
};

struct window_packed {
	struct packed_row *row;
	size_t rows, room;
	struct map names; /* hash of a name: 1 + the number of the first row that has it */
	unsigned scale;   /* of the last row */
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
	if (packed) {
		map_free(&packed->names);
		free(packed->row);
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

static int add_row(struct window_packed *packed, const struct window_row *it)
{
	const uint64_t hash = text_hash(TEXT_HASH, it->name);
	struct packed_row *row;
	size_t first;

	if (!ARRAY_ROOM(packed->row, packed->rows, packed->room))
		return -1;
	first = (size_t)(uintptr_t)map_get(&packed->names, hash, 0);
	if (!first) {
		first = packed->rows + 1;
		if (map_put(&packed->names, hash, 0, (void *)(uintptr_t)first))
			return -1;
	}
	row = &packed->row[packed->rows];
	row->kind = it->kind;
	row->metric = it->metric;
	row->is_timer = strstr(it->name, " timer ") && !strstr(it->name, " -> ");
	row->name = first;
	row->number = packed->rows++;
	return 0;
}

int window_packed_put(void *context, const struct window_row *it, struct kymo_err *err)
{
	struct window_packed *packed = context;
	struct packed_row *row;

	if (add_row(packed, it))
		return err_no_memory(err);
	row = &packed->row[packed->rows - 1];
	packed->scale = it->scale;
#define PACK_TEXT put_text
#define PACK_BYTE put_byte
#define PACK_U64 put_u64
#define PACK_I16 put_i16
#define PACK_LOWS put_lows
#define PACK_HIGHS put_highs
#define PACKED(name, type, value)                                        \
	row->begin[PACKED_##name] = ftell(packed->column[PACKED_##name].out); \
	PACK_##type(packed->column[PACKED_##name].out, value);           \
	row->end[PACKED_##name] = ftell(packed->column[PACKED_##name].out);
#include "fleet/window/window_packed.def"
	return 0;
}

static int compare_rows(const void *left, const void *right)
{
	const struct packed_row *a = left, *b = right;
	int order = strcmp(a->kind, b->kind);

	if (!order)
		order = strcmp(a->metric, b->metric);
	if (!order)
		order = (int)a->is_timer - (int)b->is_timer;
	if (!order)
		order = (a->name > b->name) - (a->name < b->name);
	return order ? order : (a->number > b->number) - (a->number < b->number);
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
	if (packed->rows)
		qsort(packed->row, packed->rows, sizeof(*packed->row), compare_rows);
	for (unsigned i = 0; i < PACKED_COLUMNS; i++) {
		struct column *column = &packed->column[i];

		failed |= fflush(column->out) || ferror(column->out);
		put_length(out, packed->rows);
		for (size_t r = 0; r < packed->rows && !failed; r++) {
			const struct packed_row *row = &packed->row[r];

			fwrite_unlocked(column->data + row->begin[i], 1,
					(size_t)(row->end[i] - row->begin[i]), out);
		}
	}
	return failed || ferror(out) ? -1 : 0;
}
