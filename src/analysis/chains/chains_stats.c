/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of arrivals' times, and the longest arrivals; see chains.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/chains/chains_internal.h"
#include "analysis/pass/under_way.h"

#define WORST_LEAST 3u /* longest arrivals that each path may keep */

/* ---- parts of a path ---- */

static void part_add(struct chains_stats *stats, enum chains_segment segment, unsigned step)
{
	stats->part[stats->parts++] = (struct chains_part){ segment, step };
}

static void parts_set(struct chains_stats *stats, const struct chains_path *path)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	unsigned count = chains_steps(path, step), i;

	for (i = 0; i < count; i++) {
		if (!step[i]->callback) {
			if (step[i]->link != CHAINS_DIRECT)
				part_add(stats, CHAINS_CACHED, i);
			continue;
		}
		/*
		 * The trace does not contain when a request was handed over, nor when a client's
		 * callback began.
		 */
		if (i && !step[i - 1]->call)
			part_add(stats, CHAINS_PUBLISH, i);
		if (i) {
			part_add(stats, CHAINS_TRANSPORT, i);
			part_add(stats, CHAINS_WAIT, i);
		}
		if (i && step[i - 1]->call != CHAINS_RESPONSE)
			part_add(stats, CHAINS_TAKE, i);
		part_add(stats, CHAINS_RUN, i);
	}
}

static struct chains_stats *stats_new(struct chains *chains, const struct path *path)
{
	struct chains_stats *stats = calloc(1, sizeof(*stats));

	if (stats)
		stats->part = calloc((path->pub.depth + 1) * CHAINS_STEP_SEGMENTS,
				     sizeof(*stats->part));
	if (stats && stats->part) {
		parts_set(stats, &path->pub);
		stats->part_ns = calloc(stats->parts ? stats->parts : 1, sizeof(*stats->part_ns));
		stats->part_error_ns = calloc(stats->parts + 1, sizeof(*stats->part_error_ns));
		stats->worst = calloc(chains->options.worst ? chains->options.worst : 1,
				      sizeof(*stats->worst));
	}
	if (stats && stats->part_ns && stats->part_error_ns && stats->worst)
		return stats;
	chains->failed = true;
	chains_stats_free(stats);
	return NULL;
}

static void arrival_free(struct chains_arrival *arrival)
{
	free(arrival->part_ns);
	free(arrival->hop);
}

void chains_stats_free(struct chains_stats *stats)
{
	unsigned i;

	if (!stats)
		return;
	histogram_free(&stats->total);
	histogram_free(&stats->startup);
	for (i = 0; stats->part_ns && i < stats->parts; i++)
		histogram_free(&stats->part_ns[i]);
	for (i = 0; i < stats->worst_count; i++)
		arrival_free(&stats->worst[i]);
	arrival_free(&stats->near);
	arrival_free(&stats->named);
	arrival_free(&stats->at);
	for (i = 0; stats->inside && i < stats->parts * MODEL_DDS_PARTS; i++)
		histogram_free(&stats->inside[i]);
	free(stats->inside);
	free(stats->part);
	free(stats->part_ns);
	free(stats->part_error_ns);
	free(stats->worst);
	free(stats);
}

void chains_forget_stats(struct chains *chains)
{
	for (uint32_t i = 0; i < chains->path_count; i++) {
		chains_stats_free(chains->path[i]->pub.stats);
		chains->path[i]->pub.stats = NULL;
	}
}

static bool is_collected(const struct chains *chains, const struct path *path)
{
	const struct chains_options *o = &chains->options;
	uint32_t index = path->pub.index;

	if (chains->elements && !path->pub.is_complete)
		return false;
	if (!chains->elements && !path->pub.hops)
		return false;
	if (path->pub.publisher && path->pub.child)
		return false;
	if (o->collect)
		return index < o->collect_bits && (o->collect[index / 8] >> index % 8 & 1);
	return index < CHAINS_EAGER;
}

/* ---- one arrival ---- */

/* Returns whether the two clocks can be compared; raises *@error_ns to their largest error. */
static bool compares(const struct chains_token *a, const struct chains_token *b, int64_t ns,
		     int64_t *error_ns)
{
	int64_t error = model_clock_error(a->thread->process, b->thread->process, ns);

	if (error != KYMO_CTF_ERROR_UNKNOWN && error > *error_ns)
		*error_ns = error;
	return error != KYMO_CTF_ERROR_UNKNOWN;
}

/* Sets the parts of the run of @token until @end_ns, from @part backwards. Return: the first. */
static int64_t *run_parts(const struct chains_token *token, int64_t end_ns, int64_t *part,
			  bool has_awaits)
{
	const unsigned count = token->awaits ? token->awaits->count : 0;
	int64_t awaited_ns, first_end_ns = end_ns;

	if (has_awaits) {
		if (chains_awaits_until(token, end_ns, &awaited_ns) && count)
			first_end_ns = token->awaits->await[0].begin_ns;
		*--part = end_ns - first_end_ns - awaited_ns;
		*--part = awaited_ns;
	}
	*--part = first_end_ns - token->start_ns;
	return part;
}

