/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that works on files, so that a thread with sockets never waits for a disk. Jobs run one
 * after the other, in the order in which they are given: a job can rely on all jobs before it.
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
	size_t bytes;			/* memory that the job uses, for disk_waiting() */
	void (*work)(struct disk_job *job);	/* called in the disk's thread */
	void (*done)(struct disk_job *job);	/* called in the caller's thread; frees the job */
};

/**
 * disk_start() - @wake is called in the disk's thread when disk_reap() has work
 *
 * Return: NULL: out of memory, or no thread. Context: allocates.
 */
struct disk *disk_start(void (*wake)(void *context), void *context);

/** disk_do() - pass on @job. Context: takes a lock for a moment; does not wait for the disk. */
void disk_do(struct disk *disk, struct disk_job *job);

/** disk_waiting() - bytes of the jobs that are not done yet. */
size_t disk_waiting(struct disk *disk);

/** disk_reap() - call done() for finished jobs. Context: the thread that calls disk_do(). */
void disk_reap(struct disk *disk);

/** disk_drain() - wait until all jobs are done, and reap them. Context: blocks. */
void disk_drain(struct disk *disk);

/** disk_stop() - drain, then end the thread. NULL: nothing. Context: blocks. */
void disk_stop(struct disk *disk);

#endif
