/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store of summaries by commit: plain files in a folder, which may be a branch of git.
 *
 *   DIR/kymo-store              marks the folder as a store
 *   DIR/COMMIT/time             when the commit was made, in seconds since 1970
 *   DIR/COMMIT/001.summary ...  a summary of each run
 *
 * Nothing else knows this layout. Files are only added, so two branches of a store merge.
 */
#ifndef KYMO_CLI_STORE_DIR_H
#define KYMO_CLI_STORE_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/common/common.h"

struct store_commit {
	char *id;
	int64_t time; /* seconds since 1970 */
	char **path;  /* of its summaries, in order */
	unsigned runs, capacity;
	uint64_t bytes;
};

struct store_dir {
	struct store_commit *commit; /* oldest first */
	unsigned count, capacity;
};

/** store_dir_is() - is the directory @path a store? Context: blocks. */
bool store_dir_is(const char *path);

/** store_dir_read() - the commits of a store. Context: blocks. Return: 0; -1 with @err. */
int store_dir_read(struct store_dir *store, const char *path, struct kymo_err *err);
void store_dir_free(struct store_dir *store);

/**
 * store_dir_find() - the commit @id, or the only one that begins so
 *
 * Return: NULL with @err: there is none, or several.
 */
const struct store_commit *store_dir_find(const struct store_dir *store, const char *path,
					  const char *id, struct kymo_err *err);

/** store_dir_check() - can runs of commit @id be added to the store @path, which need not exist?
 * Return: 0; -1 with @err. */
int store_dir_check(const char *path, const char *id, struct kymo_err *err);

/**
 * store_dir_place() - make room for one more run of commit @id; store and commit are created if
 * they do not exist
 * @time: of a new commit, in seconds since 1970
 * @file: set to the path of the summary to write
 *
 * Context: blocks. Return: 0; -1 with @err.
 */
int store_dir_place(const char *path, const char *id, int64_t time, char file[CLI_PATH_MAX],
		    struct kymo_err *err);

/**
 * store_dir_summaries() - the files in directory @path whose names end in .summary, in order
 * @add: called for each
 *
 * Return: 0: none; 1; -1 with @err.
 */
int store_dir_summaries(const char *path,
			int (*add)(void *context, const char *file, struct kymo_err *err),
			void *context, struct kymo_err *err);

#endif
