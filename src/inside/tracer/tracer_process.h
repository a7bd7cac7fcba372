/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traced process's private state, beside the shared region. Private to src/inside/tracer.
 *
 * The state lives in pages that the kernel wipes in a forked child. So the child starts as a
 * process that has not registered yet, and gets a region of its own.
 */
#ifndef KYMO_TRACER_PROCESS_H
#define KYMO_TRACER_PROCESS_H

#include <limits.h>
#include <time.h>

#include "inside/tracer/tracer_lock.h"
#include "inside/tracer/tracer_ring.h"

#define KYMO_THREADS_PER_SLAB	64u
#define KYMO_SLABS_MAX		512u
/* created at registration, ready for the first threads */
#define KYMO_PREFAULT_RINGS	2u
#define KYMO_FIRST_RING_BYTES (128u << 10)      /* their blocks have KYMO_SPARE_BLOCK bytes */
#define KYMO_SECOND_RING_BYTES (64u << 10)
#define KYMO_LATER_RING_BYTES	(32u << 10)
#define KYMO_SPARE_BYTES (640u << 10)       /* of all spare blocks, by default */
#define KYMO_FIRST_KEEPS_BYTES (512u << 10) /* rings that overwrite use no spare blocks */
#define KYMO_SECOND_KEEPS_BYTES (256u << 10)
#define KYMO_BLOCK_NS_MAX 1000000000u           /* ns, of $KYMO_BLOCK */
#define KYMO_RING_BYTES_MIN	(16u << 10)	/* of $KYMO_RING_SIZE */
#define KYMO_RING_BYTES_MAX	(1u << 30)
/* bytes of all rings of a process, by default ... */
#define KYMO_RING_MEMORY	(64ull << 20)
/* mode OVERWRITE: rings of ended threads that no new thread reuses */
#define KYMO_RETIRED_KEPT	16u
/* ... or this many rings of $KYMO_RING_SIZE, if that is more */
#define KYMO_ASKED_RINGS	16u
/* chunks that facts leave free for KYMO_LOG_GONE records and for cleaning */
#define KYMO_LOG_SPARE		2u
#define KYMO_LOG_SIZE_MIN	(256u << 10)	/* smallest $KYMO_LOG_SIZE */
/* the largest, and the default */
#define KYMO_LOG_SIZE		((KYMO_LOG_CHUNKS_MAX - KYMO_LOG_SPARE) * KYMO_LOG_CHUNK)

enum kymo_registration {
	KYMO_UNREGISTERED,
	KYMO_REGISTERING, /* under the lock `registering` */
	KYMO_REGISTERED,
	KYMO_INERT, /* cannot be traced: events cost a load and a branch */
};

/* The memory of a chunk: its address in this process, and its page in the region. */
struct kymo_log_memory {
	uint8_t *at;
	uint32_t page;
};

/* What the registration needs, and a small stack does not have. Used by the thread that registers
 * or ends the process. */
struct kymo_scratch {
	struct kymo_domain domain, again;
	char domain_path[PATH_MAX + 8], new_path[PATH_MAX + 8];
};

