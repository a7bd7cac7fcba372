/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Service calls as a part of chains: a request and a response are treated as messages whose topic
 * is the service.
 *
 *   run --request--> run of the service's callback
 *       --response--> client's callback --publishes--> ...
 *
 * A response is sent after the service's callback has returned, so the tokens of that run are kept
 * until then. A client's callback runs on the thread that received the response. Traces of kymo
 * have its start and its end. In other traces, everything that this thread publishes outside of
 * known callbacks is assigned to the client's callback, until the thread begins something else (a
 * callback, another response, the next round of the executor).
 */
#include "analysis/chains/chains_internal.h"
#include "base/array.h"

/* Calls that are remembered while their response may still be sent or received. */
#define CALLS_MAX 4096u
/* Indices of objects that only this file creates; they do not collide with indices of the model. */
#define MADE_UP 0x40000000u

/* The objects that represent a client in paths. */
struct calls_client {
	struct model_topic topic;
	struct model_publisher sends, answers;
	struct model_callback callback;
};

static struct calls_client *client_of(struct chains *chains, const struct model_service *service)
{
	struct calls_client **slot =
		chains_element(chains, &chains->clients, sizeof(*slot), service->index);
	struct calls_client *client = slot ? *slot : NULL;
	uint32_t index = MADE_UP + service->index * 2;

	if (!slot || client)
		return client;
	client = chains_alloc(chains, sizeof(*client));
	if (!client)
		return NULL;
	client->topic = (struct model_topic){ .index = index, .name = service->name,
					      .subscriptions = 1 };
	client->sends = (struct model_publisher){ .index = index, .process = service->process,
						  .node = service->node, .topic = &client->topic };
	client->answers = (struct model_publisher){ .index = index + 1, .topic = &client->topic };
	client->callback = (struct model_callback){ .index = index,
						    .process = service->process,
						    .kind = MODEL_CALLBACK_CLIENT,
						    .service = service,
						    .raw_symbol = "",
						    .symbol = "" };
	*slot = client;
	return client;
}

enum chains_call chains_call_of(const struct model_publisher *publisher)
{
	if (!publisher || publisher->index < MADE_UP)
		return CHAINS_NO_CALL;
	return publisher->index % 2 ? CHAINS_RESPONSE : CHAINS_REQUEST;
}

static struct chains_publication *message_new(struct chains *chains,
					      const struct model_call_step *step,
					      const struct model_publisher *publisher,
					      unsigned scope)
{
	struct chains_window *window = &chains->call_window[scope - 1];

	window->most = CALLS_MAX;
	return chains_publication(chains, window, publisher, step->call->id, scope, step->ns);
}

static void follow(struct chains *chains, struct chains_publication *publication,
		   const struct model_call_step *step, struct chains_token *parents)
{
	const struct model_message message = { .publisher = publication->publisher,
					       .publish_thread = step->thread,
					       .publish_ns = step->ns };

	chains_follow(chains, publication, &message, parents, CHAINS_DIRECT);
}

static void on_request(struct chains *chains, const struct model_call_step *step)
{
	struct thread_state *thread = chains_thread(chains, step->thread);
	struct calls_client *client =
		step->call->client ? client_of(chains, step->call->client) : NULL;
	struct chains_publication *publication;

	publication = thread && client
			      ? message_new(chains, step, &client->sends, CHAINS_SCOPE_REQUESTS)
			      : NULL;
	if (!publication)
		return;
	if (thread->run ? thread->run->tokens : thread->answered.tokens)
		follow(chains, publication, step,
		       thread->run ? thread->run->tokens : thread->answered.tokens);
	if (!publication->tokens && (!thread->run || chains->elements))
		follow(chains, publication, step, NULL);
}

static void on_response(struct chains *chains, const struct model_call_step *step)
{
	struct chains_publication *served =
		map_get(&chains->publications, step->call->id, CHAINS_SCOPE_SERVED);
	struct chains_run *run = chains_run_of(chains, step->thread);
	struct calls_client *client =
		step->call->client ? client_of(chains, step->call->client) : NULL;
	struct chains_publication *publication;
	struct chains_token *parents = served ? served->tokens : NULL;

	/* A callback may send the response itself, before it returns. */
	for (; !served && run && !parents; run = run->outer)
		parents = run->call == step->call->id ? run->tokens : NULL;
	if (client && parents && step->call->service) {
		client->answers.process = step->call->service->process;
		client->answers.node = step->call->service->node;
		publication = message_new(chains, step, &client->answers, CHAINS_SCOPE_RESPONSES);
		if (publication)
			follow(chains, publication, step, parents);
	}
	if (served)
		chains_retire(chains, served, false);
}

