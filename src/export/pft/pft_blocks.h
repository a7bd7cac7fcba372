/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a deflated file: threads deflate them while packets of the next ones are collected. The
 * file has them in the order in which they were given, and the same bytes as without threads.
 *
 *   ring of jobs   | written | done | being deflated | to do | free ...
 *                            first            taken^         ^next
 *
 * Context: only the thread that writes packets calls these functions; they allocate, and block on
 * the file and on the threads.
 */
#ifndef KYMO_EXPORT_PFT_BLOCKS_H
#define KYMO_EXPORT_PFT_BLOCKS_H

#include "export/pft/pft_internal.h"

/* One block, and what becomes of it. */
struct pft_job {
	struct pb raw;
	uint8_t *out; /* deflated */
	size_t size, room;
	uint8_t head[2 * (2 + PB_VARINT_MAX)]; /* before it in the file */
	size_t head_size;
	int error; /* errno */
	enum { PFT_JOB_TODO, PFT_JOB_BUSY, PFT_JOB_DONE } state;
	bool plain; /* written as it is */
};

/** pft_deflate() - deflate job->raw; job->error says whether that failed. */
void pft_deflate(z_stream *zlib, struct pft_job *job);
/** pft_job_write() - write a job that is done. */
void pft_job_write(struct pft *pft, const struct pft_job *job);
void pft_job_free(struct pft_job *job);

struct pft_blocks;

/** pft_blocks_new() - start the threads. Return: NULL: there is no CPU for them, or they cannot be
 * started. */
struct pft_blocks *pft_blocks_new(int level);

/** pft_blocks_put() - take pft->block over, to be deflated unless @plain; it is empty then. */
void pft_blocks_put(struct pft *pft, bool plain);

/** pft_blocks_drain() - write all that was given. */
void pft_blocks_drain(struct pft *pft);

/** pft_blocks_free() - what was not written is dropped. */
void pft_blocks_free(struct pft_blocks *blocks);

#endif
