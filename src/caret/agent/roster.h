/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traced processes of a runtime directory, and what kymo's session does for each: what CARET's
 * node in each process would know, seen from outside.
 *
 * Nothing is changed: regions are mapped for reading. Regions and the domain page are untrusted.
 */
#ifndef KYMO_CARET_ROSTER_H
#define KYMO_CARET_ROSTER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "caret/agent/machine.h"
#include "recorder/runtime/domain.h"
#include "recorder/runtime/region_view.h"
#include "recorder/runtime/rundir.h"

/* ---- the nodes of a process, as its init log has them ---- */

#define NODES_MAX 1024 /* of a process; more are left out */

struct nodes {
	struct roster_node {
		uint64_t handle;
		char *name; /* with its namespace: "/perception/camera" */
	} * node;
	unsigned count, room;
	uint64_t at; /* the log before this position was read */
};

/**
 * nodes_read() - read the new part of the init log of @region. Zeroed nodes have read nothing.
 *
 * The log is untrusted: invalid entries are skipped, and so are those for which there is no memory.
 * Return: whether something changed. Context: allocates; the first call reads the whole log.
 */
bool nodes_read(struct nodes *nodes, struct region *region);

void nodes_free(struct nodes *nodes);

/* ---- processes ---- */

#define ROSTER_MAX	4096	/* processes; more are ignored */
#define ROSTER_NAME_MAX	64	/* of a node, with its NUL */

struct roster_process {
	struct region region;
	char name[ROSTER_NAME_MAX];	/* caret_trace_<uuid>: always the same for this process */
	int host_pid;			/* 0: not visible from here */
	int domain;			/* ROS_DOMAIN_ID that it was started with; -1: not known */
	struct nodes nodes;
	enum machine_session session; /* what the session did for it at the last update */
	enum machine_state state;     /* the caller's */
	bool listed;                  /* the caller's */
	bool left_out;                /* the session does not record it, or another recorder does */
	uint64_t outside_since; /* CLOCK_MONOTONIC in ns: since when it looks left out; 0: it does
				   not */
};

struct roster {
	struct rundir dir;
	struct domain_info session;	/* kymo's, at the last update */
	struct roster_process *process[ROSTER_MAX];
	unsigned count;
	struct timespec changed;	/* of the directory, at the last update */
};

struct roster_calls {
	void (*found)(void *context, struct roster_process *process);
	void (*gone)(void *context, struct roster_process *process); /* valid during the call */
	void (*changed)(void *context,
			struct roster_process *process); /* session, nodes or left_out */
	void *context;
};

/** roster_open() - @runtime_dir: created if necessary; NULL: as rundir_path() returns it. Return:
 * 0; -1 with @err. */
int roster_open(struct roster *roster, const char *runtime_dir, struct kymo_err *err);

/**
 * roster_update() - find out what has changed, and call @calls
 * @thorough: also check whether each process lives, and which nodes it has; otherwise only words in
 *	memory, and the directory if it has changed
 *
 * Context: allocates; reads files.
 */
void roster_update(struct roster *roster, bool thorough, const struct roster_calls *calls);

/** roster_close() - forget all processes. */
void roster_close(struct roster *roster);

/**
 * roster_name() - the name of the node that represents a process
 *
 * It is computed from what identifies the process and from the machine's boot id, so that a later
 * agent computes the same name. Context: wait-free, except the first call, which reads the boot id.
 */
void roster_name(char name[ROSTER_NAME_MAX], const struct region *region);

#endif
