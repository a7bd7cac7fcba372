/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Perfetto traces: tracks, slices, instants, flows and arguments, as protobuf bytes of our
 * own.
 *
 *   pft_open(&pft, fd, level, &err);
 *   pft_clocks(pft, &clocks);
 *   process = pft_process(pft, 0, pid, "planner");
 *   thread = pft_thread(pft, process, pid, tid, "executor");
 *   pft_slice(thread, start_ns, end_ns, &(struct pft_event){ .name = pft_string(pft, "tick") });
 *   pft_close(pft, &err);
 *
 * One packet sequence per track. The packet that starts a sequence sets a delta clock and the
 * default track, so that an event is some 12 bytes: a time delta, the sequence, its type and a name
 * that was sent before:
 *
 *   0A 0A  40 64  50 02  5A 04 48 01 50 02
 *   packet delta  seq.   event begin name
 *
 * Packets are collected into blocks. A block is written only when it is complete, and deflated
 * unless level is 0. So a file that is cut anywhere keeps all blocks before the cut. Descriptions
 * are repeated now and then, so that a file without its beginning opens, too: pft_restart(). Memory
 * is one block (with threads: three for each CPU), the strings, and what each track has sent of
 * them: it does not grow with the number of events.
 *
 * Times are nanoseconds of the trace clock (CLOCK_MONOTONIC). Within a track they may go back.
 *
 * Failures (disk full, out of memory) are remembered: later calls do nothing, and pft_close()
 * returns the error. pft_failed() lets a long loop stop early. Functions that take a track accept
 * NULL, which is what creating a track returns when out of memory.
 *
 * Context of all functions: not thread-safe; allocate as strings and tracks appear; block in
 * write(2) when a block is full.
 */
#ifndef KYMO_EXPORT_PFT_H
#define KYMO_EXPORT_PFT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct pft;
struct pft_track;

#define PFT_LEVEL_NONE 0
#define PFT_LEVEL_DEFAULT 6

/**
 * pft_open() - begin a trace on @fd
 * @fd: stays the caller's; written from its present position
 * @level: PFT_LEVEL_NONE, or a zlib level 1..9
 *
 * Return: 0, or -1 with @err filled (out of memory).
 */
int pft_open(struct pft **pft, int fd, int level, struct kymo_err *err);

/**
 * pft_open_chrome() - the same in Chrome's JSON, which can express less
 *
 * Clocks are left out, facts are at the end, flows begin and end at whole events only.
 */
int pft_open_chrome(struct pft **pft, int fd, struct kymo_err *err);

/** pft_failed() - has something failed? pft_close() returns what. Context: wait-free. */
bool pft_failed(const struct pft *pft);

/** pft_threads() - let threads deflate blocks, one for each CPU, if the file becomes large. The
 * bytes are the same. */
void pft_threads(struct pft *pft);

/** pft_flush() - write the collected packets as a block. */
void pft_flush(struct pft *pft);

/**
 * pft_restart() - begin a place from which the file can be read without what is before
 *
 * The writer also does this every now and then. Readers that begin elsewhere in a deflated file
 * leave out events up to the next such place; a file that is not deflated must be read from such a
 * place. No effect on Chrome's JSON.
 */
void pft_restart(struct pft *pft);

/** pft_part_bytes() - bytes written of the present part of the trace. Context: waits for threads.
 */
uint64_t pft_part_bytes(struct pft *pft);

/**
 * pft_part() - go on in another file, which opens without the files before
 * @fd: of the file; stays the caller's, as the one before does
 * @ns: open slices are cut there
 *
 * Facts are not repeated. Parts put one after the other are one trace. Not for Chrome's JSON.
 */
void pft_part(struct pft *pft, int fd, int64_t ns);

/**
 * pft_close() - write the rest and free everything
 * @err: may be NULL
 *
 * Return: 0, or -1 with @err filled: what failed first.
 */
int pft_close(struct pft *pft, struct kymo_err *err);

/* What was written so far. */
struct pft_totals {
	uint64_t packets, slices, instants, counters;
	uint64_t orphan_ends;	/* pft_end() without pft_begin(): not written */
	uint64_t bytes;		/* in the file */
};
void pft_totals(const struct pft *pft, struct pft_totals *totals);

