/* SPDX-License-Identifier: Apache-2.0 */
/* See push.h: the threads that send. */
#include "fleet/push/push.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/now.h"
#include "fleet/push/push_internal.h"

#define WAIT_LEAST_MS 250u  /* after a failure; doubles up to ... */
#define WAIT_MOST_MS 300000u
#define LOOK_MS 500u /* how often a waiting thread looks whether it should end */

struct push {
	struct push_target target[PUSH_TARGETS];
	struct window_source of;
	struct push_options options;
};

/* ---- a thread ---- */

static bool stopped(struct push_target *target)
{
	return atomic_load(&target->stop);
}

static void wait_ms(struct push_target *target, unsigned ms, bool until_new)
{
	const int64_t end = now_ns() + (int64_t)ms * 1000000;
	struct timespec at;

	pthread_mutex_lock(&target->lock);
	while (!stopped(target) && now_ns() < end) {
		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_nsec += (LOOK_MS % 1000) * 1000000L;
		at.tv_sec += at.tv_nsec / 1000000000L;
		at.tv_nsec %= 1000000000L;
		if (!pthread_cond_timedwait(&target->changed, &target->lock, &at) && until_new)
			break;
	}
	pthread_mutex_unlock(&target->lock);
}

/* Twice as long after each failure, and never at the same time as all other robots. */
static unsigned wait_after(unsigned failures)
{
	unsigned ms = WAIT_LEAST_MS;
	uint32_t chance = 0;

	while (--failures && ms < WAIT_MOST_MS)
		ms *= 2;
	if (ms > WAIT_MOST_MS)
		ms = WAIT_MOST_MS;
	(void)getrandom(&chance, sizeof(chance), 0);
	return ms / 2 + chance % (ms / 2);
}

static void count(struct push_target *target, enum push_result result,
		  const struct backlog_item *item)
{
	pthread_mutex_lock(&target->lock);
	if (result == PUSH_SENT) {
		target->counts.sent += item->windows;
		target->counts.last_ns = clock_now_ns(CLOCK_REALTIME);
	} else {
		target->counts.failures++;
	}
	if (result == PUSH_REFUSED)
		target->counts.refused += item->windows;
	pthread_mutex_unlock(&target->lock);
}

/* Once when it begins to fail, and once when it works again. */
static void say(const struct push_target *target, enum push_result result, const char *why,
		unsigned failures)
{
	char text[1024];

	if (result == PUSH_REFUSED)
		snprintf(text, sizeof(text), "%s refused a window, which is dropped: %s",
			 target->name, why);
	else if (result == PUSH_AGAIN && failures == 1)
		snprintf(text, sizeof(text), "%s: %s; windows wait in the spool", target->name,
			 why);
	else if (result == PUSH_SENT && failures)
		snprintf(text, sizeof(text), "%s takes windows again", target->name);
	else
		return;
	target->to->say(target->to->context, text);
}

static void *send_all(void *context)
{
	struct push_target *target = context;
	unsigned failures = 0;

	while (!stopped(target)) {
		struct backlog_window window;
		struct backlog_item item;
		enum push_result result;
		char why[512] = "";

		if (!backlog_first(target->spool, &item)) {
			wait_ms(target, 2 * LOOK_MS, true);
			continue;
		}
		if (!item.phase && backlog_phase(target->spool, &item, 1))
			continue;
		if (backlog_load(target->spool, &item, &window))
			continue;
		result = push_send(target, &item, &window, why, sizeof(why));
		backlog_unload(&window);
		if (stopped(target) && result == PUSH_AGAIN)
			break;
		count(target, result, &item);
		if (result != PUSH_AGAIN)
			backlog_done(target->spool, &item);
		failures += result == PUSH_AGAIN;
		say(target, result, why, failures);
		if (result == PUSH_SENT)
			failures = 0;
		if (result == PUSH_AGAIN)
			wait_ms(target, wait_after(failures), false);
	}
	return NULL;
}

