/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of times, and the two joins that build CARET's paths. A row is the path of one message, a
 * column is a place on it; 0 is a missing time.
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

/** records_add() - a new row of zeros. Return: NULL: out of memory. Context: allocates. */
int64_t *records_add(struct records *records);
void records_free(struct records *records);

/** records_sort() - by @column, missing values last; rows of equal values by their later
 * columns. */
void records_sort(struct records *records, unsigned column);

/**
 * records_join() - each row of @left with each row of @right that has the same value; other rows of
 * @left alone
 * @left_column, @right_column: the columns of that value; a missing value equals nothing
 * @out: has left->columns + right->columns - 1 columns: @right without @right_column
 *
 * Context: allocates; n log n.
 * Return: 0, or -ENOMEM.
 */
int records_join(const struct records *left, unsigned left_column, const struct records *right,
		 unsigned right_column, struct records *out);

/**
 * records_follow() - join each row of @right with the last row of @left that is not after it
 * @left_stamp, @right_stamp: the columns of their times; a row without one is not joined
 * @left_key, @right_key: columns that must also be equal; -1: none
 * @every: a row of @left is joined with all of its rows of @right; else only with the first one
 * @out: has left->columns + right->columns columns; rows of @left without one of @right stay alone,
 *	rows of @right without one of @left are left out
 *
 * Context: allocates; n log n.
 * Return: 0, or -ENOMEM.
 */
int records_follow(const struct records *left, unsigned left_stamp, int left_key,
		   const struct records *right, unsigned right_stamp, int right_key, bool every,
		   struct records *out);

/** records_follow_in() - records_follow() by time alone, from column 0 of @right; @left becomes the
 * result. */
int records_follow_in(struct records *left, unsigned left_stamp, const struct records *right,
		      bool every);

/**
 * records_first() - a binary search in a sorted array
 * @size: of an item, in bytes; each begins with an int64_t
 *
 * Return: index of the first item whose number is @value or more; @count: there is none.
 */
size_t records_first(const void *items, size_t count, size_t size, int64_t value);

/** records_drop() - remove column @column. */
void records_drop(struct records *records, unsigned column);

#endif