struct kymo_process {
	uint32_t registration;		/* enum kymo_registration; release */
	struct kymo_lock registering, growing; /* the region is created; it grows */
	struct kymo_lock declaring;            /* the sites of tracer_sites.c change */
	struct kymo_region *region;
	uint32_t *ring_page;		/* shared directories */
	uint32_t *log_page;
	uint64_t ring_memory;		/* bytes of rings so far */
	uint64_t first_counter, first_ns;	/* clock pair of the registration */
	uint64_t pair_width;		/* ticks that reading this pair lasted */
	/* ns per tick, 32.32, as the last thread measured it; 0: not measured yet */
	uint64_t rate;
	uint64_t dev, ino;		/* of the region's file */
	bool joined;			/* the process has joined the domain ... */
	uint32_t joined_generation, joined_state;	/* ... which then had these */
	bool use_counter;		/* the CPU counter is usable as a clock */
	struct kymo_ring *ring[KYMO_RINGS_MAX];
	struct kymo_count *counts[KYMO_RINGS_MAX]; /* of each ring; NULL: none yet */
	uint8_t *last_block[KYMO_RINGS_MAX]; /* the block of wpos, if the ring's owner has ended */
	uint8_t *spare;                      /* the spare blocks; see tracer_spare.h */
	uint32_t spare_count;
	uint32_t spare_next; /* where the next search for a free one begins */
	uint64_t spare_use[KYMO_SPARES_MAX];
	/* chunk n is at n % KYMO_LOG_CHUNKS_MAX */
	struct kymo_log_memory log_chunk[KYMO_LOG_CHUNKS_MAX];
	/* memory without a chunk; under the growth lock */
	struct kymo_log_memory log_free[KYMO_LOG_CHUNKS_MAX];
	uint32_t log_free_count;
	uint32_t log_lent; /* how many of the KYMO_LOG_SPARE chunks are in use */
	/* number of chunks that have memory, the free ones included */
	uint32_t log_memory;
	struct kymo_lock log_cleaning;
	/* facts that found no room since the last cleaning that freed some */
	uint32_t log_failed;
	/* 1 + log_tail when a cleaning began that freed nothing: the facts up to there hold;
	   0: the last one freed some */
	uint64_t log_futile;
	uint64_t log_blocked; /* 1 + position of the record at which it stopped, because a thread
				 writes it; 0: none */
	/* clean when the bytes between head and tail reach this number */
	uint64_t log_clean_at;
	uint64_t log_copied;		/* position where the copies of the last cleaning end */
	/* the memory of chunks below this number is free or reused */
	uint64_t log_freed;
	struct kymo_thread *slab[KYMO_SLABS_MAX];
	char path[PATH_MAX];		/* of the region's file */
	char directory[PATH_MAX];
	struct kymo_scratch scratch;
};

/*
 * Store a word so that other threads see it before all later stores, also before later stores to
 * bytes that are not atomic. A store with release would order the earlier stores, not the later
 * ones; so a fence follows the store. x86-64 keeps the order of stores, so the fence only stops the
 * compiler; on aarch64 the fence is a dmb, once per block. TSan does not know fences and runs on
 * x86-64: for TSan an exchange replaces store and fence.
 */
#ifdef KYMO_PLAIN_ATOMICS
#define kymo_store_before(word, value) ((void)__atomic_exchange_n(word, value, __ATOMIC_SEQ_CST))

/*
 * A spare block that the consumer has read belongs to the next producer. The consumer orders the
 * two producers' writes: it acquires wpos, and releases rpos. TSan does not see the consumer's
 * part, even in the same process: the consumer maps the rings at other addresses. For TSan the next
 * producer acquires wpos.
 */
#define kymo_after_producer(ring) ((void)__atomic_load_n(&(ring)->wpos, __ATOMIC_ACQUIRE))
#else
#define kymo_after_producer(ring) ((void)(ring))
#define kymo_store_before(word, value)                           \
	do {                                                     \
		__atomic_store_n(word, value, __ATOMIC_RELAXED); \
		__atomic_thread_fence(__ATOMIC_RELEASE);         \
	} while (0)
#endif

/* NULL until the first event. */
extern struct kymo_process *kymo_process;
/** kymo_process_get() - the process's private state, created by the first caller; NULL: out of
 * memory. Context: wait-free; mmap. */
struct kymo_process *kymo_process_get(void);

/* $KYMO_... of this process, read once at load. */
struct kymo_settings {
	bool loaded;			/* the other fields are valid */
	bool disabled;			/* KYMO_DISABLE=1, a setuid program, or another libc */
	/* KYMO_VERBOSE=1: print on stderr why the process is not traced */
	bool verbose;
	uint64_t ring_bytes;		/* KYMO_RING_SIZE; 0: the sizes above */
	uint64_t ring_memory;		/* KYMO_RING_MEMORY */
	uint64_t spare_bytes;           /* KYMO_RING_SPARE */
	uint64_t log_size;		/* KYMO_LOG_SIZE */
	uint64_t block_ns;              /* KYMO_BLOCK: wait so long for room; 0: never */
	/* KYMO_FLIGHT=1: RECORD and OVERWRITE while no recorder runs */
	bool flight;
	uint64_t session_tag;		/* KYMO_SESSION, hex */
	uint32_t ros_domain;		/* ROS_DOMAIN_ID, as the value of kymo_region.ros_domain */
	int clock;			/* KYMO_CLOCK: 0 choose, 1 counter, 2 vDSO */
};
extern struct kymo_settings kymo_settings;

/* tracer_settings.c */

#define KYMO_GIVEN_MAX 1024	/* bytes */

/** kymo_settings_read() - set kymo_settings; @settings: lines "NAME=value" before the environment */
void kymo_settings_read(const char *settings);

