/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds for an oracle. Each line of standard input has N QUANTILE CONFIDENCE; a line of output has
 * the upper and the lower bound's rank, and the least N. */
#include <inttypes.h>
#include <stdio.h>

#include "check/bound.h"

int main(void)
{
	double quantile, confidence;
	uint64_t n;

	while (scanf("%" SCNu64 " %lf %lf", &n, &quantile, &confidence) == 3)
		printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		       bound_upper(n, quantile, confidence), bound_lower(n, quantile, confidence),
		       bound_instances(quantile, confidence));
	return 0;
}
