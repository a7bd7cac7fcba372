/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the traced process keeps for itself about its region. Private to src/tracer.
 *
 * Everything mutable is in pages that a forked child finds wiped: the child is then a process
 * that has not registered yet.
 */
#ifndef KYMO_TRACER_PROCESS_H
#define KYMO_TRACER_PROCESS_H

#include <limits.h>

#include "inside/tracer/tracer_ring.h"

#define KYMO_THREADS_PER_SLAB	64u
#define KYMO_SLABS_MAX		512u
#define KYMO_PREFAULT_RINGS	2u		/* created at registration, ready for the first threads */
#define KYMO_FIRST_RING_BYTES	(512u << 10)
#define KYMO_SECOND_RING_BYTES	(256u << 10)
#define KYMO_LATER_RING_BYTES	(32u << 10)
#define KYMO_RING_BYTES_MIN	(16u << 10)	/* of $KYMO_RING_SIZE */
#define KYMO_RING_BYTES_MAX	(1u << 30)
#define KYMO_RING_MEMORY	(64ull << 20)	/* rings of one process in all, by default ... */
#define KYMO_RETIRED_KEPT	16u		/* overwriting: rings of ended threads that stay as they are */
#define KYMO_ASKED_RINGS	16u		/* ... or so many of $KYMO_RING_SIZE, if that is more */
#define KYMO_LOG_SPARE		2u		/* chunks that facts leave for telling what is gone, and for cleaning */
#define KYMO_LOG_SIZE_MIN	(256u << 10)	/* of $KYMO_LOG_SIZE ... */
#define KYMO_LOG_SIZE		((KYMO_LOG_CHUNKS_MAX - KYMO_LOG_SPARE) * KYMO_LOG_CHUNK)	/* ... and by default */
#define KYMO_LOG_STRING_MAX	8192u		/* a string in an init event: longer ones are cut */

enum kymo_registration {
	KYMO_UNREGISTERED,
	KYMO_REGISTERING,
	KYMO_REGISTERED,
	KYMO_INERT,		/* cannot be traced: events cost a load and a branch */
};

/* A chunk's bytes, and where they are in the region. */
struct kymo_log_memory {
	uint8_t *at;
	uint32_t page;
};

struct kymo_process {
	uint32_t registration;		/* enum kymo_registration; release */
	uint32_t growing;		/* lock of region growth: 0 or 1 */
	struct kymo_region *region;
	uint32_t *ring_page;		/* shared directories */
	uint32_t *log_page;
	uint64_t ring_memory;		/* bytes of rings so far */
	uint64_t first_counter, first_ns;	/* clock pair of the registration */
	uint64_t pair_width;		/* ticks it took to read */
	uint64_t rate;			/* ns per tick, 32.32, as a thread found it last; 0: none has yet */
	uint64_t dev, ino;		/* of the region's file */
	bool joined;			/* it has taken the state of the domain, which had ... */
	uint32_t joined_generation, joined_state;
	bool use_counter;		/* the CPU counter is usable as a clock */
	struct kymo_ring *ring[KYMO_RINGS_MAX];
	struct kymo_log_memory log_chunk[KYMO_LOG_CHUNKS_MAX];	/* by number modulo their number */
	struct kymo_log_memory log_free[KYMO_LOG_CHUNKS_MAX];	/* of chunks that are gone; growth lock */
	uint32_t log_free_count;
	uint32_t log_memory;		/* chunks that there is memory for */
	uint32_t log_cleaning;		/* one thread cleans: 0 or 1 */
	uint32_t log_failed;		/* facts that found no room since the last cleaning that freed some */
	uint64_t log_clean_at;		/* bytes between head and tail from which on to clean */
	uint64_t log_copied;		/* copies of the last cleaning end here */
	uint64_t log_freed;		/* chunks below this number have another use */
	struct kymo_thread *slab[KYMO_SLABS_MAX];
	char path[PATH_MAX];		/* of the region's file */
	char directory[PATH_MAX];
};

/* NULL until the first event. */
extern struct kymo_process *kymo_process;

/* $KYMO_... of this process, read once at load. */
struct kymo_settings {
	bool loaded;			/* what follows has been read */
	bool disabled;			/* KYMO_DISABLE=1, or a setuid program */
	bool verbose;			/* KYMO_VERBOSE=1: say on stderr why a process is not traced */
	uint64_t ring_bytes;		/* KYMO_RING_SIZE, 0: sizes as above */
	uint64_t ring_memory;		/* KYMO_RING_MEMORY */
	uint64_t log_size;		/* KYMO_LOG_SIZE */
	bool flight;			/* KYMO_FLIGHT=1: RECORD and OVERWRITE while there is no recorder */
	uint64_t session_tag;		/* KYMO_SESSION, hex */
	uint32_t ros_domain;		/* ROS_DOMAIN_ID, as kymo_region has it */
	int clock;			/* KYMO_CLOCK: 0 choose, 1 counter, 2 vDSO */
};
extern struct kymo_settings kymo_settings;

/* process.c */

/**
 * kymo_thread_slot() - the calling thread's private slot, registering process and thread on need
 *
 * Context: allocates (mmap) on a thread's first call only; not reentrant: a handler that lands
 * inside gets NULL.
 * Return: NULL when the process cannot be traced.
 */
struct kymo_thread *kymo_thread_slot(void);

