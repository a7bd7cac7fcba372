/* SPDX-License-Identifier: Apache-2.0 */
/* The list of a spool's files (backlog.c), the files (backlog_file.c), and what is known of those
 * that are gone (backlog_state.c). */
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
	/* What is being done, for the next process if this one is killed: files that go, because
	 * they were merged or their end was counted, and the file that both become. */
	struct backlog_item going[2], coming;
	unsigned goings; /* two: there is one that comes */
	int64_t last_ns;  /* the latest begin that was given */
	uint64_t repeats; /* begins that were not later than it */
};

char *backlog_path(const struct backlog *spool, const struct backlog_item *item,
		   char path[PATH_MAX]);

/* One process at a time. Return: 0, or -1 with @err. */
int backlog_lock(struct backlog *spool, struct kymo_err *err);

#define BACKLOG_ASIDE ".new" /* behind the name of a file that is not one of the list yet */

/* Sets @item->bytes. @aside: until backlog_show(). Return: 0, or -1 with @err (or NULL). */
int backlog_write(struct backlog *spool, struct backlog_item *item, const struct window_source *of,
		  const struct summary *summary, bool aside, struct kymo_err *err);
/* Return: 0; -1: there is none. */
int backlog_show(const struct backlog *spool, const struct backlog_item *item);
/* Return: 0; -1: it is damaged or gone. */
int backlog_read(const struct backlog *spool, const struct backlog_item *item,
	       struct backlog_window *window);
/* Of a new spool: the file `state`, if there is one. */
void backlog_read_state(struct backlog *spool);
/* What does not fit a full disk is not written. */
void backlog_write_state(const struct backlog *spool);

bool backlog_same(const struct window_source *a, const struct window_source *b);

#endif
