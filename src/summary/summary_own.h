/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a callback's run was the program's own: from the kernel's scheduler events, the duration
 * of each run without the time in which it could have run while threads of other programs, or
 * nobody, had its CPU. Time on a CPU, waits for locks and for data, and time behind other threads
 * of the traced programs stay: that is their own doing.
 *
 * A trace without scheduler events has none of this.
 *
 * Context of all functions: not thread-safe; summary_own_create() allocates, and so does the pass;
 * none blocks.
 */
#ifndef KYMO_SUMMARY_SUMMARY_OWN_H
#define KYMO_SUMMARY_SUMMARY_OWN_H

#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/err.h"
#include "base/histogram.h"

struct summary_own;

/* All runs of a callback whose states the kernel's events tell. */
struct summary_own_callback {
	struct histogram own;
	uint64_t runs;
	int64_t cpu_ns; /* on a CPU, without runs that began inside them */
};

/**
 * summary_own_create() - listen to @model; only runs that start in [@begin_ns, @end_ns] count
 *
 * Return: 0, or -1 with @err.
 */
int summary_own_create(struct summary_own **own, struct model *model,
		       const struct kymo_ctf_reader *reader, int64_t begin_ns, int64_t end_ns,
		       struct kymo_err *err);

/** summary_own_callback() - by the callback's index in the model; NULL: nothing is known. */
const struct summary_own_callback *summary_own_callback(const struct summary_own *own,
							uint32_t index);

/* For pass_add(). */
extern const struct pass_ops summary_own_pass;

#endif
