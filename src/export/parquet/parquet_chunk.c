/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A column of a group: its values become pages. A page is, compressed as one:
 *
 *   repetition levels   of a list: 0 at the first element of a row, 1 at the others
 *   definition levels   unless required: 1 for a value, 0 for NULL or an empty list
 *   values              plain, or their numbers in the dictionary
 */
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/parquet/parquet_internal.h"

#define PAGE_VALUES 32768u
#define PAGE_BYTES (256u << 10)
#define LEVEL 3 /* of zstd */

int parquet_chunk_kind(enum parquet_type type)
{
	switch (type) {
	case PARQUET_DOUBLE:
		return KIND_DOUBLE;
	case PARQUET_BOOL:
		return KIND_BOOLEAN;
	case PARQUET_TEXT:
		return KIND_BYTE_ARRAY;
	default:
		return KIND_INT64;
	}
}

static bool has_definition(const struct parquet_chunk *chunk)
{
	return !chunk->column->required || chunk->column->type == PARQUET_UINT64_LIST;
}

/* ---- values ---- */

static bool take_value(struct parquet_chunk *chunk)
{
	if (chunk->is_set)
		return false;
	chunk->is_set = true;
	chunk->filled++;
	if (has_definition(chunk))
		runs_add(&chunk->definition, 1);
	return true;
}

static bool is_below(const struct parquet_chunk *chunk, int64_t a, int64_t b)
{
	return chunk->column->type == PARQUET_UINT64 ? (uint64_t)a < (uint64_t)b : a < b;
}

void parquet_chunk_i64(struct parquet_chunk *chunk, int64_t value)
{
	if (!take_value(chunk))
		return;
	if (chunk->column->type == PARQUET_BOOL) {
		value = value != 0;
		runs_add(&chunk->number, (uint32_t)value);
	} else {
		bytes_u64(&chunk->plain, (uint64_t)value);
	}
	if (!chunk->has_bounds || is_below(chunk, value, chunk->least.integer))
		chunk->least.integer = value;
	if (!chunk->has_bounds || is_below(chunk, chunk->most.integer, value))
		chunk->most.integer = value;
	chunk->has_bounds = true;
}

void parquet_chunk_f64(struct parquet_chunk *chunk, double value)
{
	uint64_t bits;

	if (!take_value(chunk))
		return;
	memcpy(&bits, &value, sizeof(bits));
	bytes_u64(&chunk->plain, bits);
	if (isnan(value))
		return;
	if (!chunk->has_bounds || value < chunk->least.real)
		chunk->least.real = value;
	if (!chunk->has_bounds || value > chunk->most.real)
		chunk->most.real = value;
	chunk->has_bounds = true;
}

static int compare(const char *text, size_t size, const struct parquet_bound *bound)
{
	const int order = memcmp(text, bound->text, size < bound->size ? size : bound->size);

	return order ? order : (size > bound->size) - (size < bound->size);
}

static void bound_text(struct parquet_bound *bound, const char *text, size_t size)
{
	memcpy(bound->text, text, size);
	bound->size = size;
}

static void count_text(struct parquet_chunk *chunk, const char *text, size_t size)
{
	if (size > BOUND_MAX) {
		chunk->has_no_bounds = true;
		return;
	}
	if (!chunk->has_bounds || compare(text, size, &chunk->least) < 0)
		bound_text(&chunk->least, text, size);
	if (!chunk->has_bounds || compare(text, size, &chunk->most) > 0)
		bound_text(&chunk->most, text, size);
	chunk->has_bounds = true;
}

/* The values of the page so far, plain: the dictionary has no room for the next one. */
static void give_up_texts(struct parquet_chunk *chunk)
{
	const struct texts *texts = &chunk->texts;

	chunk->without_texts = true;
	for (uint32_t i = 0; i < chunk->number.count; i++) {
		const uint32_t number = chunk->number.number[i];
		const size_t begin = texts->begin[number];
		const size_t end =
			number + 1 < texts->count ? texts->begin[number + 1] : texts->values.size;

		bytes_put(&chunk->plain, texts->values.data + begin, end - begin);
	}
	chunk->number.count = 0;
}

