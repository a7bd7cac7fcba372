/* SPDX-License-Identifier: Apache-2.0 */
/* One host, compared with the aligned hosts, by the messages to and from them. */
#include <stdlib.h>

#include "analysis/align/align_internal.h"

/* The shift of @host's own time @ns to the clock of the first host, and the error of that shift. */
static int64_t shift_at(const struct aligned_host *host, int64_t ns, int64_t *error_ns)
{
	const struct kymo_ctf_shift *a = host->shift;
	unsigned at = 0;
	double part;

	*error_ns = a->error_ns;
	if (host->shifts < 2)
		return a->by_ns;
	while (at + 2 < host->shifts && a[at + 1].ns <= ns)
		at++;
	a += at;
	*error_ns = a[0].error_ns > a[1].error_ns ? a[0].error_ns : a[1].error_ns;
	part = (double)(ns - a[0].ns) / (double)(a[1].ns - a[0].ns);
	return a[0].by_ns + (int64_t)(part * (double)(a[1].by_ns - a[0].by_ns));
}

void align_beside_free(struct align_beside *beside)
{
	bounds_free(&beside->most);
	bounds_free(&beside->least);
}

uint64_t messages_between(const struct messages *messages, unsigned a, unsigned b)
{
	return messages->bounds[a * messages->hosts + b].messages +
	       messages->bounds[b * messages->hosts + a].messages;
}

/*
 * Adds the error of @other at that time to each bound: so the bound is never tighter than
 * justified.
 */
static int add_all(struct bounds *to, const struct bounds *from, const struct aligned_host *other,
		   bool in)
{
	for (unsigned i = 0; i < from->count; i++) {
		int64_t sent = from->bound[i].ns, taken = sent + from->bound[i].most_ns, error_ns;
		int64_t theirs = in ? sent : taken, mine = in ? taken : sent;
		int64_t first = theirs + shift_at(other, theirs, &error_ns);

		if (bounds_add(to, first, (in ? mine - first : first - mine) + error_ns))
			return -1;
	}
	return 0;
}

int align_beside_make(const struct align *align, const struct messages *messages, unsigned host,
		      struct align_beside *beside)
{
	*beside = (struct align_beside){ .to = 0 };
	for (unsigned other = 0; other < messages->hosts; other++) {
		const struct bounds *in = &messages->bounds[other * messages->hosts + host];
		const struct bounds *out = &messages->bounds[host * messages->hosts + other];

		if (!align->host[other].done || other == host)
			continue;
		if (add_all(&beside->most, in, &align->host[other], true) ||
		    add_all(&beside->least, out, &align->host[other], false))
			return -1;
		beside->in += in->messages;
		beside->out += out->messages;
		if (messages_between(messages, host, other) >
		    messages_between(messages, host, beside->to))
			beside->to = other;
	}
	return 0;
}

static int host_shift(struct aligned_host *host, const struct bounds_fit *fit)
{
	struct kymo_ctf_shift *shift = calloc(BOUNDS_KNOTS, sizeof(*shift));

	if (!shift)
		return -1;
	host->pub.error_min_ns = INT64_MAX;
	for (unsigned k = 0; k < BOUNDS_KNOTS; k++) {
		const struct bounds_knot *knot = &fit->knot[k];

		shift[k] = (struct kymo_ctf_shift){ .ns = knot->ns + knot->ahead_ns,
						    .by_ns = -knot->ahead_ns,
						    .error_ns = knot->error_ns };
		if (knot->error_ns < host->pub.error_min_ns)
			host->pub.error_min_ns = knot->error_ns;
		if (knot->error_ns > host->pub.error_max_ns)
			host->pub.error_max_ns = knot->error_ns;
	}
	host->shift = shift;
	host->shifts = BOUNDS_KNOTS;
	host->pub.rate = fit->rate;
	host->pub.wander = fit->wander;
	host->pub.ahead_ns = fit->knot->ahead_ns;
	host->done = true;
	return 0;
}

/*
 * The time from the first to the last event of all aligned hosts and of @host, by the first host's
 * clock. @host is not aligned yet, so @some bound of it gives its rough difference.
 */
static void extent(const struct align *align, const struct aligned_host *host,
		   const struct align_bound *some, int64_t *begin_ns, int64_t *end_ns)
{
	bool has_events = host->first_ns <= host->last_ns;
	int64_t error_ns, first, last;

	*begin_ns = has_events ? host->first_ns - some->most_ns : some->ns;
	*end_ns = has_events ? host->last_ns - some->most_ns : some->ns;
	for (unsigned i = 0; i < align->hosts; i++) {
		const struct aligned_host *other = &align->host[i];

		if (!other->done || other->first_ns > other->last_ns)
			continue;
		first = other->first_ns + shift_at(other, other->first_ns, &error_ns);
		last = other->last_ns + shift_at(other, other->last_ns, &error_ns);
		*begin_ns = first < *begin_ns ? first : *begin_ns;
		*end_ns = last > *end_ns ? last : *end_ns;
	}
	*begin_ns -= ALIGN_MARGIN_NS;
	*end_ns += ALIGN_MARGIN_NS;
}

int align_compare(struct align *align, struct aligned_host *host, struct align_beside *beside)
{
	struct bounds_fit *fit = calloc(1, sizeof(*fit));
	int64_t begin_ns, end_ns;
	int status = 0;

	if (!fit)
		return -1;
	extent(align, host, beside->most.bound, &begin_ns, &end_ns);
	bounds_fit(fit, &beside->most, &beside->least, begin_ns, end_ns);
	host->pub.how = fit->possible ? ALIGN_MESSAGES : ALIGN_CONTRADICTION;
	if (fit->possible)
		status = host_shift(host, fit);
	free(fit);
	return status;
}
