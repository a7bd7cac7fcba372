/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compresses traces in which nothing changes any more, in a thread of its own: draining must not wait
 * for it. The thread is nice, blocks all signals, and touches files only.
 */
#ifndef KYMO_RECORDER_PACKER_H
#define KYMO_RECORDER_PACKER_H

#include <stdbool.h>
#include <stdint.h>

struct packer;

/** packer_start() - begin the thread. Return: it; NULL: no memory, or no thread. */
struct packer *packer_start(void);

/**
 * packer_add() - compress the stream files of all traces directly below @path
 * @number: of the job, for the others; 0: none of them is called for it
 *
 * What cannot be compressed stays as it is. Context: allocates; does not wait.
 */
void packer_add(struct packer *packer, const char *path, uint64_t number);

/** packer_done() - a job that ended since the last call, in *@number. Return: false: none. */
bool packer_done(struct packer *packer, uint64_t *number);

/** packer_forget() - leave off job @number; afterwards nobody touches its files. Waits for one frame at most. */
void packer_forget(struct packer *packer, uint64_t number);

/** packer_end() - do what is left, then end the thread. NULL is fine. Context: blocks. */
void packer_end(struct packer *packer);

#endif
