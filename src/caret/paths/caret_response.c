/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Response times of a path's rows, in four cases; see docs/caret.md for the definitions. First each
 * row gets the output that it ended in; rows that did not reach the end belong to the next output.
 * Then each case chooses, for each output, the input that the response is counted from.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "caret/paths/caret_internal.h"
#include "base/map.h"
#include "base/order.h"

/* An input, and its output. */
struct entry {
	int64_t start_ns, end_ns;
	size_t row;
};

struct entries {
	struct entry *entry;		/* sorted by start */
	size_t count;
};

static bool is_reversed(const int64_t *row, unsigned columns, bool everywhere)
{
	if (!everywhere)
		return row[0] && row[columns - 1] && row[0] > row[columns - 1];
	for (unsigned i = 0; i + 1 < columns; i++)
		if (row[i] && row[i + 1] && row[i] > row[i + 1])
			return true;
	return false;
}

static size_t without_end(struct entry *entry, size_t count, int64_t end_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (entry[i].end_ns != end_ns)
			entry[kept++] = entry[i];
	return kept;
}

/*
 * From the last row to the first: a row without an end was overtaken, so the earliest later output
 * counts for it. Inputs of the very first output have no earlier input to compare with.
 * @everywhere: leave out rows in which any two neighbouring times are in the wrong order, not only
 * the ends.
 */
static int entries_of(const struct records *records, bool everywhere, struct entries *entries,
		      size_t *reversed)
{
	unsigned last = records->columns - 1;
	int64_t least = INT64_MAX;
	struct entry *entry = malloc((records->rows + 1) * sizeof(*entry));
	size_t count = 0;

	if (!entry)
		return -ENOMEM;
	*reversed = 0;
	for (size_t i = records->rows; i-- > 0;) {
		const int64_t *row = records_row(records, i);
		int64_t end_ns = row[last] ? row[last] : least;

		if (end_ns == INT64_MAX || !row[0])
			continue;
		if (is_reversed(row, records->columns, everywhere)) {
			(*reversed)++;
			continue;
		}
		/* Rows are sorted by start, so rows with one start are neighbours. */
		if (!count || entry[count - 1].start_ns != row[0])
			entry[count++] = (struct entry){ row[0], end_ns, i };
		else if (end_ns < entry[count - 1].end_ns)
			entry[count - 1] = (struct entry){ row[0], end_ns, i };
		if (end_ns < least)
			least = end_ns;
	}
	count = without_end(entry, count, least);
	for (size_t i = 0; i < count / 2; i++) {
		struct entry swap = entry[i];

		entry[i] = entry[count - 1 - i];
		entry[count - 1 - i] = swap;
	}
	*entries = (struct entries){ entry, count };
	return 0;
}

/* ---- the four cases ---- */

static int by_start(const void *a, const void *b)
{
	const struct caret_response *x = a, *y = b;

	return ORDER(x->start_ns, y->start_ns) ?: ORDER(x->value_ns, y->value_ns);
}

/*
 * A response for each output: of its latest input (best) or its earliest one. Entries are sorted by
 * start, so the earliest one comes first.
 */
static int per_output(struct caret_path *path, const struct entries *entries, enum caret_case which)
{
	struct caret_response *response = path->response[which];
	size_t from = which == CARET_WORST_WITH_EXTERNAL, count = 0;
	struct map seen = MAP_INIT;
	int rc = 0;

	for (size_t i = from; !rc && i < entries->count; i++) {
		const struct entry *entry = &entries->entry[i];
		struct caret_response *known = map_get(&seen, (uint64_t)entry->end_ns, 0);
		int64_t start_ns = from ? entry[-1].start_ns : entry->start_ns;

		if (known && which != CARET_BEST)
			continue;
		if (!known) {
			known = &response[count++];
			rc = map_put(&seen, (uint64_t)entry->end_ns, 0, known);
		}
		*known = (struct caret_response){ start_ns, entry->end_ns - start_ns };
	}
	map_free(&seen);
	qsort(response, count, sizeof(*response), by_start);
	path->count[which] = count;
	return rc;
}

static int responses(struct caret_path *path, const struct entries *entries)
{
	int rc = 0;

	for (unsigned i = 0; i < CARET_CASES; i++) {
		path->response[i] = calloc(entries->count + 1, sizeof(*path->response[i]));
		if (!path->response[i])
			return -ENOMEM;
	}
	for (size_t i = 0; i < entries->count; i++) {
		const struct entry *entry = &entries->entry[i];

		path->response[CARET_ALL][i] =
			(struct caret_response){ entry->start_ns, entry->end_ns - entry->start_ns };
	}
	path->count[CARET_ALL] = entries->count;
	for (unsigned i = CARET_BEST; !rc && i < CARET_CASES; i++)
		rc = per_output(path, entries, i);
	return rc;
}

/* ---- stacks: in which parts of the path a response was spent ---- */

