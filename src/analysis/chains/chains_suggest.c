/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message links that the times suggest; see chains_suggest.h.
 *
 * The idea of GATE: a node that keeps a message until its timer fires has nothing to publish when
 * nothing came. So the runs of the timer's callback are counted in a table of four fields, by
 * whether something came since the run before, and by whether it published:
 *
 *                   published   did not
 *     something new     a          b        a / (a + b) >= 9 of 10
 *     nothing new       c          d        c / (c + d) <= 1 of 10
 *
 * with at least ten runs in each row. If publishing did not depend on the subscription, both rows
 * would have the same share p of runs that published. Ten runs in each row then look like this with
 * a probability of at most (11 / 1024)^2 = 1.2e-4, for p = 1/2; with more runs, it is smaller.
 *
 * The idea of FOLLOWS: two clocks that know nothing of each other drift, and each has a jitter of
 * its own; then the time from one to the next event of the other varies as much as the time between
 * two events of one. Where it varies by a third of that or less, the one follows from the other.
 */
#include "analysis/chains/chains_suggest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"

#define KEPT_MAX 32u /* subscriptions of a node; bits of a word */
#define PUBLISHED_MAX 8u
#define RUNS_MIN 10u /* in each row of the table */
#define FOLLOWED_MIN 50u
#define VARIES_MAX (1.0 / 3)

struct sum {
	uint64_t count;
	double mean, squares;
};

/* What a thread publishes outside of callbacks, behind the runs of one subscription's callback. */
struct suggest_follow {
	uint64_t runs, followed, since;
	int64_t end_ns, publish_ns;
	struct sum lag, gap;
};

struct loose {
	const struct model_publisher *publisher;
	uint64_t last_id;
	struct suggest_follow of[KEPT_MAX];
};

struct suggest_node {
	unsigned count, loose_count;
	const struct model_callback *kept[KEPT_MAX]; /* its subscriptions' callbacks */
	uint64_t ended[KEPT_MAX];
	struct loose *loose[PUBLISHED_MAX];
};

/* A callback that published something. */
struct worker {
	unsigned count;
	const struct model_publisher *publisher[PUBLISHED_MAX];
	uint64_t seen[KEPT_MAX];
	struct suggest_gate gate[PUBLISHED_MAX][KEPT_MAX];
};

struct open {
	uint32_t fresh;
	uint8_t published;
};

struct suggest {
	struct model *model;
	struct map nodes, workers; /* by index */
	struct map runs;           /* by number: struct open */
	struct map loose;          /* by index of the publisher */
	struct suggestion *found;
	unsigned count, room;
	bool failed;
};

static void *at(struct suggest *suggest, struct map *map, uint64_t key, size_t size)
{
	void *item = map_at(map, key, 0, size);

	suggest->failed |= !item;
	return item;
}

static void add(struct sum *sum, double value)
{
	const double off = value - sum->mean;

	sum->count++;
	sum->mean += off / (double)sum->count;
	sum->squares += off * (value - sum->mean);
}

static double deviation(const struct sum *sum)
{
	return sum->count > 1 ? sqrt(sum->squares / (double)(sum->count - 1)) : 0;
}

static struct suggest_node *node_of(struct suggest *suggest, const struct model_node *node)
{
	return node ? at(suggest, &suggest->nodes, node->index, sizeof(struct suggest_node)) : NULL;
}

/* Its place in @node; KEPT_MAX: it is no subscription's, or there are too many. */
static unsigned place_of(struct suggest_node *node, const struct model_callback *callback)
{
	unsigned i = 0;

	if (callback->kind != MODEL_CALLBACK_SUBSCRIPTION)
		return KEPT_MAX;
	while (i < node->count && node->kept[i] != callback)
		i++;
	if (i == node->count && i < KEPT_MAX)
		node->kept[node->count++] = callback;
	return i;
}

/* ---- GATE ---- */

static void on_started(void *context, const struct model_instance *instance)
{
	struct suggest *suggest = context;
	struct worker *worker = map_get(&suggest->workers, instance->callback->index, 0);
	struct suggest_node *node;
	struct open *open;

	if (!worker)
		return;
	node = node_of(suggest, model_callback_node(instance->callback));
	open = at(suggest, &suggest->runs, instance->id, sizeof(*open));
	if (!node || !open)
		return;
	for (unsigned i = 0; i < node->count; i++) {
		open->fresh |= (uint32_t)(node->ended[i] > worker->seen[i]) << i;
		worker->seen[i] = node->ended[i];
	}
}