/**
 * kymo_setting() - the setting @name, as `kymo attach` gave it, else from the environment; NULL:
 * not set.
 */
const char *kymo_setting(const char *name);

/* tracer_process.c */

/**
 * kymo_thread_slot() - the calling thread's private slot; registers the process and the thread if
 * necessary
 *
 * Context: system calls on a thread's first call only; no signal handler runs meanwhile, and no
 * cancellation. Return: NULL: the process cannot be traced.
 */
struct kymo_thread *kymo_thread_slot(void);

/* tracer_ring.c */

/** kymo_drop() - count a dropped event. @thread: the thread; NULL: it has no ring. Return: false.
 * Context: wait-free, async-signal-safe. */
bool kymo_drop(struct kymo_thread *thread);
/**
 * kymo_drop_hand_over() - add the events that were dropped before the region existed to the
 * region's count.
 */
void kymo_drop_hand_over(struct kymo_process *process);
void kymo_drop_forget(void);		/* in a forked child: the parent reports these events */

/**
 * kymo_thread_with_ring() - the calling thread with a ring; NULL: no ring available, or in a signal
 * handler in a slow path.
 */
struct kymo_thread *kymo_thread_with_ring(void);

/* tracer_owner.c */

/**
 * kymo_ring_get() - find a ring for the calling thread, and enter the thread as its owner
 * Context: the caller is calm (tracer_calm.h) and in_slow is set. Return: 0; -errno: no ring is
 * available.
 */
int kymo_ring_get(struct kymo_thread *thread);

/* tracer_switch.c */

/* The enable bytes of the recorder; before registration, an array in which all bytes are 1. */
extern const uint8_t *kymo_recorder_bytes;

/**
 * kymo_recorder_wants() - enum kymo_enable: whether the recorder wants event @id; the program's own
 * switches do not count.
 */
static inline uint8_t kymo_recorder_wants(unsigned id)
{
	return __atomic_load_n(&__atomic_load_n(&kymo_recorder_bytes, __ATOMIC_RELAXED)[id],
			       __ATOMIC_RELAXED);
}

/**
 * kymo_switch_bytes() - set the recorder's enable bytes; NULL: the process records nothing any
 * more. Context: wait-free.
 */
void kymo_switch_bytes(const uint8_t *bytes);
void kymo_switch_forget(void);	/* in a forked child: forget the parent's enable bytes */
/** kymo_switch_off() - whether the program has switched everything off. Context: wait-free. */
bool kymo_switch_off(void);
/**
 * kymo_switch_is_end() - events of @id end a span: they pass kymo_enabled() also while the program
 * has switched everything off.
 */
void kymo_switch_is_end(unsigned id);
/**
 * kymo_category_set() - remember the switch of the category @name; NULL: of all categories
 * Context: one call at a time. Return: false: too many categories already differ from the others.
 */
bool kymo_category_set(const char *name, bool on);
/** kymo_category_off() - whether the program has switched a category off. Context: wait-free. */
bool kymo_category_off(const char *name);
/**
 * kymo_snapshot_hand_over() - add the snapshots that were requested before the region existed to
 * the region's count.
 */
void kymo_snapshot_hand_over(struct kymo_process *process);
void kymo_snapshot_forget(void);	/* in a forked child: the parent reports these requests */

/* tracer_sites.c */

struct kymo_site;
#define KYMO_IDS_END KYMO_POINT_NO_ID /* ids for sites end before this one */

/** kymo_site_enter() - give @site an id, if it has none. Context: as kymo__register(). */
void kymo_site_enter(struct kymo_site *site);

/**
 * kymo_user_declare_again() - write the earlier declarations of the process to its new region
 * Context: while the process registers, on a thread that has its slot.
 */
void kymo_user_declare_again(void);
/**
 * kymo_user_fork_begin() - before fork(): wait until no other thread changes the list of sites, and
 * lock the list.
 */
void kymo_user_fork_begin(void);
void kymo_user_fork_end(void);		/* in the parent */
void kymo_user_forked(void);		/* in the child */

/* tracer_region.c */

/**
 * kymo_region_create() - create, fill and publish the region of this process
 * Context: on the thread that registers; makes system calls, allocates nothing from the heap.
 * Return: 0; -errno: -EPERM: the directory belongs to another user, or others may open it;
 * -ENOTDIR, -ENAMETOOLONG: it cannot be used; -EFBIG: RLIMIT_FSIZE; another: what could not be
 * created.
 */
