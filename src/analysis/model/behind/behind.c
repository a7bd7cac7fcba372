/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See behind.h. What the listeners are to be told is copied into blocks, and the second thread
 * works through blocks that are full. Frequent calls are copied; before others, and when a call
 * refers to what the model will change, the caller waits until all blocks are done.
 */
#include "analysis/model/behind/behind.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model_internal.h"
#include "base/thread.h"

#define BLOCK_BYTES ((size_t)64 << 10)
#define BLOCKS 8u
/* So many calls are about as long as waiting until they are done and the thread sleeps. */
#define WORTH_CALLS 256u
#define WAITS_MIN 64u /* before that is judged */

struct block {
	size_t used;
	_Alignas(8) char bytes[BLOCK_BYTES];
};

/* A call to listeners: a function of struct model_listener by its number, and what follows it. */
struct told {
	uint32_t what;
	uint32_t bytes; /* with this head */
};

struct told_run {
	struct told head;
	struct model_instance instance;
	struct model_message message; /* if instance.message is not NULL */
};

struct told_message {
	struct told head;
	enum model_drop why; /* of a message that was dropped */
	struct model_message message;
};

struct told_cause {
	struct told head;
	struct model_cause cause;
	struct model_message message;
};

struct told_interval {
	struct told head;
	struct model_executor_interval interval;
};

struct behind {
	struct model *model;
	bool runs;                           /* the thread */
	struct hearers hearers[MODEL_HEARS]; /* those of the model, while the thread runs */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t given, done; /* a block was given to the thread; it has done enough */
	struct block *block;        /* BLOCKS of them, a ring */
	unsigned at;                /* the block that is being filled */
	uint64_t calls, waits;      /* copied calls; how often the caller waited for all of them */
	bool is_tired;              /* it waited too often: now listeners are told at once */
	/* With the lock. */
	unsigned ready;   /* blocks before it that the thread has not done */
	unsigned waited;  /* the caller waits until so many of them are left; BLOCKS: it does not */
	bool idle, stops; /* the thread */
};

/* ---- the second thread ---- */

static void tell(struct behind *behind, struct told *told)
{
	struct told_run *run = (struct told_run *)told;
	struct told_message *message = (struct told_message *)told;
	struct told_cause *cause = (struct told_cause *)told;

	if (told->what <= MODEL_HEAR(unfinished) || told->what == MODEL_HEAR(started))
		run->instance.message = run->instance.message ? &run->message : NULL;
	switch (told->what) {
	case MODEL_HEAR(instance):
		EMIT(behind, instance, &run->instance);
		break;
	case MODEL_HEAR(unfinished):
		EMIT(behind, unfinished, &run->instance);
		break;
	case MODEL_HEAR(started):
		EMIT(behind, started, &run->instance);
		break;
	case MODEL_HEAR(published):
		EMIT(behind, published, &message->message);
		break;
	case MODEL_HEAR(taken):
		EMIT(behind, taken, &message->message);
		break;
	case MODEL_HEAR(dropped):
		EMIT(behind, dropped, &message->message, message->why);
		break;
	case MODEL_HEAR(cause):
		cause->cause.message = &cause->message;
		EMIT(behind, cause, &cause->cause);
		break;
	case MODEL_HEAR(executor):
		EMIT(behind, executor, &((struct told_interval *)told)->interval);
		break;
	}
}

static void do_block(struct behind *behind, struct block *block)
{
	for (size_t at = 0; at < block->used;) {
		struct told *told = (struct told *)(block->bytes + at);

		at += told->bytes;
		tell(behind, told);
	}
	block->used = 0;
}

static void *work(void *context)
{
	struct behind *behind = context;
	unsigned next = 0;

	pthread_mutex_lock(&behind->lock);
	while (behind->ready || !behind->stops) {
		if (!behind->ready) {
			behind->idle = true;
			pthread_cond_wait(&behind->given, &behind->lock);
			behind->idle = false;
			continue;
		}
		pthread_mutex_unlock(&behind->lock);
		do_block(behind, &behind->block[next]);
		next = (next + 1) % BLOCKS;
		pthread_mutex_lock(&behind->lock);
		behind->ready--;
		if (behind->ready <= behind->waited && behind->waited < BLOCKS)
			pthread_cond_signal(&behind->done);
	}
	pthread_mutex_unlock(&behind->lock);
	return NULL;
}

