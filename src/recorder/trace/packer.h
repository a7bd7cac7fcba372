/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compresses traces in which nothing changes any more, in a thread of its own, so that draining
 * does not wait for it. The thread runs with a higher nice value, blocks all signals, and uses
 * files only.
 */
#ifndef KYMO_RECORDER_PACKER_H
#define KYMO_RECORDER_PACKER_H

#include <stdbool.h>
#include <stdint.h>

struct packer;

/** packer_start() - start the thread. Return: NULL: no memory, or the thread could not be
 * started. Context: allocates. */
struct packer *packer_start(void);

/**
 * packer_add() - compress the stream files of all traces directly below @path
 * @number: of the job, for packer_done() and packer_forget(); 0: neither is called for it
 *
 * What cannot be compressed stays as it is. Context: allocates; does not wait.
 */
void packer_add(struct packer *packer, const char *path, uint64_t number);

/** packer_done() - the next job that has ended, in *@number. Return: false: none. Context: takes a
 * lock for a moment. */
bool packer_done(struct packer *packer, uint64_t *number);

/** packer_forget() - stop job @number; afterwards its files are not used any more. Context:
 * waits for one frame at most. */
void packer_forget(struct packer *packer, uint64_t number);

/** packer_end() - finish all jobs, then end the thread. NULL is fine. Context: blocks. */
void packer_end(struct packer *packer);

#endif
