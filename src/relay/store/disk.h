/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that works on files, so that nobody who reads a socket waits for a disk. Jobs run one
 * behind the other in the order they were given: what a later one needs, an earlier one has done.
 *
 *   loop ── disk_do(job) ──▶ [job] [job] [job] ──▶ thread: job->work()
 *        ◀── wake() ──────── [done] [done]    ◀──
 *   disk_reap(): job->done() of each, in the loop's thread
 */
#ifndef KYMO_RELAY_DISK_H
#define KYMO_RELAY_DISK_H

#include <stddef.h>

struct disk;

struct disk_job {
	struct disk_job *next;
	size_t bytes;			/* of memory that it holds, for disk_waiting() */
	void (*work)(struct disk_job *job);	/* in the disk's thread */
	void (*done)(struct disk_job *job);	/* in the caller's thread; frees it */
};

/**
 * disk_start() - @wake is called in the disk's thread when disk_reap() has something to do
 *
 * Return: NULL: no memory or no thread. Context: allocates.
 */
struct disk *disk_start(void (*wake)(void *context), void *context);

/** disk_do() - give @job away. Context: takes a lock for a moment; does not wait for the disk. */
void disk_do(struct disk *disk, struct disk_job *job);

/** disk_waiting() - bytes of the jobs that are not done yet. */
size_t disk_waiting(struct disk *disk);

/** disk_reap() - call done() of what is done. Context: the thread that calls disk_do(). */
void disk_reap(struct disk *disk);

/** disk_drain() - wait until all that was given is done, and reap it. Context: blocks. */
void disk_drain(struct disk *disk);

/** disk_stop() - do what was given, reap it, end the thread. NULL: nothing. Context: blocks. */
void disk_stop(struct disk *disk);

#endif
