/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what it reads, one thing a line, at times it is given: ns since a moment a while ago, which
 * it prints first, on CLOCK_MONOTONIC. "pair AT SIM": the simulation's clock said SIM; "begin AT",
 * "end AT": a span. "now SIM": as "pair", as CARET has it, with the time of the event itself. "go"
 * is answered.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kymo/kymo.h>

int main(void)
{
	uint64_t base = kymo_now() - 60000000000u;
	char line[128], what[16];

	printf("%" PRIu64 "\n", base);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t at = 0, sim = 0;

		if (!strcmp(line, "go\n")) {
			printf("go\n");
			fflush(stdout);
			continue;
		}
		if (sscanf(line, "%15s %" SCNu64 " %" SCNu64, what, &at, &sim) < 2)
			return 2;
		at += base;
		if (!strcmp(what, "pair"))
			KYMO_TRACEPOINT("ros2_caret", "sim_time", ("stamp", sim), ("at_ns", at));
		else if (!strcmp(what, "now"))
			KYMO_TRACEPOINT("ros2_caret", "sim_time", ("stamp", at - base));
		else if (!strcmp(what, "begin"))
			KYMO_BEGIN("work", "step", ("at_ns", at));
		else
			KYMO_END("work", "step", ("at_ns", at));
	}
	return 0;
}
