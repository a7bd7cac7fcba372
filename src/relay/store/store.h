/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay's files. The disk's thread opens, writes and closes them and adds index entries, in the
 * order of the calls here. So when an index entry is on disk, its packet is, too.
 *
 *   <root>/<session>/<path>/<channel>              packets, one after the other
 *   <root>/<session>/<path>/index/<channel>.idx    an entry for each packet, in LTTng's layout
 *   <root>/<session>/<path>/index/<channel>.lost   entries of packets that were lost, with offset -1
 *   <root>/<session>/<path>/index/sync             synchronisation points
 *
 * Bytes that are not readable yet are locked for other programs (ctf/format/lock.h): a packet until
 * its entry is written, metadata and points until they are written, the rest until store_release().
 *
 * No path leaves the root: components are checked, and no symbolic link is followed.
 *
 * Context of all functions, unless they say more: the loop's thread. They allocate a job for the
 * disk's thread, and do not wait for it; say() reports what failed there.
 */
#ifndef KYMO_RELAY_STORE_H
#define KYMO_RELAY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "ctf/format/index.h"
#include "ctf/format/lock.h"
#include "relay/store/disk.h"

#define STORE_PATH_MAX 4096

struct store {
	int root;			/* descriptor of the root directory */
	const char *root_path;
	struct disk *disk;
	uint64_t files; /* descriptors that files have when all jobs are done */
	bool sync; /* call fsync() before viewers learn of packets */
	void (*say)(void *context,
		    const char *text); /* reports failures; called in the loop's thread */
	void *context;
};

enum store_kind {
	STORE_PACKETS,			/* with an index if entry_size is not 0 */
	STORE_METADATA,
	STORE_SYNC,			/* index/sync, see ctf/format/lock.h */
};

struct store_file {
	struct store *store;
	unsigned refs;			/* counted in the loop's thread */
	enum store_kind kind;
	unsigned entry_size;    /* bytes of an index entry: 56, 72 or 88; 0: no index */
	uint64_t written, lost; /* entries that the disk's thread has written; of lost packets */
	uint64_t entries,
		serial; /* of its user: entries asked for; number among the stream's files */
	int fd, index_fd, lost_fd; /* opened by the disk's thread; -1: closed */
	/* Of the disk's thread: */
	bool broken;    /* something could not be written: nothing more is */
	uint64_t good;  /* the file with an index: where the last packet that is in it ends */
	uint64_t begin; /* of its user: where the packet begins that is written */
	bool failed;               /* opening or writing failed: the rest is not stored */
	bool told;
	char path[];			/* below the root; more names follow its NUL */
};

/** store_has() - does @path, below the root, exist? Context: blocks. */
bool store_has(const struct store *store, const char *path);

/* Called in the loop's thread when a store_entry() or store_write() is done. */
typedef void store_done(void *context, bool stored);

/** store_path_is_safe() - relative, no empty, "." or ".." component, not longer than
 * STORE_PATH_MAX. */
bool store_path_is_safe(const char *path);

/**
 * store_create() - create the file @path, replacing an existing one
 * @entry_size: bytes of an index entry; 0: no index
 *
 * Return: with one reference; NULL: out of memory, or the path is not safe.
 */
struct store_file *store_create(struct store *store, const char *path, enum store_kind kind,
				unsigned entry_size);

struct store_file *store_ref(struct store_file *file);

/** store_unref() - the last reference closes the file. NULL: nothing. */
void store_unref(struct store_file *file);

/**
 * store_write() - write @size bytes and @padding zeros at @offset
 * @done: may be NULL
 *
 * If the disk does not take them, the file is cut back to the last packet in its index, and nothing
 * more is written to it: what readers find is whole.
 *
 * Return: 0; -1: out of memory; @done is not called then.
 */
int store_write(struct store_file *file, uint64_t offset, const void *bytes, size_t size,
		size_t padding, store_done *done, void *context);

/** store_entry() - append @entry to the index; with offset -1 to the index of lost packets. Return:
 * as store_write(). */
int store_entry(struct store_file *file, const struct ctf_index_entry *entry, store_done *done,
		void *context);

/** store_ready() - others may read this range, which has no entry. Return: -1: out of memory, as
 * for the next ones. */
int store_ready(struct store_file *file, uint64_t offset, uint64_t size);

/** store_release() - the file is complete: others may read all of it. */
int store_release(struct store_file *file);

/** store_sync() - write a point into a STORE_SYNC file. @done: may be NULL */
int store_sync(struct store_file *file, const struct ctf_sync *sync, store_done *done,
	       void *context);

/** store_cut() - truncate the file to @size bytes. */
int store_cut(struct store_file *file, uint64_t size);

/** store_move() - a file, or a directory with everything in it. @to: NULL: remove it. Failures are
 * reported by say(). Return: 0; -1: out of memory, or a path is not safe. */
int store_move(struct store *store, const char *from, const char *to);

/**
 * store_read() - read @size bytes at @offset of a published packet, or of metadata
 *
 * Context: any thread; blocks.
 * Return: how many bytes were read; -1 with errno.
 */
ssize_t store_read(const struct store_file *file, uint64_t offset, void *bytes, size_t size);

/** store_read_entry() - entry @number of the index. Return: 0, or -1. Context: any thread;
 * blocks. */
int store_read_entry(const struct store_file *file, uint64_t number, struct ctf_index_entry *entry);

#endif
