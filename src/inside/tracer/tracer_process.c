/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registration of the process and its threads. Apart from the growth of the region, the tracer
 * allocates memory only here.
 *
 * A process registers with its first event: it creates its region and reads the domain's state. A
 * program without events gets no region. Each thread gets a private slot (struct kymo_thread) with
 * its own first event, and gives the slot back when it ends.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "inside/tracer/tracer_calm.h"
#include "inside/tracer/tracer_initlog.h"
#include "inside/tracer/tracer_libc.h"
#include "inside/tracer/tracer_process.h"

#define ROUND_UP(n, to) (((n) + (to) - 1) / (to) * (to))

static struct kymo_thread no_thread;	/* all zero: no ring and no room */

__thread struct kymo_thread *kymo__thread = &no_thread;
struct kymo_process *kymo_process;

static __thread unsigned registering;	/* this thread is inside kymo_thread_slot() */
static pthread_key_t thread_end_key;
static bool thread_end_key_made;

void kymo_say(const char *format, ...)
{
	static const char prefix[] = "kymo: ";
	char text[512];
	va_list args;
	int length;

	if (!kymo_settings.verbose)
		return;
	memcpy(text, prefix, sizeof prefix);
	va_start(args, format);
	(void)vsnprintf(text + strlen(prefix), sizeof text - sizeof prefix, format, args);
	va_end(args);
	length = (int)strlen(text);
	text[length] = '\n';
	(void)!write(STDERR_FILENO, text,
		     (size_t)length +
			     1); /* not stdio: in a signal handler its locks may be taken */
}

static void thread_end(void *slot);

/*
 * The kernel wipes the private pages in a forked child, whichever call created the child. Emulators
 * may not wipe them: then this function ensures that a child of fork() does not write to its
 * parent's rings.
 */
static void forked(void)
{
	kymo_process = NULL;
	kymo__thread = &no_thread;
	kymo_snapshot_forget();
	kymo_drop_forget();
	kymo_user_forked();
	kymo_switch_forget();
}

/*
 * The priority 101 lets this run before the constructors of a program's static objects, also if the
 * program links libkymo.a.
 */
__attribute__((constructor(101)))
static void load(void)
{
	kymo_settings_read("");
	if (kymo_settings.disabled) {
		kymo_switch_bytes(NULL);
		return;
	}
	thread_end_key_made = !pthread_key_create(&thread_end_key, thread_end);
	/* Out of memory is harmless here: the kernel wipes the private pages in a child anyway. */
	kymo_at_fork(kymo_user_fork_begin, kymo_user_fork_end, forked);
}

void kymo__guest_begins(uint32_t layout)
{
	if (layout == KYMO_INLINE_LAYOUT)
		return;
	kymo_settings.disabled = true;
	kymo_switch_bytes(NULL);
	kymo_say("this process is not traced: its libkymo.so is of another version than the library that is preloaded");
}

__attribute__((destructor))
static void unload(void)
{
	struct kymo_process *process = kymo_process;
	struct kymo_calm calm;

	if (!process || process->registration != KYMO_REGISTERED)
		return;
	kymo_calm_begin(&calm);
	/*
	 * Other threads, and destructors of other libraries, still run and may emit events: so the
	 * region stays mapped.
	 */
	kymo_region_leave(process);
	kymo_calm_end(&calm);
}

/* Allocate zeroed pages. In a forked child, the kernel zeroes them again. */
static void *private_pages(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	if (madvise(at, bytes, MADV_WIPEONFORK)) {
		/* Linux < 4.14: a child would write to its parent's rings */
		(void)munmap(at, bytes);
		return NULL;
	}
	return at;
}

bool kymo__is_registered(void)
{
	const struct kymo_process *process = kymo_process;

	return process &&
	       __atomic_load_n(&process->registration, __ATOMIC_ACQUIRE) == KYMO_REGISTERED;
}

/* A registered process keeps what it has. */
bool kymo__set_settings(const char *settings)
{
	if (!kymo__is_registered())
		kymo_settings_read(settings);
	return !kymo_settings.disabled;
}

static void make_inert(struct kymo_process *process)
{
	kymo_switch_bytes(NULL);
	__atomic_store_n(&process->registration, KYMO_INERT, __ATOMIC_RELEASE);
}

struct kymo_process *kymo_process_get(void)
{
	struct kymo_process *process = __atomic_load_n(&kymo_process, __ATOMIC_ACQUIRE),
			    *none = NULL;

