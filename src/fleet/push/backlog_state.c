/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See backlog.h: the file `state`, what is known of windows that are gone.
 *
 *   1790000000000000000 0                          the last begin, and how often begins were alike
 *   12 3 0 9 0 0                                   put, merged, dropped, sent, refused, damaged
 *   going 1790000000000000000 60000000000 1 0      while files are replaced: those that go,
 *   coming 1790000000000000000 120000000000 2 0    and the one in their place
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "fleet/push/backlog_internal.h"

static bool read_item(FILE *file, const char *word, struct backlog_item *item)
{
	char found[8];

	return fscanf(file, "%7s %" SCNd64 " %" SCNd64 " %u %u", found, &item->begin_ns, &item->length_ns,
		      &item->windows, &item->phase) == 5 &&
	       !strcmp(found, word);
}

static void put_item(FILE *file, const char *word, const struct backlog_item *item)
{
	fprintf(file, "%s %" PRId64 " %" PRId64 " %u %u\n", word, item->begin_ns, item->length_ns,
		item->windows, item->phase);
}

void backlog_read_state(struct backlog *spool)
{
	struct backlog_counts *counts = &spool->counts;
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/state", spool->directory);
	file = fopen(path, "re");
	spool->last_ns = 0;
	spool->repeats = 0;
	if (!file)
		return;
	if (fscanf(file, "%" SCNd64 " %" SCNu64, &spool->last_ns, &spool->repeats) != 2)
		spool->repeats = 0;
	else if (fscanf(file,
			"%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
			&counts->put, &counts->merged, &counts->dropped, &counts->sent,
			&counts->refused, &counts->damaged) != 6)
		counts->put = counts->merged = 0; /* of a kymo that did not write them */
	while (spool->goings < COUNT_OF(spool->going) && read_item(file, "going", &spool->going[spool->goings]))
		spool->goings++;
	if (spool->goings == 2 && !read_item(file, "coming", &spool->coming))
		spool->goings = 0;
	(void)fclose(file);
}

static int put_state(const struct backlog *spool, FILE *file)
{
	const struct backlog_counts *counts = &spool->counts;

	fprintf(file,
		"%" PRId64 " %" PRIu64 "\n%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %" PRIu64 "\n",
		spool->last_ns, spool->repeats, counts->put, counts->merged, counts->dropped,
		counts->sent, counts->refused, counts->damaged);
	for (unsigned i = 0; i < spool->goings; i++)
		put_item(file, "going", &spool->going[i]);
	if (spool->goings == 2)
		put_item(file, "coming", &spool->coming);
	return fflush(file) || ftruncate(fileno(file), ftell(file)) ? -1 : 0;
}

/* A full disk has no room for another file, but for the same one. */
void backlog_write_state(const struct backlog *spool)
{
	char path[PATH_MAX], next[PATH_MAX];
	FILE *file;
	int status = -1;

	snprintf(path, sizeof(path), "%s/state", spool->directory);
	snprintf(next, sizeof(next), "%s/state.new", spool->directory);
	file = fopen(next, "we");
	if (file) {
		status = put_state(spool, file);
		status |= fclose(file);
	}
	if (!status && !rename(next, path))
		return;
	(void)unlink(next);
	file = fopen(path, "r+e");
	if (!file)
		return;
	(void)put_state(spool, file);
	(void)fclose(file);
}
