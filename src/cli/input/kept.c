/* SPDX-License-Identifier: Apache-2.0 */
/* See kept.h. A file is a head, the key, other files and how they were, and the packed answer. */
#include "cli/input/kept.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/io.h"
#include "base/now.h"
#include "base/order.h"
#include "cli/input/kept_key.h"

#define MAGIC 0x6b657075u /* of this machine's byte order */
#define OTHERS_MOST (1u << 20) /* bytes of paths */

struct head {
	uint32_t magic, key_size;
	uint32_t packed_size, size;
	uint32_t others_size, state_size;
	uint32_t check, zero; /* the CRC-32 of all that follows */
};

/* ---- where ---- */

static bool is_mode(const char *word)
{
	const char *mode = getenv("KYMO_CACHE");

	return mode && !strcmp(mode, word);
}

/* Only a directory that nobody else writes. */
static bool is_own(const char *path)
{
	struct stat status;

	return !lstat(path, &status) && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
	       !(status.st_mode & 022);
}

static bool find_directory(char path[CLI_PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int length;

	if (cache && *cache == '/')
		length = snprintf(path, CLI_PATH_MAX - 64, "%s", cache);
	else if (home && *home == '/')
		length = snprintf(path, CLI_PATH_MAX - 64, "%s/.cache", home);
	else
		return false;
	if (length < 0 || length >= CLI_PATH_MAX - 64)
		return false;
	(void)mkdir(path, 0700);
	(void)snprintf(path + length, 8, "/kymo");
	(void)mkdir(path, 0700);
	return is_own(path);
}

/* @kept: with the traces, and is_small. */
static void open_as(struct kept *kept, const char *question)
{
	int64_t newest_ns;
	uLong name;

	kept->question = strdup(question);
	kept->begun_ns = now_ns();
	kept->begun_epoch_ns = clock_now_ns(CLOCK_REALTIME);
	if (!kept->question || is_mode("off") || !find_directory(kept->path))
		goto none;
	kept->key = kept_key(question, kept->trace, kept->traces, &kept->key_size, &newest_ns);
	if (!kept->key || kept->key_size > KEPT_ONE_MOST)
		goto none;
	/* Two questions with the same name replace each other's answers. */
	name = crc32(0, (const Bytef *)kept->key, (uInt)kept->key_size);
	(void)snprintf(kept->path + strlen(kept->path), 40, "/%08lx%08lx.%s", name,
		       adler32(1, (const Bytef *)kept->key, (uInt)kept->key_size),
		       kept->is_small ? "few" : "kept");
	if (kept->begun_epoch_ns > newest_ns)
		return;
none:
	kept_close(kept);
}

void kept_open(struct kept *kept, const char *question, const char *const *trace, unsigned traces)
{
	*kept = (struct kept){ .trace = trace, .traces = traces };
	open_as(kept, question);
}

void kept_open_small(struct kept *kept, const char *question, const char *trace)
{
	*kept = (struct kept){ .one = trace, .traces = 1, .is_small = true };
	kept->trace = &kept->one;
	open_as(kept, question);
}

void kept_close(struct kept *kept)
{
	free(kept->key);
	free(kept->question);
	free(kept->others);
	kept->key = kept->question = kept->others = NULL;
	kept->others_size = 0;
	kept->path[0] = '\0';
}

/* ---- read ---- */

/* Are the other files as they were? @at: their paths, and behind them the state. */
static bool are_same(const struct head *head, const char *at)
{
	int64_t newest_ns;
	size_t size;
	char *state;
	bool same;

	if (!head->others_size)
		return true;
	if (at[head->others_size - 1])
		return false;
	state = kept_others(at, head->others_size, &size, &newest_ns);
	same = state && size == head->state_size && !memcmp(state, at + head->others_size, size);
	free(state);
	return same;
}

static bool is_sound(const struct kept *kept, const char *text, size_t size, struct head *head)
{
	if (size < sizeof(*head))
		return false;
	memcpy(head, text, sizeof(*head));
	return head->magic == MAGIC && head->key_size == kept->key_size &&
	       head->size <= KEPT_ONE_MOST &&
	       size == sizeof(*head) + head->key_size + (size_t)head->others_size +
			       head->state_size + head->packed_size &&
	       !memcmp(text + sizeof(*head), kept->key, kept->key_size) &&
	       head->check == crc32(0, (const Bytef *)text + sizeof(*head),
				    (uInt)(size - sizeof(*head))) &&
	       are_same(head, text + sizeof(*head) + head->key_size);
}

static char *unpack(const struct head *head, const char *packed)
{
	uLongf size = head->size;
	char *data = malloc((size_t)head->size + 1);

	if (data && (uncompress((Bytef *)data, &size, (const Bytef *)packed, head->packed_size) !=
			     Z_OK ||
		     size != head->size)) {
		free(data);
		return NULL;
	}
	if (data)
		data[head->size] = '\0';
	return data;
}

char *kept_get(const struct kept *kept, size_t *size)
{
	struct kymo_err ignored;
	struct head head;
	char *text, *data = NULL;
	size_t read;

	if (!kept->path[0] || file_load(kept->path, 3u * KEPT_ONE_MOST, &text, &read, &ignored))
		return NULL;
	if (is_sound(kept, text, read, &head))
		data = unpack(&head, text + read - head.packed_size);
	free(text);
	if (!data)
		return NULL;
	*size = head.size;
	(void)utimensat(AT_FDCWD, kept->path, NULL, AT_SYMLINK_NOFOLLOW); /* it is used */
	return data;
}

/* ---- write ---- */

struct file {
	char name[64];
	off_t size;
	struct timespec used;
};

static int by_use(const void *left, const void *right)
{
	const struct timespec *a = &((const struct file *)left)->used,
			      *b = &((const struct file *)right)->used;

	return ORDER(a->tv_sec, b->tv_sec) ?: ORDER(a->tv_nsec, b->tv_nsec);
}

/* Those that nobody asked for longest go first, until there is room for @size bytes. */
static void make_room(int directory, DIR *entries, off_t size)
{
	enum { FILES_MAX = 4096 };
	struct file *file = calloc(FILES_MAX, sizeof(*file));
	const struct dirent *entry;
	unsigned count = 0, at = 0;
	off_t all = size;

	while (file && count < FILES_MAX && (entry = readdir(entries))) {
		struct stat status;

		if (*entry->d_name == '.' || strlen(entry->d_name) >= sizeof(file->name) ||
		    fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(status.st_mode))
			continue;
		(void)snprintf(file[count].name, sizeof(file->name), "%.63s", entry->d_name);
		file[count].size = status.st_size;
		file[count++].used = status.st_mtim;
		all += status.st_size;
	}
	if (file)
		qsort(file, count, sizeof(*file), by_use);
	for (; at < count && (all > (off_t)KEPT_MOST || count - at == FILES_MAX); at++) {
		(void)unlinkat(directory, file[at].name, 0);
		all -= file[at].size;
	}
	free(file);
}

static void bound(const struct kept *kept, size_t size)
{
	char path[CLI_PATH_MAX];
	DIR *entries;

	(void)snprintf(path, sizeof(path), "%.*s", (int)(strrchr(kept->path, '/') - kept->path),
		       kept->path);
	entries = opendir(path);
	if (!entries)
		return;
	make_room(dirfd(entries), entries, (off_t)size);
	(void)closedir(entries);
}

/* Under another name first, so that nobody sees a half. */
static void put_file(const struct kept *kept, const void *text, size_t size)
{
	char beside[CLI_PATH_MAX + 8];
	int fd;

	bound(kept, size);
	(void)snprintf(beside, sizeof(beside), "%s.XXXXXX", kept->path);
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return;
	if (write_all(fd, text, size) | close(fd) || rename(beside, kept->path))
		(void)unlink(beside);
}

static bool is_as_it_was(const struct kept *kept)
{
	int64_t newest_ns;
	size_t size;
	char *key = kept_key(kept->question, kept->trace, kept->traces, &size, &newest_ns);
	const bool same = key && size == kept->key_size && !memcmp(key, kept->key, size);

	free(key);
	return same;
}

static bool is_known(const struct kept *kept, const char *path)
{
	for (size_t at = 0; at < kept->others_size; at += strlen(kept->others + at) + 1)
		if (!strcmp(kept->others + at, path))
			return true;
	return false;
}

void kept_needs(void *context, const char *path)
{
	struct kept *kept = context;
	const size_t size = strlen(path) + 1;
	char *others;

	if (!kept->path[0] || is_known(kept, path))
		return;
	others = kept->others_size + size <= OTHERS_MOST
			 ? realloc(kept->others, kept->others_size + size)
			 : NULL;
	if (!others) {
		kept_close(kept);
		return;
	}
	memcpy(others + kept->others_size, path, size);
	kept->others = others;
	kept->others_size += size;
}

/* Fills @head and what follows it. Return: bytes of all; 0: it cannot be packed. */
static size_t pack(const struct kept *kept, const void *data, size_t size, const char *state,
		   struct head *head, char *body)
{
	const size_t before = kept->key_size + kept->others_size + head->state_size;
	uLongf packed = compressBound(size);

	memcpy(body, kept->key, kept->key_size);
	if (kept->others_size) {
		memcpy(body + kept->key_size, kept->others, kept->others_size);
		memcpy(body + kept->key_size + kept->others_size, state, head->state_size);
	}
	if (compress2((Bytef *)body + before, &packed, data, size, 1) != Z_OK)
		return 0;
	head->key_size = (uint32_t)kept->key_size;
	head->others_size = (uint32_t)kept->others_size;
	head->packed_size = (uint32_t)packed;
	head->size = (uint32_t)size;
	head->check = (uint32_t)crc32(0, (const Bytef *)body, (uInt)(before + packed));
	return sizeof(*head) + before + packed;
}

static void put(const struct kept *kept, const void *data, size_t size, const char *state,
		size_t state_size)
{
	struct head head = { .magic = MAGIC, .state_size = (uint32_t)state_size };
	char *text = malloc(sizeof(head) + kept->key_size + kept->others_size + state_size +
			    compressBound(size));
	size_t all = text ? pack(kept, data, size, state, &head, text + sizeof(head)) : 0;

	if (all) {
		memcpy(text, &head, sizeof(head));
		put_file(kept, text, all);
	}
	free(text);
}

void kept_put(const struct kept *kept, const void *data, size_t size)
{
	int64_t newest_ns = INT64_MIN;
	size_t state_size = 0;
	char *state = NULL;

	if (!kept->path[0] || size > KEPT_ONE_MOST ||
	    (now_ns() - kept->begun_ns < KEPT_LEAST_NS && !kept->is_small && !is_mode("always")) ||
	    !is_as_it_was(kept))
		return;
	if (kept->others_size) {
		state = kept_others(kept->others, kept->others_size, &state_size, &newest_ns);
		if (!state)
			return;
	}
	/* Another file that changed meanwhile may have been read before. */
	if (newest_ns < kept->begun_epoch_ns)
		put(kept, data, size, state, state_size);
	free(state);
}
