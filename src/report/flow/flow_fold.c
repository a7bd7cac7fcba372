/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo flow`: chains of one name lead through several processes of one name. They stand together,
 * the worst first, and as text many of them are one row.
 */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "report/flow/flow_internal.h"
#include "summary/summary.h"

struct named {
	char *label;
	const struct chains_path *path;
	unsigned at;    /* in the order before */
	unsigned first; /* `at` of the first one of this name */
	unsigned alike;
};

static uint64_t worst_of(const struct chains_path *path)
{
	return path->stats && path->stats->total.count ? path->stats->total.max : 0;
}

static int by_label(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	const int order = strcmp(x->label, y->label);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int by_first(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	const uint64_t of_x = worst_of(x->path), of_y = worst_of(y->path);

	return ORDER(x->first, y->first) ?: ORDER(of_y, of_x) ?: ORDER(x->at, y->at);
}

/* They are sorted by their labels. */
static void count_alike(struct named *named, unsigned count)
{
	for (unsigned i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && !strcmp(named[i].label, named[end].label);)
			end++;
		for (unsigned k = i; k < end; k++) {
			named[k].first = named[i].at;
			named[k].alike = end - i;
		}
	}
}

/* Return: NULL without memory. */
static struct named *name_all(const struct flow *flow)
{
	struct named *named = calloc(flow->chains_all + 1, sizeof(*named));
	char label[8192];

	for (unsigned i = 0; named && i < flow->chains_all; i++) {
		const char *text = chains_label(flow->chain[i], label, sizeof(label));

		named[i] = (struct named){ .label = strdup(text), .path = flow->chain[i], .at = i };
		if (named[i].label)
			continue;
		while (i--)
			free(named[i].label);
		free(named);
		return NULL;
	}
	return named;
}

int flow_put_together(struct flow *flow)
{
	struct named *named = name_all(flow);

	free(flow->alike);
	flow->alike = calloc(flow->chains_all + 1, sizeof(*flow->alike));
	if (named && flow->alike) {
		qsort(named, flow->chains_all, sizeof(*named), by_label);
		count_alike(named, flow->chains_all);
		qsort(named, flow->chains_all, sizeof(*named), by_first);
		for (unsigned i = 0; i < flow->chains_all; i++) {
			flow->chain[i] = named[i].path;
			flow->alike[i] = named[i].alike;
		}
	}
	for (unsigned i = 0; named && i < flow->chains_all; i++)
		free(named[i].label);
	free(named);
	return named && flow->alike ? 0 : -1;
}

unsigned flow_folded(const struct flow *flow, unsigned at)
{
	const struct flow_options *o = flow->options;

	return o->format == TABLE_TEXT && !o->unfolded && !o->chain &&
			       flow->alike[at] > SUMMARY_ALIKE_ROWS
		       ? flow->alike[at]
		       : 1;
}

/* Chains that begin alike share their beginnings. */
static uint64_t begun(const struct flow *flow, unsigned at, unsigned count)
{
	const struct chains_path **begins = calloc(count, sizeof(*begins));
	unsigned kept = 0, k;
	uint64_t sum = 0;

	for (unsigned i = at; begins && i < at + count; i++) {
		const struct chains_path *first = flow->chain[i];

		while (first->parent)
			first = first->parent;
		for (k = 0; k < kept && begins[k] != first;)
			k++;
		if (k < kept)
			continue;
		begins[kept++] = first;
		sum += first->count;
	}
	free(begins);
	return sum;
}

int flow_sum(const struct flow *flow, unsigned at, unsigned count, struct flow_sum *sum)
{
	int failed = 0;

	*sum = (struct flow_sum){ .begun = begun(flow, at, count) };
	for (unsigned i = at; i < at + count; i++) {
		const struct chains_path *path = flow->chain[i];

		sum->arrived += path->callback ? path->ended : path->count;
		sum->between_hosts += path->between_hosts;
		if (!path->stats)
			continue;
		failed |= histogram_merge(&sum->total, &path->stats->total);
		if (path->stats->error_ns > sum->error_ns)
			sum->error_ns = path->stats->error_ns;
	}
	return failed ? -1 : 0;
}
