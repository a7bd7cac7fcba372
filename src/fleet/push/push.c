/* SPDX-License-Identifier: Apache-2.0 */
/* See push.h: the threads that send. */
#include "fleet/push/push.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "fleet/push/backoff.h"
#include "fleet/push/push_internal.h"

#define INCIDENTS_NS 10000000000ll /* between two looks */
#define INCIDENTS_AGAIN_NS 60000000000ll
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

static void count(struct push_target *target, enum push_result result)
{
	pthread_mutex_lock(&target->lock);
	if (result == PUSH_SENT)
		target->counts.last_ns = clock_now_ns(CLOCK_REALTIME);
	else
		target->counts.failures++;
	pthread_mutex_unlock(&target->lock);
}

/* "clickhouse (http://127.0.0.1:8123)": without the path, which may be a secret. */
static void name_of(const struct push_target *target, char *text, size_t size)
{
	const char *url = target->is_otlp ? target->url : target->config->clickhouse.url;
	const char *host = strstr(url, "://");

	host = host ? host + 3 : url;
	snprintf(text, size, "%s (%.*s)", target->name, (int)(host - url + (int)strcspn(host, "/?#")),
		 url);
}

/* Once when it begins to fail, and once when it works again. */
static void say(const struct push_target *target, enum push_result result, const char *why,
		unsigned failures)
{
	char text[PATH_MAX + 2048], name[512];

	name_of(target, name, sizeof(name));
	if (result == PUSH_REFUSED)
		snprintf(text, sizeof(text), "%s refused a window, which is dropped: %s", name,
			 why);
	else if (result == PUSH_AGAIN && failures == 1)
		snprintf(text, sizeof(text), "%s: %s; windows wait in %s", name, why,
			 backlog_directory(target->spool));
	else if (result == PUSH_SENT && failures)
		snprintf(text, sizeof(text), "%s takes windows again", name);
	else
		return;
	target->to->say(target->to->context, text);
}

/* Return: how many of those that wait may go in one request. One until the server has accepted one:
 * windows that were tried are not merged any more. */
static unsigned gather(struct push_target *target, bool works,
		       struct backlog_item item[PUSH_ITEMS_MAX])
{
	const unsigned most = target->is_otlp || !works ? 1 : PUSH_ITEMS_MAX;
	unsigned count = 0;

	while (count < most &&
	       backlog_after(target->spool, count ? item[count - 1].begin_ns : INT64_MIN,
			     &item[count]))
		count++;
	return count;
}

static unsigned every_ms(const struct push_target *target)
{
	return target->is_otlp ? 0 : (unsigned)(target->config->clickhouse_every_ns / 1000000);
}

/* One request, and what follows from its answer. Return: ms to wait. */
static unsigned send_some(struct push_target *target, struct backlog_item item[PUSH_ITEMS_MAX],
			  unsigned count_of, unsigned *failures, bool *works)
{
	char why[512] = "";
	enum push_result result;

	result = push_send(target, item, &count_of, why, sizeof(why));
	if (!count_of || (stopped(target) && result == PUSH_AGAIN))
		return 0;
	count(target, result);
	*works = result == PUSH_SENT;
	for (unsigned i = 0; i < count_of && result != PUSH_AGAIN; i++)
		backlog_done(target->spool, &item[i], result == PUSH_REFUSED);
	*failures += result == PUSH_AGAIN;
	say(target, result, why, *failures);
	if (result == PUSH_AGAIN)
		return backoff_ms(*failures);
	if (result == PUSH_SENT)
		*failures = 0;
	return every_ms(target);
}

/* Of a directory in which little happens. */
static void look_for_incidents(struct push_target *target, int64_t *next_ns, bool *failed)
{
	char why[512] = "", text[1100], name[512];

	if (target->is_otlp || !target->to->incidents || now_ns() < *next_ns)
		return;
	if (push_incidents(target, why, sizeof(why))) {
		*failed = false;
	} else if (!*failed && !stopped(target)) {
		name_of(target, name, sizeof(name));
		snprintf(text, sizeof(text), "%s: %s; incidents wait", name, why);
		target->to->say(target->to->context, text);
		*failed = true;
	}
	*next_ns = now_ns() + (*failed ? INCIDENTS_AGAIN_NS : INCIDENTS_NS);
}

static void *send_all(void *context)
{
	struct push_target *target = context;
	struct backlog_item *item = calloc(PUSH_ITEMS_MAX, sizeof(*item));
	unsigned failures = 0;
	bool failed = false, works = false, rested = true;
	int64_t next_ns = 0;

	while (item && !stopped(target)) {
		const unsigned waiting = gather(target, works, item);

		look_for_incidents(target, &next_ns, &failed);
		if (waiting && !rested) {
			wait_ms(target, send_some(target, item, waiting, &failures, &works), false);
			continue;
		}
		/* Something new: more of it may come before its turn does. */
		if (waiting)
			wait_ms(target, backoff_spread_ms(every_ms(target)), false);
		else
			wait_ms(target, 2 * LOOK_MS, true);
		rested = !waiting;
	}
	free(item);
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
