/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `kymo record --hosts` knows: which hosts subscribe to CARET's Start, their processes, and
 * the state of each. Only bookkeeping, without DDS: dds/remote.c passes in what it receives.
 *
 *   host     a participant that subscribes to Start: a `kymo agent`, or a process that CARET itself traces
 *   process  a node named caret_trace_...: of an agent there are many
 *
 * Everything comes from the network and is untrusted: names are cut, numbers are checked, and there
 * are limits.
 */
#ifndef KYMO_CARET_HOSTS_H
#define KYMO_CARET_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "caret/agent/machine.h"

#define HOSTS_MAX	256		/* more are not shown */
#define HOSTS_PROCESS_MAX 4096		/* of a host; more are not shown */
#define HOSTS_NAME_MAX	64		/* bytes with the NUL */
#define HOSTS_KEY	16		/* bytes: the GUID of a participant */
#define HOSTS_MARK	"caret_trace_"	/* names of nodes that represent a process contain this */

struct host_process {
	char name[HOSTS_NAME_MAX];
	int64_t pid;			/* 0: not known */
	unsigned nodes;			/* its ROS nodes */
	enum machine_state state;	/* MACHINE_UNINITIALIZED: it has sent none */
	bool recorded;			/* it was in RECORD since the first hosts_asked() */
	bool answered;			/* it has sent its state since the last hosts_asked() */
	bool gone;
};

struct host {
	uint8_t key[HOSTS_KEY];
	char name[HOSTS_NAME_MAX];
	struct host_process *process;
	unsigned count, room;
	bool listens;			/* it subscribes to Start; otherwise it is not a host */
	bool gone;
};

struct hosts {
	struct host host[HOSTS_MAX];
	unsigned count;
	bool asked;
	unsigned changes;		/* number of changes */
};

/** hosts_init() - without hosts. */
void hosts_init(struct hosts *hosts);
void hosts_free(struct hosts *hosts);

/* ---- input. Context: these functions allocate. ---- */

/** hosts_listens() - a participant subscribes to Start. @name: of its machine; NULL: not known, or
 * not yet. */
void hosts_listens(struct hosts *hosts, const uint8_t key[HOSTS_KEY], const char *name);

/** hosts_gone() - a participant left, or its lease expired. */
void hosts_gone(struct hosts *hosts, const uint8_t key[HOSTS_KEY]);

/** hosts_graph() - the names of all its nodes; those without HOSTS_MARK do not represent a
 * process. */
void hosts_graph(struct hosts *hosts, const uint8_t key[HOSTS_KEY], const char *const *names,
		 unsigned count);

/** hosts_status() - a Status arrived. @state: as received; an invalid one is ignored. */
void hosts_status(struct hosts *hosts, const uint8_t key[HOSTS_KEY], const char *name, int state,
		  int64_t pid, unsigned nodes);

/** hosts_asked() - a Start or End was sent: answers are counted from now on. */
void hosts_asked(struct hosts *hosts);

/* ---- output ---- */

struct hosts_tally {
	unsigned hosts, processes;	/* that exist */
	unsigned state[MACHINE_STATES];	/* processes in this state; [0]: no state known */
	unsigned answered, recorded;	/* recorded: including processes that are gone */
};

/** hosts_tally() - of @host; NULL: of all hosts. Context: wait-free. */
struct hosts_tally hosts_tally(const struct hosts *hosts, const struct host *host);

/**
 * hosts_state() - the state of a host in a word: the state of all its processes; "mixed"; "idle"
 * (no process); "unknown" (no state known); "gone"
 */
const char *hosts_state(const struct host *host);

#endif
