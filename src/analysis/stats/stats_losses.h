/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where messages were lost, for each subscription, collected while a model reads a trace. Memory
 * depends on the number of subscriptions.
 */
#ifndef KYMO_ANALYSIS_STATS_LOSSES_H
#define KYMO_ANALYSIS_STATS_LOSSES_H

#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/err.h"

struct losses_subscription {
	uint64_t received;
	uint64_t lost;               /* all of the following */
	uint64_t where[MODEL_LOSTS]; /* MODEL_DROP_UNTAKEN */
	uint64_t overwritten;        /* within a process, by a newer message, or cleared */
};

struct losses;

/**
 * losses_create() - listen to @model
 * @begin_ns, @end_ns: only messages that were published in [begin, end] count; those whose
 *   publication is not in the trace: that were received then
 *
 * Context: allocates as objects appear. Return: 0, or -1 with @err filled.
 */
int losses_create(struct losses **losses, struct model *model, int64_t begin_ns, int64_t end_ns,
		  struct kymo_err *err);
void losses_destroy(struct losses *losses);

/* By index of the subscription; zeroed when nothing happened to it. */
const struct losses_subscription *losses_subscription(const struct losses *losses, unsigned index);

/* For pass_add(). */
extern const struct pass_ops losses_pass;

#endif
