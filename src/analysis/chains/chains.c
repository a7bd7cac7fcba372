/* SPDX-License-Identifier: Apache-2.0 */
/* Runs, the messages that they were called with, and the life cycle of the chains; see chains.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/chains/chains_internal.h"
#include "analysis/model/model_startup.h"

/* ---- memory ---- */

void *chains_element(struct chains *chains, struct array *array, size_t size, uint32_t index)
{
	void *at = array_at(array, index, size);

	chains->failed |= !at;
	return at;
}

void *chains_alloc(struct chains *chains, size_t size)
{
	void *memory = pool_new(&chains->pool, size);

	if (!memory)
		chains->failed = true;
	return memory;
}

/*
 * Creates a token for a step that happened; the caller holds one reference. @parent has one more
 * reference.
 */
struct chains_token *chains_token(struct chains *chains, struct path *path,
				  struct chains_token *parent)
{
	struct chains_token *token = chains->free_tokens;

	if (token)
		chains->free_tokens = token->next;
	else
		token = chains_alloc(chains, sizeof(*token));
	if (!token)
		return NULL;
	*token = (struct chains_token){ .path = path, .parent = parent, .references = 1, .tree = -1,
				 .end_ns = -1 };
	path->pub.count++;
	if (!parent) {
		chains->facts.begun++;
		return token;
	}
	parent->references++;
	if (!(parent->children >> path->ordinal & 1)) {
		parent->children |= 1ull << path->ordinal;
		path->pub.parents++;
	}
	return token;
}

static void token_release(struct chains *chains, struct chains_token *token)
{
	struct chains_token *parent;

	while (token && !--token->references) {
		parent = token->parent;
		if (token->path->pub.callback && !token->children) {
			token->path->pub.silent++;
			token->path->pub.silent_unfinished += token->end_ns < 0;
		}
		chains_awaits_release(token->awaits);
		token->next = chains->free_tokens;
		chains->free_tokens = token;
		token = parent;
	}
}

void chains_tokens_release(struct chains *chains, struct chains_token *tokens)
{
	struct chains_token *next;

	for (; tokens; tokens = next) {
		next = tokens->next;
		token_release(chains, tokens);
	}
}

struct thread_state *chains_thread_new(struct chains *chains, const struct model_thread *thread)
{
	struct thread_state **state = chains_element(chains, &chains->threads, sizeof(*state),
						     thread->index);

	if (state && !*state)
		*state = chains_alloc(chains, sizeof(**state));
	return state ? *state : NULL;
}

struct chains_run *chains_run_of(struct chains *chains, const struct model_thread *thread)
{
	struct thread_state *state = chains_thread(chains, thread);

	return state ? state->run : NULL;
}

/* ---- runs ---- */

static void run_token(struct chains *chains, struct chains_run *run, struct chains_token *parent,
		      const struct way *way)
{
	struct path *path = NULL;
	struct chains_token *token;

	if (parent || chains_is_inside(chains, way->start_ns))
		path = chains_path_step(chains, parent, run->callback, NULL, CHAINS_DIRECT);
	token = path ? chains_token(chains, path, parent) : NULL;
	if (!token)
		return;
	token->start_ns = way->start_ns;
	token->is_startup = way->is_startup;
	token->thread = way->thread;
	token->id = way->id;
	token->publish_ns = way->publish_ns;
	token->send_ns = way->send_ns;
	token->take_ns = way->take_ns;
	token->wait_ns = way->wait_ns;
	token->dds = way->dds;
	token->source_ns = way->source_ns;
	token->next = run->tokens;
	run->tokens = token;
	chains_tree_run(chains, token);
	/* A path that ended because of a loop may begin a new one. */
	if (path->pub.is_loop && !path->pub.is_complete)
		run_token(chains, run, NULL, way);
}