/* ---- the caller's thread ---- */

/* Waits until the thread has at most @most blocks to do. */
static void wait_for(struct behind *behind, unsigned most)
{
	behind->waited = most;
	while (behind->ready > most)
		pthread_cond_wait(&behind->done, &behind->lock);
	behind->waited = BLOCKS;
}

/* The block that was filled is the thread's; the next one is free. @all: wait for all blocks. */
static void give_block(struct behind *behind, bool all)
{
	pthread_mutex_lock(&behind->lock);
	if (behind->block[behind->at].used) {
		behind->ready++;
		behind->at = (behind->at + 1) % BLOCKS;
	}
	/* Wake the thread for several blocks: for one, it would sleep again at once. */
	if (behind->idle && behind->ready >= (all ? 1 : BLOCKS / 2))
		pthread_cond_signal(&behind->given);
	behind->waits += all && behind->ready;
	if (all || behind->ready == BLOCKS)
		wait_for(behind, all ? 0 : BLOCKS / 2);
	pthread_mutex_unlock(&behind->lock);
}

static void settle(void *context)
{
	struct behind *behind = context;

	if (behind->is_tired)
		return;
	give_block(behind, true);
	behind->is_tired =
		behind->waits > WAITS_MIN && behind->calls < behind->waits * WORTH_CALLS;
}

/* Room for a call of @bytes in the block that is being filled. NULL: tell it at once. */
static void *room(struct behind *behind, size_t what, size_t bytes)
{
	struct block *block = &behind->block[behind->at];
	struct told *told;

	if (__builtin_expect(behind->is_tired, 0))
		return NULL;
	if (__builtin_expect(block->used + bytes > BLOCK_BYTES, 0)) {
		give_block(behind, false);
		block = &behind->block[behind->at];
	}
	told = (struct told *)(block->bytes + block->used);
	block->used += bytes;
	behind->calls++;
	*told = (struct told){ (uint32_t)what, (uint32_t)bytes };
	return told;
}

static bool run_later(struct behind *behind, size_t what, const struct model_instance *instance)
{
	const struct model_message *message = instance->message;
	struct told_run *run;

	/* The model goes on to change what it knows of a coroutine. */
	if (__builtin_expect(instance->coroutine != NULL, 0)) {
		settle(behind);
		return false;
	}
	run = room(behind, what, message ? sizeof(*run) : offsetof(struct told_run, message));
	if (!run)
		return false;
	run->instance = *instance;
	if (message)
		run->message = *message;
	return true;
}

static bool message_later(struct behind *behind, size_t what, const struct model_message *message,
			  enum model_drop why)
{
	struct told_message *told = room(behind, what, sizeof(*told));

	if (!told)
		return false;
	told->why = why;
	told->message = *message;
	return true;
}

#define LATER(what, type, later, ...)                              \
	static void on_##what(void *context, const type *about)    \
	{                                                          \
		struct behind *behind = context;                   \
								   \
		if (!later(behind, MODEL_HEAR(what), __VA_ARGS__)) \
			EMIT(behind, what, about);                 \
	}
LATER(instance, struct model_instance, run_later, about)
LATER(unfinished, struct model_instance, run_later, about)
LATER(started, struct model_instance, run_later, about)
LATER(published, struct model_message, message_later, about, 0)
LATER(taken, struct model_message, message_later, about, 0)

static void on_dropped(void *context, const struct model_message *message, enum model_drop why)
{
	struct behind *behind = context;

	if (!message_later(behind, MODEL_HEAR(dropped), message, why))
		EMIT(behind, dropped, message, why);
}

