/* SPDX-License-Identifier: Apache-2.0 */
/* The bars of `kymo why`: all of an instance on one scale. */
#include "report/why/report_why_internal.h"

/* Of a terminal, so much is for names and times; what is left is for the bar. */
#define OTHERS_WIDTH 64

static int width_for(const struct table *table)
{
	const int left = (int)table_looks(table)->width - OTHERS_WIDTH;

	if (!table_looks(table)->width || left > WHY_BAR_MAX)
		return WHY_BAR_MAX;
	return left < WHY_BAR_MIN ? WHY_BAR_MIN : left;
}

/* The column of a time; damaged times may be anywhere. */
static int column_of(int64_t ns, int64_t total_ns, int width)
{
	const double at = (double)ns * width / (double)(total_ns > 0 ? total_ns : 1);

	return at < 0 ? 0 : at > width ? width : (int)at;
}

const char *why_bar(const struct table *table, int64_t begin_ns, int64_t ns, int64_t total_ns,
		    char buffer[WHY_BAR_MAX + 1])
{
	const int width = width_for(table), marks = column_of(ns, total_ns, width);
	int from = column_of(begin_ns, total_ns, width), to, i;

	from = from >= width ? width - 1 : from;
	to = from + (marks < 1 ? 1 : marks);
	to = to > width ? width : to;
	for (i = 0; i < to; i++)
		buffer[i] = i < from ? ' ' : '#';
	buffer[i] = '\0';
	return buffer;
}
