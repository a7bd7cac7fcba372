/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of a path. A node joins the callbacks of its subscription with its publications, by the
 * rule of its message context.
 */
#include <string.h>

#include "base/array.h"
#include "caret/paths/caret_internal.h"

/* The callback of the model that an architecture's @callback means: same kind, source, symbol and
 * order. */
struct wanted {
	const char *node;
	const struct arch_callback *callback;
};

static bool is_alike(const struct caret *caret, const struct model_callback *callback,
		     const struct wanted *wanted)
{
	const struct arch_callback *want = wanted->callback;

	if (callback->is_intra || !caret_of_node(caret, callback->index, wanted->node) ||
	    (*want->symbol && strcmp(callback->raw_symbol, want->symbol) != 0))
		return false;
	if (want->is_timer)
		return callback->timer && callback->timer->period_ns == want->period_ns;
	return callback->subscription &&
	       strcmp(callback->subscription->topic->name, want->topic) == 0;
}

static bool is_callback(const struct caret *caret, unsigned index, const void *what)
{
	const struct model_callback *callback = model_callback(caret->model, index);
	const struct wanted *wanted = what;
	const unsigned all = model_count(caret->model, MODEL_CALLBACK);
	unsigned before = 0;

	/* The twin for messages of the same process counts as the subscription itself. */
	if (callback->is_intra && callback->subscription) {
		for (unsigned i = 0; i < all; i++) {
			const struct model_callback *twin = model_callback(caret->model, i);

			if (!twin->is_intra && twin->subscription == callback->subscription)
				return is_callback(caret, i, what);
		}
		return false;
	}
	if (!is_alike(caret, callback, wanted))
		return false;
	for (unsigned i = 0; i < all; i++) {
		const struct model_callback *other = model_callback(caret->model, i);

		before += model_callback_node(other) == model_callback_node(callback) &&
			  other->born_ns < callback->born_ns && is_alike(caret, other, wanted);
	}
	return before == wanted->callback->order;
}

/* [start, (end, start)..., publish] of callbacks that pass data through variables. */
static int chain(const struct caret *caret, const struct arch_node *node,
		 const struct arch_context *context, const struct records *publications,
		 struct records *out)
{
	int rc = 0;

	*out = (struct records){ .columns = 2 };
	for (unsigned i = 0; !rc && i < context->callbacks; i++) {
		struct wanted wanted = {node->name,
					architecture_find_callback(node, context->callback[i])};
		struct records runs = { .columns = 3 };

		if (wanted.callback)
			rc = caret_table_of(caret, CARET_RUNS, is_callback, &wanted, &runs);
		records_drop(&runs, 2);
		if (!rc && i)
			rc = records_follow_in(out, out->columns - 1, &runs, true);
		else
			*out = runs;
		if (i)
			records_free(&runs);
	}
	if (rc)
		return rc;
	records_drop(out, out->columns - 1);
	return records_follow_in(out, out->columns - 1, publications, false);
}

/* [arrival, publish] of messages with the same stamp in their headers. */
static int stamped(const struct caret *caret, const struct arch_hop *hop, struct records *out)
{
	struct records arrivals, publications = { .columns = 2 };
	int rc = caret_table(caret, CARET_STAMPED_ARRIVALS, hop, &arrivals);

	*out = (struct records){ .columns = 4 };
	if (!rc)
		rc = caret_table(caret, CARET_STAMPED_PUBLICATIONS, hop, &publications);
	if (!rc)
		rc = records_follow(&arrivals, 0, 1, &publications, 0, 1, true, out);
	records_drop(out, 3);
	records_drop(out, 1);
	records_free(&arrivals);
	records_free(&publications);
	return rc;
}

int caret_node_rows(const struct caret *caret, const struct arch_hop *hop,
		    const struct context_rule *rule, struct records *out)
{
	const struct arch_context *chained = rule->chain;
	const struct arch_node *node = rule->node;
	struct records publications;
	int rc;

	if (rule->by_stamp)
		return stamped(caret, hop, out);
	if (rule->by_tilde)
		return caret_tilde_rows(caret, hop, out);
	rc = caret_table(caret, CARET_PUBLICATIONS, hop, &publications);
	records_drop(&publications, 1);
	*out = (struct records){ .columns = 1 };
	if (!rc && chained) {
		rc = chain(caret, node, chained, &publications, out);
	} else if (!rc) {
		rc = caret_arrivals(caret, hop, out);
		if (!rc)
			rc = records_follow_in(out, 0, &publications, true);
	}
	records_free(&publications);
	return rc;
}

int caret_first_rows(const struct caret *caret, const struct arch_hop *hop, struct records *out)
{
	struct records runs, publications = { .columns = 2 };
	size_t kept = 0;
	int rc = caret_table_of(caret, CARET_RUNS, caret_of_node, hop->node, &runs);

	*out = (struct records){ .columns = 5 };
	if (!rc)
		rc = caret_table(caret, CARET_PUBLICATIONS, hop, &publications);
	if (!rc)
		rc = records_follow(&runs, 0, 2, &publications, 0, 1, true, out);
	records_drop(out, 4);
	records_drop(out, 2);
	records_drop(out, 1);
	for (size_t i = 0; i < out->rows; i++)
		if (records_row(out, i)[1])
			memmove(records_row(out, kept++), records_row(out, i), 2 * sizeof(int64_t));
	out->rows = kept;
	records_free(&runs);
	records_free(&publications);
	return rc;
}