void chains_deliver(struct chains *chains, struct chains_run *run,
		    struct chains_publication *publication, struct way *way,
		    const struct thread_state *thread)
{
	struct chains_token *parent = publication ? publication->tokens : NULL;

	if (way->send_ns && way->take_ns > way->send_ns)
		way->wait_ns = busy_between(&thread->busy, way->send_ns, way->take_ns);
	for (; parent; parent = parent->next)
		run_token(chains, run, parent, way);
	/*
	 * A message without a known cause begins a path; a message outside of the window does not.
	 */
	if (!run->tokens && (!publication || chains->elements))
		run_token(chains, run, NULL, way);
	if (publication && ++publication->delivered >= publication->publisher->topic->subscriptions)
		chains_retire(chains, publication, false);
}

/* The publication of @message, or NULL. */
static struct chains_publication *publication_of(struct chains *chains,
					  const struct model_message *message)
{
	struct chains_publication *publication = map_get(&chains->publications, message->id, 0);
	const struct chains_window *window;

	if (publication || !message->publisher)
		return publication;
	window = chains_window(chains, message->publisher);
	if (window && window->oldest && message->id < window->oldest->id &&
	    chains_is_followed(chains, message->topic))
		chains->facts.lookback_exceeded++;
	return NULL;
}

/* @run begins: a message or a request called it, or nothing that is known. */
static void called(struct chains *chains, struct chains_run *run,
		   const struct model_instance *instance, const struct thread_state *thread)
{
	const struct model_message *message = instance->message;
	struct way way = { .thread = instance->thread,
			   .start_ns = instance->start_ns,
			   .is_startup = model_is_startup(instance) };
	struct chains_publication *publication = NULL;

	if (message) {
		way.id = message->id;
		way.publish_ns = message->publish_ns;
		way.send_ns = message->send_ns;
		way.take_ns = message->take_ns;
		way.dds = message->dds;
		way.source_ns = message->source_ns;
		publication = message->id ? publication_of(chains, message) : NULL;
	} else if (instance->call) {
		publication = chains_request(chains, instance, &way);
	}
	chains_deliver(chains, run, publication, &way, thread);
}

static void on_started(void *context, const struct model_instance *instance)
{
	struct chains *chains = context;
	struct thread_state *thread = chains_thread(chains, instance->thread);
	struct chains_run *run = chains->free_runs;

	if (!thread)
		return;
	if (run)
		chains->free_runs = run->next_free;
	else
		run = chains_alloc(chains, sizeof(*run));
	if (!run)
		return;
	*run = (struct chains_run){ .callback = instance->callback, .start_ns = instance->start_ns,
			     .call = instance->call, .outer = thread->run };
	if (instance->callback->kind == MODEL_CALLBACK_CLIENT)
		chains_answered_runs(thread, run);
	chains_answered_end(chains, thread);
	thread->run = run;
	if (instance->is_resumed && instance->callback->kind != MODEL_CALLBACK_UNKNOWN)
		chains_resumes(chains, run, instance);
	else if (!run->tokens)
		called(chains, run, instance, thread);
}

/* The run of @instance, on @thread, is over. Except in damaged traces it is the innermost run. */
static struct chains_run *run_leave(struct thread_state *thread,
				    const struct model_instance *instance)
{
	struct chains_run **at, *run;

	for (at = thread ? &thread->run : NULL; at && (run = *at); at = &run->outer)
		if (run->callback == instance->callback && run->start_ns == instance->start_ns) {
			*at = run->outer;
			return run;
		}
	return NULL;
}

static void run_free(struct chains *chains, struct chains_run *run)
{
	chains_tokens_release(chains, run->tokens);
	run->next_free = chains->free_runs;
	chains->free_runs = run;
}

