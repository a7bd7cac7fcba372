/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `kymo record --hosts` knows: who listens to CARET's Start, which processes are there, and what state each told.
 * A pure account, without DDS: who brings it news is dds/remote.c.
 *
 *   host     a participant that subscribes to Start: a `kymo agent`, or a process that CARET itself traces
 *   process  a node named caret_trace_...: of an agent there are many
 *
 * Everything comes from the network and is input: names are cut, numbers checked, and there are limits.
 */
#ifndef KYMO_CONTROL_HOSTS_H
#define KYMO_CONTROL_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "caret/agent/machine.h"

#define HOSTS_MAX	256		/* further ones are not shown */
#define HOSTS_PROCESS_MAX 4096		/* of a host, likewise */
#define HOSTS_NAME_MAX	64		/* bytes with the NUL */
#define HOSTS_KEY	16		/* bytes: the GUID of a participant */
#define HOSTS_MARK	"caret_trace_"	/* in the names of nodes that stand for a process */

struct host_process {
	char name[HOSTS_NAME_MAX];
	int64_t pid;			/* 0: not told */
	unsigned nodes;			/* of ROS, in it */
	enum machine_state state;	/* MACHINE_UNINITIALIZED: it has told nothing */
	bool recorded;			/* it has been in RECORD since the first hosts_asked() */
	bool answered;			/* it told its state since the last hosts_asked() */
	bool gone;
};

struct host {
	uint8_t key[HOSTS_KEY];
	char name[HOSTS_NAME_MAX];
	struct host_process *process;
	unsigned count, room;
	bool listens;			/* subscribes to Start; only then it is a host */
	bool gone;
};

struct hosts {
	struct host host[HOSTS_MAX];
	unsigned count;
	bool asked;
	unsigned changes;		/* grows with whatever was news */
};

/** hosts_init() - nobody is there. */
void hosts_init(struct hosts *hosts);
void hosts_free(struct hosts *hosts);

/* ---- news. Context: they allocate. ---- */

/** hosts_listens() - it subscribes to Start. @name: of its machine; NULL: not known, or not yet. */
void hosts_listens(struct hosts *hosts, const uint8_t key[HOSTS_KEY], const char *name);

/** hosts_gone() - it left, or was not heard of any more. */
void hosts_gone(struct hosts *hosts, const uint8_t key[HOSTS_KEY]);

/** hosts_graph() - its nodes are these, and no others; those without HOSTS_MARK count for nobody. */
void hosts_graph(struct hosts *hosts, const uint8_t key[HOSTS_KEY], const char *const *names, unsigned count);

/** hosts_status() - a Status came. @state: as on the wire; one that is none is passed over. */
void hosts_status(struct hosts *hosts, const uint8_t key[HOSTS_KEY], const char *name, int state, int64_t pid,
		  unsigned nodes);

/** hosts_asked() - a Start or End was sent: answers are counted from now on. */
void hosts_asked(struct hosts *hosts);

/* ---- questions ---- */

struct hosts_tally {
	unsigned hosts, processes;	/* that are there */
	unsigned state[MACHINE_STATES];	/* of those processes; [0]: they have told none */
	unsigned answered, recorded;	/* recorded: those that are gone, too */
};

/** hosts_tally() - of one host, or, NULL, of all. Context: wait-free. */
struct hosts_tally hosts_tally(const struct hosts *hosts, const struct host *host);

/**
 * hosts_state() - a host's state in a word: that of all its processes; "mixed", "idle" (no process), "unknown"
 * (none has told), "gone"
 */
const char *hosts_state(const struct host *host);

#endif
