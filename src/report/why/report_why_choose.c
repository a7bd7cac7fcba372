/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why`: whose instances are taken apart. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "analysis/pass/under_way.h"
#include "report/why/report_why_internal.h"
#include "summary/summary_collect.h"

/*
 * The chain is taken rather than the callback in it, unless it explains less than this share of its
 * excess.
 */
#define CHAIN_SHARE 0.9

bool why_is_asked(const struct why_answer *answer, const struct model_callback *callback)
{
	const char *glob = answer->options->callback;
	const struct model_node *node = model_callback_node(callback);
	char label[WHY_LABEL_MAX];

	return (node && text_ros_glob(glob, node->full_name)) ||
	       text_ros_glob(glob, callback->symbol) ||
	       text_ros_glob(glob, model_callback_label(callback, label, sizeof(label))) ||
	       text_ros_glob(glob, summary_callback_name(callback, label, sizeof(label)));
}

/* How far the worst is above the usual one. @worst_ns: not start-up; 0: there is none. */
static int64_t excess(const struct histogram *total, int64_t worst_ns)
{
	const int64_t usual_ns = (int64_t)histogram_quantile(total, 0.5);

	return worst_ns > usual_ns ? worst_ns - usual_ns : 0;
}

/*
 * What is under way at the moment asked for: if something was named, what fits best; else, how far
 * it is above the usual one.
 */
static int64_t at_value(const struct why_answer *answer, int64_t begin_ns, int64_t total_ns,
			const struct histogram *total)
{
	const struct why_options *o = answer->options;
	const int64_t rank = under_way(begin_ns, begin_ns + total_ns, o->at_ns);
	const int64_t above_ns = total_ns - (int64_t)histogram_quantile(total, 0.5);

	return rank < 0 || o->pattern || o->callback ? rank : above_ns > 0 ? above_ns : 0;
}

static int64_t chain_value(const struct why_answer *answer, const struct chains_stats *stats)
{
	if (answer->options->message)
		return stats->named.part_ns ? stats->named.total_ns : -1;
	if (!answer->options->at_ns)
		return excess(&stats->total, stats->worst_count && !stats->worst->is_startup
						     ? stats->worst->total_ns
						     : 0);
	return stats->at.part_ns
		       ? at_value(answer, stats->at.begin_ns, stats->at.total_ns, &stats->total)
		       : -1;
}

static void set(struct why_target *target, bool is_chain, uint32_t index,
		const struct histogram *total)
{
	*target = (struct why_target){
		.is_found = true, .is_chain = is_chain, .index = index, .count = total->count,
		.usual_ns = total->count > 1 ? (int64_t)histogram_quantile(total, 0.5) : 0,
	};
}

/* How far the chain's instance at the moment that was asked for is from how long the trigger
 * measured; 0: no trigger measured one. */
static int64_t from_fired(const struct why_answer *answer, const struct chains_path *path)
{
	const int64_t fired_ns = answer->options->fired_ns;

	return !fired_ns                           ? 0
	       : !path || !path->stats->at.part_ns ? INT64_MAX
						   : llabs(path->stats->at.total_ns - fired_ns);
}

int64_t why_from_fired(const struct why_answer *answer)
{
	return from_fired(answer, answer->target.is_found && answer->target.is_chain
					  ? chains_path(answer->chains, answer->target.index)
					  : NULL);
}

/* Return: the chain with the largest value, *@most, of those that are of the processes asked for;
 * NULL: none. */
static const struct chains_path *worst_chain(const struct why_answer *answer, int64_t *most)
{
	const struct chains_path *best = NULL;
	unsigned fits = 1, of;
	int64_t value;
	char label[sizeof(answer->name)];

	*most = -1;
	for (unsigned i = 0; i < chains_path_count(answer->chains); i++) {
		const struct chains_path *path = chains_path(answer->chains, i);
		const struct chains_stats *stats = path->stats;

		if (!stats || !stats->total.count || !chains_is_chain(answer->chains, path))
			continue;
		if (*answer->name &&
		    strcmp(chains_label(path, label, sizeof(label)), answer->name) != 0)
			continue;
		value = chain_value(answer, stats);
		of = report_ways_leads(answer->ways, path);
		if (value >= 0 && (of > fits || (of == fits && value > *most) ||
				   (best && of == fits && value == *most &&
				    from_fired(answer, path) < from_fired(answer, best)))) {
			*most = value;
			best = path;
			fits = of;
		}
	}
	return best;
}

/* Of /rosout or /parameter_events, also if only its messages say so. */
static bool is_startup(const struct model_callback *callback, const struct why_callback *runs)
{
	const struct model_publisher *publisher =
		runs->worst_count ? runs->worst[0].hop[0].publisher : NULL;

	return callback->subscription ? chains_is_infrastructure(callback->subscription->topic)
				      : publisher && chains_is_infrastructure(publisher->topic);
}

static int64_t callback_value(const struct why_answer *answer,
			      const struct model_callback *callback)
{
	const struct why_callback *runs = why_callback(answer->callbacks, callback->index);
	char label[WHY_LABEL_MAX];

	if (!runs || !runs->total.count || !why_ways_callback(answer, callback))
		return -1;
	if (*answer->name &&
	    strcmp(model_callback_label(callback, label, sizeof(label)), answer->name) != 0)
		return -1;
	if (answer->options->message)
		return runs->named.total_ns;
	if (answer->options->callback ? !why_is_asked(answer, callback)
				      : !answer->options->all_topics && is_startup(callback, runs))
		return -1;
	if (answer->options->at_ns)
		return runs->at.total_ns < 0 ? -1
					     : at_value(answer, why_run_begin(&runs->at),
							runs->at.total_ns, &runs->total);
	return excess(&runs->total, runs->worst_count && !runs->worst->is_startup
					    ? runs->worst->total_ns
					    : 0);
}

/*
 * How long its instance took that is under way at the moment that was asked for; 0: no moment was.
 */
static int64_t at_total(const struct why_answer *answer, const struct model_callback *callback)
{
	const struct why_callback *runs = why_callback(answer->callbacks, callback->index);

	return answer->options->at_ns && runs ? runs->at.total_ns : 0;
}

/*
 * Several subscriptions receive one message, which begins at the same time for all: the slowest
 * counts.
 */
static const struct model_callback *worst_callback(const struct why_answer *answer, int64_t *most)
{
	const struct model_callback *best = NULL;

	*most = -1;
	for (unsigned i = 0; i < model_count(answer->model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(answer->model, i);
		int64_t value = callback_value(answer, callback);

		if (value > *most || (best && value == *most &&
				      at_total(answer, callback) > at_total(answer, best))) {
			*most = value;
			best = callback;
		}
	}
	return best;
}

void why_choose(struct why_answer *answer)
{
	const struct why_options *o = answer->options;
	int64_t of_chain = -1, most;
	const struct chains_path *chain = o->callback ? NULL : worst_chain(answer, &of_chain);
	const struct model_callback *callback;

	callback = o->pattern ? NULL : worst_callback(answer, &most);
	if (chain && callback && !o->message && (double)of_chain < CHAIN_SHARE * (double)most)
		chain = NULL;
	if (chain)
		set(&answer->target, true, chain->index, &chain->stats->total);
	else if (callback)
		set(&answer->target, false, callback->index,
		    &why_callback(answer->callbacks, callback->index)->total);
}
