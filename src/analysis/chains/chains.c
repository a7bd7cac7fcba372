/* SPDX-License-Identifier: Apache-2.0 */
/* Runs as they happen, the messages they got, and the life of the chains; see chains.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/chains/internal.h"

/* ---- memory ---- */

void *chains_element(struct chains *chains, struct vector *vector, size_t size, uint32_t index)
{
	uint32_t count = vector->count ? vector->count : 64;
	void *larger;

	if (index < vector->count)
		return (char *)vector->item + index * size;
	while (count <= index)
		count *= 2;
	larger = realloc(vector->item, count * size);
	if (!larger) {
		chains->failed = true;
		return NULL;
	}
	memset((char *)larger + vector->count * size, 0, (count - vector->count) * size);
	vector->item = larger;
	vector->count = count;
	return (char *)larger + index * size;
}

void *chains_alloc(struct chains *chains, size_t size)
{
	void *memory = pool_new(&chains->pool, size);

	if (!memory)
		chains->failed = true;
	return memory;
}

/* A step that happened; the reference is the caller's. @parent gets one more. */
struct token *chains_token(struct chains *chains, struct path *path, struct token *parent)
{
	struct token *token = chains->free_tokens;

	if (token)
		chains->free_tokens = token->next;
	else
		token = chains_alloc(chains, sizeof(*token));
	if (!token)
		return NULL;
	*token = (struct token){ .path = path, .parent = parent, .references = 1, .tree = -1,
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

static void token_release(struct chains *chains, struct token *token)
{
	struct token *parent;

	while (token && !--token->references) {
		parent = token->parent;
		if (token->path->pub.callback && !token->children) {
			token->path->pub.silent++;
			token->path->pub.silent_unfinished += token->end_ns < 0;
		}
		token->next = chains->free_tokens;
		chains->free_tokens = token;
		token = parent;
	}
}

void chains_tokens_release(struct chains *chains, struct token *tokens)
{
	struct token *next;

	for (; tokens; tokens = next) {
		next = tokens->next;
		token_release(chains, tokens);
	}
}

struct thread_state *chains_thread(struct chains *chains, const struct model_thread *thread)
{
	struct thread_state **state = chains_element(chains, &chains->threads, sizeof(*state),
						     thread->index);

	if (state && !*state)
		*state = chains_alloc(chains, sizeof(**state));
	return state ? *state : NULL;
}

struct run *chains_run_of(struct chains *chains, const struct model_thread *thread)
{
	struct thread_state *state = chains_thread(chains, thread);

	return state ? state->run : NULL;
}

/* ---- runs ---- */

static void run_token(struct chains *chains, struct run *run, struct token *parent,
		      const struct model_instance *instance, int64_t wait_ns)
{
	const struct model_message *message = instance->message;
	struct path *path = NULL;
	struct token *token;

	if (parent || chains_is_inside(chains, instance->start_ns))
		path = chains_path_step(chains, parent, run->callback, NULL, CHAINS_DIRECT);
	token = path ? chains_token(chains, path, parent) : NULL;
	if (!token)
		return;
	token->start_ns = instance->start_ns;
	token->thread = instance->thread;
	if (message) {
		token->id = message->id;
		token->publish_ns = message->publish_ns;
		token->send_ns = message->send_ns;
		token->take_ns = message->take_ns;
		token->wait_ns = wait_ns;
	}
	token->next = run->tokens;
	run->tokens = token;
	chains_tree_run(chains, token);
	/* What ends here because it came round may begin again. */
	if (path->pub.is_loop && !path->pub.is_complete)
		run_token(chains, run, NULL, instance, wait_ns);
}

/* The message of @instance came out of @publication, or of none that is known (NULL). */
static void run_deliver(struct chains *chains, struct run *run, struct publication *publication,
			const struct model_instance *instance, const struct thread_state *thread)
{
	const struct model_message *message = instance->message;
	struct token *parent = publication ? publication->tokens : NULL;
	int64_t wait_ns = 0;

	if (message && message->send_ns && message->take_ns > message->send_ns)
		wait_ns = chains_history_busy(thread, message->send_ns, message->take_ns);
	for (; parent; parent = parent->next)
		run_token(chains, run, parent, instance, wait_ns);
	/* A message that nothing known led to is a beginning; one left out by the window is not. */
	if (!run->tokens && (!publication || chains->elements))
		run_token(chains, run, NULL, instance, wait_ns);
	if (publication && ++publication->delivered >= publication->publisher->topic->subscriptions)
		chains_retire(chains, publication, false);
}

static void on_started(void *context, const struct model_instance *instance)
{
	struct chains *chains = context;
	struct thread_state *thread = chains_thread(chains, instance->thread);
	const struct model_message *message = instance->message;
	struct publication *publication = NULL;
	const struct window *window;
	struct run *run = chains->free_runs;

	if (!thread)
		return;
	if (run)
		chains->free_runs = run->next_free;
	else
		run = chains_alloc(chains, sizeof(*run));
	if (!run)
		return;
	*run = (struct run){ .callback = instance->callback, .start_ns = instance->start_ns,
			     .outer = thread->run };
	thread->run = run;
	if (message && message->id)
		publication = map_get(&chains->publications, message->id, 0);
	if (!publication && message && message->id && message->publisher) {
		window = chains_window(chains, message->publisher);
		if (window && window->oldest && message->id < window->oldest->id &&
		    chains_is_followed(chains, message->topic))
			chains->facts.lookback_exceeded++;
	}
	run_deliver(chains, run, publication, instance, thread);
}

/* The run of @instance is over; it is the innermost but for damaged traces. */
static struct run *run_leave(struct chains *chains, const struct model_instance *instance)
{
	struct thread_state *thread = chains_thread(chains, instance->thread);
	struct run **at, *run;

	for (at = thread ? &thread->run : NULL; at && (run = *at); at = &run->outer)
		if (run->callback == instance->callback && run->start_ns == instance->start_ns) {
			*at = run->outer;
			return run;
		}
	return NULL;
}

static void run_free(struct chains *chains, struct run *run)
{
	chains_tokens_release(chains, run->tokens);
	run->next_free = chains->free_runs;
	chains->free_runs = run;
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct chains *chains = context;
	int64_t end_ns = instance->start_ns + instance->duration_ns;
	struct run *run = run_leave(chains, instance);
	struct thread_state *thread = chains_thread(chains, instance->thread);
	struct token *token;

	if (!run || !thread)
		return;
	chains_history_add(thread, instance->start_ns, end_ns);
	for (token = run->tokens; token; token = token->next) {
		token->end_ns = end_ns;
		token->path->pub.ended++;
		chains_stats_arrived(chains, token);
		chains_tree_ended(chains, token);
	}
	chains_link_ended(chains, run, instance->id, end_ns);
	run_free(chains, run);
}

static void on_unfinished(void *context, const struct model_instance *instance)
{
	struct run *run = run_leave(context, instance);

	if (run)
		run_free(context, run);
}

static void on_loss(void *context, const struct model_loss *loss)
{
	struct chains *chains = context;

	chains->gap[chains->gaps++ % GAPS_MAX] = (struct interval){ loss->begin_ns, loss->end_ns };
}

/* ---- life ---- */

static const struct model_listener listener = {
	.started = on_started,
	.instance = on_instance,
	.unfinished = on_unfinished,
	.published = chains_on_published,
	.dropped = chains_on_dropped,
	.cause = chains_on_cause,
	.loss = on_loss,
};

int chains_create(struct chains **result, struct model *model,
		  const struct chains_options *options, struct err *err)
{
	struct chains *chains = calloc(1, sizeof(*chains));

	if (!chains)
		return err_set(err, EXIT_FAILED, "There is no memory left for the analysis.");
	chains->model = model;
	chains->options = *options;
	if (chains->options.worst > CHAINS_WORST_MAX)
		chains->options.worst = CHAINS_WORST_MAX;
	if (options->pattern && chains_pattern_parse(chains, err)) {
		chains_destroy(chains);
		return -1;
	}
	if (model_listen(model, &listener, chains)) {
		chains_destroy(chains);
		return err_set(err, EXIT_FAILED, "There is no memory left for the analysis.");
	}
	*result = chains;
	return 0;
}

void chains_finish(struct chains *chains)
{
	struct window *window = chains->windows.item;
	uint32_t i;

	for (i = 0; i < chains->windows.count; i++)
		while (window[i].oldest)
			chains_retire(chains, window[i].oldest, true);
	chains_link_finish(chains);
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
	free(chains->threads.item);
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
