/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that LTTng traces: COUNT events lttng_ust_tracef:event with the texts "NAME 0", "NAME 1" and so on, one in
 * PERIOD microseconds. usage: lttng_events NAME COUNT PERIOD [log]      log: lttng_ust_tracelog:TRACE_INFO instead
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <lttng/tracef.h>
#include <lttng/tracelog.h>

int main(int argc, char **argv)
{
	const int count = argc >= 4 ? atoi(argv[2]) : 0;

	if (count <= 0)
		return 2;
	for (int i = 0; i < count; i++) {
		if (argc == 4)
			lttng_ust_tracef("%s %d", argv[1], i);
		else
			lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO, "%s %d", argv[1], i);
		usleep((useconds_t)atoi(argv[3]));
	}
	return 0;
}