void parquet_chunk_text(struct parquet_chunk *chunk, const char *text, size_t size)
{
	int64_t number = -1;

	if (!take_value(chunk))
		return;
	count_text(chunk, text, size);
	if (!chunk->without_texts) {
		number = parquet_texts_number(&chunk->texts, text, size);
		if (number >= 0) {
			runs_add(&chunk->number, (uint32_t)number);
			return;
		}
		give_up_texts(chunk);
	}
	bytes_u32(&chunk->plain, (uint32_t)size);
	bytes_put(&chunk->plain, text, size);
}

void parquet_chunk_list(struct parquet_chunk *chunk, const uint64_t *value, size_t count)
{
	if (chunk->is_set)
		return;
	chunk->is_set = true;
	for (size_t i = 0; i < count; i++) {
		runs_add(&chunk->repetition, i > 0);
		runs_add(&chunk->definition, 1);
		bytes_u64(&chunk->plain, value[i]);
	}
	if (!count) {
		runs_add(&chunk->repetition, 0);
		runs_add(&chunk->definition, 0);
	}
	chunk->filled += count ? (uint32_t)count : 1;
}

static void put_missing(struct parquet_chunk *chunk)
{
	if (chunk->column->type == PARQUET_UINT64_LIST) {
		parquet_chunk_list(chunk, NULL, 0);
	} else if (!chunk->column->required) {
		runs_add(&chunk->definition, 0);
		chunk->filled++;
		chunk->nulls++;
	} else if (chunk->column->type == PARQUET_TEXT) {
		parquet_chunk_text(chunk, "", 0);
	} else if (chunk->column->type == PARQUET_DOUBLE) {
		parquet_chunk_f64(chunk, 0);
	} else {
		parquet_chunk_i64(chunk, 0);
	}
}

bool parquet_chunk_row(struct parquet_chunk *chunk)
{
	if (!chunk->is_set)
		put_missing(chunk);
	chunk->is_set = false;
	return chunk->plain.size >= PAGE_BYTES || chunk->filled >= PAGE_VALUES;
}

/* ---- pages ---- */

static void put_levels(struct parquet_bytes *page, const struct parquet_runs *levels)
{
	const size_t begin = page->size;
	uint32_t size;

	bytes_u32(page, 0);
	runs_put(page, levels, 1);
	if (page->failed)
		return;
	size = htole32((uint32_t)(page->size - begin - sizeof(size)));
	memcpy(page->data + begin, &size, sizeof(size));
}

static void put_booleans(struct parquet_bytes *page, const struct parquet_runs *number)
{
	const size_t size = (number->count + 7) / 8;
	uint8_t *at = size ? bytes_grow(page, size) : NULL;

	if (!at)
		return;
	memset(at, 0, size);
	for (uint32_t i = 0; i < number->count; i++)
		at[i / 8] |= (uint8_t)(number->number[i] << (i % 8));
}

static void put_numbers(struct parquet_bytes *page, const struct parquet_chunk *chunk)
{
	const uint8_t width = (uint8_t)runs_width(chunk->texts.count ? chunk->texts.count - 1 : 0);

	bytes_put(page, &width, 1);
	runs_put(page, &chunk->number, width);
}

