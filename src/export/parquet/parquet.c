/* SPDX-License-Identifier: Apache-2.0 */
/* The file: groups of rows, and the description at its end; see parquet.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/parquet/parquet_internal.h"

#define MAGIC "PAR1"

enum { REQUIRED = 0, OPTIONAL = 1, REPEATED = 2 };
enum { CONVERTED_UTF8 = 0, CONVERTED_LIST = 3, CONVERTED_UINT_64 = 14 };
enum { LOGICAL_STRING = 1, LOGICAL_LIST = 3, LOGICAL_INTEGER = 10 };

struct parquet {
	FILE *out;
	const char *version;
	uint64_t offset; /* of the file's end */
	uint64_t rows, group_rows;
	uint64_t held; /* bytes of the group so far */
	ZSTD_CCtx *zstd;
	struct parquet_bytes description; /* of the groups before */
	unsigned groups, columns;
	struct parquet_chunk chunk[];
};

static int put(struct parquet *file, const void *data, size_t size, struct kymo_err *err)
{
	if (size && fwrite(data, 1, size, file->out) != size)
		return err_set(err, KYMO_EXIT_FAILED, "cannot write Parquet: %s", strerror(errno));
	file->offset += size;
	return 0;
}

int parquet_create(struct parquet **result, FILE *out, const struct parquet_column *column,
		   unsigned columns, const char *version, struct kymo_err *err)
{
	struct parquet *file = calloc(1, sizeof(*file) + columns * sizeof(file->chunk[0]));

	if (!file)
		return err_no_memory(err);
	file->out = out;
	file->version = version;
	file->columns = columns;
	for (unsigned i = 0; i < columns; i++)
		file->chunk[i].column = &column[i];
	file->zstd = ZSTD_createCCtx();
	if (!file->zstd || put(file, MAGIC, strlen(MAGIC), err)) {
		const bool memory = !file->zstd;

		parquet_drop(file);
		return memory ? err_no_memory(err) : -1;
	}
	*result = file;
	return 0;
}

void parquet_i64(struct parquet *file, unsigned column, int64_t value)
{
	parquet_chunk_i64(&file->chunk[column], value);
}

void parquet_f64(struct parquet *file, unsigned column, double value)
{
	parquet_chunk_f64(&file->chunk[column], value);
}

void parquet_text(struct parquet *file, unsigned column, const char *value)
{
	char *copy;

	if (text_is_utf8(value)) {
		parquet_chunk_text(&file->chunk[column], value, strlen(value));
		return;
	}
	copy = text_utf8(value);
	file->chunk[column].plain.failed |= !copy;
	if (copy)
		parquet_chunk_text(&file->chunk[column], copy, strlen(copy));
	free(copy);
}

void parquet_list(struct parquet *file, unsigned column, const uint64_t *value, size_t count)
{
	parquet_chunk_list(&file->chunk[column], value, count);
}

/* ---- groups ---- */

static int put_chunk(struct parquet *file, struct parquet_chunk *chunk, struct thrift *thrift,
		     uint64_t *raw, struct kymo_err *err)
{
	const uint64_t offset = file->offset;
	struct parquet_bytes out = { 0 };
	size_t pages;
	int rc;

	if (parquet_chunk_page(chunk, file->zstd) < 0 ||
	    parquet_chunk_put(chunk, file->zstd, &out, &pages)) {
		free(out.data);
		return err_no_memory(err);
	}
	rc = put(file, out.data, out.size, err);
	*raw += chunk->raw;
	thrift_open(thrift, 0);
	thrift_i64(thrift, 2, (int64_t)offset);
	thrift_open(thrift, 3);
	parquet_chunk_describe(chunk, thrift, offset, pages, out.size);
	thrift_close(thrift);
	thrift_close(thrift);
	parquet_chunk_clear(chunk);
	free(out.data);
	return rc;
}

static int end_group(struct parquet *file, struct kymo_err *err)
{
	struct thrift thrift = { .bytes = &file->description };
	const uint64_t offset = file->offset;
	uint64_t raw = 0;

	if (!file->group_rows)
		return 0;
	thrift_open(&thrift, 0);
	thrift_list(&thrift, 1, THRIFT_STRUCT, file->columns);
	for (unsigned i = 0; i < file->columns; i++)
		if (put_chunk(file, &file->chunk[i], &thrift, &raw, err))
			return -1;
	thrift_i64(&thrift, 2, (int64_t)raw);
	thrift_i64(&thrift, 3, (int64_t)file->group_rows);
	thrift_i64(&thrift, 5, (int64_t)offset);
	thrift_i64(&thrift, 6, (int64_t)(file->offset - offset));
	thrift_close(&thrift);
	file->groups++;
	file->group_rows = file->held = 0;
	return file->description.failed ? err_no_memory(err) : 0;
}