	if (process)
		return process;
	process = private_pages(ROUND_UP(sizeof *process, KYMO_PAGE));
	if (!process)
		return NULL;
	if (!__atomic_compare_exchange_n(&kymo_process, &none, process, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		(void)munmap(process, ROUND_UP(sizeof *process, KYMO_PAGE));
		process = none;
	}
	return process;
}

static struct kymo_thread *take_slot(struct kymo_process *process)
{
	for (unsigned s = 0; s < KYMO_SLABS_MAX; s++) {
		struct kymo_thread *slab = __atomic_load_n(&process->slab[s], __ATOMIC_ACQUIRE),
				   *none = NULL;

		if (!slab) {
			const size_t bytes = KYMO_THREADS_PER_SLAB * sizeof *slab;

			slab = private_pages(bytes);
			if (!slab)
				return NULL;
			if (!__atomic_compare_exchange_n(&process->slab[s], &none, slab, false,
							 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
				(void)munmap(slab, bytes);
				slab = none;
			}
		}
		for (unsigned i = 0; i < KYMO_THREADS_PER_SLAB; i++) {
			uint32_t was = 0;

			if (__atomic_compare_exchange_n(&slab[i].used, &was, 1, false,
							__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
				return &slab[i];
		}
	}
	return NULL;
}

/*
 * The address of the word in which the kernel stores the calling thread's CPU: in the thread's rseq
 * area, which glibc registers from 2.35 on. Reading the word is one load; the vDSO's getcpu() also
 * reads pages that nothing else uses.
 */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static const int32_t *cpu_word(void)
{
	const char *self;

	if (!&__rseq_offset || !&__rseq_size || !__rseq_size)
		return NULL;
#if defined(__x86_64__)
	__asm__("mov %%fs:0, %0" : "=r"(self));
#elif defined(__aarch64__)
	__asm__("mrs %0, tpidr_el0" : "=r"(self));
#else
	return NULL;
#endif
	return (const int32_t *)(self + __rseq_offset + 4);	/* struct rseq: cpu_id */
}

/* Give @slot to the calling thread. */
static void enter(struct kymo_thread *slot)
{
	slot->tid = kymo_own_tid();
	(void)prctl(PR_GET_NAME, slot->name);
	slot->cpu = cpu_word();
	kymo_clock_start_thread(slot);
	kymo_signal_fence();
	kymo__thread = slot;
	if (thread_end_key_made)
		(void)pthread_setspecific(thread_end_key, slot);
}

/*
 * Meanwhile, all other threads that emit events wait. A forked child declares its parent's
 * tracepoints again before these threads continue: otherwise the enable bytes of the tracepoints
 * would still be 0, and the threads' events would be lost.
 */
static void register_process(struct kymo_process *process)
{
	struct kymo_thread *slot = take_slot(process);
	int error;

	kymo_clock_first_pair(process);
	error = slot ? kymo_region_create(process) : -ENOMEM;
	if (error) {
		kymo_say("this process is not traced: %s: %s", process->directory[0]
			 ? process->directory : "no runtime directory", strerror(-error));
		make_inert(process);
		return;
	}
	enter(slot);
	kymo_user_declare_again();
	kymo_switch_bytes((const uint8_t *)process->region + KYMO_ENABLE_PAGE * KYMO_PAGE);
	__atomic_store_n(&process->registration, KYMO_REGISTERED, __ATOMIC_SEQ_CST);
	kymo_snapshot_hand_over(process);
	kymo_drop_hand_over(process);
}

static bool process_ready(struct kymo_process *process)
{
	uint32_t *now = &process->registration;

	if (__atomic_load_n(now, __ATOMIC_ACQUIRE) < KYMO_REGISTERED &&
	    kymo_lock_take(&process->registering, kymo_own_tid(), KYMO_LOCK_FOREVER)) {
		if (*now == KYMO_UNREGISTERED) {
			__atomic_store_n(now, KYMO_REGISTERING, __ATOMIC_RELEASE);
			register_process(process);
		} else if (*now == KYMO_REGISTERING) {
			kymo_say("this process is not traced: its first event was killed");
			make_inert(process);
		}
		kymo_lock_release(&process->registering);
	}
	return __atomic_load_n(now, __ATOMIC_ACQUIRE) == KYMO_REGISTERED;
}

static struct kymo_thread *register_thread(void)
{
	struct kymo_process *process = kymo_process_get();
	struct kymo_thread *slot;

	if (!process || !process_ready(process))
		return NULL;
	slot = kymo__thread;
	if (__atomic_load_n(&slot->used, __ATOMIC_RELAXED))
		return slot;		/* this thread registered the process */
	slot = take_slot(process);
	if (slot)
		enter(slot);
	return slot;
}

struct kymo_thread *kymo_thread_slot(void)
{
	struct kymo_thread *slot = kymo__thread;
	struct kymo_calm calm;

	if (kymo_likely(__atomic_load_n(&slot->used, __ATOMIC_RELAXED)))
		return slot;
	if (registering || kymo_settings.disabled || !kymo_settings.loaded)
		/* not loaded: the call comes from .preinit_array, before the settings are read */
		return NULL;
	kymo_calm_begin(&calm);
	slot = kymo__thread; /* a signal handler may have registered the thread */
	if (!__atomic_load_n(&slot->used, __ATOMIC_RELAXED)) {
		registering = 1;
		kymo_signal_fence();
		slot = register_thread();
		kymo_signal_fence();
		registering = 0;
	}
	kymo_calm_end(&calm);
	return slot;
}

/*
 * The thread ends. Its ring becomes RETIRED, so that the consumer reads and then frees it; a ring
 * without unread records becomes FREE at once. If a later destructor of the thread emits events,
 * the thread registers once more.
 */
static void thread_end(void *argument)
{
	struct kymo_thread *slot = argument;
	struct kymo_ring *ring = slot->ring;

	if (!__atomic_load_n(&slot->used, __ATOMIC_RELAXED))
		return;		/* a forked child, whose slots are wiped */
	if (slot->named)
		kymo__log_gone(KYMO_ENTITY_THREAD, slot->tid);
	kymo__thread = &no_thread;
	kymo_signal_fence();
	if (ring) {
		bool empty =
			KYMO_WORD_POS(ring->wpos) == __atomic_load_n(&ring->rpos, __ATOMIC_ACQUIRE);

		kymo_process->last_block[slot->number] = slot->data;
		slot->ring = NULL;
		__atomic_store_n(&ring->state, empty ? KYMO_RING_FREE : KYMO_RING_RETIRED,
				 __ATOMIC_RELEASE);
	}
	memset(slot, 0, offsetof(struct kymo_thread, used));
	__atomic_store_n(&slot->used, 0, __ATOMIC_RELEASE);
}
