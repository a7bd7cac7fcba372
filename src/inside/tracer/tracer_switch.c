/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's own switches, beside the recorder's.
 *
 * An event is recorded if both the recorder and the program want it, but an event should test only
 * one byte. So the recorder writes the enable bytes of the region, and the program's switches
 * decide which byte an event tests:
 *
 *     kymo_set_enabled()     on:  kymo__enable points to the region's bytes
 *                            off: kymo__enable points to a private array in which only the ends of
 *                            spans are set
 *     kymo_set_category()    on:  a place in the code tests the byte of its own id
 *                            off: the place tests a byte that is never set; the end of a span, a
 *                            byte that is always set
 *
 * The program never writes the bytes of the recorder, and the recorder never sees the program's
 * switches. So neither undoes the other's switch, in any order. The end of a span that passes this
 * test is recorded only if the thread has an open span: see kymo__event().
 */
#include "inside/tracer/tracer_process.h"

#include "abi/points.h"
#define KYMO_REGISTER_LATE
#include "kymo/kymo.h"

#define CATEGORIES_MAX	64u

/* Before registration every event is enabled, so that the first event registers the process. */
static const uint8_t enable_all[KYMO_POINTS_MAX] = { [0 ... KYMO_POINTS_MAX - 1] = 1 };
static const uint8_t enable_none[KYMO_POINTS_MAX];
static uint8_t enable_ends[KYMO_POINTS_MAX] = { [KYMO_POINT_ENDS] = 1 };

const uint8_t *kymo__enable = enable_all;
const uint8_t *kymo_recorder_bytes = enable_all;
static bool switched_off;

static const uint8_t *wanted_bytes(void)
{
	const uint8_t *bytes = __atomic_load_n(&kymo_recorder_bytes, __ATOMIC_SEQ_CST);

	return bytes != enable_none && __atomic_load_n(&switched_off, __ATOMIC_SEQ_CST)
		       ? enable_ends
		       : bytes;
}

/*
 * Set kymo__enable. Two threads may store at the same time, so each thread checks afterwards
 * whether its value is still right.
 */
static void choose(void)
{
	const uint8_t *bytes;

	do {
		bytes = wanted_bytes();
		__atomic_store_n(&kymo__enable, bytes, __ATOMIC_SEQ_CST);
	} while (bytes != wanted_bytes());
}

void kymo_switch_bytes(const uint8_t *bytes)
{
	__atomic_store_n(&kymo_recorder_bytes, bytes ? bytes : enable_none, __ATOMIC_SEQ_CST);
	choose();
}

/*
 * A forked child has no enable bytes of its own yet: like any process before registration, it
 * enables every event.
 */
void kymo_switch_forget(void)
{
	if (kymo_recorder_bytes != enable_none)
		kymo_switch_bytes(enable_all);
}

void kymo_switch_is_end(unsigned id)
{
	__atomic_store_n(&enable_ends[id], 1, __ATOMIC_RELAXED);
}

bool kymo_switch_off(void)
{
	return __atomic_load_n(&switched_off, __ATOMIC_RELAXED);
}

void kymo_set_enabled(bool on)
{
	__atomic_store_n(&switched_off, !on, __ATOMIC_SEQ_CST);
	choose();
}

/* ---- categories ---- */

/* Entries are added and switched, but never removed: so readers need no lock. */
static struct {
	struct {
		char name[KYMO_TEXT_MAX + 1];
		bool off;
	} entry[CATEGORIES_MAX];
	unsigned count;
	bool others_off;
	bool any_off;			/* some category is off; if not, readers need no search */
} categories;

static unsigned find(const char *name)
{
	const unsigned count = __atomic_load_n(&categories.count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < count; i++)
		if (!strncmp(categories.entry[i].name, name, KYMO_TEXT_MAX))
			return i;
	return count;
}

bool kymo_category_off(const char *name)
{
	unsigned at;

	if (kymo_likely(!__atomic_load_n(&categories.any_off, __ATOMIC_RELAXED)))
		return false;
	at = find(name);
	return __atomic_load_n(at < categories.count ? &categories.entry[at].off
						     : &categories.others_off,
			       __ATOMIC_RELAXED);
}

static void set(bool *at, bool off)
{
	__atomic_store_n(at, off, __ATOMIC_RELAXED);
}

static void look_for_any(void)
{
	bool any = categories.others_off;

	for (unsigned i = 0; i < categories.count; i++)
		any |= categories.entry[i].off;
	set(&categories.any_off, any);
}

bool kymo_category_set(const char *name, bool on)
{
	unsigned at = name ? find(name) : 0;

	if (!name) {
		set(&categories.others_off, !on);
		for (unsigned i = 0; i < categories.count; i++)
			set(&categories.entry[i].off, !on);
	} else if (at < categories.count) {
		set(&categories.entry[at].off, !on);
	} else if (on == categories.others_off) {
		/* otherwise the category is like all others and needs no entry */
		if (at == CATEGORIES_MAX)
			return false;
		(void)strncpy(categories.entry[at].name, name, KYMO_TEXT_MAX);
		categories.entry[at].off = !on;
		__atomic_store_n(&categories.count, at + 1, __ATOMIC_RELEASE);
	}
	look_for_any();
	return true;
}

/* ---- snapshots ---- */

void kymo__of_every_ros_domain(void)
{
	__atomic_store_n(&kymo_settings.ros_domain, KYMO_ROS_EVERY, __ATOMIC_RELAXED);
}

static uint32_t snapshots_early;	/* requests before the process was registered */

void kymo_snapshot_forget(void)
{
	__atomic_store_n(&snapshots_early, 0, __ATOMIC_RELAXED);
}

/*
 * Both a request and the registration call this function, so that the later of the two adds the
 * count to the region.
 */
void kymo_snapshot_hand_over(struct kymo_process *process)
{
	uint32_t count = __atomic_exchange_n(&snapshots_early, 0, __ATOMIC_SEQ_CST);

	if (count)
		(void)__atomic_fetch_add(&process->region->snapshots_wanted, count,
					 __ATOMIC_RELEASE);
}

void kymo_snapshot(void)
{
	struct kymo_process *process;

	(void)__atomic_fetch_add(&snapshots_early, 1, __ATOMIC_SEQ_CST);
	process = __atomic_load_n(&kymo_process, __ATOMIC_ACQUIRE);
	if (process && __atomic_load_n(&process->registration, __ATOMIC_SEQ_CST) == KYMO_REGISTERED)
		kymo_snapshot_hand_over(process);
}
