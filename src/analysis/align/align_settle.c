/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which host is compared with which, and in which order.
 *
 * The idea: start with the first host as the only aligned host. In each round align the hosts that
 * share a clock with an aligned host. If none does, align the hosts with messages in both
 * directions to and from aligned hosts. If none has such messages, align one host along a path
 * through other hosts. Each host that is aligned can make more hosts comparable, so the rounds go
 * on until nothing changes. The remaining hosts keep the times of their wall clocks, corrected so
 * that no message arrives before it was sent.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/align/align_internal.h"

/* ---- hosts without messages to and from aligned hosts ---- */

/*
 * For each host that is not aligned: its bounds against the first host, also through other such
 * hosts.
 */
struct ways {
	unsigned hosts;
	bool open[HOSTS_MAX];
	struct bounds most[HOSTS_MAX], least[HOSTS_MAX];
	unsigned between_in[HOSTS_MAX], between_out[HOSTS_MAX];	/* hosts on the shortest path */
};

static void ways_free(struct ways *ways)
{
	for (unsigned i = 0; ways && i < ways->hosts; i++) {
		bounds_free(&ways->most[i]);
		bounds_free(&ways->least[i]);
	}
	free(ways);
}

/* Counts the messages to and from @host, whether the other host is aligned or not. */
static void count_messages(struct align *align, const struct messages *messages, unsigned host)
{
	struct align_host *pub = &align->host[host].pub;
	uint64_t most = 0;

	pub->messages_in = pub->messages_out = 0;
	for (unsigned other = 0; other < messages->hosts; other++) {
		if (other == host)
			continue;
		pub->messages_in += messages->bounds[other * messages->hosts + host].messages;
		pub->messages_out += messages->bounds[host * messages->hosts + other].messages;
		if (messages_between(messages, host, other) > most) {
			most = messages_between(messages, host, other);
			pub->to = other;
		}
	}
}

/* Return: NULL: out of memory. */
static struct ways *ways_find(const struct align *align, const struct messages *messages)
{
	struct ways *ways = calloc(1, sizeof(*ways));
	int status = 0;

	if (!ways)
		return NULL;
	ways->hosts = messages->hosts;
	for (unsigned i = 0; !status && i < ways->hosts; i++) {
		struct align_beside beside;

		ways->open[i] = !align->host[i].done;
		if (!ways->open[i])
			continue;
		status = align_beside_make(align, messages, i, &beside);
		ways->most[i] = beside.most;
		ways->least[i] = beside.least;
	}
	if (!status && !ways_extend(messages, ways->open, ways->most, ways->between_in, true) &&
	    !ways_extend(messages, ways->open, ways->least, ways->between_out, false))
		return ways;
	ways_free(ways);
	return NULL;
}

/*
 * Aligns one host that is reached by a path of messages and from which another path leads back. Of
 * several such hosts, the one with the shortest paths is aligned. After that, other hosts may have
 * messages in both directions. Return: 1 if a host was aligned, else 0; -1: out of memory.
 */
static int settle_ring(struct align *align, const struct messages *messages)
{
	struct ways *ways = ways_find(align, messages);
	struct align_beside beside = { .to = 0 };
	unsigned best = 0, length, shortest = UINT32_MAX;
	int status = 0;

	for (unsigned i = 1; ways && i < ways->hosts; i++) {
		length = ways->between_in[i] + ways->between_out[i];
		if (!ways->open[i] || align->host[i].pub.how == ALIGN_CONTRADICTION ||
		    !ways->most[i].count || !ways->least[i].count || length >= shortest)
			continue;
		shortest = length;
		best = i;
	}
	if (ways && best) {
		beside.most = ways->most[best];
		beside.least = ways->least[best];
		count_messages(align, messages, best);
		align->host[best].pub.between = shortest;
		status = align_compare(align, &align->host[best], &beside) ? -1 : 1;
	}
	if (!ways)
		status = -1;
	ways_free(ways);
	return status;
}

static int64_t least_of(const struct bounds *bounds)
{
	int64_t least = INT64_MAX;

	for (unsigned i = 0; i < bounds->count; i++)
		if (bounds->bound[i].most_ns < least)
			least = bounds->bound[i].most_ns;
	return least;
}

/*
 * Messages in one direction show how far the clock is ahead at most (in) or at least (out). The
 * host keeps the time of its wall clock, unless messages would then arrive before they were sent.
 */
static void one_way(struct align_host *host, const struct bounds *most, const struct bounds *least)
{
	host->how = ALIGN_ONE_WAY;
	host->is_most = most->count;
	host->is_least = !most->count;
	host->bound_ns = most->count ? least_of(most) : -least_of(least);
	if (host->is_most ? host->bound_ns < 0 : host->bound_ns > 0)
		host->ahead_ns = host->bound_ns;
}

/* For hosts without paths in both directions: shift by a constant, with an unknown error. */
static int leave(struct aligned_host *host)
{
	host->shift = calloc(1, sizeof(*host->shift));
	if (!host->shift)
		return -1;
	host->shifts = 1;
	*host->shift = (struct kymo_ctf_shift){
		.by_ns = -host->pub.ahead_ns, .error_ns = KYMO_CTF_ERROR_UNKNOWN,
	};
	host->pub.error_min_ns = host->pub.error_max_ns = KYMO_CTF_ERROR_UNKNOWN;
	return 0;
}

