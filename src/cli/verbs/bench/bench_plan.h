/* SPDX-License-Identifier: Apache-2.0 */
/* What `kymo bench` can know after how many pairs. Context of all functions: they do not allocate;
 * bench_plan_say() blocks as stderr does. */
#ifndef KYMO_CLI_BENCH_PLAN_H
#define KYMO_CLI_BENCH_PLAN_H

#include <stdbool.h>

#include "compare/compare.h"
#include "compare/looks.h"

/** bench_plan_say() - before the first pair, on stderr: after which pairs what can be known. */
void bench_plan_say(const struct looks *looks, bool is_quick);

/** bench_plan_is_known() - more pairs would not change it: something is worse, or all is known. */
bool bench_plan_is_known(const struct comparison *comparison);

/** bench_plan_is_closed() - whatever the pairs to come will be, no metric can become worse. */
bool bench_plan_is_closed(const struct comparison *comparison,
			  const struct compare_options *options, const struct looks *looks);

#endif
