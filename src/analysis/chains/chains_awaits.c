/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coroutines: a callback of rclpy that awaits has several runs, and one message called them all.
 *
 *   run  |--- run ---| awaited |-- resumed --| awaited |-- resumed --|
 *        start       |         publishes               publishes
 *                    tokens are kept until it goes on
 *
 * The idea: all runs of a coroutine are one step of the path. The tokens of the first run are kept
 * while the coroutine waits, and are the tokens of the run that goes on. What a run publishes after
 * an await follows from them as if there had been one run. A task was called by nothing, and may
 * live as long as the program: each of its runs begins a chain of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/chains/chains_internal.h"

/* Coroutines that may still go on. */
#define AWAITING_MAX 8192u

static bool is_called(const struct model_instance *instance)
{
	return instance->callback->kind != MODEL_CALLBACK_UNKNOWN || instance->message;
}

void chains_awaits_release(struct chains_awaits *awaits)
{
	if (!awaits || --awaits->references)
		return;
	free(awaits->await);
	free(awaits);
}

void chains_awaits(struct chains *chains, struct chains_run *run,
		   const struct model_instance *instance)
{
	struct chains_window *window = &chains->call_window[CHAINS_SCOPE_AWAITS - 1];
	struct chains_publication *waits;

	if (!instance->coroutine || !run->tokens || !is_called(instance))
		return;
	window->most = AWAITING_MAX;
	waits = chains_publication(chains, window, &chains_nobody, instance->coroutine->id,
				   CHAINS_SCOPE_AWAITS, instance->start_ns + instance->duration_ns);
	if (!waits)
		return;
	waits->tokens = run->tokens;
	run->tokens = NULL;
}

static struct chains_awaits *awaits_of(struct chains *chains, struct chains_token *tokens)
{
	struct chains_awaits *awaits = tokens->awaits;

	if (awaits)
		return awaits;
	awaits = calloc(1, sizeof(*awaits));
	if (!awaits) {
		chains->failed = true;
		return NULL;
	}
	for (struct chains_token *token = tokens; token; token = token->next) {
		token->awaits = awaits;
		awaits->references++;
	}
	return awaits;
}

void chains_resumes(struct chains *chains, struct chains_run *run,
		    const struct model_instance *instance)
{
	const struct model_coroutine *coroutine = instance->coroutine;
	struct chains_publication *waits =
		coroutine ? map_get(&chains->publications, coroutine->id, CHAINS_SCOPE_AWAITS)
			  : NULL;
	struct chains_awaits *awaits;

	if (!waits)
		return;
	run->tokens = waits->tokens;
	run->call = coroutine->call;
	waits->tokens = NULL;
	chains_retire(chains, waits, false);
	awaits = awaits_of(chains, run->tokens);
	if (!awaits)
		return;
	chains->failed |= !ARRAY_ADD(awaits->await, awaits->count, awaits->size,
				     coroutine->await[coroutine->awaits - 1]);
}

unsigned chains_awaits_until(const struct chains_token *token, int64_t end_ns, int64_t *ns)
{
	unsigned count = 0;

	*ns = 0;
	for (; token->awaits && count < token->awaits->count; count++) {
		const struct model_await *await = &token->awaits->await[count];

		if (await->end_ns > end_ns)
			break;
		*ns += await->end_ns - await->begin_ns;
	}
	return count;
}

/* ---- parts of arrivals ---- */

/* Moves the elements of @item from @at on by two, which become zero. */
static void *widened(struct chains *chains, void *item, unsigned count, unsigned at, size_t size)
{
	char *wider = calloc(count + 2, size);

	if (!wider || !item) {
		chains->failed |= !wider;
		free(wider);
		return item;
	}
	memcpy(wider, item, at * size);
	memcpy(wider + (at + 2) * size, (const char *)item + at * size, (count - at) * size);
	free(item);
	return wider;
}

static void widen_arrival(struct chains *chains, struct chains_arrival *arrival, unsigned count,
			  unsigned at)
{
	if (arrival->part_ns)
		arrival->part_ns =
			widened(chains, arrival->part_ns, count, at, sizeof(*arrival->part_ns));
}

/*
 * The callback of part @run is a coroutine that waited for the first time: it has two more parts,
 * which took no time in the arrivals until now.
 */
static void parts_await(struct chains *chains, struct chains_stats *stats, unsigned run)
{
	const unsigned at = run + 1, count = stats->parts, step = stats->part[run].step;

	/* parts_set() left room in part. */
	memmove(&stats->part[at + 2], &stats->part[at], (count - at) * sizeof(*stats->part));
	stats->part[at] = (struct chains_part){ CHAINS_AWAITED, step };
	stats->part[at + 1] = (struct chains_part){ CHAINS_RESUMED, step };
	stats->part_ns = widened(chains, stats->part_ns, count, at, sizeof(*stats->part_ns));
	stats->part_error_ns =
		widened(chains, stats->part_error_ns, count, at, sizeof(*stats->part_error_ns));
	if (stats->inside)
		stats->inside = widened(chains, stats->inside, count, at,
					MODEL_DDS_PARTS * sizeof(*stats->inside));
	for (unsigned i = 0; i < stats->worst_count; i++)
		widen_arrival(chains, &stats->worst[i], count, at);
	widen_arrival(chains, &stats->near, count, at);
	widen_arrival(chains, &stats->named, count, at);
	widen_arrival(chains, &stats->at, count, at);
	if (chains->failed)
		return;
	stats->parts += 2;
	for (uint64_t n = 0; n < 2 * stats->total.count; n++)
		chains->failed |= histogram_add(&stats->part_ns[at + n % 2], 0) != 0;
}

int64_t chains_run_end(const struct chains_token *token, const struct chains_token *next)
{
	return next && next->path->pub.link == CHAINS_DIRECT ? next->publish_ns : token->end_ns;
}

void chains_awaits_parts(struct chains *chains, struct chains_stats *stats,
			 const struct chains_token *token)
{
	const struct chains_token *next = NULL;
	unsigned part = stats->parts;
	int64_t ns;

	for (; token && !chains->failed; next = token, token = token->parent) {
		if (!token->awaits || !chains_awaits_until(token, chains_run_end(token, next), &ns))
			continue;
		while (part && (stats->part[--part].segment != CHAINS_RUN ||
				stats->part[part].step != token->path->pub.depth))
			;
		if (part + 1 == stats->parts || stats->part[part + 1].segment != CHAINS_AWAITED)
			parts_await(chains, stats, part);
	}
}

unsigned chains_awaits_in(const struct chains_token *token)
{
	const struct chains_token *next = NULL;
	unsigned count = 0;
	int64_t ns;

	for (; token; next = token, token = token->parent)
		count += chains_awaits_until(token, chains_run_end(token, next), &ns);
	return count;
}