/* No end of the client's callback is in the trace: its paths end where the callback begins. */
void chains_answered_end(struct chains *chains, struct thread_state *thread)
{
	if (!thread->answered.tokens)
		return;
	chains_arrived(chains, thread->answered.tokens, thread->answered.start_ns);
	chains_tokens_release(chains, thread->answered.tokens);
	thread->answered.tokens = NULL;
}

static void on_answered(struct chains *chains, const struct model_call_step *step)
{
	struct chains_publication *publication =
		map_get(&chains->publications, step->call->id, CHAINS_SCOPE_RESPONSES);
	struct thread_state *thread = chains_thread(chains, step->thread);
	struct calls_client *client =
		step->call->client ? client_of(chains, step->call->client) : NULL;
	struct way way = { .thread = step->thread, .start_ns = step->ns, .take_ns = step->ns };

	if (!thread || !client)
		return;
	chains_answered_end(chains, thread);
	thread->answered =
		(struct chains_run){ .callback = &client->callback, .start_ns = step->ns };
	if (publication)
		way.send_ns = way.publish_ns = publication->publish_ns;
	chains_deliver(chains, &thread->answered, publication, &way, thread);
}

void chains_answered_runs(struct thread_state *thread, struct chains_run *run)
{
	if (thread->answered.callback &&
	    thread->answered.callback->service == run->callback->service) {
		run->tokens = thread->answered.tokens;
		thread->answered.tokens = NULL;
	}
}

void chains_on_call_step(void *context, const struct model_call_step *step)
{
	struct chains *chains = context;
	struct chains_publication *publication;

	switch (step->what) {
	case MODEL_CALL_REQUEST:
		on_request(chains, step);
		break;
	case MODEL_CALL_REQUEST_TAKEN:
		publication = map_get(&chains->publications, step->call->id, CHAINS_SCOPE_REQUESTS);
		if (publication)
			publication->take_ns = step->ns;
		break;
	case MODEL_CALL_RESPONSE:
		on_response(chains, step);
		break;
	case MODEL_CALL_RESPONSE_TAKEN:
		on_answered(chains, step);
		break;
	}
}

/* The executor begins its next round: the client's callback is over. */
void chains_on_executor(void *context, const struct model_executor_interval *interval)
{
	struct chains *chains = context;
	struct thread_state **known = chains->threads.item, *thread;

	if (interval->thread->index >= chains->threads.count)
		return;
	thread = known[interval->thread->index];
	if (thread && !thread->run)
		chains_answered_end(chains, thread);
}

struct chains_publication *chains_request(struct chains *chains,
					  const struct model_instance *instance, struct way *way)
{
	struct chains_publication *publication =
		map_get(&chains->publications, instance->call, CHAINS_SCOPE_REQUESTS);

	if (publication) {
		way->publish_ns = way->send_ns = publication->publish_ns;
		way->take_ns = publication->take_ns ? publication->take_ns : instance->start_ns;
	}
	return publication;
}

void chains_served(struct chains *chains, struct chains_run *run, int64_t end_ns)
{
	struct chains_publication *served;
	struct chains_window *window = &chains->call_window[CHAINS_SCOPE_SERVED - 1];

	if (!chains->options.calls || !run->call || !run->tokens)
		return;
	window->most = CALLS_MAX;
	served = chains_publication(chains, window, &chains_nobody, run->call, CHAINS_SCOPE_SERVED,
				    end_ns);
	if (!served)
		return;
	served->tokens = run->tokens;
	run->tokens = NULL;
}

void chains_calls_finish(struct chains *chains)
{
	struct thread_state **thread = chains->threads.item;

	for (unsigned i = 0; i < COUNT_OF(chains->call_window); i++)
		while (chains->call_window[i].oldest)
			chains_retire(chains, chains->call_window[i].oldest, true);
	for (uint32_t i = 0; i < chains->threads.count; i++)
		if (thread[i])
			chains_answered_end(chains, thread[i]);
}