static void note_published(struct suggest *suggest, const struct model_message *message)
{
	struct worker *worker =
		at(suggest, &suggest->workers, message->from->index, sizeof(*worker));
	struct suggest_node *node = node_of(suggest, model_callback_node(message->from));
	struct open *open = map_get(&suggest->runs, message->from_instance, 0);
	unsigned i = 0;

	if (!worker || !node)
		return;
	while (i < worker->count && worker->publisher[i] != message->publisher)
		i++;
	if (i == PUBLISHED_MAX)
		return;
	if (i == worker->count) {
		worker->publisher[worker->count++] = message->publisher;
		if (i == 0)
			memcpy(worker->seen, node->ended, sizeof(worker->seen));
	}
	if (open)
		open->published |= (uint8_t)(1u << i);
}

static void count_run(struct worker *worker, const struct suggest_node *node,
		      const struct model_callback *callback, const struct open *open)
{
	for (unsigned p = 0; p < worker->count; p++)
		for (unsigned i = 0; i < node->count; i++) {
			struct suggest_gate *gate = &worker->gate[p][i];
			const bool published = open->published >> p & 1;

			if (node->kept[i] == callback)
				continue;
			if (open->fresh >> i & 1) {
				gate->fresh++;
				gate->fresh_published += published;
			} else {
				gate->stale++;
				gate->stale_published += published;
			}
		}
}

/* ---- FOLLOWS ---- */

static void note_loose(struct suggest *suggest, const struct model_message *message)
{
	struct suggest_node *node = node_of(suggest, message->publisher->node);
	struct loose *loose =
		node ? at(suggest, &suggest->loose, message->publisher->index, sizeof(*loose))
		     : NULL;

	/* A publish call that uses both paths is reported twice. */
	if (!loose || loose->last_id == message->id)
		return;
	if (!loose->publisher && node->loose_count < PUBLISHED_MAX)
		node->loose[node->loose_count++] = loose;
	loose->publisher = message->publisher;
	loose->last_id = message->id;
	for (unsigned i = 0; i < node->count; i++) {
		loose->of[i].since++;
		loose->of[i].publish_ns = message->publish_ns;
	}
}

static void note_ended(struct suggest_node *node, unsigned place, int64_t end_ns)
{
	for (unsigned i = 0; i < node->loose_count; i++) {
		struct suggest_follow *follow = &node->loose[i]->of[place];

		if (follow->end_ns) {
			follow->runs++;
			add(&follow->gap, (double)(end_ns - follow->end_ns));
			if (follow->since == 1) {
				follow->followed++;
				add(&follow->lag, (double)(follow->publish_ns - follow->end_ns));
			}
		}
		follow->since = 0;
		follow->end_ns = end_ns;
	}
}

/* ---- the model's reports ---- */

static void on_published(void *context, const struct model_message *message)
{
	struct suggest *suggest = context;

	if (!message->publisher || !message->publisher->topic)
		return;
	if (message->from && message->from_instance)
		note_published(suggest, message);
	else if (!message->from)
		note_loose(suggest, message);
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct suggest *suggest = context;
	struct worker *worker = map_get(&suggest->workers, instance->callback->index, 0);
	struct open *open = map_del(&suggest->runs, instance->id, 0);
	struct suggest_node *node = node_of(suggest, model_callback_node(instance->callback));
	unsigned place;

	if (node && worker && open)
		count_run(worker, node, instance->callback, open);
	free(open);
	place = node ? place_of(node, instance->callback) : KEPT_MAX;
	if (place == KEPT_MAX)
		return;
	node->ended[place]++;
	note_ended(node, place, instance->start_ns + instance->duration_ns);
}

static void on_unfinished(void *context, const struct model_instance *instance)
{
	struct suggest *suggest = context;

	free(map_del(&suggest->runs, instance->id, 0));
}

static const struct model_listener listener = { .started = on_started,
						.published = on_published,
						.instance = on_instance,
						.unfinished = on_unfinished };

/* ---- what they show ---- */

