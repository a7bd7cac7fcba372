/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of times, and the two joins that CARET's paths are made of. A row is one message's way, a
 * column one place on it; 0 is a time that is missing.
 */
#ifndef KYMO_ANALYSIS_RECORDS_H
#define KYMO_ANALYSIS_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct records {
	unsigned columns;
	size_t rows, room;
	int64_t *value;			/* rows * columns */
};

/** records_row() - row @row of @records. */
static inline int64_t *records_row(const struct records *records, size_t row)
{
	return records->value + row * records->columns;
}

/** records_add() - a new row, zeroed. Return: NULL without memory. Context: allocates. */
int64_t *records_add(struct records *records);
void records_free(struct records *records);

/** records_sort() - by column @column, missing ones last; of equals the order of the rows after it. */
void records_sort(struct records *records, unsigned column);

/**
 * records_join() - each row of @left with each row of @right of equal value, else alone
 * @left_column, @right_column: what must be equal; a missing value equals nothing
 * @out: of left->columns + right->columns - 1 columns: the right one's without @right_column
 *
 * Context: allocates; n log n.
 * Return: 0, or -ENOMEM.
 */
int records_join(const struct records *left, unsigned left_column, const struct records *right,
		 unsigned right_column, struct records *out);

/**
 * records_follow() - each row of @right belongs to the last row of @left that is not after it
 * @left_stamp, @right_stamp: the columns that order them; a row without is left alone
 * @left_key, @right_key: columns that must be equal, too; -1: none
 * @every: a row of @left meets all of its rows of @right; else only the first
 * @out: of left->columns + right->columns columns; rows of @left without one of @right stand alone,
 *	rows of @right without one of @left are left out
 *
 * Context: allocates; n log n.
 * Return: 0, or -ENOMEM.
 */
int records_follow(const struct records *left, unsigned left_stamp, int left_key,
		   const struct records *right, unsigned right_stamp, int right_key, bool every,
		   struct records *out);

/** records_drop() - remove column @column. */
void records_drop(struct records *records, unsigned column);

#endif
