/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that kymo traces, as lttng_events is one for LTTng: COUNT events with the texts "NAME 0", "NAME 1" and so on, one
 * in PERIOD microseconds. usage: kymo_events NAME COUNT PERIOD [log]      log: another event
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <kymo/kymo.h>

int main(int argc, char **argv)
{
	const int count = argc >= 4 ? atoi(argv[2]) : 0;
	char text[64];

	if (count <= 0)
		return 2;
	for (int i = 0; i < count; i++) {
		(void)snprintf(text, sizeof(text), "%s %d", argv[1], i);
		if (argc == 4)
			KYMO_TRACEPOINT("test", "event", ("msg", text));
		else
			KYMO_TRACEPOINT("test", "log", ("line", i), ("msg", text));
		usleep((useconds_t)atoi(argv[3]));
	}
	return 0;
}
