/* SPDX-License-Identifier: Apache-2.0 */
/* See align.h. */
#include "analysis/align/align.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/align/internal.h"
#include "base/pool.h"

#define PROGRESS_EVENTS (1u << 16)
#define TIME_LAST (INT64_MAX / 2 - 2 * MARGIN_NS)
#define MARGIN_NS 10000000ll		/* the extent is known that well before hosts are compared */

struct align {
	struct host *host;
	unsigned hosts;
	uint32_t *of_trace;		/* the host of each */
	unsigned traces;
	struct pool names;
};

/* ---- which trace is of which host: as model_set_host() has it ---- */

static int hosts_find(struct align *align, const struct ctf_reader *reader)
{
	align->traces = ctf_trace_count(reader);
	align->of_trace = calloc(align->traces + 1, sizeof(*align->of_trace));
	align->host = calloc(align->traces + 1, sizeof(*align->host));
	if (!align->of_trace || !align->host)
		return -1;
	for (unsigned i = 0; i < align->traces; i++) {
		const char *name = ctf_trace(reader, i)->hostname;
		unsigned host = 0;

		while (host < align->hosts && (!*name || strcmp(align->host[host].pub.name, name) != 0))
			host++;
		align->of_trace[i] = host;
		if (host < align->hosts)
			continue;
		align->host[host].pub.name = pool_text(&align->names, name, strlen(name));
		align->host[host].first_ns = INT64_MAX;
		align->host[host].last_ns = INT64_MIN;
		align->hosts++;
		if (!align->host[host].pub.name)
			return -1;
	}
	return 0;
}

/* ---- the pass ---- */

static int gather(struct align *align, struct messages *messages, struct ctf_reader *reader,
		  void (*progress)(void *context, uint64_t events, uint64_t clock_ns), void *context,
		  struct err *err)
{
	struct model *model = NULL;
	struct ctf_event event;
	uint64_t events = 0;
	int more = -1;

	if (model_create(&model, err))
		return -1;
	if (model_listen(model, &messages_listener, messages) || model_attach(model, reader, err))
		goto out;
	while ((more = ctf_next(reader, &event, err)) > 0) {
		struct host *host = &align->host[align->of_trace[event.trace]];

		/* Later times are damage. */
		if (event.ns >= 0 && event.ns < TIME_LAST && event.ns < host->first_ns)
			host->first_ns = event.ns;
		if (event.ns >= 0 && event.ns < TIME_LAST && event.ns > host->last_ns)
			host->last_ns = event.ns;
		if (model_event(model, &event)) {
			more = err_set(err, EXIT_FAILED, "There is no memory left for the analysis.");
			break;
		}
		if (!(++events % PROGRESS_EVENTS) && progress)
			progress(context, events, event.clock_ns);
	}
	if (progress)
		progress(context, 0, 0);
	model_finish(model);
	if (more >= 0 && messages->failed)
		more = err_set(err, EXIT_FAILED, "There is no memory left for the analysis.");
out:
	model_destroy(model);
	return more < 0 ? -1 : ctf_bind(reader, NULL, 0, err);
}

/* ---- one host beside those that are done ---- */

/* What @host's own time @ns is by the clock of the first host, and how wrong that may be. */
static int64_t shift_at(const struct host *host, int64_t ns, int64_t *error_ns)
{
	const struct ctf_shift *a = host->shift;
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

/* Bounds of a host's clock less the first host's, by that one's, out of all messages with hosts that are done. */
struct beside {
	struct bounds most, least;	/* least: of the first host's clock less this one's */
	unsigned to;			/* the host with the most messages */
	uint64_t in, out;
};

static void beside_free(struct beside *beside)
{
	bounds_free(&beside->most);
	bounds_free(&beside->least);
}

static uint64_t sum(const struct messages *messages, unsigned a, unsigned b)
{
	return messages->bounds[a * messages->hosts + b].messages + messages->bounds[b * messages->hosts + a].messages;
}

/* With the error of @other at that time, which makes the bound no tighter than it is. */
static int add_all(struct bounds *to, const struct bounds *from, const struct host *other, bool in)
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

static int beside_make(const struct align *align, const struct messages *messages, unsigned host, struct beside *beside)
{
	*beside = (struct beside){ .to = 0 };
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
		if (sum(messages, host, other) > sum(messages, host, beside->to))
			beside->to = other;
	}
	return 0;
}

