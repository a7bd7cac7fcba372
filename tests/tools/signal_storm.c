/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals at a high rate inside spans, instants and hooks, for tests/system/program/signals.py:
 *
 *     signal_storm EVENTS
 *
 * The program emits spans, instants, counters and ROS 2 events; a timer signals it all the time,
 * and the handler emits the same kinds and a name made at run time. Prints what each emitted, as
 * JSON: a span counts as its begin here, its end follows if that was recorded.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include <kymo/kymo.h>

#include "tracetools/tracetools.h"

#define SIGNALS_US 20
#define HANDLED_MIN 2500	/* events; on a loaded machine it takes as long as it takes ... */
#define EVENTS_FACTOR 4		/* ... up to so many times the events wanted, of both together */

static volatile uint64_t emitted[2];	/* by the thread, by its handler; before each event */

/* Four events without the ends: begin, instant, ROS 2 event, begin. */
#define ROUND(who, category)								\
	do {										\
		emitted[who] += 4;							\
		KYMO_SPAN(category, "outer", ("n", (uint64_t)emitted[who]));		\
		KYMO_INSTANT(category, "instant", ("text", "some text"));		\
		ros_trace_rcl_take((void *)(uintptr_t)(who + 1));			\
		{									\
			KYMO_SPAN(category, "inner");					\
		}									\
	} while (0)

static void handler(int number)
{
	(void)number;
	ROUND(1, "handler");
	emitted[1]++;
	kymo_instant_named("handler", "a name");
}

int main(int argc, char **argv)
{
	const unsigned long wanted = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval timer = { { 0, SIGNALS_US }, { 0, SIGNALS_US } };

	if (!wanted) {
		(void)fprintf(stderr, "usage: signal_storm EVENTS\n");
		return 2;
	}
	ros_trace_rcl_init(&action);
	if (!kymo_thread_ready() || sigaction(SIGALRM, &action, NULL) ||
	    setitimer(ITIMER_REAL, &timer, NULL)) {
		(void)fprintf(stderr, "signal_storm: cannot start\n");
		return 1;
	}
	while ((emitted[0] < wanted || emitted[1] < HANDLED_MIN) &&
	       emitted[0] + emitted[1] < EVENTS_FACTOR * wanted) {
		ROUND(0, "thread");
		emitted[0]++;
		KYMO_COUNTER("thread", "counter", (double)emitted[0]);
	}
	timer = (struct itimerval){ 0 };
	(void)setitimer(ITIMER_REAL, &timer, NULL);
	(void)printf("{\"thread\": %llu, \"handler\": %llu}\n", (unsigned long long)emitted[0],
		     (unsigned long long)emitted[1]);
	return 0;
}
