/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries out the orders of `kymo attach` and `kymo detach` (abi/attach.h), in the thread that they
 * started for that.
 *
 * The order itself runs while the dynamic linker's lock is held: kymo__attach() loads
 * libkymo-attach.so, whose constructor calls kymo__attach_locked(). An entry that another thread
 * was just about to bind for the first time may be bound after the change, to the function of
 * before. So a second pass follows a little later.
 *
 * The libraries that define the wrapped functions stay loaded from then on, because the hooks keep
 * the addresses of the functions.
 */
#include "inside/ros2/ros2_attach.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "abi/attach.h"
#include "abi/points.h"
#include "inside/ros2/ros2_libraries.h"
#include "inside/ros2/ros2_slots.h"
#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_late.h"
#include "inside/ros2/ros2_python.h"
#include "inside/tracer/tracer_calm.h"
#include "inside/tracer/tracer_initlog.h"

#define PASSES_MAX 4
#define BETWEEN_NS 5000000

uint32_t kymo__attach_held;
KYMO_EXPORT uint64_t kymo__attach_scratch;
uint64_t kymo__attach_scratch;

KYMO_EXPORT void kymo__attach(struct kymo_attach_block *block);
KYMO_EXPORT void kymo__attach_locked(void);

/* What kymo__attach_locked() shall do. One order at a time: `busy`. */
static struct {
	bool busy, wanted, on;
	struct kymo_slots slots;
} order;
static uint64_t generation; /* of the last look at all objects */

void kymo__attach_locked(void)
{
	if (!order.wanted)
		return; /* somebody else loaded libkymo-attach.so */
	kymo_slots_change(order.on, &order.slots);
	__atomic_store_n(&generation, order.slots.generation, __ATOMIC_RELAXED);
	order.wanted = false;
}

/* Return: false: libkymo-attach.so cannot be loaded. */
static bool carry_out(bool on)
{
	static char path[PATH_MAX];
	Dl_info info;
	void *helper;
	char *slash;

	if (!dladdr((const void *)kymo__attach, &info) || !info.dli_fname)
		return false;
	(void)snprintf(path, sizeof path - sizeof "libkymo-attach.so", "%s", info.dli_fname);
	slash = strrchr(path, '/');
	memcpy(slash ? slash + 1 : path, "libkymo-attach.so", sizeof "libkymo-attach.so");
	order.on = on;
	order.wanted = true;
	helper = dlopen(path, RTLD_NOW);
	if (helper)
		(void)dlclose(helper);
	return helper && !order.wanted;
}

static bool begin(void)
{
	return !__atomic_exchange_n(&order.busy, true, __ATOMIC_ACQUIRE);
}

static void end(void)
{
	__atomic_store_n(&order.busy, false, __ATOMIC_RELEASE);
}

void kymo_attach_look(void)
{
	struct kymo_calm calm;

	if (__atomic_load_n(&kymo__attach_held, __ATOMIC_RELAXED) != KYMO_ATTACH_IS_ON ||
	    kymo_slots_generation() == __atomic_load_n(&generation, __ATOMIC_RELAXED) || !begin())
		return;
	kymo_calm_begin(&calm);
	(void)carry_out(true);
	kymo_calm_end(&calm);
	end();
}

/* ---- orders ---- */

static void keep_loaded(const void *original)
{
	static const void *last; /* most functions come from few libraries, one after the other */
	Dl_info info;

	if (!dladdr(original, &info) || !info.dli_fname || info.dli_fbase == last)
		return;
	last = info.dli_fbase;
	(void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/* Facts that other facts need, which the process reported before kymo came. */
static void tell_first_facts(void)
{
	static void *known;
	const char *(*identifier)(void) = (const char *(*)(void))kymo_below(
		&known, "rmw_get_implementation_identifier", (const void *)kymo__attach, NULL);

	if (identifier)
		kymo_emit_rmw_implementation(identifier());
}

static void answer(struct kymo_attach_block *block)
{
	const struct kymo_slots *slots = &order.slots;

	block->entries = slots->entries;
	block->objects = slots->objects;
	block->elsewhere = slots->elsewhere;
	block->tracepoints = slots->tracepoints;
	block->tracetools = kymo_tracetools.version;
}

static void forget(void)
{
	kymo__log_forget();
	kymo_late_forget();
}

static enum kymo_attach_result turn_on(struct kymo_attach_block *block)
{
	static const struct timespec between = { 0, BETWEEN_NS };

	if (!kymo__set_settings(block->settings))
		return KYMO_ATTACH_DISABLED;
	kymo_tracetools_late();
	kymo_tracetools_probe(); /* registers the process: no thread of the program has to do it */
	if (!kymo__is_registered())
		return KYMO_ATTACH_NO_REGION;
	if (block->order == KYMO_ATTACH_ON &&
	    __atomic_load_n(&kymo__attach_held, __ATOMIC_RELAXED) == KYMO_ATTACH_IS_OFF)
		forget(); /* what was destroyed meanwhile did not say so */
	__atomic_store_n(&kymo__attach_held, KYMO_ATTACH_IS_ON, __ATOMIC_RELEASE);
	for (int pass = 0; pass < PASSES_MAX && (pass < 2 || order.slots.changed); pass++) {
		if (pass)
			(void)nanosleep(&between, NULL);
		if (!carry_out(true))
			return KYMO_ATTACH_NO_HELPER;
	}
	answer(block);
	if (!order.slots.entries) {
		__atomic_store_n(&kymo__attach_held, KYMO_ATTACH_IS_OFF, __ATOMIC_RELEASE);
		return KYMO_ATTACH_NO_CALLS;
	}
	kymo_slots_each_original(keep_loaded);
	tell_first_facts();
	return KYMO_ATTACH_OK;
}

static enum kymo_attach_result turn_off(struct kymo_attach_block *block)
{
	__atomic_store_n(&kymo__attach_held, KYMO_ATTACH_IS_OFF, __ATOMIC_RELEASE);
	if (!carry_out(false))
		return KYMO_ATTACH_NO_HELPER;
	block->entries = order.slots.changed;
	block->objects = order.slots.objects;
	return KYMO_ATTACH_OK;
}

void kymo__attach(struct kymo_attach_block *block)
{
	static const struct timespec between = { 0, BETWEEN_NS };

	__atomic_store_n(&kymo__attach_scratch, block->self, __ATOMIC_RELAXED);
	if (block->version != KYMO_ATTACH_VERSION) {
		block->result = KYMO_ATTACH_OTHER_VERSION;
		return;
	}
	while (!begin())
		(void)nanosleep(&between, NULL); /* kymo_attach_look() on another thread */
	block->result = block->order == KYMO_ATTACH_ON ? turn_on(block) : turn_off(block);
	end();
	block->python = block->result == KYMO_ATTACH_OK
				? kymo_python_order(block->order == KYMO_ATTACH_ON)
				: KYMO_PYTHON_NONE;
}
