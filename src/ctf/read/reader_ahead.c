/* SPDX-License-Identifier: Apache-2.0 */
/* See reader_ahead.h. One lock for all streams is enough: a batch is thousands of events. */
#include "ctf/read/reader_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "ctf/read/stream_impl.h"

#define LANES 4				/* batches of a stream: one being read, the others ahead */
#define TOTAL_BYTES ((size_t)8 << 20)	/* of windows, over all lanes; records take as much again */
#define LANE_MAX ((size_t)256 << 10)
#define LANE_MIN ((size_t)16 << 10)
#define LARGE_MAX (TOTAL_BYTES / LANE_MIN / LANES)
#define STREAMS_MAX 1024
#define THREADS_MAX 16
/* Smaller traces are read before a thread has started. */
#define WORTH_BYTES ((uint64_t)16 << 20)
/* Smaller lanes cost more than they save, by locking and waking (measured: 16 KiB, 128 streams). */
#define WORTH_LANE ((size_t)64 << 10)

struct ahead_stream {
	struct ctf_stream *lane[LANES];	/* the ring; NULL: not created yet */
	struct ctf_stream *place;	/* where the next batch begins */
	unsigned first, ready;		/* lane[first] and @ready - 1 behind it are filled */
	bool held;			/* the lane before lane[first] is being read */
	bool busy;			/* the lane behind those that are filled is being filled */
	bool ended;
	int64_t until;			/* time of the last event found */
};

struct ahead {
	struct kymo_ctf_reader *reader;
	pthread_mutex_t lock;
	pthread_cond_t work, made;	/* a lane is free to be filled; a batch was filled */
	unsigned idle;			/* threads that wait for work */
	unsigned waiting;		/* the reading thread waits for a batch */
	bool stop;			/* atomic: also looked at without the lock */
	size_t lane_bytes;
	struct ahead_stream *stream;
	unsigned stream_count;
	pthread_t thread[THREADS_MAX];
	unsigned thread_count;
};

static struct ctf_stream *lane_new(const struct ahead *a, unsigned index)
{
	struct ctf_stream *lane = stream_clone(a->stream[index].place);

	if (!lane)
		return NULL;
	lane->window_size = a->lane_bytes;
	if (lane->info.bytes < LANE_MIN)
		lane->window_size = LANE_MIN;
	lane->batch_capacity = (uint32_t)(lane->window_size / sizeof *lane->batch);
	lane->stop = &a->stop;
	return lane;
}

/* ---- one batch ---- */

static bool has_room(const struct ahead_stream *st)
{
	return !st->busy && !st->ended && st->ready + st->held < LANES;
}

/* Called with the lock, which is not held while the batch is filled; the stream has room. */
static void make_batch(struct ahead *a, unsigned index)
{
	struct ahead_stream *st = &a->stream[index];
	struct ctf_stream **lane = &st->lane[(st->first + st->ready) % LANES];
	bool more = false;
	int64_t until = INT64_MAX;

	st->busy = true;
	pthread_mutex_unlock(&a->lock);
	if (!*lane)
		*lane = lane_new(a, index);
	if (*lane && stream_continue(*lane, st->place)) {
		more = stream_refill(*lane);
		if (more)
			until = (*lane)->batch_end[-1].key;
		more = more && stream_continue(st->place, *lane);
	} else {
		reader_warn(a->reader, "%s: left out: out of memory", a->reader->stream[index]->info.path);
	}
	pthread_mutex_lock(&a->lock);
	st->busy = false;
	st->until = until;
	st->ended = !more;
	st->ready += more;
	if (a->waiting)
		pthread_cond_broadcast(&a->made);
}

/* The stream with room that is least far ahead. Return: stream_count: there is none. */
static unsigned find_room(const struct ahead *a)
{
	unsigned best = a->stream_count;

	for (unsigned i = 0; i < a->stream_count; i++)
		if (has_room(&a->stream[i]) &&
		    (best == a->stream_count || a->stream[i].until < a->stream[best].until))
			best = i;
	return best;
}

