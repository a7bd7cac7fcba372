/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "cli/verbs/store/store_dir.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/order.h"

#define MARK "kymo-store"
#define TIME "time"
#define END ".summary"
#define RUNS_MAX 999u
#define COMMITS_MAX 100000u

static int join(char out[CLI_PATH_MAX], const char *directory, const char *name,
		struct kymo_err *err)
{
	if ((size_t)snprintf(out, CLI_PATH_MAX, "%s/%s", directory, name) < CLI_PATH_MAX)
		return 0;
	return err_set(err, KYMO_EXIT_USAGE, "the path '%.100s...' is too long", directory);
}

bool store_dir_is(const char *path)
{
	char mark[CLI_PATH_MAX];
	struct stat status;
	struct kymo_err ignored;

	return join(mark, path, MARK, &ignored) == 0 && stat(mark, &status) == 0 &&
	       S_ISREG(status.st_mode);
}

/* ---- read ---- */

static int is_summary(const struct dirent *entry)
{
	return text_ends_with(entry->d_name, END);
}

int store_dir_summaries(const char *path,
			int (*add)(void *context, const char *file, struct kymo_err *err),
			void *context, struct kymo_err *err)
{
	struct dirent **entry;
	const int count = scandir(path, &entry, is_summary, alphasort);
	char file[CLI_PATH_MAX];
	int status = 0;

	if (count < 0)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!status && (join(file, path, entry[i]->d_name, err) || add(context, file, err)))
			status = -1;
		free(entry[i]);
	}
	free(entry);
	return status ? status : count > 0;
}

static int add_run(void *context, const char *file, struct kymo_err *err)
{
	struct store_commit *commit = context;
	struct stat status;

	if (!ARRAY_ROOM(commit->path, commit->runs, commit->capacity))
		return err_no_memory(err);
	commit->path[commit->runs] = strdup(file);
	if (!commit->path[commit->runs])
		return err_no_memory(err);
	commit->runs++;
	commit->bytes += stat(file, &status) == 0 ? (uint64_t)status.st_size : 0;
	return 0;
}

static int read_time(struct store_commit *commit, const char *directory, struct kymo_err *err)
{
	char path[CLI_PATH_MAX], *text, *end;
	size_t size;

	if (join(path, directory, TIME, err) || file_load(path, 64, &text, &size, err))
		return -1;
	commit->time = strtoll(text, &end, 10);
	if (end == text || (*end && *end != '\n')) {
		free(text);
		return err_set(err, KYMO_EXIT_INPUT,
			       "%s is not a number of seconds: the store is damaged", path);
	}
	free(text);
	return 0;
}

static int add_commit(struct store_dir *store, const char *path, const char *id,
		      struct kymo_err *err)
{
	struct store_commit commit = { 0 };
	char directory[CLI_PATH_MAX], mark[CLI_PATH_MAX];

	if (join(directory, path, id, err) || join(mark, directory, TIME, err))
		return -1;
	if (access(mark, F_OK) != 0)
		return 0; /* something else: .git, a text */
	if (store->count == COMMITS_MAX)
		return err_set(err, KYMO_EXIT_INPUT, "%s has more than %u commits", path,
			       COMMITS_MAX);
	if (!ARRAY_ROOM(store->commit, store->count, store->capacity))
		return err_no_memory(err);
	commit.id = strdup(id);
	store->commit[store->count++] = commit;
	if (!commit.id)
		return err_no_memory(err);
	return read_time(&store->commit[store->count - 1], directory, err) ||
			       store_dir_summaries(directory, add_run,
						   &store->commit[store->count - 1], err) < 0
		       ? -1
		       : 0;
}

static int by_time(const void *left, const void *right)
{
	const struct store_commit *a = left, *b = right;

	return ORDER(a->time, b->time) ?: strcmp(a->id, b->id);
}

int store_dir_read(struct store_dir *store, const char *path, struct kymo_err *err)
{
	struct dirent **entry;
	int count, status = 0;

	*store = (struct store_dir){ 0 };
	if (!store_dir_is(path))
		return err_set(err, KYMO_EXIT_INPUT,
			       "%s is not a store; write one: kymo store add %s --commit ID TRACE",
			       path, path);
	count = scandir(path, &entry, NULL, alphasort);
	if (count < 0)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!status && entry[i]->d_name[0] != '.')
			status = add_commit(store, path, entry[i]->d_name, err);
		free(entry[i]);
	}
	free(entry);
	if (status) {
		store_dir_free(store);
		return -1;
	}
	if (store->count)
		qsort(store->commit, store->count, sizeof(*store->commit), by_time);
	return 0;
}