int kymo_region_create(struct kymo_process *process);
/** kymo_region_leave() - the process ends: unlink the region if it has nothing to read. Context:
 * makes system calls. */
void kymo_region_leave(struct kymo_process *process);
/**
 * kymo_region_lock() - the growth lock: one thread at a time grows the region
 * Context: the caller is calm (tracer_calm.h); waits for about a second at most. Return: false: the
 * lock stays busy.
 */
bool kymo_region_lock(struct kymo_process *process);
void kymo_region_unlock(struct kymo_process *process);
/** kymo_region_ring_bytes() - bytes of ring @index, of a thread that asks for no size. Context:
 * wait-free. */
uint64_t kymo_region_ring_bytes(unsigned index);
/**
 * kymo_region_add_ring() - append a ring; lock held
 * @wanted: its bytes, a power of two; 0: as usual
 * Context: makes system calls.
 * Return: its index; -ENOSPC: there are KYMO_RINGS_MAX; -ENOMEM: beyond $KYMO_RING_MEMORY; -ESTALE:
 * the path names another file by now; another -errno: the file cannot grow.
 */
int kymo_region_add_ring(struct kymo_process *process, uint64_t wanted);
/** kymo_region_add_counts() - give ring @index a table of counts; lock held. Context: makes system
 * calls. Return: 0; -EEXIST: it has one; another -errno: the file cannot grow. */
int kymo_region_add_counts(struct kymo_process *process, unsigned index);
/**
 * kymo_region_add_log_chunk() - append a chunk to the log; lock held
 * @leave: number of free chunks that must stay free
 * Context: system calls only if the file has to grow.
 * Return: 0; -ENOSPC: the log has its size; another -errno: the file cannot grow.
 */
int kymo_region_add_log_chunk(struct kymo_process *process, unsigned leave);
/**
 * kymo_region_free_log_chunk() - log_head has passed chunk @number: the chunk's memory is free for
 * reuse. Lock held.
 */
void kymo_region_free_log_chunk(struct kymo_process *process, uint64_t number);

/* tracer_domain.c */

/* All three make system calls, and allocate nothing from the heap. */
/** kymo_domain_join() - set the state of the process to that of the runtime directory's domain. */
void kymo_domain_join(struct kymo_process *process);
/** kymo_domain_recording() - whether a live recorder holds the domain. */
bool kymo_domain_recording(struct kymo_process *process);
/**
 * kymo_domain_sweep() - remove the files of dead processes that no recorder needs
 * @all: also complete regions that contain nothing unread; else only regions that were never
 *   complete
 */
void kymo_domain_sweep(const struct kymo_process *process, bool all);

/* tracer_vdso.c */

/**
 * kymo_gettime_find() - from now on, kymo_gettime() is the kernel's function. Context: once, before
 * threads exist.
 */
void kymo_gettime_find(void);

/**
 * kymo_gettime() - clock_gettime(2), also where a library of the program defines another one.
 * Context: wait-free.
 */
int kymo_gettime(clockid_t clock, struct timespec *now);

/* tracer_clock.c */

bool kymo_clock_counter_usable(void);
uint64_t kymo_clock_ns(void);
void kymo_clock_first_pair(struct kymo_process *process);
void kymo_clock_start_thread(struct kymo_thread *thread);
/**
 * kymo_clock_renew() - renew the anchor of the thread's clock, if it has expired. Return: false: in
 * another slow path.
 */
bool kymo_clock_renew(struct kymo_thread *thread);
/**
 * kymo_clock_read() - the thread's time, in nanoseconds; works also in a signal handler in a slow
 * path.
 */
uint64_t kymo_clock_read(struct kymo_thread *thread);

/* tracer_identity.c: system calls, no allocation */

/** kymo_start_time() - field 22 of /proc/<pid>/stat, 0 when it cannot be read. */
uint64_t kymo_start_time(const char *pid);
/** kymo_own_start_time() - start time of this process, as other processes see it. */
uint64_t kymo_own_start_time(void);
/** kymo_own_pid_ns() - inode of the process's pid namespace, 0 when it cannot be read. */
uint64_t kymo_own_pid_ns(void);
/** kymo_own_time_ns() - inode of the process's time namespace, 0 when it cannot be read. */
uint64_t kymo_own_time_ns(void);
void kymo_region_identify(struct kymo_region *region);

/** kymo_say() - with KYMO_VERBOSE=1, print a line on stderr. */
__attribute__((format(printf, 1, 2)))
void kymo_say(const char *format, ...);

#endif
