/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a Parquet file whose values follow from the number of the row, for
 * tests/system/export/parquet.py.
 *
 *   parquet_file ROWS FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/parquet/parquet.h"

enum { ID, NUMBER, UNSIGNED, REAL, FLAG, FEW, MANY, COUNTS, NEVER };

static const struct parquet_column columns[] = {
	[ID] = { "id", PARQUET_INT64, true },	 [NUMBER] = { "number", PARQUET_INT64, false },
	[UNSIGNED] = { "unsigned", PARQUET_UINT64, false },
	[REAL] = { "real", PARQUET_DOUBLE, false }, [FLAG] = { "flag", PARQUET_BOOL, false },
	[FEW] = { "few", PARQUET_TEXT, true },	 [MANY] = { "many", PARQUET_TEXT, false },
	[COUNTS] = { "counts", PARQUET_UINT64_LIST, true },
	[NEVER] = { "never", PARQUET_TEXT, false },
};

/* Every third is NULL, in runs of different lengths. */
static bool is_null(unsigned long row, unsigned column)
{
	return (row / (1 + column)) % 3 == 0;
}

static void put_row(struct parquet *file, unsigned long row)
{
	static const char *const few[] = { "", "/planner", "Gr\303\266\303\237e", "broken \xff byte" };
	uint64_t counts[5];
	char many[128];

	parquet_i64(file, ID, (int64_t)row);
	if (!is_null(row, NUMBER))
		parquet_i64(file, NUMBER, (int64_t)row * -1000003);
	if (!is_null(row, UNSIGNED))
		parquet_i64(file, UNSIGNED, (int64_t)(UINT64_MAX - row));
	if (!is_null(row, REAL))
		parquet_f64(file, REAL, (double)row / 8 - 3);
	if (!is_null(row, FLAG))
		parquet_i64(file, FLAG, row % 5 == 0);
	if (row % 7)
		parquet_text(file, FEW, few[row % 4]);
	snprintf(many, sizeof(many), "text %lu of many, so many that no dictionary has room for them", row);
	if (!is_null(row, MANY))
		parquet_text(file, MANY, row % 1000 == 1 ? "" : many);
	for (unsigned i = 0; i < 5; i++)
		counts[i] = row * i;
	parquet_list(file, COUNTS, counts, row % 6 == 5 ? 0 : row % 6);
}

int main(int argc, char **argv)
{
	const unsigned long rows = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	FILE *out = argc == 3 ? fopen(argv[2], "we") : NULL;
	struct parquet *file = NULL;
	struct kymo_err err = { 0 };
	int rc = -1;

	if (!out) {
		fprintf(stderr, "usage: parquet_file ROWS FILE\n");
		return 2;
	}
	if (!parquet_create(&file, out, columns, sizeof(columns) / sizeof(*columns), "test", &err)) {
		for (unsigned long row = 0; row < rows && file; row++) {
			put_row(file, row);
			if (parquet_row(file, &err)) {
				parquet_drop(file);
				file = NULL;
			}
		}
		rc = file ? parquet_close(file, &err) : -1;
	}
	if (fclose(out) || rc) {
		fprintf(stderr, "parquet_file: %s\n", err.text);
		return 1;
	}
	return 0;
}
