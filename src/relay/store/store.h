/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the relay has on disk. A file is opened, written, given index entries and closed by the
 * disk's thread, in the order in which these are asked for here; so an entry that was written
 * tells of a packet that was written before it.
 *
 *   <root>/<session>/<path>/<channel>              packets, one behind the other
 *   <root>/<session>/<path>/index/<channel>.idx    an entry for each, LTTng's layout
 *   <root>/<session>/<path>/index/<channel>.lost   entries of packets that never came, offset -1
 *   <root>/<session>/<path>/index/sync             synchronisation points
 *
 * What is not readable yet is locked for others (ctf/format/lock.h): a packet until its entry is written,
 * metadata and points until they are, everything else until store_release().
 *
 * No path leaves the root: components are checked, and no symbolic link is followed.
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
	int root;			/* descriptor of the directory */
	const char *root_path;
	struct disk *disk;
	bool sync;			/* packets are on the medium before anybody hears of them */
	void (*say)(void *context, const char *text);	/* what went wrong; in the loop's thread */
	void *context;
};

enum store_kind {
	STORE_PACKETS,			/* with an index, if it has entries */
	STORE_METADATA,
	STORE_SYNC,			/* index/sync, see ctf/format/lock.h */
};

struct store_file {
	struct store *store;
	unsigned refs;			/* the loop's thread counts */
	enum store_kind kind;
	unsigned entry_size;		/* of the index: 56 or 72; 0: there is none */
	uint64_t written;		/* the disk's thread: entries */
	uint64_t entries, serial;	/* of the index; which of its stream's files: its user's */
	int fd, index_fd, lost_fd;	/* the disk's thread opens them; -1 */
	bool broken;			/* the disk's thread: a packet is not whole, so none gets an entry */
	bool failed;			/* it could not be opened or written: the rest is not stored */
	bool told;
	char path[];			/* below the root, then the NUL */
};

/** What store_entry() and store_write() call in the loop's thread when it is done. */
typedef void store_done(void *context, bool stored);

/** store_path_is_safe() - relative, no empty, "." or ".." component, not longer than STORE_PATH_MAX. */
bool store_path_is_safe(const char *path);

/**
 * store_create() - a new file at @path, in place of what was there
 * @entry_size: bytes of an index entry, or 0 for a file without an index
 *
 * Return: with one reference; NULL: no memory, or the path is not safe.
 */
struct store_file *store_create(struct store *store, const char *path, enum store_kind kind, unsigned entry_size);

struct store_file *store_ref(struct store_file *file);

/** store_unref() - the last one closes the file. NULL: nothing. */
void store_unref(struct store_file *file);

/**
 * store_write() - @size bytes and @padding zeros at @offset
 * @done: may be NULL
 *
 * Return: 0, or -1: no memory; nothing is called then.
 */
int store_write(struct store_file *file, uint64_t offset, const void *bytes, size_t size, size_t padding,
		store_done *done, void *context);

/** store_entry() - append @entry to the index; offset -1: to that of the packets that never came. */
int store_entry(struct store_file *file, const struct ctf_index_entry *entry, store_done *done, void *context);

/** store_ready() - others may read this range though no entry tells of it. Return: -1: no memory, as the next ones. */
int store_ready(struct store_file *file, uint64_t offset, uint64_t size);

/** store_release() - nothing more will come: others may read all that is there. */
int store_release(struct store_file *file);

/** store_sync() - write a point into a STORE_SYNC file. @done: may be NULL */
int store_sync(struct store_file *file, const struct ctf_sync *sync, store_done *done, void *context);

/** store_cut() - the file ends at @size. */
int store_cut(struct store_file *file, uint64_t size);

/** store_move(), store_remove() - of files and directories with all that is in them. Failures are said. */
int store_move(struct store *store, const char *from, const char *to);
int store_remove(struct store *store, const char *path);

/**
 * store_read() - @size bytes at @offset of a file that was published
 *
 * Context: any thread; blocks.
 * Return: how many there are, or -1 with errno.
 */
ssize_t store_read(const struct store_file *file, uint64_t offset, void *bytes, size_t size);

/** store_read_entry() - entry @number of the index. Return: 0, or -1. Context: any thread; blocks. */
int store_read_entry(const struct store_file *file, uint64_t number, struct ctf_index_entry *entry);

#endif