/* ---- facts about the whole trace ---- */

/** pft_identity() - a random number that is the trace's own. */
uint64_t pft_identity(const struct pft *pft);

/* Readings of several clocks at one instant; 0: not known. */
struct pft_clocks {
	int64_t monotonic_ns, realtime_ns, boottime_ns;
};

/** pft_clocks() - a clock snapshot; the first also declares MONOTONIC the clock of the trace. */
void pft_clocks(struct pft *pft, const struct pft_clocks *clocks);

/** pft_fact_text(), pft_fact_u64() - a trace attribute. */
void pft_fact_text(struct pft *pft, const char *key, const char *value);
void pft_fact_u64(struct pft *pft, const char *key, uint64_t value);

/* ---- strings ---- */

/**
 * pft_string() - the number of @text, from 1; 0 for NULL, "" and when out of memory
 *
 * Equal texts have one number. Bytes that are not UTF-8 become '?'; at most PFT_TEXT_MAX bytes are
 * kept.
 */
uint32_t pft_string(struct pft *pft, const char *text);
#define PFT_TEXT_MAX 4096

/* ---- tracks ---- */

/** pft_process() - the track of process @pid on machine @machine (0: where the trace was
 * recorded). */
struct pft_track *pft_process(struct pft *pft, uint32_t machine, int32_t pid, const char *name);

/** pft_process_name() - describe a process again, with a better name. */
void pft_process_name(struct pft_track *process, const char *name);

/** pft_thread() - a thread of @process. */
struct pft_track *pft_thread(struct pft *pft, struct pft_track *process, int32_t tid,
			     const char *name);

/**
 * pft_track() - a track of its own, shown by @name below @parent (NULL: at the top)
 *
 * Siblings are shown in the order of their names; tracks with equal names stay separate.
 */
struct pft_track *pft_track(struct pft *pft, struct pft_track *parent, const char *name);

enum pft_unit { PFT_UNIT_NONE, PFT_UNIT_NS, PFT_UNIT_COUNT, PFT_UNIT_BYTES };

/* How a track is shown. */
struct pft_look {
	const char *name;
	bool ranked;               /* its children are shown by their ranks, not by their names */
	int32_t rank;              /* its place among siblings below a ranked parent */
	bool has_lanes;            /* slices that overlap on it may get further rows */
	struct pft_track *lane_of; /* it is a further row of that track; NULL: it is not */
	uint32_t machine;      /* of a track at the top; others belong to that of their parent */
	bool counter;          /* it has values, and no slices */
	enum pft_unit unit;    /* of the values */
	const char *unit_name; /* of others, with a static text; NULL: none */
};

/** pft_track_like() - a track of its own that looks like @look. */
struct pft_track *pft_track_like(struct pft *pft, struct pft_track *parent,
				 const struct pft_look *look);

/** pft_thread_name() - describe a thread again, with its new name. */
void pft_thread_name(struct pft_track *thread, const char *name);

/* ---- events ---- */

enum pft_arg_kind { PFT_BOOL, PFT_INT, PFT_UINT, PFT_DOUBLE, PFT_POINTER, PFT_TEXT };

struct pft_arg {
	uint32_t name;			/* pft_string() */
	enum pft_arg_kind kind;
	union {
		uint64_t u;		/* PFT_BOOL, PFT_UINT, PFT_POINTER */
		int64_t i;
		double f;
		uint32_t text;		/* pft_string(); 0: the argument is left out */
	};
};

/* What the flows of an event do, for formats that need it: see pft_event.flow. */
enum pft_role {
	PFT_FLOW_UNKNOWN,	/* begin, or pass */
	PFT_FLOW_BEGINS,
	PFT_FLOW_PASSES,
	PFT_FLOW_OF_PARTS,	/* they belong to other events within this one */
};

struct pft_event {
	uint32_t name, category;	/* pft_string(); 0: none */
	uint64_t correlation;		/* events of one number are shown in one colour; 0: none */
	const struct pft_arg *arg;
	unsigned args;
	const uint64_t *flow;		/* flows that begin or pass here */
	unsigned flows;
	enum pft_role role;
	const uint64_t *end_flow;	/* flows that end here */
	unsigned end_flows;
};

