/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, in /proc, preloaded programs and agents of our user: for programs that use another runtime
 * directory than ours. */
#ifndef KYMO_RECORDER_ELSEWHERE_H
#define KYMO_RECORDER_ELSEWHERE_H

#include <stdbool.h>

enum elsewhere_network {
	ELSEWHERE_URI,       /* CYCLONEDDS_URI */
	ELSEWHERE_RANGE,     /* ROS_AUTOMATIC_DISCOVERY_RANGE */
	ELSEWHERE_PEERS,     /* ROS_STATIC_PEERS */
	ELSEWHERE_LOCALHOST, /* ROS_LOCALHOST_ONLY */
	ELSEWHERE_NETWORKS
};

/** elsewhere_network_name() - of the variable. */
const char *elsewhere_network_name(enum elsewhere_network which);

struct elsewhere_process {
	int pid;
	char name[64];
	char dir[512];			/* its runtime directory */
	bool agent;			/* it is a `kymo agent`; else it has our preload library */
	bool no_clock;			/* an agent with --sim-rate 0 */
	/* Its variables that choose a network, by enum elsewhere_network; NULL: not set. */
	const char *network[ELSEWHERE_NETWORKS];
};

/**
 * elsewhere_scan() - call @each for every preloaded program and every agent of our user in our
 * network namespace
 * @each: what it gets is valid during the call
 *
 * Context: allocates; reads /proc.
 */
void elsewhere_scan(void (*each)(void *context, const struct elsewhere_process *process),
		    void *context);

#endif