/* ring.c */

/** kymo_drop() - count an event that found no place. @thread: NULL: without a ring. Return: false. */
bool kymo_drop(struct kymo_thread *thread);
/** kymo_drop_hand_over() - add events that were dropped before the region existed to its counts. */
void kymo_drop_hand_over(struct kymo_process *process);
void kymo_drop_forget(void);		/* in a forked child: the parent reports them */

/** kymo_thread_with_ring() - the calling thread with a ring; NULL: there is none to be had, or a handler in a slow path. */
struct kymo_thread *kymo_thread_with_ring(void);

/* switch.c */

/* The bytes that the recorder writes; all ones before registration. */
extern const uint8_t *kymo_recorder_bytes;

/** kymo_recorder_wants() - as kymo_enabled(), whatever the program has switched off. */
static inline bool kymo_recorder_wants(unsigned id)
{
	return __atomic_load_n(&__atomic_load_n(&kymo_recorder_bytes, __ATOMIC_RELAXED)[id], __ATOMIC_RELAXED);
}

/** kymo_switch_bytes() - where the recorder's bytes are; NULL: nothing is recorded any more. Context: wait-free. */
void kymo_switch_bytes(const uint8_t *bytes);
void kymo_switch_forget(void);	/* in a forked child: its parent's are not its own */
/** kymo_switch_off() - whether the program has switched everything off. Context: wait-free. */
bool kymo_switch_off(void);
/** kymo_switch_is_end() - events of @id end a span: they are looked at also while switched off. */
void kymo_switch_is_end(unsigned id);
/**
 * kymo_category_set() - remember a category's switch; @name NULL: of all
 * Context: one at a time. Return: false: too many categories differ from the others already.
 */
bool kymo_category_set(const char *name, bool on);
/** kymo_category_off() - whether the program has switched a category off. Context: wait-free. */
bool kymo_category_off(const char *name);
/** kymo_snapshot_hand_over() - add snapshots that were requested before the region existed to its count. */
void kymo_snapshot_hand_over(struct kymo_process *process);
void kymo_snapshot_forget(void);	/* in a forked child: the parent reports them */

/* user.c */

/**
 * kymo_user_declare_again() - declare in a new region what the process had declared before
 * Context: while the process registers, on a thread that has its slot.
 */
void kymo_user_declare_again(void);
/** kymo_user_fork_begin() - around fork(): no other thread is in the middle of a change then. */
void kymo_user_fork_begin(void);
void kymo_user_fork_end(void);		/* in the parent */
void kymo_user_forked(void);		/* in the child */

/* region.c */

/** kymo_region_create() - make, fill and publish the region of this process. Return: 0 or -errno. */
int kymo_region_create(struct kymo_process *process);
/** kymo_region_leave() - the process ends: unlink the region if nothing in it is worth reading. */
void kymo_region_leave(struct kymo_process *process);
/** kymo_region_lock() - one grower at a time. Return: false if it stays busy. */
bool kymo_region_lock(struct kymo_process *process);
void kymo_region_unlock(struct kymo_process *process);
/** kymo_region_add_ring() - append a ring; lock held. Return: its index or -errno. */
int kymo_region_add_ring(struct kymo_process *process);
/**
 * kymo_region_add_log_chunk() - append a chunk to the log; lock held
 * @leave: so many that are free stay so
 * Return: 0 or -errno.
 */
int kymo_region_add_log_chunk(struct kymo_process *process, unsigned leave);
/** kymo_region_free_log_chunk() - log_head has passed chunk @number: its memory may be reused. Lock held. */
void kymo_region_free_log_chunk(struct kymo_process *process, uint64_t number);

/* domain.c */

/** kymo_domain_join() - take the state that the runtime directory's domain asks for. */
void kymo_domain_join(struct kymo_process *process);
/** kymo_domain_recording() - whether a live recorder holds the domain. */
bool kymo_domain_recording(const struct kymo_process *process);
/**
 * kymo_domain_sweep() - remove files of dead processes that no recorder needs
 * @all: also regions that hold nothing unread; else only those that were never complete
 */
void kymo_domain_sweep(const struct kymo_process *process, bool all);

/* clock.c */

bool kymo_clock_counter_usable(void);
uint64_t kymo_clock_ns(void);
void kymo_clock_first_pair(struct kymo_process *process);
void kymo_clock_start_thread(struct kymo_thread *thread);
/** kymo_clock_renew() - anchor the thread's clock anew. Return: false inside another slow path. */
bool kymo_clock_renew(struct kymo_thread *thread);
/** kymo_clock_read() - the thread's time, also inside another slow path. */
uint64_t kymo_clock_read(struct kymo_thread *thread);

/* identity.c */

/** kymo_start_time() - field 22 of /proc/<pid>/stat, 0 when it cannot be read. */
uint64_t kymo_start_time(const char *pid);
/** kymo_own_start_time() - of this process, as others see it. */
uint64_t kymo_own_start_time(void);
/** kymo_own_pid_ns() - inode of our pid namespace, 0 when it cannot be read. */
uint64_t kymo_own_pid_ns(void);
void kymo_region_identify(struct kymo_region *region);

/** kymo_say() - a line on stderr under KYMO_VERBOSE=1. */
__attribute__((format(printf, 1, 2)))
void kymo_say(const char *format, ...);

#endif