/* Somebody told of this link. */
static bool is_known(const struct suggest *suggest, const struct suggestion *it)
{
	for (unsigned i = 0; i < model_count(suggest->model, MODEL_LINK); i++) {
		const struct model_link *link = model_link(suggest->model, i);
		bool from = false, to = false;

		for (unsigned k = 0; k < link->subscriptions; k++)
			from |= link->subscription[k] == it->subscription;
		for (unsigned k = 0; k < link->publishers; k++)
			to |= link->publisher[k] == it->publisher;
		if (from && to)
			return true;
	}
	return false;
}

static void found(struct suggest *suggest, const struct suggestion *it)
{
	if (is_known(suggest, it))
		return;
	suggest->failed |= !ARRAY_ADD(suggest->found, suggest->count, suggest->room, *it);
}

static void find_gates(struct suggest *suggest, const struct model_callback *callback)
{
	const struct worker *worker = map_get(&suggest->workers, callback->index, 0);
	const struct model_node *owner = model_callback_node(callback);
	const struct suggest_node *node = owner ? map_get(&suggest->nodes, owner->index, 0) : NULL;

	for (unsigned p = 0; worker && node && p < worker->count; p++)
		for (unsigned i = 0; i < node->count; i++) {
			const struct suggest_gate *gate = &worker->gate[p][i];
			const struct suggestion it = {
				.how = SUGGEST_GATE,
				.subscription = node->kept[i]->subscription,
				.publisher = worker->publisher[p],
				.by = callback,
				.gate = *gate,
			};

			if (gate->fresh >= RUNS_MIN && gate->stale >= RUNS_MIN &&
			    10 * gate->fresh_published >= 9 * gate->fresh &&
			    10 * gate->stale_published <= gate->stale)
				found(suggest, &it);
		}
}

static void find_follows(struct suggest *suggest, const struct suggest_node *node)
{
	for (unsigned p = 0; p < node->loose_count; p++)
		for (unsigned i = 0; i < node->count; i++) {
			const struct suggest_follow *follow = &node->loose[p]->of[i];
			const struct suggestion it = {
				.how = SUGGEST_FOLLOWS,
				.subscription = node->kept[i]->subscription,
				.publisher = node->loose[p]->publisher,
				.runs = follow->runs,
				.followed = follow->followed,
				.lag_ns = follow->lag.mean,
				.lag_deviation_ns = deviation(&follow->lag),
				.gap_deviation_ns = deviation(&follow->gap),
			};

			if (follow->followed >= FOLLOWED_MIN &&
			    10 * follow->followed >= 9 * follow->runs &&
			    it.lag_deviation_ns <= VARIES_MAX * it.gap_deviation_ns)
				found(suggest, &it);
		}
}

static int find(void *analysis, struct kymo_err *err)
{
	struct suggest *suggest = analysis;

	for (unsigned i = 0; i < model_count(suggest->model, MODEL_CALLBACK); i++)
		find_gates(suggest, model_callback(suggest->model, i));
	for (unsigned i = 0; i < model_count(suggest->model, MODEL_NODE); i++) {
		const struct suggest_node *node = map_get(&suggest->nodes, i, 0);

		if (node)
			find_follows(suggest, node);
	}
	return suggest->failed ? err_no_memory(err) : 0;
}

const struct suggestion *suggest_at(const struct suggest *suggest, unsigned index)
{
	return index < suggest->count ? &suggest->found[index] : NULL;
}

int suggest_create(struct suggest **result, struct model *model, struct kymo_err *err)
{
	struct suggest *suggest = calloc(1, sizeof(*suggest));

	if (!suggest)
		return err_no_memory(err);
	if (model_listen(model, &listener, suggest, err)) {
		free(suggest);
		return -1;
	}
	suggest->model = model;
	*result = suggest;
	return 0;
}

static void suggest_destroy(struct suggest *suggest)
{
	if (!suggest)
		return;
	map_free_all(&suggest->nodes);
	map_free_all(&suggest->workers);
	map_free_all(&suggest->runs);
	map_free_all(&suggest->loose);
	free(suggest->found);
	free(suggest);
}

PASS_DESTROY(suggest)
const struct pass_ops suggest_pass = { .turn = PASS_AFTER_MODEL,
				       .finish = find,
				       .destroy = suggest_pass_destroy };