void chains_arrived(struct chains *chains, struct chains_token *tokens, int64_t end_ns)
{
	for (struct chains_token *token = tokens; token; token = token->next) {
		token->end_ns = end_ns;
		token->path->pub.ended++;
		chains_stats_arrived(chains, token);
		chains_tree_ended(chains, token);
	}
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct chains *chains = context;
	int64_t end_ns = instance->start_ns + instance->duration_ns;
	struct thread_state *thread = chains_thread(chains, instance->thread);
	struct chains_run *run = run_leave(thread, instance);

	if (!run)
		return;
	chains->failed |= !busy_add(&thread->busy, instance->start_ns, end_ns);
	if (instance->awaits) {
		chains_awaits(chains, run, instance);
	} else {
		chains_arrived(chains, run->tokens, end_ns);
		chains_link_ended(chains, run, instance->id, end_ns);
		chains_served(chains, run, end_ns);
	}
	run_free(chains, run);
}

static void on_unfinished(void *context, const struct model_instance *instance)
{
	struct chains_run *run = run_leave(chains_thread(context, instance->thread), instance);

	if (run)
		run_free(context, run);
}

static void on_loss(void *context, const struct model_loss *loss)
{
	struct chains *chains = context;

	if (loss->is_elsewhere)
		return;
	chains->gap[chains->gaps++ % GAPS_MAX] = (struct interval){ loss->begin_ns, loss->end_ns };
}

/* ---- life cycle ---- */

static const struct model_listener listener = {
	.started = on_started,
	.instance = on_instance,
	.unfinished = on_unfinished,
	.published = chains_on_published,
	.dropped = chains_on_dropped,
	.cause = chains_on_cause,
	.loss = on_loss,
};
/*
 * An additional listener, only for traces with service calls, because events of executors are
 * frequent.
 */
static const struct model_listener call_listener = {
	.call_step = chains_on_call_step,
	.executor = chains_on_executor,
};

int chains_create(struct chains **result, struct model *model,
		  const struct chains_options *options, struct kymo_err *err)
{
	struct chains *chains = calloc(1, sizeof(*chains));

	if (!chains)
		return err_no_memory(err);
	chains->model = model;
	chains->options = *options;
	if (chains->options.worst > CHAINS_WORST_MAX)
		chains->options.worst = CHAINS_WORST_MAX;
	if (options->pattern && chains_pattern_parse(chains, err)) {
		chains_destroy(chains);
		return -1;
	}
	if (model_listen(model, &listener, chains, err) ||
	    (options->calls && model_listen(model, &call_listener, chains, err))) {
		chains_destroy(chains);
		return -1;
	}
	*result = chains;
	return 0;
}

void chains_finish(struct chains *chains)
{
	struct chains_window **window = chains->windows.item;
	uint32_t i;

	for (i = 0; i < chains->windows.count; i++)
		while (window[i] && window[i]->oldest)
			chains_retire(chains, window[i]->oldest, true);
	chains_calls_finish(chains);
	chains_link_finish(chains);
}

static void free_threads(struct chains *chains)
{
	struct thread_state **thread = chains->threads.item;

	for (uint32_t i = 0; i < chains->threads.count; i++)
		if (thread[i])
			busy_free(&thread[i]->busy);
	free(thread);
}

void chains_destroy(struct chains *chains)
{
	uint32_t i;

	if (!chains)
		return;
	for (i = 0; i < chains->path_count; i++)
		chains_stats_free(chains->path[i]->pub.stats);
	chains_pattern_free(chains);
	map_free(&chains->paths);
	map_free(&chains->publications);
	free(chains->path);
	free(chains->windows.item);
	free(chains->clients.item);
	free_threads(chains);
	free(chains->latest.item);
	free(chains->node_latest.item);
	free(chains->linked.item);
	free(chains->tree);
	pool_free(&chains->pool);
	free(chains);
}

bool chains_failed(const struct chains *chains)
{
	return chains->failed;
}

const struct chains_facts *chains_facts(const struct chains *chains)
{
	return &chains->facts;
}

PASS_FINISH(chains)
PASS_FAILED(chains)
PASS_DESTROY(chains)
const struct pass_ops chains_pass = {
	.turn = PASS_AFTER_MODEL,
	.finish = chains_pass_finish,
	.failed = chains_pass_failed,
	.destroy = chains_pass_destroy,
};
