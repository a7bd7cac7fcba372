/* SPDX-License-Identifier: Apache-2.0 */
/* A look at the traced processes of a runtime directory that changes nothing. */
#ifndef KYMO_RECORDER_STATUS_H
#define KYMO_RECORDER_STATUS_H

#include <stdint.h>

#include "abi/region.h"
#include "base/err.h"
#include "recorder/runtime/alive.h"
#include "recorder/runtime/rundir.h"

struct process_status {
	uint32_t pid;
	int host_pid;			/* in our namespace, 0 when it is not found */
	char procname[KYMO_NAME_MAX + 1];
	char exe[257];
	char tracetools[29];
	uint32_t state; /* enum kymo_state, or anything */
	uint32_t mode;  /* enum kymo_mode, or anything */
	bool counts;    /* it only counts some of its events: `kymo top` asked for it */
	enum alive alive;
	uint32_t generation;     /* of the session that set the state */
	uint32_t recorder_pid;   /* of its recorder, in that one's own pid namespace; 0: it is not
				    recorded */
	uint64_t recorded, lost; /* runtime events in that session so far; 0: it is not recorded */
	uint64_t produced; /* runtime events that its rings received, since the process began */
	uint64_t at_ns;    /* CLOCK_MONOTONIC of the look */
	uint64_t start_time, birth_ns; /* as in struct kymo_region: with pid, which process it is */
	uint64_t session_tag;
	uint32_t ros_domain;		/* KYMO_ROS_... */
	uint64_t init_events, init_dropped;
	uint64_t rings;
	uint64_t unread_bytes;
	uint64_t dropped;		/* runtime events, since the process began */
	uint64_t memory;		/* bytes of its region */
};

/**
 * status_read() - look at every region in @dir, in no particular order
 * @each: called for each
 * @refused: called with the name of each file that is not a region of ours, and the reason; may be
 * NULL
 *
 * Context: allocates and blocks.
 * Return: number of regions; -1 with @err.
 */
int status_read(const struct rundir *dir,
		void (*each)(void *context, const struct process_status *status),
		void (*refused)(void *context, const char *name, const char *text), void *context,
		struct kymo_err *err);

#endif
