/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that SQLite lacks: percentile, median, standard deviation, times for people. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/text.h"
#include "query/query_internal.h"

/*
 * ---- percentile(x, p), median(x): exact, interpolated between neighbours; 8 bytes a value ----
 *
 * Of n sorted values, percentile p is at p / 100 * (n - 1), from 0 (Hyndman and Fan 1996, type 7).
 */

struct values {
	double *value;
	size_t count, capacity;
	double percent;
	bool failed;
};

static void fail(sqlite3_context *context, struct values *values, const char *why)
{
	values->failed = true;
	free(values->value);
	values->value = NULL;
	if (why)
		sqlite3_result_error(context, why, -1);
	else
		sqlite3_result_error_nomem(context);
}

static void percentile_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct values *values = sqlite3_aggregate_context(context, sizeof(*values));
	double percent = 50;

	if (!values) {
		sqlite3_result_error_nomem(context);
		return;
	}
	if (values->failed)
		return;
	if (argc > 1) {
		percent = sqlite3_value_double(argv[1]);
		if (sqlite3_value_numeric_type(argv[1]) == SQLITE_NULL ||
		    !(percent >= 0 && percent <= 100)) {
			fail(context, values, "percentile(x, p): p must be a number from 0 to 100");
			return;
		}
		if (values->count && percent != values->percent) {
			fail(context, values, "percentile(x, p): p must be the same for all rows");
			return;
		}
	}
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	if (!ARRAY_ROOM(values->value, values->count, values->capacity)) {
		fail(context, values, NULL);
		return;
	}
	values->percent = percent;
	values->value[values->count++] = sqlite3_value_double(argv[0]);
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void percentile_final(sqlite3_context *context)
{
	struct values *values = sqlite3_aggregate_context(context, 0);
	double at, low;
	size_t index;

	if (!values || values->failed)
		return;
	if (values->count) {
		qsort(values->value, values->count, sizeof(*values->value), compare);
		at = values->percent / 100 * (double)(values->count - 1);
		index = (size_t)at;
		low = values->value[index];
		if (index + 1 < values->count)
			low += (values->value[index + 1] - low) * (at - (double)index);
		sqlite3_result_double(context, low);
	}
	free(values->value);
}

/* ---- stddev(x): of a sample, n - 1; each value updates mean and squares (Welford 1962) ---- */

struct spread {
	uint64_t count;
	double mean, squares;
};

static void stddev_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct spread *spread = sqlite3_aggregate_context(context, sizeof(*spread));
	double value, from_mean;

	(void)argc;
	if (!spread) {
		sqlite3_result_error_nomem(context);
		return;
	}
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	value = sqlite3_value_double(argv[0]);
	from_mean = value - spread->mean;
	spread->mean += from_mean / (double)++spread->count;
	spread->squares += from_mean * (value - spread->mean);
}

static void stddev_final(sqlite3_context *context)
{
	struct spread *spread = sqlite3_aggregate_context(context, 0);

	if (spread && spread->count > 1)
		sqlite3_result_double(context, sqrt(spread->squares / (double)(spread->count - 1)));
}

/* ---- for people ---- */

static void ns_to_text(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	char text[TEXT_QUANTITY_MAX];

	(void)argc;
	if (sqlite3_value_type(argv[0]) != SQLITE_NULL)
		sqlite3_result_text(context, text_ns(text, sqlite3_value_int64(argv[0])), -1,
				    SQLITE_TRANSIENT);
}

static void time_to_text(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	int64_t ns = sqlite3_value_int64(argv[0]);
	time_t second = ns / 1000000000;
	size_t used;
	char text[64];
	struct tm tm;

	(void)argc;
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL || ns < 0 || !localtime_r(&second, &tm))
		return;
	used = strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(text + used, sizeof(text) - used, ".%09lld", (long long)(ns % 1000000000));
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

int query_register_functions(sqlite3 *db)
{
	static const struct {
		const char *name;
		int argc;
		void (*scalar)(sqlite3_context *context, int argc, sqlite3_value **argv);
		void (*step)(sqlite3_context *context, int argc, sqlite3_value **argv);
		void (*final)(sqlite3_context *context);
	} functions[] = {
		{ "percentile", 2, NULL, percentile_step, percentile_final },
		{ "median", 1, NULL, percentile_step, percentile_final },
		{ "stddev", 1, NULL, stddev_step, stddev_final },
		{ "ns_to_text", 1, ns_to_text, NULL, NULL },
		{ "time_to_text", 1, time_to_text, NULL, NULL },
	};
	int status = SQLITE_OK;

	for (size_t i = 0; i < COUNT_OF(functions) && !status; i++)
		status = sqlite3_create_function(
			db, functions[i].name, functions[i].argc,
			SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
			functions[i].scalar, functions[i].step, functions[i].final);
	return status;
}
