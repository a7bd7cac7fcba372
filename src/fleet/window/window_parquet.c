/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of windows as a Parquet file; see window.h. */
#include <stdlib.h>

#include "base/array.h"
#include "export/parquet/parquet.h"
#include "fleet/window/window.h"

#define PARQUET_OF_TEXT PARQUET_TEXT
#define PARQUET_OF_I64 PARQUET_INT64
#define PARQUET_OF_REAL PARQUET_DOUBLE
#define PARQUET_OF_U64 PARQUET_UINT64
#define PARQUET_OF_COUNT PARQUET_UINT64
#define PARQUET_OF_BUCKETS PARQUET_UINT64_LIST
#define REQUIRED_TEXT true
#define REQUIRED_I64 true
#define REQUIRED_REAL true
#define REQUIRED_U64 true
#define REQUIRED_COUNT false
#define REQUIRED_BUCKETS true

static const struct parquet_column columns[] = {
#define COLUMN(name, kind, value, text) { #name, PARQUET_OF_##kind, REQUIRED_##kind },
#include "fleet/window/window.def"
};

enum {
#define COLUMN(name, kind, value, text) COLUMN_##name,
#include "fleet/window/window.def"
};

struct window_file {
	struct parquet *parquet;
};

int window_file_create(struct window_file **out, FILE *to, const char *version,
		       struct kymo_err *err)
{
	struct window_file *file = calloc(1, sizeof(*file));

	if (!file)
		return err_no_memory(err);
	if (parquet_create(&file->parquet, to, columns, COUNT_OF(columns), version, err)) {
		free(file);
		return -1;
	}
	*out = file;
	return 0;
}

int window_file_put(void *context, const struct window_row *it, struct kymo_err *err)
{
	struct parquet *parquet = ((struct window_file *)context)->parquet;

#define PUT_TEXT(column, value) parquet_text(parquet, column, value)
#define PUT_I64(column, value) parquet_i64(parquet, column, value)
#define PUT_REAL(column, value) parquet_f64(parquet, column, value)
#define PUT_U64(column, value) parquet_i64(parquet, column, (int64_t)(value))
#define PUT_COUNT(column, value) (void)(it->counts ? PUT_U64(column, value) : (void)0)
#define PUT_BUCKETS(column, value) parquet_list(parquet, column, value, it->buckets)
#define COLUMN(name, kind, value, text) PUT_##kind(COLUMN_##name, value);
#include "fleet/window/window.def"
	return parquet_row(parquet, err);
}

int window_file_close(struct window_file *file, struct kymo_err *err)
{
	int status;

	if (!file)
		return 0;
	status = parquet_close(file->parquet, err);
	free(file);
	return status;
}

void window_file_drop(struct window_file *file)
{
	if (file)
		parquet_drop(file->parquet);
	free(file);
}
