/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/bench/bench_plan.h"

#include <stdio.h>

void bench_plan_say(const struct looks *looks, bool is_quick)
{
	const unsigned last = looks->count - 1;

	fprintf(stderr, "What is worse can be known after ");
	for (unsigned i = 0; i < last; i++)
		fprintf(stderr, "%u%s", looks->look[i].pairs, i + 1 < last ? ", " : " or ");
	fprintf(stderr, "%u pairs%s.\n", looks->look[last].pairs, last ? "" : ", not earlier");
	fprintf(stderr, "%s as soon as no metric can become worse%s.\n",
		is_quick ? "It ends" : "--quick ends it", is_quick ? " (--quick)" : "");
}

bool bench_plan_is_known(const struct comparison *comparison)
{
	return comparison->rows &&
	       (comparison->count[VERDICT_WORSE] || !comparison->count[VERDICT_UNKNOWN]);
}

bool bench_plan_is_closed(const struct comparison *comparison,
			  const struct compare_options *options, const struct looks *looks)
{
	return comparison->rows && !comparison->count[VERDICT_WORSE] &&
	       !compare_open(comparison, options, looks);
}