int parquet_row(struct parquet *file, struct kymo_err *err)
{
	for (unsigned i = 0; i < file->columns; i++) {
		const int64_t grown = parquet_chunk_row(&file->chunk[i])
					      ? parquet_chunk_page(&file->chunk[i], file->zstd)
					      : 0;

		if (grown < 0 || parquet_chunk_failed(&file->chunk[i]))
			return err_no_memory(err);
		file->held += (uint64_t)grown;
	}
	file->rows++;
	file->group_rows++;
	if (file->group_rows == PARQUET_GROUP_ROWS || file->held >= PARQUET_GROUP_BYTES)
		return end_group(file, err);
	return 0;
}

/* ---- the description ---- */

static void put_logical(struct thrift *thrift, int which)
{
	thrift_open(thrift, 10);
	thrift_open(thrift, which);
	if (which == LOGICAL_INTEGER) {
		thrift_i8(thrift, 1, 64);
		thrift_bool(thrift, 2, false);
	}
	thrift_close(thrift);
	thrift_close(thrift);
}

static void put_value(struct thrift *thrift, enum parquet_type type, const char *name, int repeated)
{
	thrift_open(thrift, 0);
	thrift_i32(thrift, 1, parquet_chunk_kind(type));
	thrift_i32(thrift, 3, repeated);
	thrift_text(thrift, 4, name, strlen(name));
	if (type == PARQUET_TEXT) {
		thrift_i32(thrift, 6, CONVERTED_UTF8);
		put_logical(thrift, LOGICAL_STRING);
	} else if (type == PARQUET_UINT64) {
		thrift_i32(thrift, 6, CONVERTED_UINT_64);
		put_logical(thrift, LOGICAL_INTEGER);
	}
	thrift_close(thrift);
}

static void put_group(struct thrift *thrift, const char *name, int repeated, int children,
		      bool is_list)
{
	thrift_open(thrift, 0);
	if (repeated >= 0)
		thrift_i32(thrift, 3, repeated);
	thrift_text(thrift, 4, name, strlen(name));
	thrift_i32(thrift, 5, children);
	if (is_list) {
		thrift_i32(thrift, 6, CONVERTED_LIST);
		put_logical(thrift, LOGICAL_LIST);
	}
	thrift_close(thrift);
}

static void put_schema(const struct parquet *file, struct thrift *thrift)
{
	unsigned elements = 1;

	for (unsigned i = 0; i < file->columns; i++)
		elements += file->chunk[i].column->type == PARQUET_UINT64_LIST ? 3 : 1;
	thrift_list(thrift, 2, THRIFT_STRUCT, elements);
	put_group(thrift, "schema", -1, (int)file->columns, false);
	for (unsigned i = 0; i < file->columns; i++) {
		const struct parquet_column *column = file->chunk[i].column;

		if (column->type == PARQUET_UINT64_LIST) {
			put_group(thrift, column->name, REQUIRED, 1, true);
			put_group(thrift, "list", REPEATED, 1, false);
			put_value(thrift, PARQUET_UINT64, "element", REQUIRED);
		} else {
			put_value(thrift, column->type, column->name,
				  column->required ? REQUIRED : OPTIONAL);
		}
	}
}

static void put_file(const struct parquet *file, struct thrift *thrift)
{
	char by[128];

	snprintf(by, sizeof(by), "kymo version %s", file->version);
	thrift_open(thrift, 0);
	thrift_i32(thrift, 1, 1);
	put_schema(file, thrift);
	thrift_i64(thrift, 3, (int64_t)file->rows);
	thrift_list(thrift, 4, THRIFT_STRUCT, file->groups);
	bytes_put(thrift->bytes, file->description.data, file->description.size);
	thrift_text(thrift, 6, by, strlen(by));
	/* Smallest and largest values are in the order of the types. */
	thrift_list(thrift, 7, THRIFT_STRUCT, file->columns);
	for (unsigned i = 0; i < file->columns; i++) {
		thrift_open(thrift, 0);
		thrift_open(thrift, 1);
		thrift_close(thrift);
		thrift_close(thrift);
	}
	thrift_close(thrift);
}

int parquet_close(struct parquet *file, struct kymo_err *err)
{
	struct parquet_bytes end = { 0 };
	struct thrift thrift = { .bytes = &end };
	int rc;

	if (!file)
		return 0;
	rc = end_group(file, err);
	if (!rc) {
		put_file(file, &thrift);
		bytes_u32(&end, (uint32_t)end.size);
		bytes_put(&end, MAGIC, strlen(MAGIC));
		rc = end.failed ? err_no_memory(err) : put(file, end.data, end.size, err);
	}
	free(end.data);
	parquet_drop(file);
	return rc;
}

void parquet_drop(struct parquet *file)
{
	if (!file)
		return;
	for (unsigned i = 0; i < file->columns; i++)
		parquet_chunk_free(&file->chunk[i]);
	ZSTD_freeCCtx(file->zstd);
	free(file->description.data);
	free(file);
}
