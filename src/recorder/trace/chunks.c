/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of complete chunks, and how they stay below max_size.
 *
 * Between two calls of chunks_bound() the present chunk grows. So the oldest chunks are removed
 * already when the limit would be passed if it grew once more by as much as it ever did. A chunk is
 * renamed to a hidden name before it is removed, so that a reader finds all of it or nothing.
 *
 * Users may remove chunks, too. They are looked for only when the mtime of the directory has
 * changed; a recent mtime may hide a later change, so it is not remembered.
 */
#include "recorder/trace/chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "base/array.h"
#include "recorder/trace/packer.h"
#include "recorder/trace/trace_dir.h"

#define NS 1000000000u

/* Return: a descriptor of DIRECTORY/archives; -errno. */
static int open_archives(const char *directory)
{
	char path[PATH_MAX + 16];
	int fd;

	(void)snprintf(path, sizeof path, "%s/archives", directory);
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int chunks_open(struct chunks *chunks, const char *directory, const struct sink_files *files)
{
	int fd;

	chunks->files = *files;
	if (files->max_size && !files->rotate_size)
		chunks->files.rotate_size = files->max_size / SINK_FILES_CHUNKS;
	fd = open_archives(directory);
	if (fd < 0)
		return fd;
	chunks->dir = fd;
	return 0;
}

int chunks_again(struct chunks *chunks, const char *directory)
{
	int fd = open_archives(directory);

	if (fd < 0)
		return fd;
	(void)close(chunks->dir);
	chunks->dir = fd;
	return 0;
}

void chunks_forget(struct chunks *chunks)
{
	for (unsigned i = 0; chunks->packer && i < chunks->count; i++)
		packer_forget(chunks->packer, chunks->list[i].number);
	chunks->count = 0;
	chunks->bytes = 0;
}

/* Two changes within a tick of the clock have the same mtime, so a recent mtime proves nothing. */
static bool has_changed(struct chunks *chunks)
{
	struct timespec now = { 0 };
	struct stat st;

	if (fstat(chunks->dir, &st) < 0)
		return false;
	if (st.st_mtim.tv_sec == chunks->looked.tv_sec &&
	    st.st_mtim.tv_nsec == chunks->looked.tv_nsec)
		return false;
	(void)clock_gettime(CLOCK_REALTIME, &now);	/* there is one */
	if (now.tv_sec > st.st_mtim.tv_sec + 1)
		chunks->looked = st.st_mtim;
	return true;
}

/* Somebody who removes a chunk while it gets its final name may leave parts of it: look for the
 * trace that each chunk has. */
static bool chunk_exists(const struct chunks *chunks, const struct chunk *chunk)
{
	char path[CHUNK_NAME_MAX + 16];
	struct stat st;

	(void)snprintf(path, sizeof path, "%s/ust/metadata", chunk->name);
	return fstatat(chunks->dir, path, &st, 0) == 0 || errno != ENOENT;
}

unsigned chunks_look(struct chunks *chunks, uint64_t *events)
{
	const unsigned before = chunks->count;

	if (chunks->dir < 0 || !chunks->count || !has_changed(chunks))
		return 0;
	chunks->count = 0;
	for (unsigned i = 0; i < before; i++) {
		const struct chunk *chunk = &chunks->list[i];

		if (chunk_exists(chunks, chunk)) {
			chunks->list[chunks->count++] = *chunk;
			continue;
		}
		if (chunks->packer)
			packer_forget(chunks->packer, chunk->number);
		chunks->bytes -= chunk->bytes;
		*events += chunk->events;
	}
	return before - chunks->count;
}

uint64_t chunks_events(const struct chunks *chunks)
{
	uint64_t events = 0;

	for (unsigned i = 0; i < chunks->count; i++)
		events += chunks->list[i].events;
	return events;
}

/* "20261120T202357+0000", in local time. */
static void put_time(char out[32], uint64_t realtime)
{
	time_t seconds = (time_t)(realtime / NS);
	struct tm local;

	if (!localtime_r(&seconds, &local) || !strftime(out, 32, "%Y%m%dT%H%M%S%z", &local))
		(void)snprintf(out, 32, "%" PRIu64, realtime / NS);
}

int chunks_make(struct chunks *chunks, uint64_t begin_ns, uint64_t realtime, struct chunk *next)
{
	char begin[32];

	*next = (struct chunk){ .number = chunks->now.number + 1, .begin_ns = begin_ns };
	put_time(begin, realtime);
	(void)snprintf(next->name, sizeof next->name, "%s-%" PRIu64, begin, next->number);
	return mkdirat(chunks->dir, next->name, 0755) < 0 ? -errno : 0;
}

void chunks_unmake(struct chunks *chunks, const struct chunk *next)
{
	(void)trace_dir_remove(chunks->dir, next->name);
}

/* The accounts of this chunk alone. Without them, the chunk is complete all the same. */
static void write_accounts(const struct chunks *chunks, const struct chunk_account *account)
{
	const struct chunk *now = &chunks->now;
	char path[64 + CHUNK_NAME_MAX], *text = NULL;
	int size;

	size = asprintf(&text, "{\n  \"kymo\":\"%s\",\n  \"format\":1,\n  \"start_ns\":%" PRIu64 ",\n"
			"  \"duration_ns\":%" PRIu64 ",\n  \"ended\":true,\n  \"chunk\":%" PRIu64 ",\n"
			"  \"totals\":{\n    \"recorded\":%" PRIu64 "\n  }%s%s\n}\n", account->version, now->begin_ns,
			now->end_ns - now->begin_ns, now->number, now->events, account->beside ? ",\n  " : "",
			account->beside ? account->beside : "");
	if (size < 0)
		return;
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d/%s", chunks->dir, now->name);
	(void)trace_dir_write(path, ACCOUNTS_FILE, text, (size_t)size);
	free(text);
}

static bool enter(struct chunks *chunks)
{
	if (!ARRAY_ROOM(chunks->list, chunks->count, chunks->room))
		return false;	/* it stays, but is never removed */
	chunks->list[chunks->count++] = chunks->now;
	chunks->bytes += chunks->now.bytes;
	return true;
}

void chunks_complete(struct chunks *chunks, const char *directory,
		     const struct chunk_account *account, uint64_t end_ns, uint64_t realtime)
{
	struct chunk *now = &chunks->now;
	char name[CHUNK_NAME_MAX], end[32], path[PATH_MAX + CHUNK_NAME_MAX + 16];
	const char *number = strrchr(now->name, '-');

	now->end_ns = end_ns > now->begin_ns ? end_ns : now->begin_ns;
	write_accounts(chunks, account);
	put_time(end, realtime);
	(void)snprintf(name, sizeof name, "%.*s-%s%s", (int)(number - now->name), now->name, end, number);
	if (renameat(chunks->dir, now->name, chunks->dir, name) == 0)
		memcpy(now->name, name, sizeof name);
	now->bytes = trace_dir_bytes(chunks->dir, now->name);
	if (!enter(chunks) || !chunks->packer)
		return;
	(void)snprintf(path, sizeof path, "%s/archives/%s", directory, now->name);
	packer_add(chunks->packer, path, now->number);
}

void chunks_packed(struct chunks *chunks)
{
	uint64_t number;

	while (chunks->packer && packer_done(chunks->packer, &number))
		for (unsigned i = 0; i < chunks->count; i++) {
			struct chunk *chunk = &chunks->list[i];

			if (chunk->number != number)
				continue;
			chunks->bytes -= chunk->bytes;
			chunk->bytes = trace_dir_bytes(chunks->dir, chunk->name);
			chunks->bytes += chunk->bytes;
		}
}

bool chunks_due(const struct chunks *chunks, uint64_t bytes, uint64_t now_ns)
{
	if (chunks->dir < 0 || !(chunks->now.events || chunks->now.beside))
		return false;		/* a chunk without an event would be useless */
	return (chunks->files.rotate_size && bytes >= chunks->files.rotate_size) ||
	       (chunks->files.rotate_ns &&
		now_ns >= chunks->now.begin_ns + chunks->files.rotate_ns);
}

/* Renamed to a hidden name first: readers find it whole or not at all. */
static void remove_oldest(struct chunks *chunks)
{
	struct chunk *oldest = &chunks->list[0];
	char hidden[CHUNK_NAME_MAX];

	if (chunks->packer)
		packer_forget(chunks->packer, oldest->number);
	(void)snprintf(hidden, sizeof hidden, ".removed-%" PRIu64, oldest->number);
	if (renameat(chunks->dir, oldest->name, chunks->dir, hidden) == 0)
		(void)trace_dir_remove(chunks->dir, hidden);
	chunks->removed.chunks++;
	chunks->removed.events += oldest->events;
	chunks->removed.bytes += oldest->bytes;
	chunks->removed.until_ns = oldest->end_ns;
	chunks->bytes -= oldest->bytes;
	memmove(chunks->list, chunks->list + 1, --chunks->count * sizeof *chunks->list);
}

void chunks_bound(struct chunks *chunks, uint64_t bytes)
{
	if (!chunks->files.max_size)
		return;
	if (bytes > chunks->now.bytes && bytes - chunks->now.bytes > chunks->most)
		chunks->most = bytes - chunks->now.bytes;
	chunks->now.bytes = bytes;
	/* Leaves room for as much as may be written before the next call. */
	while (chunks->count && chunks->bytes + bytes + chunks->most > chunks->files.max_size)
		remove_oldest(chunks);
}

void chunks_tell(const struct chunks *chunks, struct json_object *root)
{
	const struct accounts_chunks account = {
		.made = chunks->now.number,
		.removed = chunks->removed.chunks,
		.removed_events = chunks->removed.events,
		.removed_bytes = chunks->removed.bytes,
		.removed_until_ns = chunks->removed.until_ns,
	};

	json_object_object_add(root, "chunks", accounts_object(ACCOUNTS_CHUNKS, &account));
}

void chunks_close(struct chunks *chunks)
{
	packer_end(chunks->packer);
	if (chunks->dir >= 0)
		(void)close(chunks->dir);
	free(chunks->list);
	*chunks = (struct chunks){ .dir = -1 };
}
