/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary as a small file: JSON, compressed as gzip does it, so that `zcat FILE | python3 -m
 * json.tool` shows it. docs/answers/summary.md describes the members.
 *
 * Histograms are written with their coarse buckets: counts, sums, minimum and maximum stay exact, a
 * quantile is within 3.2 % afterwards (those of SUMMARY_QUANTILES are exact), and there is no
 * deviation. One worst instance is kept. So an entity takes about a hundred bytes. Histograms and
 * counters of files that are read and merged equal those of a file of the whole.
 */
#ifndef KYMO_SUMMARY_FILE_H
#define KYMO_SUMMARY_FILE_H

#include "base/err.h"
#include "base/json_text.h"
#include "summary/summary.h"

/**
 * summary_write() - write @summary to the file @path, which is replaced when all is written
 *
 * Context: blocks. Return: 0, or -1 with @err.
 */
int summary_write(const struct summary *summary, const char *path, struct kymo_err *err);

/**
 * summary_read() - read a file of summary_write()
 * @summary: set to what summary_free() frees
 *
 * The file is not trusted. Context: blocks. Return: 0, or -1 with @err (KYMO_EXIT_INPUT).
 */
int summary_read(struct summary **summary, const char *path, struct kymo_err *err);

/**
 * summary_put_exact() - @summary as JSON that summary_get_exact() reads back without any
 * difference: with the fine buckets of its histograms, their deviation, and all of the worst
 * instances
 *
 * For what is kept between two commands of the same kymo, not for files that users keep.
 * Return: text to be freed, with its @size; NULL without memory.
 */
char *summary_put_exact(const struct summary *summary, size_t *size);

/** summary_get_exact() - back from summary_put_exact(). The text is not trusted. Return: NULL: it
 * is not one, or no memory. */
struct summary *summary_get_exact(const char *text);

/** summary_is_file() - is @path a file that begins as a summary does? Context: blocks. */
bool summary_is_file(const char *path);

/** summary_put_buckets() - the coarse buckets of @histogram, which has values, as the member
 * "buckets" of @json: [bucket, count, distance to the next bucket, count, ...]. Context: allocates.
 */
void summary_put_buckets(struct json_text *json, const struct histogram *histogram);

/** summary_put_part() - the members of @json that say what a part of an instance is and how long it
 * took: "what", "who", "by", "group", "assumed", "ns". Context: allocates. */
void summary_put_part(struct json_text *json, const struct summary_part *part);

/** summary_put_culprits() - the member "culprits" of @json, or nothing. @worst: the key of how long
 * each took at most. Context: allocates. */
void summary_put_culprits(struct json_text *json, const struct summary_entity *entity,
			  const char *worst);

#endif
