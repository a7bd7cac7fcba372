/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, in /proc, preloaded programs and agents of our user: for programs that use another runtime directory than ours. */
#ifndef KYMO_RECORDER_ELSEWHERE_H
#define KYMO_RECORDER_ELSEWHERE_H

#include <stdbool.h>

struct elsewhere_process {
	int pid;
	char name[64];
	char dir[512];			/* its runtime directory */
	bool agent;			/* it is a `kymo agent`; else it has our preload library */
	bool no_clock;			/* an agent with --sim-rate 0 */
	const char *uri;		/* its CYCLONEDDS_URI; NULL: none */
};

/**
 * elsewhere_scan() - call @each for every preloaded program and every agent of our user in our network namespace
 * @each: what it gets is valid during the call
 *
 * Context: allocates; reads /proc.
 */
void elsewhere_scan(void (*each)(void *context, const struct elsewhere_process *process), void *context);

#endif
