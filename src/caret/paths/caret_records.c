/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of times and their joins; see caret_records.h. Joins sort both sides and walk through them
 * together. */
#include "caret/paths/caret_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/order.h"

int64_t *records_add(struct records *records)
{
	if (records->rows == records->room) {
		void *larger = array_fit(records->value, records->rows + 1, &records->room,
					 records->columns * sizeof(int64_t));

		if (!larger)
			return NULL;
		records->value = larger;
	}
	memset(records_row(records, records->rows), 0, records->columns * sizeof(int64_t));
	return records_row(records, records->rows++);
}

void records_free(struct records *records)
{
	free(records->value);
	*records = (struct records){ .columns = records->columns };
}

struct records_order {
	unsigned columns, column;
};

static int compare(const void *a, const void *b, void *context)
{
	const struct records_order *order = context;
	const int64_t *x = a, *y = b;

	for (unsigned i = order->column; i < order->columns; i++) {
		if (x[i] == y[i])
			continue;
		if (!x[i] || !y[i])
			return x[i] ? -1 : 1;
		return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

void records_sort(struct records *records, unsigned column)
{
	struct records_order order = { records->columns, column };

	if (records->rows > 1)
		qsort_r(records->value, records->rows, records->columns * sizeof(int64_t), compare,
			&order);
}

/* ---- rows sorted by a value ---- */

struct key {
	int64_t value;
	size_t row;
};

static int by_value(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return ORDER(x->value, y->value) ?: ORDER(x->row, y->row);
}

/* The rows that have @column, sorted by it. Return: NULL: out of memory. */
static struct key *ordered(const struct records *records, unsigned column, size_t *count)
{
	struct key *keys = malloc((records->rows + 1) * sizeof(*keys));

	*count = 0;
	for (size_t i = 0; keys && i < records->rows; i++)
		if (records_row(records, i)[column])
			keys[(*count)++] = (struct key){ records_row(records, i)[column], i };
	if (keys)
		qsort(keys, *count, sizeof(*keys), by_value);
	return keys;
}

size_t records_first(const void *items, size_t count, size_t size, int64_t value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (*(const int64_t *)(const void *)((const char *)items + middle * size) < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- joins ---- */

/* @skip: a column of @right to leave out; UINT_MAX: none. */
static int put(struct records *out, const struct records *left, size_t left_row,
	       const struct records *right, const int64_t *right_row, unsigned skip)
{
	int64_t *row = records_add(out);
	unsigned at = left->columns;

	if (!row)
		return -ENOMEM;
	memcpy(row, records_row(left, left_row), left->columns * sizeof(*row));
	for (unsigned i = 0; right_row && i < right->columns; i++)
		if (i != skip)
			row[at++] = right_row[i];
	return 0;
}

int records_join(const struct records *left, unsigned left_column, const struct records *right,
		 unsigned right_column, struct records *out)
{
	struct key *keys;
	size_t count;
	int rc = 0;

	*out = (struct records){ .columns = left->columns + right->columns - 1 };
	keys = ordered(right, right_column, &count);
	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < left->rows; i++) {
		int64_t value = records_row(left, i)[left_column];
		size_t at = value ? records_first(keys, count, sizeof(*keys), value) : count;

		if (at == count || keys[at].value != value)
			rc = put(out, left, i, right, NULL, right_column);
		for (; !rc && at < count && keys[at].value == value; at++)
			rc = put(out, left, i, right, records_row(right, keys[at].row),
				 right_column);
	}
	free(keys);
	return rc;
}

/* Each row of @right, in the order of stamps, with its row of @left; then sorted by left row. */
struct pair {
	size_t left, right;
};

static int by_left(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return ORDER(x->left, y->left) ?: ORDER(x->right, y->right);
}

static int pair_up(const struct records *left, const struct key *lefts, size_t left_count,
		   int left_key, const struct records *right, const struct key *rights,
		   size_t right_count, int right_key, struct pair *pairs, size_t *count)
{
	struct map current = MAP_INIT;
	size_t l = 0;
	int rc = 0;

	*count = 0;
	for (size_t r = 0; !rc && r < right_count; r++) {
		const int64_t *row = records_row(right, rights[r].row);
		const struct key *mine;

		/* With equal stamps the left row comes first. */
		for (; !rc && l < left_count && lefts[l].value <= rights[r].value; l++)
			rc = map_put(&current,
				     left_key < 0
					     ? 0
					     : (uint64_t)records_row(left, lefts[l].row)[left_key],
				     0, (void *)&lefts[l]);
		mine = map_get(&current, right_key < 0 ? 0 : (uint64_t)row[right_key], 0);
		if (mine)
			pairs[(*count)++] = (struct pair){ mine->row, r };
	}
	map_free(&current);
	qsort(pairs, *count, sizeof(*pairs), by_left);
	return rc;
}

int records_follow(const struct records *left, unsigned left_stamp, int left_key,
		   const struct records *right, unsigned right_stamp, int right_key, bool every,
		   struct records *out)
{
	size_t left_count, right_count, count = 0, at = 0;
	struct key *lefts = ordered(left, left_stamp, &left_count);
	struct key *rights = ordered(right, right_stamp, &right_count);
	struct pair *pairs = malloc((right->rows + 1) * sizeof(*pairs));
	int rc = -ENOMEM;

	*out = (struct records){ .columns = left->columns + right->columns };
	if (lefts && rights && pairs)
		rc = pair_up(left, lefts, left_count, left_key, right, rights, right_count,
			     right_key, pairs, &count);
	for (size_t i = 0; !rc && i < left->rows; i++) {
		bool alone = at == count || pairs[at].left != i;

		if (alone)
			rc = put(out, left, i, right, NULL, UINT32_MAX);
		for (bool one = true; !rc && at < count && pairs[at].left == i; at++, one = false)
			if (every || one)
				rc = put(out, left, i, right,
					 records_row(right, rights[pairs[at].right].row),
					 UINT32_MAX);
	}
	free(lefts);
	free(rights);
	free(pairs);
	return rc;
}

int records_follow_in(struct records *left, unsigned left_stamp, const struct records *right,
		      bool every)
{
	struct records out;
	int rc = records_follow(left, left_stamp, -1, right, 0, -1, every, &out);

	records_free(left);
	*left = out;
	return rc;
}

void records_drop(struct records *records, unsigned column)
{
	int64_t *to = records->value;

	for (size_t i = 0; i < records->rows; i++)
		for (unsigned c = 0; c < records->columns; c++)
			if (c != column)
				*to++ = records->value[i * records->columns + c];
	records->columns--;
	records->room = records->rows;
}
