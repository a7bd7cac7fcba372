/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traced processes of a runtime directory and what kymo's session does for each: what CARET's node
 * in every process would know about itself, seen from outside.
 *
 * Nothing is changed: regions are mapped for reading. They are input, as is the domain page.
 */
#ifndef KYMO_CONTROL_ROSTER_H
#define KYMO_CONTROL_ROSTER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "caret/agent/machine.h"
#include "caret/agent/nodes.h"
#include "recorder/runtime/domain.h"
#include "recorder/runtime/region_view.h"
#include "recorder/runtime/rundir.h"

#define ROSTER_MAX	4096	/* processes; further ones are not seen */
#define ROSTER_NAME_MAX	64	/* of a node, with its NUL */

struct roster_process {
	struct region region;
	char name[ROSTER_NAME_MAX];	/* caret_trace_<uuid>: the same whenever this process is looked at */
	int host_pid;			/* 0: not to be seen from here */
	int domain;			/* ROS_DOMAIN_ID that it was started with; -1: it is not known */
	struct nodes nodes;
	enum machine_session session;	/* what is done for it, as of the last look */
	enum machine_state state;	/* the caller's */
	bool listed;			/* the caller's */
	bool left_out;			/* the session that is there does not want it, or somebody else records it */
	uint64_t outside_since;		/* CLOCK_MONOTONIC, ns: since when that looks so; 0: it does not */
};

struct roster {
	struct rundir dir;
	struct domain_info session;	/* kymo's, as of the last look */
	struct roster_process *process[ROSTER_MAX];
	unsigned count;
	struct timespec changed;	/* the directory, as of the last look */
};

struct roster_calls {
	void (*found)(void *context, struct roster_process *process);
	void (*gone)(void *context, struct roster_process *process);	/* valid during the call */
	void (*changed)(void *context, struct roster_process *process);	/* session, nodes or left_out */
	void *context;
};

/** roster_open() - @runtime_dir: NULL: as rundir_path() has it; it is made. Return: 0; -1 with @err. */
int roster_open(struct roster *roster, const char *runtime_dir, struct kymo_err *err);

/**
 * roster_look() - see what has changed, and tell
 * @thorough: also look whether each process lives, and what nodes it has; else only words in memory and
 *	the directory if it changed
 *
 * Context: allocates; reads files.
 */
void roster_look(struct roster *roster, bool thorough, const struct roster_calls *calls);

/** roster_close() - and forget all. */
void roster_close(struct roster *roster);

/**
 * roster_name() - the name of the node that stands for a process
 *
 * Made of what identifies it and of the machine's boot, so that an agent that comes after another one calls
 * it the same. Context: wait-free but for the first call, which reads the boot's id.
 */
void roster_name(char name[ROSTER_NAME_MAX], const struct region *region);

#endif