/* Rows with one output are neighbours. Return: the index behind the last of them, from @first
 * on. */
static size_t group_end(const struct records *records, const struct entries *entries, size_t first)
{
	unsigned last = records->columns - 1;
	int64_t end_ns = 0;
	size_t i;

	/* A row without an end belongs to the next row with one. */
	for (i = first; i < entries->count; i++) {
		int64_t mine = records_row(records, entries->entry[i].row)[last];

		if (mine && end_ns && mine != end_ns)
			break;
		if (!mine && end_ns)
			break;
		if (mine)
			end_ns = mine;
	}
	return i;
}

/* "all": each row, with missing times from the rows after it; "worst": the earliest of all. */
static int stack_group(struct caret_path *path, const struct entries *entries, size_t first,
		       size_t end)
{
	unsigned columns = path->records.columns;
	int64_t *least = records_add(&path->stack[CARET_WORST]);

	if (!least)
		return -ENOMEM;
	for (size_t i = end; i-- > first;) {
		const int64_t *row = records_row(&path->records, entries->entry[i].row);
		int64_t *filled = records_add(&path->stack[CARET_ALL]);

		if (!filled)
			return -ENOMEM;
		for (unsigned c = 0; c < columns; c++) {
			filled[c] = row[c] ? row[c] : least[c];
			if (row[c] && (!least[c] || row[c] < least[c]))
				least[c] = row[c];
		}
	}
	return 0;
}

/* The rows with an end: for each output the one that begins latest. Sorted by output. */
static int latest_rows(const struct records *records, struct records *out)
{
	unsigned last = records->columns - 1;
	struct map seen = MAP_INIT;
	int rc = 0;

	out->columns = records->columns;
	for (size_t i = 0; !rc && i < records->rows; i++) {
		const int64_t *row = records_row(records, i);
		bool whole = true;
		size_t at;
		int64_t *kept;

		for (unsigned c = 0; c < records->columns; c++)
			whole &= row[c] != 0;
		if (!whole || is_reversed(row, records->columns, true))
			continue;
		at = (size_t)(uintptr_t)map_get(&seen, (uint64_t)row[last], 0);
		if (at && records_row(out, at - 1)[0] >= row[0])
			continue;
		kept = at ? records_row(out, at - 1) : records_add(out);
		if (!kept)
			rc = -ENOMEM;
		else
			memcpy(kept, row, records->columns * sizeof(*row));
		if (!rc && !at)
			rc = map_put(&seen, (uint64_t)row[last], 0, (void *)(uintptr_t)out->rows);
	}
	map_free(&seen);
	records_sort(out, last);
	return rc;
}

static int stack_best(struct caret_path *path)
{
	struct records *best = &path->stack[CARET_BEST];
	struct records *external = &path->stack[CARET_WORST_WITH_EXTERNAL];
	struct records latest = { .columns = path->records.columns };
	int rc = latest_rows(&path->records, &latest);
	int64_t before_ns = INT64_MAX;

	for (size_t i = 0; i < latest.rows; i++)
		if (records_row(&latest, i)[0] < before_ns)
			before_ns = records_row(&latest, i)[0];
	for (size_t i = 0; !rc && i < latest.rows; i++) {
		const int64_t *row = records_row(&latest, i);
		int64_t from_ns = before_ns, *to, *split;

		/* An output without a new input since the output before is no new response. */
		before_ns = row[0];
		if (row[0] <= from_ns)
			continue;
		to = records_add(best);
		split = records_add(external);
		if (!to || !split) {
			rc = -ENOMEM;
			break;
		}
		memcpy(to, row, latest.columns * sizeof(*row));
		split[0] = from_ns;
		memcpy(split + 1, row, latest.columns * sizeof(*row));
	}
	records_free(&latest);
	return rc;
}

static int stacks(struct caret_path *path, const struct entries *entries)
{
	int rc = 0;

	for (unsigned i = 0; i < CARET_CASES; i++)
		path->stack[i].columns = path->records.columns + (i == CARET_WORST_WITH_EXTERNAL);
	for (size_t i = 0, end; !rc && i < entries->count; i = end) {
		end = group_end(&path->records, entries, i);
		rc = stack_group(path, entries, i, end);
	}
	if (!rc)
		rc = stack_best(path);
	for (unsigned i = 0; i < CARET_CASES; i++)
		records_sort(&path->stack[i], 0);
	return rc;
}

int caret_response_build(struct caret_path *path)
{
	struct entries entries = { NULL, 0 };
	size_t ignored;
	int rc;

	if (path->problem || !path->records.rows)
		return 0;
	rc = entries_of(&path->records, false, &entries, &path->reversed);
	if (!rc)
		rc = responses(path, &entries);
	free(entries.entry);
	if (rc)
		return rc;
	rc = entries_of(&path->records, true, &entries, &ignored);
	if (!rc)
		rc = stacks(path, &entries);
	free(entries.entry);
	return rc;
}
