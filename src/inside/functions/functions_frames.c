/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of functions that were asked for before; see functions_frames.h.
 *
 * The idea: the compiler calls _mcount() behind the first instructions of a function, and at that
 * one address the frame is always the same. So the unwind table is read once for each function
 * (functions_unwind.c), and the answer kept.
 *
 * What is kept is wrong if another file is loaded later in the place of the one that was asked. So
 * a dlclose() makes all that is kept old, and nothing is kept or used while one runs. Only keys of
 * an older generation are replaced: who reads the same key before and after the frame has read the
 * frame that belongs to it.
 */
#include "inside/functions/functions_frames.h"

#ifdef __aarch64__

#include <dlfcn.h>

#include "inside/functions/functions_pg.h"
#include "inside/tracer/tracer_calm.h"

#define KEPT 4096u /* a power of 2 */
#define TRIES 4u
#define GENERATION_SHIFT 48
#define GENERATIONS 0xffffu /* the last one: nothing is kept any more */
#define BUSY UINT64_MAX

static struct {
	uint64_t key; /* the address, and above it the generation */
	struct functions_frame frame;
} kept[KEPT];
static uint32_t generation = 1;
static uint32_t closing; /* calls of dlclose() that run */
static __thread uint32_t own_closing;

static void make_old(void)
{
	if (__atomic_load_n(&generation, __ATOMIC_RELAXED) < GENERATIONS)
		__atomic_fetch_add(&generation, 1, __ATOMIC_ACQ_REL);
}

static uint64_t current_key(uintptr_t pc)
{
	uint32_t now;

	/* In this order: that none runs any more means that the last one has counted. */
	if (__atomic_load_n(&closing, __ATOMIC_ACQUIRE))
		return 0;
	now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
	if (now >= GENERATIONS)
		return 0;
	return (uint64_t)now << GENERATION_SHIFT | pc;
}

static unsigned place_of(uint64_t key, unsigned try)
{
	return ((unsigned)((key >> 2) * 0x9e3779b97f4a7c15u >> 48) + try) & (KEPT - 1);
}

static bool look_up(uint64_t key, struct functions_frame *frame)
{
	for (unsigned i = 0; i < TRIES; i++) {
		const unsigned at = place_of(key, i);

		if (__atomic_load_n(&kept[at].key, __ATOMIC_ACQUIRE) != key)
			continue;
		*frame = kept[at].frame;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		return __atomic_load_n(&kept[at].key, __ATOMIC_RELAXED) == key;
	}
	return false;
}

static void keep(uint64_t key, const struct functions_frame *frame)
{
	for (unsigned i = 0; i < TRIES; i++) {
		const unsigned at = place_of(key, i);
		uint64_t old = __atomic_load_n(&kept[at].key, __ATOMIC_RELAXED);

		/* BUSY is of the last generation, so it is never replaced. */
		if (old >> GENERATION_SHIFT >= key >> GENERATION_SHIFT ||
		    !__atomic_compare_exchange_n(&kept[at].key, &old, BUSY, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		/* Who reads the new frame does not read the old key behind it. */
		__atomic_thread_fence(__ATOMIC_RELEASE);
		kept[at].frame = *frame;
		__atomic_store_n(&kept[at].key, key, __ATOMIC_RELEASE);
		return;
	}
}

struct functions_frame functions_find_frame(uintptr_t pc)
{
	const uint64_t key = current_key(pc);
	struct functions_frame frame;
	struct kymo_calm calm;

	if (key && look_up(key, &frame))
		return frame;
	kymo_calm_begin(&calm);
	functions_guest.inside = true;
	frame = functions_read_frame(pc);
	functions_guest.inside = false;
	/* A file that went meanwhile has made the key old. */
	if (key && key == current_key(pc))
		keep(key, &frame);
	kymo_calm_end(&calm);
	return frame;
}

KYMO_EXPORT int dlclose(void *library);

KYMO_EXPORT int dlclose(void *library)
{
	int (*const next)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
	int status;

	own_closing++;
	__atomic_fetch_add(&closing, 1, __ATOMIC_ACQ_REL);
	status = next ? next(library) : -1;
	make_old();
	__atomic_fetch_sub(&closing, 1, __ATOMIC_ACQ_REL);
	own_closing--;
	return status;
}

void functions_frames_in_child(void)
{
	make_old();
	__atomic_store_n(&closing, own_closing, __ATOMIC_RELEASE);
}

#else

void functions_frames_in_child(void)
{
}

#endif
