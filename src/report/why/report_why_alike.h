/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of one name in several processes of one name, `kymo why` and `kymo flow` explain one. Which
 * others there are, and how to name them.
 *
 * Context: not thread-safe; allocates.
 */
#ifndef KYMO_REPORT_WHY_ALIKE_H
#define KYMO_REPORT_WHY_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "report/why/report_why.h"

struct why_alike_one {
	char *operand; /* as it can be typed: "/scan -> /cmd_vel (filter 4711)" */
	char *ways;    /* "filter 4711" */
	uint64_t count;
	int64_t usual_ns, worst_ns; /* without start-up */
};

struct why_alike {
	struct why_alike_one *other; /* the worst first */
	unsigned others, size;
	bool failed; /* memory ran out */
};

/** why_alike_add() - one more: @name of the processes @ways. @worst_ns: 0: all of it is start-up.
 */
void why_alike_add(struct why_alike *alike, const char *name, const char *ways,
		   const struct histogram *total, int64_t worst_ns);

/**
 * why_alike_print() - as text one line, unless the processes were named; for programs all of them
 * @verb: "why": what is typed for another one
 * @is_named: the processes were
 */
void why_alike_print(const struct why_alike *alike, const struct why_options *options,
		     const char *verb, bool is_named, struct table *table);

/** why_alike_clear() - free all of them. */
void why_alike_clear(struct why_alike *alike);

#endif
