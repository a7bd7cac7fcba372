/* SPDX-License-Identifier: Apache-2.0 */
/* The list of a spool's files (backlog.c), and the files (backlog_file.c). */
#ifndef KYMO_FLEET_BACKLOG_INTERNAL_H
#define KYMO_FLEET_BACKLOG_INTERNAL_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>

#include "fleet/push/backlog.h"

#define BACKLOG_DIRECTORY_MAX (PATH_MAX - 128) /* names of files have room behind it */

struct backlog {
	char directory[BACKLOG_DIRECTORY_MAX];
	uint64_t limit;
	int lock_fd;
	pthread_mutex_t lock; /* of all that follows */
	struct backlog_item *item;
	unsigned items, size;
	struct backlog_counts counts;
	int64_t last_ns;  /* the latest begin that was given */
	uint64_t repeats; /* begins that were not later than it */
};

char *backlog_path(const struct backlog *spool, const struct backlog_item *item, char path[PATH_MAX]);

/* One process at a time. Return: 0, or -1 with @err. */
int backlog_lock(struct backlog *spool, struct kymo_err *err);

/* Sets @item->bytes. Return: 0, or -1 with @err, which may be NULL. */
int backlog_write(struct backlog *spool, struct backlog_item *item, const struct window_source *of,
		const struct summary *summary, struct kymo_err *err);
/* Return: 0; -1: it is damaged or gone. */
int backlog_read(const struct backlog *spool, const struct backlog_item *item,
	       struct backlog_window *window);
bool backlog_same(const struct window_source *a, const struct window_source *b);

#endif