static int host_shift(struct host *host, const struct bounds_fit *fit)
{
	struct ctf_shift *shift = calloc(BOUNDS_KNOTS, sizeof(*shift));

	if (!shift)
		return -1;
	host->pub.error_min_ns = INT64_MAX;
	for (unsigned k = 0; k < BOUNDS_KNOTS; k++) {
		const struct bounds_knot *knot = &fit->knot[k];

		shift[k] = (struct ctf_shift){ .ns = knot->ns + knot->ahead_ns, .by_ns = -knot->ahead_ns,
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

/* From the first event of all to the last, by the first host's clock, as far as @some bound of it tells before. */
static void extent(const struct align *align, const struct host *host, const struct bound *some, int64_t *begin_ns,
		   int64_t *end_ns)
{
	bool has_events = host->first_ns <= host->last_ns;
	int64_t error_ns, first, last;

	*begin_ns = has_events ? host->first_ns - some->most_ns : some->ns;
	*end_ns = has_events ? host->last_ns - some->most_ns : some->ns;
	for (unsigned i = 0; i < align->hosts; i++) {
		const struct host *other = &align->host[i];

		if (!other->done || other->first_ns > other->last_ns)
			continue;
		first = other->first_ns + shift_at(other, other->first_ns, &error_ns);
		last = other->last_ns + shift_at(other, other->last_ns, &error_ns);
		*begin_ns = first < *begin_ns ? first : *begin_ns;
		*end_ns = last > *end_ns ? last : *end_ns;
	}
	*begin_ns -= MARGIN_NS;
	*end_ns += MARGIN_NS;
}

/* Messages of both directions are there. Return: 0; -1: no memory. */
static int compare(struct align *align, struct host *host, struct beside *beside)
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

static int64_t least_of(const struct bounds *bounds)
{
	int64_t least = INT64_MAX;

	for (unsigned i = 0; i < bounds->count; i++)
		if (bounds->bound[i].most_ns < least)
			least = bounds->bound[i].most_ns;
	return least;
}

/*
 * Messages one way say by how much the clock is ahead at most (in), or at least (out). It is left as the
 * wall clock says, unless messages would arrive before they were sent.
 */
static void one_way(struct align_host *host, const struct beside *beside)
{
	host->how = ALIGN_ONE_WAY;
	host->is_most = beside->in;
	host->is_least = !beside->in;
	host->bound_ns = beside->in ? least_of(&beside->most) : -least_of(&beside->least);
	if (host->is_most ? host->bound_ns < 0 : host->bound_ns > 0)
		host->ahead_ns = host->bound_ns;
}

/* What is left of @host without messages both ways. */
static int leave(struct host *host, const struct beside *beside)
{
	if (host->pub.how == ALIGN_WALL_CLOCK && (beside->in || beside->out))
		one_way(&host->pub, beside);
	host->shift = calloc(1, sizeof(*host->shift));
	if (!host->shift)
		return -1;
	host->shifts = 1;
	*host->shift = (struct ctf_shift){ .by_ns = -host->pub.ahead_ns, .error_ns = CTF_ERROR_UNKNOWN };
	host->pub.error_min_ns = host->pub.error_max_ns = CTF_ERROR_UNKNOWN;
	return 0;
}

/*
 * One more host is compared, or all that cannot be are left (@last). Those with messages both ways come
 * first: what they are compared with may need them. Return: whether one was; -1: no memory.
 */
static int settle_some(struct align *align, struct messages *messages, bool last)
{
	int some = 0;

	for (unsigned i = 1; i < align->hosts; i++) {
		struct host *host = &align->host[i];
		struct beside beside = { .to = 0 };
		int status = 0;

		if (host->done || host->shift || (!last && host->pub.how == ALIGN_CONTRADICTION))
			continue;
		if (i < messages->hosts && beside_make(align, messages, i, &beside))
			status = -1;
		host->pub.to = beside.to;
		host->pub.messages_in = beside.in;
		host->pub.messages_out = beside.out;
		if (!status && last)
			status = leave(host, &beside);
		else if (!status && beside.in && beside.out)
			status = compare(align, host, &beside);
		beside_free(&beside);
		if (status)
			return -1;
		some |= host->done;
	}
	return some;
}

static int settle(struct align *align, struct messages *messages)
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
	while (some > 0)
		some = settle_some(align, messages, false);
	return some < 0 ? -1 : settle_some(align, messages, true);
}

/* ---- life ---- */

int align_find(struct align **result, struct ctf_reader *reader,
	       void (*progress)(void *context, uint64_t events, uint64_t clock_ns), void *context,
	       struct err *err)
{
	struct align *align = calloc(1, sizeof(*align));
	struct messages messages = { 0 };
	int status = -1;

	*result = NULL;
	if (!align || hosts_find(align, reader)) {
		err_set(err, EXIT_FAILED, "There is no memory left for the analysis.");
	} else if (align->hosts < 2) {
		status = 0;
	} else if (messages_init(&messages, align->hosts)) {
		err_set(err, EXIT_FAILED, "There is no memory left for the analysis.");
	} else if (!gather(align, &messages, reader, progress, context, err)) {
		if (settle(align, &messages)) {
			err_set(err, EXIT_FAILED, "There is no memory left for the analysis.");
		} else {
			*result = align;
			align = NULL;
			status = 0;
		}
	}
	messages_free(&messages);
	align_destroy(align);
	return status;
}

int align_apply_from(const struct align *align, unsigned first, struct ctf_reader *reader, struct err *err)
{
	for (unsigned i = 0; align && i < ctf_trace_count(reader) && first + i < align->traces; i++) {
		const struct host *host = &align->host[align->of_trace[first + i]];

		if (ctf_align(reader, i, host->shift, host->shifts, err))
			return -1;
	}
	return 0;
}

int align_apply(const struct align *align, struct ctf_reader *reader, struct err *err)
{
	return align_apply_from(align, 0, reader, err);
}

unsigned align_count(const struct align *align)
{
	return align ? align->hosts : 0;
}

const struct align_host *align_host(const struct align *align, unsigned host)
{
	return &align->host[host].pub;
}

void align_destroy(struct align *align)
{
	if (!align)
		return;
	for (unsigned i = 0; align->host && i < align->hosts; i++)
		free(align->host[i].shift);
	free(align->host);
	free(align->of_trace);
	pool_free(&align->names);
	free(align);
}
