/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See backlog.h: the list of files, and what happens at the limit.
 *
 * Beyond the limit the two oldest neighbours that lie in one piece of ten minutes become one file,
 * again and again; when there are none, those in one piece of an hour, and so on; in the end the
 * oldest file goes.
 *
 * The process may be killed at any moment, and no window may count twice. So the file `state`
 * (backlog_state.c) first says which files go and which one comes in their place; then that is
 * done; a process that begins does what was left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "fleet/push/backlog_internal.h"

#define MINUTE_NS 60000000000ll

/* What is merged into one, the finest first. */
static const int64_t levels_ns[] = { 10 * MINUTE_NS, 60 * MINUTE_NS, 360 * MINUTE_NS,
				     1440 * MINUTE_NS };

char *backlog_path(const struct backlog *spool, const struct backlog_item *item,
		   char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%020" PRId64 "-%" PRId64 "-%u-%u.kymo", spool->directory,
		 item->begin_ns, item->length_ns, item->windows, item->phase);
	return path;
}

/* ---- the list, in order of begin; the lock is held ---- */

static unsigned place_of(const struct backlog *spool, int64_t begin_ns)
{
	unsigned low = 0, high = spool->items;

	while (low < high) {
		const unsigned middle = low + (high - low) / 2;

		if (spool->item[middle].begin_ns < begin_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct backlog_item *find(const struct backlog *spool, const struct backlog_item *item)
{
	const unsigned at = place_of(spool, item->begin_ns);

	return at < spool->items && spool->item[at].begin_ns == item->begin_ns ? &spool->item[at]
									       : NULL;
}

static int insert(struct backlog *spool, const struct backlog_item *item)
{
	unsigned at;

	if (!ARRAY_ROOM(spool->item, spool->items, spool->size))
		return -1;
	at = place_of(spool, item->begin_ns);
	memmove(&spool->item[at + 1], &spool->item[at], (spool->items - at) * sizeof(*item));
	spool->item[at] = *item;
	spool->items++;
	spool->counts.waiting += item->windows;
	spool->counts.waiting_bytes += item->bytes;
	return 0;
}

/* The file, too. */
static void take_out(struct backlog *spool, unsigned at)
{
	const struct backlog_item item = spool->item[at];
	char path[PATH_MAX];

	(void)unlink(backlog_path(spool, &item, path));
	memmove(&spool->item[at], &spool->item[at + 1],
		(spool->items - at - 1) * sizeof(item));
	spool->items--;
	spool->counts.waiting -= item.windows;
	spool->counts.waiting_bytes -= item.bytes;
}

/* An earlier process was killed before these files were gone. */
static void finish_going(struct backlog *spool)
{
	char path[PATH_MAX];

	if (spool->goings == 2)
		(void)backlog_show(spool, &spool->coming);
	for (unsigned i = 0; i < spool->goings; i++)
		(void)unlink(backlog_path(spool, &spool->going[i], path));
	spool->goings = 0;
}

/* ---- at the limit ---- */

/* Return: 0; -1: they stay two. */
static int merge(struct backlog *spool, unsigned at)
{
	const struct backlog_item a = spool->item[at], b = spool->item[at + 1];
	struct backlog_item both = { .begin_ns = a.begin_ns,
				   .length_ns = b.begin_ns + b.length_ns - a.begin_ns,
				   .windows = a.windows + b.windows };
	struct backlog_window one = { 0 }, other = { 0 };
	int status = -1;

	if (!backlog_read(spool, &a, &one) && !backlog_read(spool, &b, &other) &&
	    backlog_same(&one.of, &other.of) && !summary_merge(one.summary, other.summary) &&
	    !backlog_write(spool, &both, &one.of, one.summary, true, NULL)) {
		spool->counts.merged += (a.windows == 1) + (b.windows == 1);
		spool->going[0] = a;
		spool->going[1] = b;
		spool->coming = both;
		spool->goings = 2;
		backlog_write_state(spool);
		(void)backlog_show(spool, &both);
		take_out(spool, at + 1);
		take_out(spool, at);
		status = insert(spool, &both);
		spool->goings = 0;
		backlog_write_state(spool);
	}
	backlog_unload(&one);
	backlog_unload(&other);
	return status;
}

/* The oldest two that are in one piece of @level_ns. Return: false: there are none. */
static bool merge_oldest(struct backlog *spool, int64_t level_ns)
{
	for (unsigned at = 0; at + 1 < spool->items; at++) {
		const struct backlog_item *a = &spool->item[at], *b = a + 1;

		if (!a->phase && !b->phase && a->begin_ns / level_ns == b->begin_ns / level_ns &&
		    b->begin_ns - a->begin_ns < level_ns && !merge(spool, at))
			return true;
	}
	return false;
}

/* How it ended is written down before the file goes. */
static void end_of(struct backlog *spool, unsigned at, uint64_t *count)
{
	*count += spool->item[at].windows;
	spool->going[0] = spool->item[at];
	spool->goings = 1;
	backlog_write_state(spool);
	take_out(spool, at);
	spool->goings = 0;
}

static void make_room(struct backlog *spool)
{
	unsigned level = 0;

	while (spool->limit && spool->items && spool->counts.waiting_bytes > spool->limit) {
		unsigned at = 0;

		if (level < COUNT_OF(levels_ns)) {
			level += !merge_oldest(spool, levels_ns[level]);
			continue;
		}
		if (spool->items > 1 && spool->item[0].phase)
			at = 1;
		end_of(spool, at, &spool->counts.dropped);
	}
}

/* ---- begins that were given; the lock is held ---- */

/* Parts of one window, or of one time after the clock was set back, are two windows. */
static int64_t begin_of(struct backlog *spool, int64_t begin_ns)
{
	if (begin_ns > spool->last_ns) {
		spool->last_ns = begin_ns;
	} else {
		do
			begin_ns += (int64_t)(++spool->repeats - 1) % 1000000 + 1;
		while (find(spool, &(struct backlog_item){ .begin_ns = begin_ns }));
	}
	return begin_ns;
}

/* ---- for the two threads ---- */

int backlog_put(struct backlog *spool, const struct window_source *of,
		const struct summary *summary, int64_t begin_ns, int64_t length_ns,
		struct kymo_err *err)
{
	struct backlog_item item = { .length_ns = length_ns, .windows = 1 };
	int status;

	pthread_mutex_lock(&spool->lock);
	item.begin_ns = begin_of(spool, begin_ns);
	spool->counts.put++;
	backlog_write_state(spool);
	status = backlog_write(spool, &item, of, summary, false, err);
	if (!status && insert(spool, &item))
		status = err_no_memory(err);
	if (status)
		spool->counts.dropped++;
	make_room(spool);
	backlog_write_state(spool);
	pthread_mutex_unlock(&spool->lock);
	return status;
}

bool backlog_after(struct backlog *spool, int64_t begin_ns, struct backlog_item *item)
{
	unsigned at;
	bool any;

	pthread_mutex_lock(&spool->lock);
	at = place_of(spool, begin_ns + 1);
	any = at < spool->items;
	if (any)
		*item = spool->item[at];
	pthread_mutex_unlock(&spool->lock);
	return any;
}

bool backlog_first(struct backlog *spool, struct backlog_item *item)
{
	return backlog_after(spool, INT64_MIN, item);
}

int backlog_phase(struct backlog *spool, struct backlog_item *item, unsigned phase)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct backlog_item *known;

	pthread_mutex_lock(&spool->lock);
	known = find(spool, item);
	if (known && known->windows != item->windows)
		known = NULL;
	if (known) {
		(void)backlog_path(spool, known, from);
		known->phase = item->phase = phase;
		(void)rename(from, backlog_path(spool, known, to));
	}
	pthread_mutex_unlock(&spool->lock);
	return known ? 0 : -1;
}

static void end(struct backlog *spool, const struct backlog_item *item, uint64_t *count)
{
	const struct backlog_item *known;

	pthread_mutex_lock(&spool->lock);
	known = find(spool, item);
	if (known)
		end_of(spool, (unsigned)(known - spool->item), count);
	pthread_mutex_unlock(&spool->lock);
}

int backlog_load(struct backlog *spool, const struct backlog_item *item,
		 struct backlog_window *window)
{
	if (!backlog_read(spool, item, window))
		return 0;
	pthread_mutex_lock(&spool->lock);
	spool->counts.damaged++;
	pthread_mutex_unlock(&spool->lock);
	end(spool, item, &spool->counts.dropped);
	return -1;
}

void backlog_done(struct backlog *spool, const struct backlog_item *item, bool refused)
{
	end(spool, item, refused ? &spool->counts.refused : &spool->counts.sent);
}

const char *backlog_directory(const struct backlog *spool)
{
	return spool->directory;
}

void backlog_counts(struct backlog *spool, struct backlog_counts *counts)
{
	pthread_mutex_lock(&spool->lock);
	*counts = spool->counts;
	pthread_mutex_unlock(&spool->lock);
}

/* ---- life cycle ---- */

static bool read_name(const char *name, struct backlog_item *item)
{
	int end = 0;

	return sscanf(name, "%20" SCNd64 "-%" SCNd64 "-%u-%u.kymo%n", &item->begin_ns,
		      &item->length_ns, &item->windows, &item->phase, &end) == 4 &&
	       end && !name[end] && item->begin_ns > 0 && item->length_ns > 0 && item->windows;
}

/* Of a process that was killed while it wrote. */
static bool is_aside(const char *name)
{
	const size_t length = strlen(name), tail = strlen(".kymo" BACKLOG_ASIDE);

	return length > tail && !strcmp(name + length - tail, ".kymo" BACKLOG_ASIDE);
}

static int read_directory(struct backlog *spool, struct kymo_err *err)
{
	DIR *directory = opendir(spool->directory);
	const struct dirent *entry;
	int status = 0;

	if (!directory)
		return err_set(err, KYMO_EXIT_FAILED, "cannot read the spool %s: %s",
			       spool->directory, strerror(errno));
	while (!status && (entry = readdir(directory)) != NULL) {
		struct backlog_item item = { 0 };
		struct stat file;

		if (is_aside(entry->d_name))
			(void)unlinkat(dirfd(directory), entry->d_name, 0);
		if (!read_name(entry->d_name, &item) ||
		    fstatat(dirfd(directory), entry->d_name, &file, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(file.st_mode))
			continue;
		item.bytes = (uint64_t)file.st_size;
		if (!find(spool, &item) && insert(spool, &item))
			status = err_no_memory(err);
	}
	(void)closedir(directory);
	return status;
}

int backlog_open(struct backlog **out, const char *directory, uint64_t limit, struct kymo_err *err)
{
	struct backlog *spool = calloc(1, sizeof(*spool));
	int status;

	if (!spool)
		return err_no_memory(err);
	spool->limit = limit;
	pthread_mutex_init(&spool->lock, NULL);
	snprintf(spool->directory, sizeof(spool->directory), "%s", directory);
	make_parents(directory);
	if (mkdir(directory, 0700) && errno != EEXIST)
		status = err_set(err, KYMO_EXIT_FAILED, "cannot create the spool %s: %s", directory,
				 strerror(errno));
	else
		status = backlog_lock(spool, err);
	if (!status) {
		backlog_read_state(spool);
		finish_going(spool);
		status = read_directory(spool, err);
	}
	if (status) {
		backlog_close(spool);
		return -1;
	}
	if (spool->items && spool->item[spool->items - 1].begin_ns > spool->last_ns)
		spool->last_ns = spool->item[spool->items - 1].begin_ns;
	make_room(spool);
	backlog_write_state(spool);
	*out = spool;
	return 0;
}

void backlog_close(struct backlog *spool)
{
	if (!spool)
		return;
	if (spool->lock_fd > 0)
		(void)close(spool->lock_fd);
	pthread_mutex_destroy(&spool->lock);
	free(spool->item);
	free(spool);
}
