/* SPDX-License-Identifier: Apache-2.0 */
/* When to read a growing trace directory again. See watch.h. */
#include "live/watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "ctf/format/lock.h"

#define FILES_NS	((int64_t)50000000)	/* between reads, without synchronisation points */
/* a recorder's threads write a packet at least as often */
#define HOLD_NS		((int64_t)200000000)
/* after this time without growth nothing is held back */
#define QUIET_NS	((int64_t)1000000000)
#define OLD_SECONDS 60 /* a trace whose files did not change for so long is complete */

enum kind { PLAIN, ALIVE, GONE };

/* The synchronisation point of trace @i, and whether its writer lives. */
static enum kind read_sync(const struct kymo_ctf_reader *reader, unsigned i, struct ctf_sync *sync)
{
	char path[4096];
	enum kind kind = PLAIN;
	int fd;

	if (snprintf(path, sizeof(path), "%s/" CTF_SYNC_NAME, kymo_ctf_trace(reader, i)->path) >= (int)sizeof(path))
		return PLAIN;
	fd = file_open(path);
	if (fd < 0)		/* a complete chunk is renamed, or removed */
		return access(kymo_ctf_trace(reader, i)->path, F_OK) < 0 ? GONE : PLAIN;
	/* First whether the writer lives: without a writer the last point is not needed. */
	if (ctf_sync_alive(fd) <= 0)
		kind = GONE;
	else if (ctf_sync_read(fd, sync) == 0)
		kind = ALIVE;
	(void)close(fd);
	return kind;
}

/* Is each file of trace @i older than a minute? A recorder that flushes seldom may still write to
 * it, so that is asked once. */
static bool is_old(const struct kymo_ctf_reader *reader, unsigned i)
{
	const time_t since = time(NULL) - OLD_SECONDS;
	const struct dirent *entry;
	bool old = true;
	DIR *dir = opendir(kymo_ctf_trace(reader, i)->path);
	struct stat st;

	if (!dir)
		return false;
	while (old && (entry = readdir(dir)))
		old = fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		      !S_ISREG(st.st_mode) || st.st_mtime < since;
	(void)closedir(dir);
	return old;
}

static unsigned count_old(const struct kymo_ctf_reader *reader)
{
	unsigned count = 0;

	while (count < kymo_ctf_trace_count(reader) && is_old(reader, count))
		count++;
	return count;
}

/*
 * The epoch of a time of the trace's clock; the streams of a trace share one clock. A trace without
 * event classes, such as ust/ of a recording without programs of ROS 2, has nothing to convert with
 * but its offset, which kymo's traces have in nanoseconds.
 */
static int64_t epoch_of(const struct kymo_ctf_reader *reader, unsigned trace, uint64_t clock)
{
	for (unsigned i = 0; i < kymo_ctf_class_count(reader); i++)
		if (kymo_ctf_class(reader, i)->trace == trace)
			return kymo_ctf_epoch(reader, trace,
					      kymo_ctf_class(reader, i)->stream_class, clock);
	return (int64_t)clock + kymo_ctf_trace(reader, trace)->clock_offset_ns;
}

static int64_t plain_until(const struct watch *watch, const struct kymo_ctf_reader *reader,
			   unsigned trace, int64_t now_ns)
{
	if (now_ns - watch->grown_ns > QUIET_NS)
		return INT64_MAX;
	return now_ns - HOLD_NS + kymo_ctf_trace(reader, trace)->clock_offset_ns;
}

#define ALIVE_BITS 64u

static void set_alive(struct watch *watch, unsigned trace, bool alive)
{
	const uint64_t bit = (uint64_t)1 << trace % ALIVE_BITS;

	watch->alive = alive ? watch->alive | bit : watch->alive & ~bit;
}

/* Whether each trace that the reader found since watch_check() is the next chunk of one that had a
 * writer and a point then: streams that existed at that point bring nothing from before it. */
static bool are_next_chunks(struct watch *watch, const struct kymo_ctf_reader *reader)
{
	bool all = true;

	for (unsigned i = watch->traces; i < kymo_ctf_trace_count(reader); i++) {
		const uint32_t before = reader_trace_before(reader, i);
		const bool alive = before != READER_NO_TRACE && i - before < ALIVE_BITS &&
				   watch->alive >> before % ALIVE_BITS & 1;

		set_alive(watch, i, alive);
		all = all && alive;
	}
	return all;
}

void watch_check(struct watch *watch, const struct kymo_ctf_reader *reader, int64_t now_ns)
{
	const unsigned traces = reader ? kymo_ctf_trace_count(reader) : 0;
	uint64_t points = 0;
	unsigned gone = watch->gone;

	watch->until = INT64_MAX;
	for (unsigned i = gone; i < traces; i++) {
		struct ctf_sync sync = { 0 };
		const enum kind kind = read_sync(reader, i, &sync);
		int64_t until = INT64_MAX;

		if (kind == ALIVE && sync.number)
			until = epoch_of(reader, i, sync.time - 1);
		else if (kind == ALIVE)
			until = INT64_MIN;
		else if (kind == PLAIN && watch->old != traces)
			until = plain_until(watch, reader, i, now_ns);
		set_alive(watch, i, kind == ALIVE && sync.number);
		if (until < watch->until)
			watch->until = until;
		points += sync.number;
		watch->gone += kind == GONE && i == watch->gone;
		gone += kind == GONE || (kind == PLAIN && watch->old == traces);
	}
	watch->over = traces && gone == traces && watch->begun;
	watch->due = watch->over || !watch->begun || points != watch->points ||
		     now_ns - watch->looked_ns >= FILES_NS;
	watch->points = points;
	watch->traces = traces;
}

void watch_done(struct watch *watch, const struct kymo_ctf_reader *reader, bool grew,
		int64_t now_ns)
{
	watch->looked_ns = now_ns;
	if (grew || !watch->begun)
		watch->grown_ns = now_ns;
	if (reader && !watch->begun)
		watch->old = count_old(reader);
	else if (grew)
		watch->old = 0;
	watch->begun = reader != NULL;
	if (!reader || kymo_ctf_trace_count(reader) != watch->traces) {
		if (!reader || !are_next_chunks(watch, reader))
			watch->until = INT64_MIN;
		watch->over = false;
	}
}

bool watch_alive(const struct kymo_ctf_reader *reader, const char *below)
{
	struct ctf_sync sync;

	for (unsigned i = 0; i < kymo_ctf_trace_count(reader); i++)
		if (strncmp(kymo_ctf_trace(reader, i)->path, below, strlen(below)) == 0 &&
		    read_sync(reader, i, &sync) == ALIVE)
			return true;
	return false;
}
