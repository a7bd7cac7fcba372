/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorder wrote beside a trace (kymo.json): how it ended, and where every event went. */
#ifndef KYMO_CLI_INFO_ACCOUNTS_H
#define KYMO_CLI_INFO_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct account_thread {
	int32_t vpid, vtid;
	char name[32];
	uint64_t recorded, dropped;
};

struct account_process {
	int32_t vpid;
	char name[32];
	char state[32];			/* how it ended: "exited", "killed", ... */
	char tracetools[32];
	uint64_t recorded, dropped, unwritten, corrupt_bytes;
};

/* Readings at one instant; 0: not there. */
struct account_clock {
	int64_t monotonic_ns, realtime_ns, boottime_ns;
	int64_t counter;		/* the CPU's, ticks */
};

/* Why a snapshot of the flight recorder was taken. */
struct account_snapshot {
	bool present;
	char text[1024];		/* a sentence for people, "" without */
	char cause[16];			/* "trigger", "request", "signal", "program", "memory" */
	char trigger[512], what[256];	/* what fired, and on what; "" for other causes */
	int64_t at_ns;			/* since the trace's start */
	uint64_t value;			/* ns that it took or was late, events lost; 0: nothing of that */
	uint64_t suppressed;		/* triggers that fired while it waited or was written */
};

struct accounts {
	bool present;			/* kymo.json was there and could be read */
	bool ended;			/* the recorder ended in order */
	char version[32];		/* of kymo */
	uint64_t recorded, dropped, unwritten;	/* if it ended; else the files alone tell */
	uint64_t corrupt_bytes;
	uint64_t overwritten, outside;	/* of a snapshot: gone before it was taken; before its window */
	uint64_t pauses;		/* kymo pause, --paused; ... */
	int64_t paused_ns;		/* ... and how long in all */
	uint64_t chunks_removed, events_removed, bytes_removed;	/* to keep a limit on the whole */
	uint64_t removed, removed_events;	/* how often somebody removed the directory, and what was in it */
	struct account_snapshot snapshot;
	char *rules;			/* what was recorded, for people; NULL: everything */
	char kernel_source[24];		/* where the kernel's events came from; "": there are none */
	uint64_t kernel_recorded, kernel_lost, kernel_left_out;
	uint64_t filtered;		/* events that the recorder left out by them */
	struct account_process *process;	/* with those of the list beside kymo.json */
	unsigned process_count;
	struct account_thread *thread;
	unsigned thread_count;
	struct account_clock *clock;	/* through the recording, in order */
	unsigned clock_count;
	uint64_t slept, slept_ns;	/* how often and how long the machine slept */
	uint64_t clock_set;		/* how often the wall clock was set ... */
	int64_t clock_set_ns;		/* ... and by how much in all */
};

/**
 * accounts_read() - read @directory/kymo.json; what is missing there is 0
 * @problem: says in a sentence why the file cannot be used, else ""
 *
 * A missing file is no problem: traces of other tracers have none.
 * Context: allocates, blocks.
 */
void accounts_read(struct accounts *accounts, const char *directory, char problem[512]);
void accounts_free(struct accounts *accounts);

#endif
