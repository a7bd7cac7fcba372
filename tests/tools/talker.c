/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node with topics, as far as tracetools is told of it: one publication on each, so many times a
 * second.
 *
 *   talker [--init PUBLISHERS] [--rate PER_S] NODE TOPIC...
 *
 * With --init, so many publishers are made besides. Prints "ready" when all are made. Ends at SIGTERM or SIGINT.
 */
#include <getopt.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tracetools/tracetools.h"

#define NODE	0x10000000u
#define TOPIC	0x20000000u
#define OTHER	0x40000000u
#define STEP	0x40u

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static const void *handle(uintptr_t base, unsigned long number)
{
	return (const void *)(base + number * STEP);
}

static void make_publisher(uintptr_t base, unsigned long number, const char *topic)
{
	ros_trace_rcl_publisher_init(handle(base, number), handle(NODE, 0),
				     handle(base + 8, number), topic, 10);
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{ "init", required_argument, NULL, 'i' }, { "rate", required_argument, NULL, 'r' }, { NULL, 0, NULL, 0 },
	};
	unsigned long init = 0, rate = 100;
	struct timespec pause;
	char topic[64];
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option != 'i' && option != 'r')
			return 2;
		*(option == 'i' ? &init : &rate) = strtoul(optarg, NULL, 10);
	}
	if (optind == argc || rate < 1 || rate > 100000)
		return 2;
	pause = (struct timespec){ .tv_sec = rate == 1,
				   .tv_nsec = rate == 1 ? 0 : (long)(1000000000 / rate) };
	signal(SIGTERM, stop);
	signal(SIGINT, stop);
	ros_trace_rcl_init(handle(NODE, 1));
	ros_trace_rcl_node_init(handle(NODE, 0), handle(NODE, 2), argv[optind], "/");
	for (int i = optind + 1; i < argc; i++)
		make_publisher(TOPIC, (unsigned long)i, argv[i]);
	for (unsigned long i = 0; i < init; i++) {
		snprintf(topic, sizeof topic, "/topic_%lu", i);
		make_publisher(OTHER, i, topic);
	}
	puts("ready");
	fflush(stdout);
	while (!stopped) {
		for (int i = optind + 1; i < argc; i++)
			ros_trace_rcl_publish(handle(TOPIC, (unsigned long)i), handle(NODE, 3));
		nanosleep(&pause, NULL);
	}
	return 0;
}
