/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of callbacks, from the publication of their message or the due time of their timer; see
 * why.h.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model_startup.h"
#include "analysis/why/why.h"
#include "base/array.h"
#include "analysis/pass/under_way.h"

struct why_callbacks {
	struct why_callbacks_options options;
	struct why_callback **item;	/* by index of the callback */
	uint32_t count;
	bool failed;
};

/* ---- the kept runs ---- */

static int64_t apart(int64_t a, int64_t b)
{
	return a < b ? b - a : a - b;
}

static int64_t at_rank(const struct why_run *run, int64_t at_ns)
{
	const int64_t begin_ns = run->hops ? why_run_begin(run) : 0;

	return run->hops ? under_way(begin_ns, begin_ns + run->total_ns, at_ns) : -1;
}

static bool is_worse(bool is_startup, int64_t total_ns, const struct why_run *than)
{
	return is_startup != than->is_startup ? than->is_startup : total_ns > than->total_ns;
}

/* The awaits of a coroutine, of all places that keep its run. */
struct why_awaits {
	unsigned references;
	struct model_await await[];
};

static void run_drop(struct why_run *run)
{
	if (run->awaits && !--run->awaits->references)
		free(run->awaits);
	run->awaits = NULL;
}

static void run_keep(struct why_run *to, const struct why_run *run)
{
	run_drop(to);
	*to = *run;
	if (run->awaits)
		run->awaits->references++;
}

static void keep(const struct why_callbacks *callbacks, uint32_t index, struct why_callback *of,
		 const struct why_run *run)
{
	const struct why_callbacks_options *o = &callbacks->options;
	unsigned at = of->worst_count;

	if (o->near_ns && index == o->near_index && (of->near.total_ns < 0 ||
	    apart(run->total_ns, o->near_ns) < apart(of->near.total_ns, o->near_ns)))
		run_keep(&of->near, run);
	if (o->named_id && run->hops > 1 && run->hop[0].at.id == o->named_id &&
	    run->total_ns > of->named.total_ns)
		run_keep(&of->named, run);
	if (o->at_ns && at_rank(run, o->at_ns) > at_rank(&of->at, o->at_ns))
		run_keep(&of->at, run);
	if (at == o->worst && !is_worse(run->is_startup, run->total_ns, &of->worst[at - 1]))
		return;
	if (at == o->worst)
		run_drop(&of->worst[--at]);
	else
		of->worst_count++;
	for (; at && is_worse(run->is_startup, run->total_ns, &of->worst[at - 1]); at--)
		of->worst[at] = of->worst[at - 1];
	of->worst[at].awaits = NULL;
	run_keep(&of->worst[at], run);
}

static struct why_callback *callback_of(struct why_callbacks *callbacks, uint32_t index)
{
	struct why_callback **slot = ARRAY_AT(callbacks->item, callbacks->count, index), *of;

	if (!slot || *slot)
		return slot ? *slot : NULL;
	of = calloc(1, sizeof(*of));
	if (of)
		of->worst = calloc(callbacks->options.worst, sizeof(*of->worst));
	if (!of || !of->worst) {
		free(of);
		return NULL;
	}
	of->near.total_ns = of->named.total_ns = of->at.total_ns = -1;
	return callbacks->item[index] = of;
}

/* ---- one run ---- */

static bool is_timed(const struct model_instance *instance)
{
	const struct model_message *message = instance->message;

	return message && message->publish_ns && message->publisher && message->take_ns &&
	       message->publish_ns < instance->start_ns + instance->duration_ns &&
	       model_clock_error(message->publisher->process, instance->callback->process,
				 message->take_ns) != KYMO_CTF_ERROR_UNKNOWN;
}

/*
 * The clocks of two hosts have an error: a message may seem to be received before it was published.
 */
static void run_of(struct why_run *run, const struct model_instance *instance, bool timed,
		   int64_t total_ns)
{
	const struct model_message *message = instance->message;
	int64_t end_ns = instance->start_ns + instance->duration_ns;
	struct why_hop *hop = run->hop;

	*run = (struct why_run){ 0 };
	if (timed) {
		*hop++ = (struct why_hop){
			.publisher = message->publisher,
			.at = { .thread = message->publish_thread,
				.id = message->id,
				.publish_ns = message->publish_ns },
		};
	}
	*hop = (struct why_hop){
		.callback = instance->callback,
		.at = { .thread = instance->thread,
			.start_ns = instance->start_ns,
			.end_ns = end_ns },
	};
	if (timed) {
		hop->at.id = message->id;
		hop->at.publish_ns = message->publish_ns;
		hop->at.send_ns = message->send_ns;
		hop->at.take_ns = message->take_ns;
		hop->at.dds = message->dds;
	} else if (instance->due_ns) {
		hop->due_ns = instance->due_ns;
	}
	run->hops = (unsigned)(hop - run->hop) + 1;
	run->total_ns = total_ns;
}