/** pft_begin() - a slice begins; slices of a track nest. */
void pft_begin(struct pft_track *track, int64_t ns, const struct pft_event *event);

/** pft_end() - the innermost open slice ends. Without an open slice, the call is only counted. */
void pft_end(struct pft_track *track, int64_t ns);

/** pft_end_with() - the same, and add the flows and arguments of @event to the slice. */
void pft_end_with(struct pft_track *track, int64_t ns, const struct pft_event *event);

/** pft_slice() - a complete slice; independent of slices that pft_begin() opened. */
void pft_slice(struct pft_track *track, int64_t begin_ns, int64_t end_ns,
	       const struct pft_event *event);

/** pft_instant() - an event without a duration. */
void pft_instant(struct pft_track *track, int64_t ns, const struct pft_event *event);

/** pft_counter_i64(), pft_counter_f64() - the value from @ns on, of a track with look.counter. */
void pft_counter_i64(struct pft_track *track, int64_t ns, int64_t value);
void pft_counter_f64(struct pft_track *track, int64_t ns, double value);

/* ---- the kernel's events, by CPU ---- */

#define PFT_COMM 16			/* bytes of a thread's name, with its NUL */

struct pft_switch {
	int64_t ns;
	int32_t prev_tid, next_tid, prev_prio, next_prio; /* as the kernel has them; tid 0: idle */
	int64_t prev_state;
	char prev_name[PFT_COMM], next_name[PFT_COMM];		/* UTF-8 */
};

struct pft_cpu;

/**
 * pft_kernel() - the kernel of @machine: the meaning of its threads' states depends on it
 * @release: "6.1.0"
 * @architecture: "x86_64", of the numbers of system calls for pft_cpu_syscall(); NULL: there are
 * none
 */
void pft_kernel(struct pft *pft, uint32_t machine, const char *release, const char *architecture);

/** pft_cpu() - CPU @number of @machine; @ns: of some event on it. Return: NULL: out of memory. Not
 * for Chrome's JSON. */
struct pft_cpu *pft_cpu(struct pft *pft, uint32_t machine, uint32_t number, int64_t ns);

/*
 * Each is an event on @cpu, which may be NULL. If a switch leaves another thread than the switch
 * before entered, switches are missing, and the CPU is shown idle from the switch before on.
 */
void pft_cpu_switch(struct pft_cpu *cpu, const struct pft_switch *change);
void pft_cpu_waking(struct pft_cpu *cpu, int64_t ns, int32_t tid, const char *name, int32_t prio,
		    int32_t target);
void pft_cpu_irq_entry(struct pft_cpu *cpu, int64_t ns, int32_t irq, const char *name);
void pft_cpu_irq_exit(struct pft_cpu *cpu, int64_t ns, int32_t irq, int32_t ret);
void pft_cpu_softirq(struct pft_cpu *cpu, int64_t ns, bool is_entry, uint32_t vec);

/** pft_cpu_syscall() - thread @tid calls the kernel, or returns from it; readers show "sys_read".
 * @ret: of a return. */
void pft_cpu_syscall(struct pft_cpu *cpu, int64_t ns, int32_t tid, bool is_entry, uint32_t number,
		     int64_t ret);

/** pft_cpu_loss() - events are missing here. */
void pft_cpu_loss(struct pft_cpu *cpu);

/** pft_cpu_close() - write the rest, and free it; before pft_close(). */
void pft_cpu_close(struct pft_cpu *cpu);

/**
 * pft_loss() - events of this track are missing
 * @begin_ns, @end_ns: between these times
 * @lost, @lost_packets: how many; 0: not known
 *
 * Open slices are closed at @begin_ns, the sequence is restarted with the mark that data is
 * missing, and an instant "TRACE DATA LOST" at @end_ns has the counts as arguments.
 */
void pft_loss(struct pft_track *track, int64_t begin_ns, int64_t end_ns, uint64_t lost,
	      uint64_t lost_packets);

#endif
