/* SPDX-License-Identifier: Apache-2.0 */
/* Every file of a trace, by what changes when it does. */
#include "cli/input/kept_key.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MAX 12u
#define FILES_MAX 100000u
/* A file that was written twice within so long may have the same times. */
#define TICK_NS INT64_C(100000000)
/* Where a file system keeps seconds only. */
#define TICK_COARSE_NS INT64_C(3000000000)

struct key {
	FILE *out;
	unsigned files;
	bool failed, is_fine; /* a time with more than milliseconds was seen */
	int64_t newest_ns;
};

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static void put_status(struct key *key, const char *path, const struct stat *status)
{
	const int64_t modified = ns_of(&status->st_mtim), changed = ns_of(&status->st_ctim);

	key->failed |= ++key->files > FILES_MAX;
	key->is_fine |= status->st_mtim.tv_nsec % 1000000 || status->st_ctim.tv_nsec % 1000000;
	if (modified > key->newest_ns)
		key->newest_ns = modified;
	if (changed > key->newest_ns)
		key->newest_ns = changed;
	fprintf(key->out, "%s %jd %" PRId64 " %" PRId64 " %ju %ju %o\n", path,
		(intmax_t)status->st_size, modified, changed, (uintmax_t)status->st_ino,
		(uintmax_t)status->st_dev, status->st_mode);
}

static void put_tree(struct key *key, const char *path, unsigned depth)
{
	struct dirent **entry;
	char below[PATH_MAX];
	struct stat status;
	int count;

	if (key->failed || depth > DEPTH_MAX || stat(path, &status)) {
		key->failed = true;
		return;
	}
	put_status(key, path, &status);
	if (!S_ISDIR(status.st_mode))
		return;
	count = scandir(path, &entry, NULL, alphasort);
	key->failed |= count < 0;
	for (int i = 0; i < count; i++) {
		const char *name = entry[i]->d_name;
		const int length = snprintf(below, sizeof(below), "%s/%s", path, name);

		key->failed |= length < 0 || (size_t)length >= sizeof(below);
		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !key->failed)
			put_tree(key, below, depth + 1);
		free(entry[i]);
	}
	if (count >= 0)
		free(entry);
}

/* A recording that was appended names the one above it. */
static void put_above(struct key *key, const char *path)
{
	char above[PATH_MAX + 16];
	struct stat status;

	(void)snprintf(above, sizeof(above), "%s/../kymo.json", path);
	if (!stat(above, &status))
		put_status(key, above, &status);
}

static void put_trace(struct key *key, const char *path)
{
	char *real = realpath(path, NULL);

	key->failed |= !real;
	if (real) {
		put_above(key, real);
		put_tree(key, real, 0);
	}
	free(real);
}

char *kept_key(const char *question, const char *const *trace, unsigned traces, size_t *size,
	       int64_t *newest_ns)
{
	char *text = NULL;
	struct key key = { .out = open_memstream(&text, size) };
	struct stat self;

	if (!key.out)
		return NULL;
	fprintf(key.out, "kymo " KYMO_VERSION "\n%zu %s\n", strlen(question), question);
	if (stat("/proc/self/exe", &self))
		key.failed = true;
	else
		put_status(&key, "", &self);
	key.newest_ns = INT64_MIN;
	for (unsigned i = 0; i < traces; i++)
		put_trace(&key, trace[i]);
	key.failed |= ferror(key.out) != 0;
	if (fclose(key.out) || key.failed) {
		free(text);
		return NULL;
	}
	*newest_ns = key.newest_ns + (key.is_fine ? TICK_NS : TICK_COARSE_NS);
	return text;
}

char *kept_others(const char *paths, size_t paths_size, size_t *size, int64_t *newest_ns)
{
	char *text = NULL;
	struct key key = { .out = open_memstream(&text, size), .newest_ns = INT64_MIN };

	if (!key.out)
		return NULL;
	for (const char *path = paths; path < paths + paths_size; path += strlen(path) + 1) {
		struct stat status;

		if (stat(path, &status))
			fprintf(key.out, "%s -\n", path);
		else
			put_status(&key, path, &status);
	}
	key.failed |= ferror(key.out) != 0;
	if (fclose(key.out) || key.failed) {
		free(text);
		return NULL;
	}
	*newest_ns = key.newest_ns;
	return text;
}