/* @out gets a header and @raw, compressed. Return: 0, or -1 without memory. */
static int put_page(struct parquet_bytes *out, const struct parquet_bytes *raw, int kind,
		    uint32_t values, int encoding, ZSTD_CCtx *zstd, uint64_t *uncompressed)
{
	const size_t most = ZSTD_compressBound(raw->size);
	void *packed = malloc(most);
	struct thrift thrift = { .bytes = out };
	const size_t begin = out->size;
	size_t size, head;

	if (!packed)
		return -1;
	size = ZSTD_compressCCtx(zstd, packed, most, raw->data ? raw->data : (uint8_t *)"",
				 raw->size, LEVEL);
	if (ZSTD_isError(size)) {
		free(packed);
		return -1;
	}
	thrift_open(&thrift, 0);
	thrift_i32(&thrift, 1, kind);
	thrift_i32(&thrift, 2, (int32_t)raw->size);
	thrift_i32(&thrift, 3, (int32_t)size);
	thrift_open(&thrift, kind == PAGE_DATA ? 5 : 7);
	thrift_i32(&thrift, 1, (int32_t)values);
	thrift_i32(&thrift, 2, encoding);
	if (kind == PAGE_DATA) {
		thrift_i32(&thrift, 3, ENCODING_RLE);
		thrift_i32(&thrift, 4, ENCODING_RLE);
	}
	thrift_close(&thrift);
	thrift_close(&thrift);
	head = out->size - begin;
	bytes_put(out, packed, size);
	*uncompressed += head + raw->size;
	free(packed);
	return out->failed ? -1 : 0;
}

int64_t parquet_chunk_page(struct parquet_chunk *chunk, ZSTD_CCtx *zstd)
{
	const size_t before = chunk->pages.size;
	const bool numbered = chunk->column->type == PARQUET_TEXT && !chunk->without_texts;
	struct parquet_bytes page = { 0 };
	int rc;

	if (!chunk->filled)
		return 0;
	if (chunk->column->type == PARQUET_UINT64_LIST)
		put_levels(&page, &chunk->repetition);
	if (has_definition(chunk))
		put_levels(&page, &chunk->definition);
	if (numbered)
		put_numbers(&page, chunk);
	else if (chunk->column->type == PARQUET_BOOL)
		put_booleans(&page, &chunk->number);
	else
		bytes_put(&page, chunk->plain.data, chunk->plain.size);
	rc = page.failed ? -1
			 : put_page(&chunk->pages, &page, PAGE_DATA, chunk->filled,
				    numbered ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN, zstd,
				    &chunk->raw);
	free(page.data);
	chunk->has_numbers |= numbered;
	chunk->has_plain |= !numbered;
	chunk->repetition.count = chunk->definition.count = chunk->number.count = 0;
	chunk->values += chunk->filled;
	chunk->filled = 0;
	chunk->plain.size = 0;
	return rc ? -1 : (int64_t)(chunk->pages.size - before);
}

int parquet_chunk_put(struct parquet_chunk *chunk, ZSTD_CCtx *zstd, struct parquet_bytes *out,
		      size_t *pages)
{
	if (chunk->has_numbers && put_page(out, &chunk->texts.values, PAGE_DICTIONARY,
					   chunk->texts.count, ENCODING_PLAIN, zstd, &chunk->raw))
		return -1;
	*pages = out->size;
	bytes_put(out, chunk->pages.data, chunk->pages.size);
	return out->failed ? -1 : 0;
}

/* ---- the end ---- */

void parquet_chunk_clear(struct parquet_chunk *chunk)
{
	chunk->pages.size = 0;
	parquet_texts_clear(&chunk->texts);
	chunk->without_texts = false;
	chunk->values = chunk->nulls = chunk->raw = 0;
	chunk->has_bounds = chunk->has_no_bounds = chunk->has_numbers = chunk->has_plain = false;
}

void parquet_chunk_free(struct parquet_chunk *chunk)
{
	free(chunk->repetition.number);
	free(chunk->definition.number);
	free(chunk->number.number);
	free(chunk->plain.data);
	free(chunk->pages.data);
	parquet_texts_free(&chunk->texts);
}

bool parquet_chunk_failed(const struct parquet_chunk *chunk)
{
	return chunk->repetition.failed || chunk->definition.failed || chunk->number.failed ||
	       chunk->plain.failed || chunk->pages.failed || chunk->texts.failed ||
	       chunk->texts.values.failed;
}
