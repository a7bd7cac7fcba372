/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a trace while it is written, on the same machine: advisory locks of fcntl(2), as in
 * LTTng's RFC on live reading, and a file of synchronisation points.
 *
 * Bytes that may not be read yet are write-locked. Bytes without a lock are complete and do not
 * change any more.
 *
 *   CHANNEL            ├── packets ──┼─ packet on its way ─┼── packets ──┼────────────── ∞
 *                        readable      locked                 readable     locked
 *   index/CHANNEL.idx  ├ header ┼ entries ┼───────────────────────────────────────────── ∞
 *                        readable           locked     (a packet is readable before its entry is)
 *   metadata           ├── whole declarations ──┼────────────────────────────────────── ∞
 *                        readable                 locked
 *   index/sync         ├ 32 bytes, see below ┤     byte 2^62: locked while the trace is written
 *
 * The index is called index/CHANNEL.part where kymo record writes, until its stream is closed.
 *
 * A writer locks all of a new file at once (ctf_lock_all()) and unlocks it range by range
 * (ctf_lock_ready()); closing the file unlocks the rest. A reader tests the range that it wants
 * before it reads it (ctf_lock_test(), or ctf_lock_wait() to sleep until it is readable), and never
 * holds a lock itself for more than a moment. A file may be shorter than the range that is tested:
 * if that is unlocked, nothing more comes in this file. A writer that crashes loses its locks, and
 * the last packet or entry may be torn: a reader that finds no lock on index/sync has to check
 * sizes as in any other trace.
 *
 * kymo record closes files between two writes when it has more streams than descriptors: first
 * index files, then streams. These are unlocked meanwhile; index/sync is not.
 *
 * Locks belong to the open file (F_OFD_SETLK): closing another descriptor of the same file does not
 * drop them, and a writer's threads may share them.
 *
 * index/sync, big-endian like the index files; read it with ctf_sync_read():
 *
 *    0  u32  magic "KYSN"
 *    4  u32  version, 1
 *    8  u64  number of this point, from 1; 0: none yet
 *   16  u64  time, in the units of timestamp_end: all packets with events before it are readable,
 *            and no stream that existed then will bring another event before it
 *   24  u64  streams at that time
 */
#ifndef KYMO_CTF_LOCK_H
#define KYMO_CTF_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CTF_SYNC_NAME	"index/sync"	/* below the trace's directory */
#define CTF_SYNC_MAGIC	0x4b59534eu	/* "KYSN" */
#define CTF_SYNC_VERSION 1u
#define CTF_SYNC_BYTES	32u
#define CTF_LOCK_ALIVE	((uint64_t)1 << 62)	/* byte of index/sync that a writer keeps locked */
/* as a size: to the end of the file, however long it grows */
#define CTF_LOCK_REST	UINT64_MAX

struct ctf_sync {
	uint64_t number, time, streams;
};

/*
 * For writers; descriptors are open for writing. Without locks (a file system that has none, a
 * reader that holds one) writing continues, and readers have to check sizes.
 *
 * Return: 0, or -errno. Context: a system call, does not block.
 */
int ctf_lock_all(int fd, uint64_t from);		/* from byte @from on */
int ctf_lock_ready(int fd, uint64_t from, uint64_t size);	/* may be read now */

/** ctf_sync_begin() - of a new index/sync: a writer is alive, and no point exists yet. Return: 0,
 * or -errno. */
int ctf_sync_begin(int fd);

/** ctf_sync_write() - the next point. Return: 0, or -errno. Context: two system calls more than a
 * write. */
int ctf_sync_write(int fd, const struct ctf_sync *sync);

/* For readers; descriptors are open for reading. */

/**
 * ctf_lock_test() - whether this range may be read
 * @size: bytes, at least 1
 *
 * Return: 1: it may, as far as the file has it; 0: not yet; -errno.
 * Context: a system call, does not block.
 */
int ctf_lock_test(int fd, uint64_t from, uint64_t size);

/**
 * ctf_lock_end() - up to where the file may be read, from @from on
 *
 * Return: the first byte that may not be read yet; INT64_MAX: all of it may be read; -errno.
 * Context: some system calls, does not block.
 */
int64_t ctf_lock_end(int fd, uint64_t from);

/** ctf_lock_wait() - as ctf_lock_test(), but sleeps until the range may be read. Return: 0, or
 * -errno (-EINTR: a signal came). */
int ctf_lock_wait(int fd, uint64_t from, uint64_t size);

/** ctf_sync_alive() - of index/sync: whether the trace is still being written. Return: 1, 0, or
 * -errno. */
int ctf_sync_alive(int fd);

/** ctf_sync_read() - the last point. Return: 0; -EINVAL: not such a file; -errno. Context: may wait
 * a moment. */
int ctf_sync_read(int fd, struct ctf_sync *sync);

/* ---- the writer of one trace directory that is read while it is written: its index/sync. Context:
 * blocks. ---- */

/* Zeroed: the trace is not shared. */
struct ctf_share {
	bool active;
	int fd;          /* of index/sync */
	int metadata;    /* descriptor of the metadata, which locks what is to come; -1: none */
	uint64_t points; /* written so far */
};

/**
 * ctf_share_begin() - create index/sync below @dir_fd, and lock what will follow in the metadata
 * @metadata: bytes that it has
 *
 * If that fails (no descriptors, a file system without locks), the trace is not shared, and readers
 * go by the clock. All writers of the program together use at most a fifth of its descriptors for
 * it, and none when half of the descriptors are in use.
 */
void ctf_share_begin(struct ctf_share *share, int dir_fd, uint64_t metadata);

/** ctf_share_point() - everything before @ns, CLOCK_MONOTONIC, is in the files, with its index
 * entries. */
void ctf_share_point(struct ctf_share *share, uint64_t ns, uint64_t streams);

/** ctf_share_end() - nothing more comes. */
void ctf_share_end(struct ctf_share *share);

#endif