/*
 * Computes the times of the parts from the last to the first. Returns false if clocks in the path
 * cannot be compared.
 */
static bool parts_of(const struct chains_token *token, struct chains_arrival *arrival,
		     struct chains_stats *stats)
{
	const struct chains_token *next = NULL, *first = token;
	const struct chains_token *last = token;
	int64_t *part = arrival->part_ns + stats->parts, sent_ns;
	enum chains_call call;

	for (; token; next = token, token = token->parent) {
		arrival->begin_ns = token->start_ns ? token->start_ns : token->publish_ns;
		arrival->is_startup |= token->is_startup;
		first = token;
		if (!token->path->pub.callback) {
			if (token->path->pub.link != CHAINS_DIRECT)
				*--part = token->publish_ns - token->parent->end_ns;
			continue;
		}
		part = run_parts(token, chains_run_end(token, next), part,
				 stats->part[part - arrival->part_ns - 1].segment ==
					 CHAINS_RESUMED);
		if (!token->parent)
			continue;
		sent_ns = token->send_ns ? token->send_ns : token->parent->publish_ns;
		call = token->parent->path->pub.call;
		if (call != CHAINS_RESPONSE)
			*--part = token->start_ns - token->take_ns;
		*--part = token->wait_ns;
		*--part = token->take_ns - sent_ns - token->wait_ns;
		if (!compares(token, token->parent, token->take_ns,
			      &stats->part_error_ns[part - arrival->part_ns]))
			return false;
		if (!call)
			*--part = sent_ns - token->parent->publish_ns;
	}
	arrival->total_ns = (last->path->pub.callback ? last->end_ns : last->publish_ns) -
			    arrival->begin_ns;
	return compares(first, last, arrival->begin_ns, &stats->error_ns);
}

/* @hop has room for its @steps, and after them for their awaits. */
static void hops_of(const struct chains_token *token, struct chains_hop *hop, unsigned steps)
{
	struct model_await *await = (struct model_await *)(hop + steps);
	const struct chains_token *next = NULL;
	int64_t ns;

	for (; token; next = token, token = token->parent) {
		struct chains_hop *at = &hop[token->path->pub.depth];

		*at = (struct chains_hop){
			token->thread,
			token->id,
			token->publish_ns,
			token->send_ns,
			token->take_ns,
			token->dds,
			token->start_ns,
			token->end_ns,
			token->source_ns,
			NULL,
			0,
		};
		if (!token->awaits)
			continue;
		at->awaits = chains_awaits_until(token, chains_run_end(token, next), &ns);
		at->await = await;
		memcpy(await, token->awaits->await, at->awaits * sizeof(*await));
		await += at->awaits;
	}
}

/* Replaces @kept by @arrival, whose last step is @token. */
static void keep(struct chains *chains, const struct chains_stats *stats,
		 struct chains_arrival *kept, const struct chains_arrival *arrival,
		 const struct chains_token *token)
{
	unsigned steps = token->path->pub.depth + 1;
	struct chains_arrival old = *kept;

	*kept = *arrival;
	kept->part_ns = old.part_ns ? old.part_ns
				    : calloc(stats->parts ? stats->parts : 1, sizeof(int64_t));
	free(old.hop);
	kept->hop = chains->options.hops
			    ? malloc(steps * sizeof(*kept->hop) +
				     chains_awaits_in(token) * sizeof(*kept->hop->await))
			    : NULL;
	if (!kept->part_ns || (chains->options.hops && !kept->hop)) {
		chains->failed = true;
		return;
	}
	memcpy(kept->part_ns, arrival->part_ns, stats->parts * sizeof(int64_t));
	if (kept->hop)
		hops_of(token, kept->hop, steps);
}

/* How many arrivals a path that has @count of them may keep. */
static unsigned worst_room(const struct chains *chains, unsigned count)
{
	const struct chains_options *o = &chains->options;
	const bool is_full = o->worst_all && chains->worst_kept >= o->worst_all;

	return is_full && count >= WORST_LEAST && count < o->worst ? count : o->worst;
}

static bool is_worse(const struct chains *chains, const struct chains_arrival *a,
		     const struct chains_arrival *b)
{
	if (chains->options.steady_first && a->is_startup != b->is_startup)
		return b->is_startup;
	return a->total_ns > b->total_ns;
}