/*
 * Between two unaligned hosts, too, no message may arrive before it was sent. Receiving hosts are
 * only moved back, sending hosts only forward. No host is both, because such a host would have been
 * aligned, so the loop ends.
 */
static void put_in_order(struct align *align, const struct messages *messages)
{
	for (unsigned round = 0; round < messages->hosts; round++)
		for (unsigned i = 0; i < messages->hosts * messages->hosts; i++) {
			struct align_host *from = &align->host[i / messages->hosts].pub,
					  *to = &align->host[i % messages->hosts].pub;
			int64_t most_ns;

			if (!messages->bounds[i].count || from->how != ALIGN_ONE_WAY ||
			    to->how != ALIGN_ONE_WAY)
				continue;
			if (__builtin_add_overflow(from->ahead_ns, least_of(&messages->bounds[i]),
						   &most_ns) ||
			    to->ahead_ns <= most_ns)
				continue;
			if (to->is_most)
				to->ahead_ns = most_ns;
			else if (from->is_least)
				from->ahead_ns += to->ahead_ns - most_ns;
		}
}

static int settle_rest(struct align *align, const struct messages *messages)
{
	struct ways *ways = ways_find(align, messages);
	int status = ways ? 0 : -1;

	for (unsigned i = 1; ways && i < ways->hosts; i++) {
		if (!ways->open[i])
			continue;
		count_messages(align, messages, i);
		if (align->host[i].pub.how == ALIGN_WALL_CLOCK &&
		    (ways->most[i].count || ways->least[i].count)) {
			align->host[i].pub.between =
				ways->most[i].count ? ways->between_in[i] : ways->between_out[i];
			one_way(&align->host[i].pub, &ways->most[i], &ways->least[i]);
		}
	}
	if (ways)
		put_in_order(align, messages);
	for (unsigned i = 1; !status && i < align->hosts; i++)
		if (!align->host[i].done)
			status = leave(&align->host[i]);
	ways_free(ways);
	return status;
}

/* ---- one clock under several names ---- */

/*
 * A container has its own host name but the clock of its machine: only the readings of the wall
 * clock differ.
 */
static int take_clock(struct align *align, unsigned index, unsigned from)
{
	struct aligned_host *host = &align->host[index];
	const struct aligned_host *other = &align->host[from];
	int64_t later_ns;

	if (__builtin_sub_overflow(other->offset_ns, host->offset_ns, &later_ns))
		return 0;
	host->shift = calloc(other->shifts, sizeof(*host->shift));
	if (!host->shift)
		return -1;
	host->shifts = other->shifts;
	for (unsigned i = 0; i < host->shifts; i++)
		host->shift[i] = (struct kymo_ctf_shift){ .ns = other->shift[i].ns - later_ns,
							  .by_ns = other->shift[i].by_ns + later_ns,
							  .error_ns = other->shift[i].error_ns };
	host->pub.how = ALIGN_SAME_CLOCK;
	host->pub.to = from;
	host->pub.ahead_ns = other->pub.ahead_ns - later_ns;
	host->pub.rate = other->pub.rate;
	host->pub.wander = other->pub.wander;
	host->pub.error_min_ns = other->pub.error_min_ns;
	host->pub.error_max_ns = other->pub.error_max_ns;
	host->done = true;
	return 0;
}

/* Return: 1 if a host was aligned, else 0; -1: out of memory. */
static int settle_same(struct align *align)
{
	int some = 0;

	for (unsigned i = 1; i < align->hosts; i++)
		for (unsigned k = 0; k < align->hosts && !align->host[i].done; k++) {
			if (!align->host[k].done || !align->host[i].clock_id ||
			    !*align->host[i].clock_id ||
			    strcmp(align->host[k].clock_id, align->host[i].clock_id) != 0)
				continue;
			if (take_clock(align, i, k))
				return -1;
			some |= align->host[i].done;
		}
	return some;
}

/* ---- hosts with messages in both directions ---- */

/*
 * Aligns the hosts that have messages in both directions with aligned hosts. Return: 1 if a host
 * was aligned, else 0; -1: out of memory.
 */
static int settle_some(struct align *align, struct messages *messages)
{
	int some = 0;

	for (unsigned i = 1; i < messages->hosts; i++) {
		struct aligned_host *host = &align->host[i];
		struct align_beside beside = { .to = 0 };
		int status = 0;

		if (host->done || host->pub.how == ALIGN_CONTRADICTION)
			continue;
		if (align_beside_make(align, messages, i, &beside))
			status = -1;
		host->pub.to = beside.to;
		host->pub.messages_in = beside.in;
		host->pub.messages_out = beside.out;
		if (!status && beside.in && beside.out)
			status = align_compare(align, host, &beside);
		align_beside_free(&beside);
		if (status)
			return -1;
		some |= host->done;
	}
	return some;
}

int align_settle(struct align *align, struct messages *messages)
{
	int some = 1;

	for (unsigned i = 0; i < align->hosts; i++)
		align->host[i].pub.how = ALIGN_WALL_CLOCK;
	align->host[0].pub.how = ALIGN_REFERENCE;
	align->host[0].shift = calloc(1, sizeof(*align->host[0].shift));
	if (!align->host[0].shift)
		return -1;
	align->host[0].shifts = 1;
	align->host[0].done = true;
	while (some > 0) {
		some = settle_same(align);
		if (!some)
			some = settle_some(align, messages);
		if (!some)
			some = settle_ring(align, messages);
	}
	return some < 0 ? -1 : settle_rest(align, messages);
}