void store_dir_free(struct store_dir *store)
{
	for (unsigned i = 0; i < store->count; i++) {
		for (unsigned r = 0; r < store->commit[i].runs; r++)
			free(store->commit[i].path[r]);
		free(store->commit[i].path);
		free(store->commit[i].id);
	}
	free(store->commit);
	*store = (struct store_dir){ 0 };
}

const struct store_commit *store_dir_find(const struct store_dir *store, const char *path,
					  const char *id, struct kymo_err *err)
{
	const struct store_commit *found = NULL;

	for (unsigned i = 0; i < store->count; i++) {
		struct store_commit *commit = &store->commit[i];

		if (strcmp(commit->id, id) == 0)
			return commit;
		if (strncmp(commit->id, id, strlen(id)) != 0)
			continue;
		if (found) {
			(void)err_set(err, KYMO_EXIT_USAGE,
				      "several commits of %s begin with '%s': %s, %s", path, id,
				      found->id, commit->id);
			return NULL;
		}
		found = commit;
	}
	if (!found)
		(void)err_set(err, KYMO_EXIT_INPUT,
			      "%s has no commit '%s'; kymo store list %s lists them", path, id,
			      path);
	return found;
}

/* ---- write ---- */

static int check_id(const char *id, struct kymo_err *err)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	const size_t length = strlen(id);

	if (length && length <= 100 && strspn(id, allowed) == length && *id != '.' && *id != '-')
		return 0;
	return err_set(err, KYMO_EXIT_USAGE,
		       "--commit '%.100s': an id has letters, digits, '.', '_' and '-', and begins "
		       "with a letter or digit",
		       id);
}

static int make(const char *path, struct kymo_err *err)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return 0;
	return err_set(err, KYMO_EXIT_FAILED, "cannot create the directory %s: %s", path,
		       strerror(errno));
}

static int put(const char *directory, const char *name, int64_t number, struct kymo_err *err)
{
	char path[CLI_PATH_MAX];
	FILE *file;
	bool failed;

	if (join(path, directory, name, err))
		return -1;
	if (access(path, F_OK) == 0)
		return 0;
	file = fopen(path, "we");
	if (!file)
		return err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
	failed = fprintf(file, "%" PRId64 "\n", number) < 0;
	failed |= fclose(file) != 0;
	return failed ? err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s", path, strerror(errno))
		      : 0;
}

/* A folder with other things in it becomes no store by a typing error. */
static int check_place(const char *path, struct kymo_err *err)
{
	struct dirent **entry;
	int count, others = 0;

	if (store_dir_is(path))
		return 0;
	count = scandir(path, &entry, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		others += entry[i]->d_name[0] != '.';
		free(entry[i]);
	}
	if (count >= 0)
		free(entry);
	if (!others)
		return 0;
	return err_set(err, KYMO_EXIT_USAGE,
		       "%s has other files and is not a store; name a new or an empty folder",
		       path);
}

int store_dir_check(const char *path, const char *id, struct kymo_err *err)
{
	return check_id(id, err) || check_place(path, err) ? -1 : 0;
}

int store_dir_place(const char *path, const char *id, int64_t time, char file[CLI_PATH_MAX],
		    struct kymo_err *err)
{
	char directory[CLI_PATH_MAX], name[32];

	if (store_dir_check(path, id, err) || make(path, err) || put(path, MARK, 1, err) ||
	    join(directory, path, id, err) || make(directory, err) ||
	    put(directory, TIME, time, err))
		return -1;
	for (unsigned run = 1; run <= RUNS_MAX; run++) {
		(void)snprintf(name, sizeof(name), "%03u" END, run);
		if (join(file, directory, name, err))
			return -1;
		if (access(file, F_OK) != 0)
			return 0;
	}
	return err_set(err, KYMO_EXIT_FAILED, "%s has %u runs, which is the most", directory,
		       RUNS_MAX);
}