/* ---- for the main thread ---- */

void push_window(struct push *push, const struct summary *summary, int64_t begin_ns,
		 int64_t length_ns)
{
	struct kymo_err err;
	char text[1100];

	for (unsigned i = 0; push && i < PUSH_TARGETS; i++) {
		struct push_target *target = &push->target[i];

		if (!target->started)
			continue;
		if (backlog_put(target->spool, &push->of, summary, begin_ns, length_ns, &err)) {
			snprintf(text, sizeof(text), "a window is lost: %s", err.text);
			push->options.say(push->options.context, text);
		}
		pthread_mutex_lock(&target->lock);
		pthread_cond_signal(&target->changed);
		pthread_mutex_unlock(&target->lock);
	}
}

const char *push_counts(struct push *push, unsigned which, struct push_counts *counts)
{
	struct push_target *target = push ? &push->target[which] : NULL;

	if (!target || !target->started)
		return NULL;
	pthread_mutex_lock(&target->lock);
	*counts = target->counts;
	pthread_mutex_unlock(&target->lock);
	backlog_counts(target->spool, &counts->spool);
	return target->name;
}

/* ---- life cycle ---- */

static int open_spool(struct push_target *target, struct kymo_err *err)
{
	const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char path[3072];

	if (*target->config->spool)
		snprintf(path, sizeof(path), "%.2048s/%s", target->config->spool, target->name);
	else if (base && *base == '/')
		snprintf(path, sizeof(path), "%.2048s/kymo/windows/%s", base, target->name);
	else if (home && *home == '/')
		snprintf(path, sizeof(path), "%.2048s/.local/state/kymo/windows/%s", home,
			 target->name);
	else
		return err_set(err, KYMO_EXIT_FAILED,
			       "there is no HOME for the spool; set spool.directory in kymo.yaml");
	return backlog_open(&target->spool, path, target->config->spool_limit, err);
}

static int start(struct push_target *target, struct kymo_err *err)
{
	const int used = push_target_configure(target, err);

	if (used <= 0)
		return used;
	target->options.stop = &target->stop;
	target->options.bandwidth = target->config->bandwidth;
	if (post_open(&target->post, &target->options, err) || open_spool(target, err))
		return -1;
	if (pthread_create(&target->thread, NULL, send_all, target))
		return err_no_memory(err);
	target->started = true;
	return 1;
}

int push_begin(struct push **out, const struct push_options *options, struct kymo_err *err)
{
	const struct config *config = options->config;
	static const char *const names[PUSH_TARGETS] = { "clickhouse", "otlp" };
	struct push *push = calloc(1, sizeof(*push));
	bool any = false;

	*out = NULL;
	if (!push)
		return err_no_memory(err);
	push->options = *options;
	push->of = (struct window_source){ config->robot, config->boot, config->software,
					   config->labels_json };
	for (unsigned i = 0; i < PUSH_TARGETS; i++) {
		struct push_target *target = &push->target[i];
		int used;

		target->name = names[i];
		target->is_otlp = i == 1;
		target->config = config;
		target->version = options->version;
		target->to = &push->options;
		pthread_mutex_init(&target->lock, NULL);
		pthread_cond_init(&target->changed, NULL);
		used = start(target, err);
		if (used < 0) {
			(void)err_wrap(err, "%s", names[i]);
			push_end(push);
			return -1;
		}
		any |= used > 0;
	}
	if (any)
		*out = push;
	else
		push_end(push);
	return 0;
}

void push_end(struct push *push)
{
	for (unsigned i = 0; push && i < PUSH_TARGETS; i++)
		atomic_store(&push->target[i].stop, true);
	for (unsigned i = 0; push && i < PUSH_TARGETS; i++) {
		struct push_target *target = &push->target[i];

		if (target->started)
			(void)pthread_join(target->thread, NULL);
		post_close(target->post);
		backlog_close(target->spool);
		push_target_free(target);
	}
	free(push);
}
