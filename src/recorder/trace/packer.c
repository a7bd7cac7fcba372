/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of jobs, a directory each, and one thread that does them one by one. A job is waiting, is
 * the present one, or is done; the lock protects the three, never the work itself. To forget the
 * present job, the caller raises leave_off and waits until the thread has put the job aside.
 *
 * A frame is what a reader decompresses at once. All streams of a trace share FRAMES_TOTAL, so the
 * frames of a trace with many streams are small.
 */
#include "recorder/trace/packer.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/format/packed.h"

#define NICE 10
/* a program that records itself may lock all of its memory */
#define STACK_SIZE	(512u << 10)
/* A reader keeps a frame of each stream in memory, so the more streams, the smaller the frames. */
#define FRAME_MAX ((size_t)256 << 10)
#define FRAME_MIN ((size_t)16 << 10)
#define FRAMES_TOTAL ((size_t)64 << 20)

struct job {
	struct job *next;
	uint64_t number;
	char path[];
};

struct packer {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job *first, **last;	/* waiting */
	struct job *present;		/* the one the thread works at */
	struct job *done;		/* finished, for packer_done() */
	bool leave_off;			/* atomic: stop the present job */
	bool ending;
};

/* ---- the thread's ---- */

static bool is_stream(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "metadata") != 0 && !packed_is_name(entry->d_name);
}

static unsigned count_streams(DIR *dir)
{
	const struct dirent *entry;
	unsigned count = 0;

	while ((entry = readdir(dir)))
		count += is_stream(entry);
	rewinddir(dir);
	return count ? count : 1;
}

static void pack_trace(struct packer *packer, const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	size_t frame;

	if (!dir)
		return;
	frame = FRAMES_TOTAL / count_streams(dir);
	frame = frame > FRAME_MAX ? FRAME_MAX : frame < FRAME_MIN ? FRAME_MIN : frame;
	while ((entry = readdir(dir)) && !__atomic_load_n(&packer->leave_off, __ATOMIC_RELAXED)) {
		struct stat st;

		if (is_stream(entry) &&
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			(void)packed_file(
				path, entry->d_name, frame,
				&packer->leave_off); /* if it fails, the file stays as it is */
	}
	(void)closedir(dir);
}

static void do_job(struct packer *packer, const struct job *job)
{
	DIR *dir = opendir(job->path);
	const struct dirent *entry;
	char path[PATH_MAX + 300];

	while (dir && (entry = readdir(dir)) &&
	       !__atomic_load_n(&packer->leave_off, __ATOMIC_RELAXED)) {
		(void)snprintf(path, sizeof path, "%s/%s/metadata", job->path, entry->d_name);
		if (entry->d_name[0] == '.' || access(path, F_OK) < 0)
			continue;
		*strrchr(path, '/') = 0;
		pack_trace(packer, path);
	}
	if (dir)
		(void)closedir(dir);
}

static void *packer_main(void *argument)
{
	struct packer *packer = argument;

	if (getpriority(PRIO_PROCESS, (id_t)gettid()) <
	    NICE) /* the session's nice value may be higher already */
		(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	pthread_mutex_lock(&packer->lock);
	while (packer->first || !packer->ending) {
		struct job *job = packer->first;

		if (!job) {
			pthread_cond_wait(&packer->changed, &packer->lock);
			continue;
		}
		packer->first = job->next;
		if (!packer->first)
			packer->last = &packer->first;
		packer->present = job;
		__atomic_store_n(&packer->leave_off, false, __ATOMIC_RELAXED);
		pthread_mutex_unlock(&packer->lock);
		do_job(packer, job);
		pthread_mutex_lock(&packer->lock);
		packer->present = NULL;
		job->next = packer->done;
		packer->done = job;
		pthread_cond_broadcast(&packer->changed);
	}
	pthread_mutex_unlock(&packer->lock);
	return NULL;
}

/* ---- the session's ---- */

static void free_jobs(struct job *job)
{
	while (job) {
		struct job *next = job->next;

		free(job);
		job = next;
	}
}

struct packer *packer_start(void)
{
	struct packer *packer = calloc(1, sizeof *packer);
	pthread_attr_t attributes;
	sigset_t all, before;
	int rc;

	if (!packer)
		return NULL;
	(void)pthread_mutex_init(&packer->lock, NULL);
	(void)pthread_cond_init(&packer->changed, NULL);
	packer->last = &packer->first;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK_SIZE);
	rc = pthread_create(&packer->thread, &attributes, packer_main, packer);
	(void)pthread_attr_destroy(&attributes);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		return packer;
	free(packer);
	return NULL;
}

void packer_add(struct packer *packer, const char *path, uint64_t number)
{
	size_t size = strlen(path) + 1;
	struct job *job = size <= PATH_MAX ? malloc(sizeof *job + size) : NULL;

	if (!job)
		return;
	*job = (struct job){ .number = number };
	memcpy(job->path, path, size);
	pthread_mutex_lock(&packer->lock);
	*packer->last = job;
	packer->last = &job->next;
	pthread_cond_broadcast(&packer->changed);
	pthread_mutex_unlock(&packer->lock);
}

bool packer_done(struct packer *packer, uint64_t *number)
{
	struct job *job;

	pthread_mutex_lock(&packer->lock);
	job = packer->done;
	if (job)
		packer->done = job->next;
	pthread_mutex_unlock(&packer->lock);
	if (job)
		*number = job->number;
	free(job);
	return job;
}

void packer_forget(struct packer *packer, uint64_t number)
{
	pthread_mutex_lock(&packer->lock);
	for (struct job **at = &packer->first; *at; at = &(*at)->next) {
		struct job *job = *at;

		if (job->number != number)
			continue;
		*at = job->next;
		if (!job->next)
			packer->last = at;
		free(job);
		break;
	}
	while (packer->present && packer->present->number == number) {
		__atomic_store_n(&packer->leave_off, true, __ATOMIC_RELAXED);
		pthread_cond_wait(&packer->changed, &packer->lock);
	}
	pthread_mutex_unlock(&packer->lock);
}

void packer_end(struct packer *packer)
{
	if (!packer)
		return;
	pthread_mutex_lock(&packer->lock);
	packer->ending = true;
	pthread_cond_broadcast(&packer->changed);
	pthread_mutex_unlock(&packer->lock);
	(void)pthread_join(packer->thread, NULL);
	free_jobs(packer->done);
	(void)pthread_cond_destroy(&packer->changed);
	(void)pthread_mutex_destroy(&packer->lock);
	free(packer);
}
