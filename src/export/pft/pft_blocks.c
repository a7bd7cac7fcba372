/* SPDX-License-Identifier: Apache-2.0 */
/* See pft_blocks.h. */
#include "export/pft/pft_blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/thread.h"

#define THREADS_MAX 16u
#define JOBS_EACH 3u /* one being deflated, one to do, one to be written */

struct worker {
	struct pft_blocks *blocks;
	pthread_t thread;
	z_stream zlib;
};

struct pft_blocks {
	pthread_mutex_t lock;
	pthread_cond_t todo, done;
	unsigned first, taken, next; /* see pft_blocks.h; taken and states: with the lock */
	unsigned jobs;
	bool stop;
	struct pft_job job[THREADS_MAX * JOBS_EACH];
	struct worker worker[THREADS_MAX];
	unsigned workers;
};

static struct pft_job *job_at(struct pft_blocks *blocks, unsigned number)
{
	return &blocks->job[number % blocks->jobs];
}

/*
 * A deflated block is one packet whose only field holds the packets:
 *
 *   0A <length> 92 03 <length> zlib(0A .. 0A .. 0A ..)
 */
static void make_head(struct pft_job *job)
{
	uint8_t inner[2 + PB_VARINT_MAX], *end;
	size_t size;

	end = pb_store(inner, F_COMPRESSED << 3 | 2);
	size = (size_t)(pb_store(end, job->size) - inner);
	end = pb_store(job->head, F_PACKET << 3 | 2);
	end = pb_store(end, size + job->size);
	memcpy(end, inner, size);
	job->head_size = (size_t)(end - job->head) + size;
}

void pft_deflate(z_stream *zlib, struct pft_job *job)
{
	const size_t bound = deflateBound(zlib, job->raw.size);

	job->error = 0;
	if (bound > job->room) {
		free(job->out);
		job->out = malloc(bound);
		job->room = job->out ? bound : 0;
	}
	if (!job->out) {
		job->error = ENOMEM;
		return;
	}
	zlib->next_in = job->raw.data;
	zlib->avail_in = (uInt)job->raw.size;
	zlib->next_out = job->out;
	zlib->avail_out = (uInt)job->room;
	if (deflate(zlib, Z_FINISH) != Z_STREAM_END)
		job->error = EIO;
	job->size = job->room - zlib->avail_out;
	(void)deflateReset(zlib); /* fails only on a stream that was never set up */
	make_head(job);
}

void pft_job_write(struct pft *pft, const struct pft_job *job)
{
	if (job->plain) {
		pft_write(pft, job->raw.data, job->raw.size);
		return;
	}
	if (job->error)
		pft_fail(pft, job->error, "cannot compress");
	pft_write(pft, job->head, job->head_size);
	pft_write(pft, job->out, job->size);
}

void pft_job_free(struct pft_job *job)
{
	pb_free(&job->raw);
	free(job->out);
}

/* ---- the threads ---- */

/* With the lock. Return: the next block to deflate; NULL: there is none. */
static struct pft_job *next_job(struct pft_blocks *blocks)
{
	while (blocks->taken != blocks->next) {
		struct pft_job *job = job_at(blocks, blocks->taken++);

		if (job->state == PFT_JOB_TODO)
			return job;
	}
	return NULL;
}

static void *work(void *context)
{
	struct worker *worker = context;
	struct pft_blocks *blocks = worker->blocks;

	pthread_mutex_lock(&blocks->lock);
	while (!blocks->stop) {
		struct pft_job *job = next_job(blocks);

		if (!job) {
			pthread_cond_wait(&blocks->todo, &blocks->lock);
			continue;
		}
		job->state = PFT_JOB_BUSY;
		pthread_mutex_unlock(&blocks->lock);
		pft_deflate(&worker->zlib, job);
		pthread_mutex_lock(&blocks->lock);
		job->state = PFT_JOB_DONE;
		pthread_cond_signal(&blocks->done);
	}
	pthread_mutex_unlock(&blocks->lock);
	return NULL;
}

static bool start(struct pft_blocks *blocks, int level)
{
	struct worker *worker = &blocks->worker[blocks->workers];

	worker->blocks = blocks;
	if (deflateInit(&worker->zlib, level) != Z_OK)
		return false;
	if (thread_start(&worker->thread, work, worker)) {
		(void)deflateEnd(&worker->zlib);
		return false;
	}
	blocks->workers++;
	return true;
}

struct pft_blocks *pft_blocks_new(int level)
{
	const unsigned cpus = thread_cpus(), most = cpus < THREADS_MAX ? cpus : THREADS_MAX;
	struct pft_blocks *blocks = most > 1 ? calloc(1, sizeof(*blocks)) : NULL;

	if (!blocks)
		return NULL;
	(void)pthread_mutex_init(&blocks->lock, NULL);
	(void)pthread_cond_init(&blocks->todo, NULL);
	(void)pthread_cond_init(&blocks->done, NULL);
	blocks->jobs = most * JOBS_EACH;
	while (blocks->workers < most && start(blocks, level))
		;
	if (blocks->workers)
		return blocks;
	pft_blocks_free(blocks);
	return NULL;
}

void pft_blocks_free(struct pft_blocks *blocks)
{
	if (!blocks)
		return;
	pthread_mutex_lock(&blocks->lock);
	blocks->stop = true;
	pthread_cond_broadcast(&blocks->todo);
	pthread_mutex_unlock(&blocks->lock);
	for (unsigned i = 0; i < blocks->workers; i++) {
		(void)pthread_join(blocks->worker[i].thread, NULL);
		(void)deflateEnd(&blocks->worker[i].zlib);
	}
	for (unsigned i = 0; i < blocks->jobs; i++)
		pft_job_free(&blocks->job[i]);
	(void)pthread_cond_destroy(&blocks->todo);
	(void)pthread_cond_destroy(&blocks->done);
	(void)pthread_mutex_destroy(&blocks->lock);
	free(blocks);
}

/* ---- the thread that writes ---- */

static void write_first(struct pft *pft)
{
	struct pft_blocks *blocks = pft->blocks;
	struct pft_job *job = job_at(blocks, blocks->first);

	pthread_mutex_lock(&blocks->lock);
	while (job->state != PFT_JOB_DONE)
		pthread_cond_wait(&blocks->done, &blocks->lock);
	pthread_mutex_unlock(&blocks->lock);
	pft_job_write(pft, job);
	blocks->first++;
}

void pft_blocks_put(struct pft *pft, bool plain)
{
	struct pft_blocks *blocks = pft->blocks;
	struct pft_job *job;
	struct pb raw;

	if (blocks->next - blocks->first == blocks->jobs)
		write_first(pft);
	job = job_at(blocks, blocks->next);
	raw = job->raw;
	job->raw = pft->block;
	pft->block = raw;
	pft->block.size = 0;
	job->plain = plain;
	pthread_mutex_lock(&blocks->lock);
	job->state = plain ? PFT_JOB_DONE : PFT_JOB_TODO;
	blocks->next++;
	pthread_cond_signal(&blocks->todo);
	pthread_mutex_unlock(&blocks->lock);
}

void pft_blocks_drain(struct pft *pft)
{
	while (pft->blocks && pft->blocks->first != pft->blocks->next)
		write_first(pft);
}