/* Inserts an arrival, longest first; the shortest one is removed at the limit. */
static void worst_add(struct chains *chains, struct chains_stats *stats,
		      const struct chains_arrival *arrival, const struct chains_token *token)
{
	unsigned at = stats->worst_count, most = worst_room(chains, at);
	struct chains_arrival kept = { 0 };

	if (!most || (at == most && !is_worse(chains, arrival, &stats->worst[at - 1])))
		return;
	if (at == most) {
		kept = stats->worst[--at];
	} else {
		stats->worst_count++;
		chains->worst_kept++;
	}
	keep(chains, stats, &kept, arrival, token);
	for (; at && is_worse(chains, arrival, &stats->worst[at - 1]); at--)
		stats->worst[at] = stats->worst[at - 1];
	stats->worst[at] = kept;
}

static int64_t apart(int64_t a, int64_t b)
{
	return a < b ? b - a : a - b;
}

static int64_t at_rank(const struct chains_arrival *arrival, int64_t at_ns)
{
	return under_way(arrival->begin_ns, arrival->begin_ns + arrival->total_ns, at_ns);
}

/*
 * Keeps the arrivals requested by near_ns, at_ns and named_id. Of several equally near arrivals the
 * first one is kept.
 */
static void others_add(struct chains *chains, struct chains_stats *stats,
		       const struct chains_arrival *arrival, const struct chains_token *token)
{
	const struct chains_options *o = &chains->options;
	const struct chains_token *at;

	if (o->near_ns && (!stats->near.part_ns || apart(arrival->total_ns, o->near_ns) <
						   apart(stats->near.total_ns, o->near_ns)))
		keep(chains, stats, &stats->near, arrival, token);
	if (o->at_ns &&
	    at_rank(arrival, o->at_ns) > (stats->at.part_ns ? at_rank(&stats->at, o->at_ns) : -1))
		keep(chains, stats, &stats->at, arrival, token);
	for (at = o->named_id ? token : NULL; at; at = at->parent)
		if (at->path->pub.publisher && at->id == o->named_id &&
		    (!stats->named.part_ns || arrival->total_ns > stats->named.total_ns)) {
			keep(chains, stats, &stats->named, arrival, token);
			return;
		}
}

static int add(struct histogram *histogram, int64_t ns)
{
	return histogram_add(histogram, ns > 0 ? (uint64_t)ns : 0);
}

static void inside_add(struct chains *chains, struct chains_stats *stats, unsigned part,
		       const struct chains_token *token)
{
	struct model_dds_cut cut;

	if (!stats->inside)
		stats->inside = calloc(stats->parts * MODEL_DDS_PARTS, sizeof(*stats->inside));
	if (!stats->inside) {
		chains->failed = true;
		return;
	}
	model_dds_cut(&cut, &token->dds, token->send_ns, token->take_ns);
	for (unsigned i = 0; i < cut.pieces; i++)
		chains->failed |= add(&stats->inside[part * MODEL_DDS_PARTS + cut.piece[i].part],
				      cut.piece[i].to_ns - cut.piece[i].from_ns) != 0;
}

/* Each message that came through the middleware; once one of the path was followed inside it. */
static void insides_add(struct chains *chains, struct chains_stats *stats,
			const struct chains_token *token)
{
	unsigned part = stats->parts;
	const struct chains_token *at;

	for (at = token; at && !stats->inside && !at->dds.cached_ns;)
		at = at->parent;
	if (!at)
		return;
	for (; token; token = token->parent) {
		if (!token->path->pub.callback || !token->parent || !token->send_ns ||
		    !token->dds.is_through)
			continue;
		while (part && (stats->part[--part].segment != CHAINS_TRANSPORT ||
				stats->part[part].step != token->path->pub.depth))
			;
		inside_add(chains, stats, part, token);
	}
}

void chains_stats_arrived(struct chains *chains, struct chains_token *token)
{
	struct path *path = token->path;
	int64_t part_ns[CHAINS_SEGMENTS_MAX];
	struct chains_arrival arrival = { .part_ns = part_ns, .id = token->id };
	struct chains_stats *stats;
	unsigned i;

	if (!is_collected(chains, path))
		return;
	if (!path->pub.stats)
		path->pub.stats = stats_new(chains, path);
	stats = path->pub.stats;
	if (!stats)
		return;
	chains_awaits_parts(chains, stats, token);
	if (chains->failed)
		return;
	if (!parts_of(token, &arrival, stats)) {
		path->pub.between_hosts++;
		return;
	}
	for (i = 0; i < stats->parts; i++)
		chains->failed |= add(&stats->part_ns[i], part_ns[i]) != 0;
	insides_add(chains, stats, token);
	chains->failed |= add(&stats->total, arrival.total_ns) != 0;
	if (arrival.is_startup)
		chains->failed |= add(&stats->startup, arrival.total_ns) != 0;
	if (chains->options.arrived)
		chains->options.arrived(chains->options.context, &path->pub, &arrival);
	worst_add(chains, stats, &arrival, token);
	others_add(chains, stats, &arrival, token);
}