static void *work(void *arg)
{
	struct ahead *a = arg;

	pthread_mutex_lock(&a->lock);
	while (!__atomic_load_n(&a->stop, __ATOMIC_RELAXED)) {
		unsigned index = find_room(a);

		if (index < a->stream_count) {
			make_batch(a, index);
			continue;
		}
		a->idle++;
		pthread_cond_wait(&a->work, &a->lock);
		a->idle--;
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

struct ctf_stream *ahead_next(struct ahead *a, unsigned index)
{
	struct ahead_stream *st = &a->stream[index];
	struct ctf_stream *lane = NULL;

	pthread_mutex_lock(&a->lock);
	st->held = false;
	while (!st->ready && !st->ended) {
		unsigned other = has_room(st) ? index : find_room(a);

		if (other < a->stream_count) {
			make_batch(a, other);
			continue;
		}
		a->waiting++;
		pthread_cond_wait(&a->made, &a->lock);
		a->waiting--;
	}
	if (st->ready) {
		lane = st->lane[st->first];
		st->first = (st->first + 1) % LANES;
		st->ready--;
		st->held = true;
	}
	/* Wake a thread only when it has several batches to fill: for one, it would sleep again at
	 * once. */
	if (a->idle && !st->ended && st->ready + st->held <= LANES / 2)
		pthread_cond_signal(&a->work);
	pthread_mutex_unlock(&a->lock);
	return lane;
}

/* ---- life ---- */

/* Bytes of a lane's window; 0: there are too many streams. Short streams do not count. */
static size_t lane_size(const struct kymo_ctf_reader *reader)
{
	size_t large = 0, size;

	for (unsigned i = 0; i < reader->stream_count; i++)
		large += reader->stream[i]->info.bytes >= LANE_MIN;
	if (!large || large > LARGE_MAX || reader->stream_count > STREAMS_MAX)
		return 0;
	size = TOTAL_BYTES / LANES / large;
	return size > LANE_MAX ? LANE_MAX : size & ~(LANE_MIN - 1);
}

unsigned ahead_threads(const struct kymo_ctf_reader *reader)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < reader->stream_count; i++)
		bytes += reader->stream[i]->info.bytes;
	return bytes >= WORTH_BYTES && lane_size(reader) >= WORTH_LANE && thread_cpus() > 1;
}

void ahead_stop(struct ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	__atomic_store_n(&a->stop, true, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
	for (unsigned i = 0; i < a->thread_count; i++)
		pthread_join(a->thread[i], NULL);
	for (unsigned i = 0; i < a->stream_count; i++) {
		for (unsigned k = 0; k < LANES; k++)
			stream_clone_free(a->stream[i].lane[k]);
		stream_clone_free(a->stream[i].place);
	}
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->work);
	pthread_cond_destroy(&a->made);
	free(a->stream);
	free(a);
}

struct ahead *ahead_start(struct kymo_ctf_reader *reader, unsigned threads)
{
	unsigned count = reader->stream_count;
	size_t lane_bytes = lane_size(reader);
	struct ahead *a;

	if (!lane_bytes)
		return NULL;
	a = calloc(1, sizeof *a);
	if (!a)
		return NULL;
	a->reader = reader;
	a->lane_bytes = lane_bytes;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->work, NULL);
	pthread_cond_init(&a->made, NULL);
	a->stream = calloc(count, sizeof *a->stream);
	if (a->stream)
		a->stream_count = count;
	for (unsigned i = 0; i < a->stream_count; i++) {
		a->stream[i].until = INT64_MIN;
		a->stream[i].place = stream_clone(reader->stream[i]);
		if (!a->stream[i].place)
			goto failed;
	}
	for (; a->thread_count < threads && a->thread_count < THREADS_MAX; a->thread_count++)
		if (pthread_create(&a->thread[a->thread_count], NULL, work, a))
			break;
	if (a->stream && a->thread_count)
		return a;
failed:
	ahead_stop(a);
	return NULL;
}
