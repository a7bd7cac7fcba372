/* SPDX-License-Identifier: Apache-2.0 */
/* A thread and its queue of jobs. See disk.h. */
#include "relay/store/disk.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/thread.h"

struct queue {
	struct disk_job *first, **last;
};

struct disk {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work, progress;	/* signals: there is a job; a job is done */
	struct queue wanted, done;
	size_t waiting;
	bool stop;
	void (*wake)(void *context);
	void *context;
};

static void queue_init(struct queue *queue)
{
	queue->first = NULL;
	queue->last = &queue->first;
}

static void queue_add(struct queue *queue, struct disk_job *job)
{
	job->next = NULL;
	*queue->last = job;
	queue->last = &job->next;
}

static struct disk_job *queue_take(struct queue *queue)
{
	struct disk_job *job = queue->first;

	if (job) {
		queue->first = job->next;
		if (!queue->first)
			queue->last = &queue->first;
	}
	return job;
}

static void *run(void *arg)
{
	struct disk *disk = arg;

	pthread_mutex_lock(&disk->lock);
	for (;;) {
		struct disk_job *job = queue_take(&disk->wanted);
		bool first;

		if (!job && disk->stop)
			break;
		if (!job) {
			pthread_cond_wait(&disk->work, &disk->lock);
			continue;
		}
		pthread_mutex_unlock(&disk->lock);
		job->work(job);
		pthread_mutex_lock(&disk->lock);
		first = !disk->done.first;
		queue_add(&disk->done, job);
		if (first)
			disk->wake(disk->context);
		pthread_cond_signal(&disk->progress);
	}
	pthread_mutex_unlock(&disk->lock);
	return NULL;
}

struct disk *disk_start(void (*wake)(void *context), void *context)
{
	struct disk *disk = calloc(1, sizeof(*disk));

	if (!disk)
		return NULL;
	disk->wake = wake;
	disk->context = context;
	queue_init(&disk->wanted);
	queue_init(&disk->done);
	pthread_mutex_init(&disk->lock, NULL);
	pthread_cond_init(&disk->work, NULL);
	pthread_cond_init(&disk->progress, NULL);
	if (thread_start(&disk->thread, run, disk) == 0)
		return disk;
	pthread_cond_destroy(&disk->work);
	pthread_cond_destroy(&disk->progress);
	pthread_mutex_destroy(&disk->lock);
	free(disk);
	return NULL;
}

void disk_do(struct disk *disk, struct disk_job *job)
{
	pthread_mutex_lock(&disk->lock);
	queue_add(&disk->wanted, job);
	disk->waiting += job->bytes;
	pthread_cond_signal(&disk->work);
	pthread_mutex_unlock(&disk->lock);
}

size_t disk_waiting(struct disk *disk)
{
	size_t waiting;

	pthread_mutex_lock(&disk->lock);
	waiting = disk->waiting;
	pthread_mutex_unlock(&disk->lock);
	return waiting;
}

void disk_reap(struct disk *disk)
{
	struct disk_job *job;
	struct queue done;

	pthread_mutex_lock(&disk->lock);
	done = disk->done;
	queue_init(&disk->done);
	for (job = done.first; job; job = job->next)
		disk->waiting -= job->bytes;
	pthread_mutex_unlock(&disk->lock);
	while ((job = done.first)) {
		done.first = job->next;
		job->done(job);
	}
}

void disk_drain(struct disk *disk)
{
	bool more = true;

	while (more) {
		disk_reap(disk);	/* may add more jobs */
		pthread_mutex_lock(&disk->lock);
		more = disk->waiting;
		while (more && !disk->done.first)
			pthread_cond_wait(&disk->progress, &disk->lock);
		pthread_mutex_unlock(&disk->lock);
	}
}

void disk_stop(struct disk *disk)
{
	if (!disk)
		return;
	pthread_mutex_lock(&disk->lock);
	disk->stop = true;
	pthread_cond_signal(&disk->work);
	pthread_mutex_unlock(&disk->lock);
	pthread_join(disk->thread, NULL);
	disk_reap(disk);
	pthread_cond_destroy(&disk->work);
	pthread_cond_destroy(&disk->progress);
	pthread_mutex_destroy(&disk->lock);
	free(disk);
}
