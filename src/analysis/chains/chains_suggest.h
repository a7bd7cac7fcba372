/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message links that the program did not annotate: a subscription, and a later publication of the
 * same node, which the times connect. A suggestion is never used as a link: it is shown beside its
 * evidence.
 *
 *   GATE     a callback publishes in the runs before which the subscription received something, and
 *            not in the others
 *   FOLLOWS  a thread publishes outside of callbacks, once behind each run of the subscription's
 *            callback, and after much the same time, although these runs come irregularly
 *
 * What publishes always, or with a period of its own, shows nothing; no content of messages is
 * looked at.
 */
#ifndef KYMO_ANALYSIS_CHAINS_SUGGEST_H
#define KYMO_ANALYSIS_CHAINS_SUGGEST_H

#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/err.h"

enum suggest_how { SUGGEST_GATE, SUGGEST_FOLLOWS };

struct suggestion {
	enum suggest_how how;
	const struct model_subscription *subscription;
	const struct model_publisher *publisher;
	const struct model_callback *by; /* GATE: the callback that publishes */
	struct suggest_gate {
		/* Runs of it with something new, and without; and in how many it published. */
		uint64_t fresh, fresh_published, stale, stale_published;
	} gate;
	/* FOLLOWS: runs of the subscription's callback, and how many one publication followed. */
	uint64_t runs, followed;
	double lag_ns, lag_deviation_ns; /* from the end of such a run to the publication */
	double gap_deviation_ns;         /* of the time between the ends of two runs */
};

struct suggest;

/** suggest_create() - listen to @model. Context: allocates as objects appear. Return: 0, or -1. */
int suggest_create(struct suggest **suggest, struct model *model, struct kymo_err *err);

/** suggest_at() - after the pass, in order of appearance. Return: NULL after the last. */
const struct suggestion *suggest_at(const struct suggest *suggest, unsigned index);

/* For pass_add(). */
extern const struct pass_ops suggest_pass;

#endif