/* Does keep() have a use for a run that takes so long? Most runs are neither long nor asked for. */
static bool is_kept(const struct why_callbacks *callbacks, const struct why_callback *of,
		    bool is_startup, int64_t total_ns)
{
	const struct why_callbacks_options *o = &callbacks->options;

	return o->near_ns || o->named_id || o->at_ns || of->worst_count < o->worst ||
	       is_worse(is_startup, total_ns, &of->worst[o->worst - 1]);
}

static int64_t total_of(const struct model_instance *instance, bool timed)
{
	const int64_t begin_ns = timed              ? instance->message->publish_ns
				 : instance->due_ns ? instance->due_ns
						    : instance->start_ns;

	return instance->start_ns + instance->duration_ns - begin_ns;
}

/* The awaits of @coroutine, with one reference, in the last hop of @run. Return: 0, or -1. */
static int run_awaits(struct why_run *run, const struct model_coroutine *coroutine)
{
	struct why_hop *hop = &run->hop[run->hops - 1];
	struct why_awaits *awaits;

	if (!coroutine || !coroutine->awaits)
		return 0;
	awaits = malloc(sizeof(*awaits) + coroutine->awaits * sizeof(*awaits->await));
	if (!awaits)
		return -1;
	awaits->references = 1;
	memcpy(awaits->await, coroutine->await, coroutine->awaits * sizeof(*awaits->await));
	run->awaits = awaits;
	hop->at.await = awaits->await;
	hop->at.awaits = coroutine->awaits;
	return 0;
}

static void add_run(struct why_callbacks *callbacks, const struct model_instance *instance,
		    const struct model_coroutine *coroutine)
{
	struct why_callback *of = callback_of(callbacks, instance->callback->index);
	struct why_run run;
	bool timed, is_startup;
	int64_t total_ns;

	if (!of) {
		callbacks->failed = true;
		return;
	}
	if (instance->start_ns < callbacks->options.begin_ns ||
	    instance->start_ns > callbacks->options.end_ns)
		return;
	timed = is_timed(instance);
	total_ns = total_of(instance, timed);
	if (total_ns < 0)
		return;
	is_startup = model_is_startup(instance);
	callbacks->failed |= histogram_add(&of->total, (uint64_t)total_ns) ||
			     (is_startup && histogram_add(&of->startup, (uint64_t)total_ns));
	if (!is_kept(callbacks, of, is_startup, total_ns))
		return;
	run_of(&run, instance, timed, total_ns);
	run.is_startup = is_startup;
	callbacks->failed |= run_awaits(&run, coroutine) != 0;
	keep(callbacks, instance->callback->index, of, &run);
	run_drop(&run);
}

/* All runs of a coroutine are one, which is over with the last one. */
static void on_instance(void *context, const struct model_instance *instance)
{
	const struct model_coroutine *coroutine = instance->coroutine;
	struct model_instance whole = *instance;

	if (coroutine && instance->awaits)
		return;
	if (coroutine) {
		whole.duration_ns += instance->start_ns - coroutine->start_ns;
		whole.start_ns = coroutine->start_ns;
		whole.due_ns = coroutine->due_ns;
		whole.message = coroutine->message;
		whole.thread = coroutine->thread;
		whole.is_startup = coroutine->is_startup;
	}
	add_run(context, &whole, coroutine);
}

static const struct model_listener listener = { .instance = on_instance };

int why_callbacks_create(struct why_callbacks **callbacks, struct model *model,
			 const struct why_callbacks_options *options, struct kymo_err *err)
{
	struct why_callbacks *new = calloc(1, sizeof(*new));

	if (!new)
		return err_no_memory(err);
	if (model_listen(model, &listener, new, err)) {
		free(new);
		return -1;
	}
	new->options = *options;
	*callbacks = new;
	return 0;
}

static void runs_drop(struct why_callback *of)
{
	for (unsigned i = 0; i < of->worst_count; i++)
		run_drop(&of->worst[i]);
	run_drop(&of->near);
	run_drop(&of->named);
	run_drop(&of->at);
	of->worst_count = 0;
}

static void why_callbacks_destroy(struct why_callbacks *callbacks)
{
	for (uint32_t i = 0; callbacks && i < callbacks->count; i++) {
		if (!callbacks->item[i])
			continue;
		histogram_free(&callbacks->item[i]->total);
		histogram_free(&callbacks->item[i]->startup);
		runs_drop(callbacks->item[i]);
		free(callbacks->item[i]->worst);
		free(callbacks->item[i]);
	}
	if (callbacks)
		free(callbacks->item);
	free(callbacks);
}

void why_callbacks_forget(struct why_callbacks *callbacks)
{
	for (uint32_t i = 0; i < callbacks->count; i++) {
		struct why_callback *of = callbacks->item[i];

		if (!of)
			continue;
		histogram_free(&of->total);
		histogram_free(&of->startup);
		runs_drop(of);
		of->at = (struct why_run){ .total_ns = -1 };
		of->near.total_ns = of->named.total_ns = -1;
	}
}

const struct why_callback *why_callback(const struct why_callbacks *callbacks, uint32_t index)
{
	return index < callbacks->count ? callbacks->item[index] : NULL;
}

PASS_LISTENER(why_callbacks);