static void on_cause(void *context, const struct model_cause *cause)
{
	struct behind *behind = context;
	struct told_cause *told = room(behind, MODEL_HEAR(cause), sizeof(*told));

	if (!told) {
		EMIT(behind, cause, cause);
		return;
	}
	told->cause = *cause;
	told->message = *cause->message;
}

static void on_executor(void *context, const struct model_executor_interval *interval)
{
	struct behind *behind = context;
	struct told_interval *told = room(behind, MODEL_HEAR(executor), sizeof(*told));

	if (told)
		told->interval = *interval;
	else
		EMIT(behind, executor, interval);
}

/* The others are rare: they are told when everything before them was heard. */
#define AT_ONCE(what, type)                                      \
	static void on_##what(void *context, const type *about)  \
	{                                                        \
		struct behind *behind = context;                 \
								 \
		settle(behind);                                  \
		EMIT(behind, what, about);                       \
	}
AT_ONCE(transition, struct model_transition)
AT_ONCE(loss, struct model_loss)
AT_ONCE(publish_step, struct model_publish_step)
AT_ONCE(take_step, struct model_take_step)
AT_ONCE(call, struct model_call)
AT_ONCE(call_step, struct model_call_step)
AT_ONCE(state, struct model_state)
AT_ONCE(sim_time, struct model_sim_time)
AT_ONCE(goal, struct model_goal)
AT_ONCE(goal_step, struct model_goal_step)
AT_ONCE(gil_wait, struct model_gil_wait)

#define ON(what) .what = on_##what
static const struct model_listener all = {
	ON(instance),  ON(unfinished),	 ON(published), ON(taken),     ON(dropped),
	ON(transition), ON(loss),	 ON(started),	ON(publish_step), ON(take_step),
	ON(call),      ON(call_step),	 ON(state),	ON(executor),  ON(cause),
	ON(sim_time),  ON(goal),	 ON(goal_step), ON(gil_wait),
};

/* ---- life ---- */

void behind_start(struct behind *behind)
{
	struct model *model = behind->model;

	behind->block = calloc(BLOCKS, sizeof(*behind->block));
	if (!behind->block)
		return;
	if (thread_start(&behind->thread, work, behind)) {
		free(behind->block);
		behind->block = NULL;
		return;
	}
	memcpy(behind->hearers, model->hearers, sizeof(model->hearers));
	behind->runs = true;
	for (size_t k = 0; k < MODEL_HEARS; k++) {
		if (!model->hearers[k].count)
			continue;
		model->hearers[k].count = 1;
		model->hearers[k].of[0].listener = &all;
		model->hearers[k].of[0].context = behind;
	}
	model->settle = settle;
	model->settle_context = behind;
}

void behind_stop(struct behind *behind)
{
	if (!behind->runs)
		return;
	settle(behind);
	pthread_mutex_lock(&behind->lock);
	behind->stops = true;
	pthread_cond_signal(&behind->given);
	pthread_mutex_unlock(&behind->lock);
	pthread_join(behind->thread, NULL);
	memcpy(behind->model->hearers, behind->hearers, sizeof(behind->hearers));
	behind->model->settle = NULL;
	behind->runs = behind->stops = behind->is_tired = false;
	behind->calls = behind->waits = 0;
	behind->at = 0;
	free(behind->block);
	behind->block = NULL;
}

int behind_create(struct behind **out, struct model *model, struct kymo_err *err)
{
	struct behind *behind = calloc(1, sizeof(*behind));

	if (!behind)
		return err_no_memory(err);
	behind->model = model;
	behind->waited = BLOCKS;
	pthread_mutex_init(&behind->lock, NULL);
	pthread_cond_init(&behind->given, NULL);
	pthread_cond_init(&behind->done, NULL);
	*out = behind;
	return 0;
}

void behind_destroy(struct behind *behind)
{
	behind_stop(behind);
	pthread_mutex_destroy(&behind->lock);
	pthread_cond_destroy(&behind->given);
	pthread_cond_destroy(&behind->done);
	free(behind);
}
