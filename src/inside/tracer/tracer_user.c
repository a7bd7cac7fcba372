/* SPDX-License-Identifier: Apache-2.0 */
/* The events of include/kymo/kymo.h, which programs declare themselves: see tracer_sites.c. */
#include <sys/prctl.h>
#include <unistd.h>

#include "abi/points.h"
#define KYMO_REGISTER_LATE
#include "kymo/kymo.h"
#include "inside/tracer/tracer_count.h"
#include "inside/tracer/tracer_initlog.h"
#include "inside/tracer/tracer_process.h"

/* The sites of libkymo itself; in a program that links libkymo.a, all sites of the program. */
extern struct kymo_site __start_kymo_sites[] __attribute__((visibility("hidden")));
extern struct kymo_site __stop_kymo_sites[] __attribute__((visibility("hidden")));

/*
 * Give an id to a site that has none at its first event. Two kinds of sites have none: sites that
 * run before the constructor of their library, and the sites of libkymo itself, which are declared
 * only when used, so that a trace has no unused declarations.
 * Return: the site's id.
 */
static uint16_t enter_late(struct kymo_site *site)
{
	if (kymo_settings.disabled || !kymo_thread_slot())
		return KYMO_SITE_NEW;
	if (site >= __start_kymo_sites && site < __stop_kymo_sites)
		kymo__register(__start_kymo_sites, __stop_kymo_sites);
	else
		kymo_site_enter(site);
	return __atomic_load_n(&site->own_id, __ATOMIC_RELAXED);
}

/*
 * Whether to record the end of a span. If the begin was recorded, the end is recorded too, even if
 * the program has switched the events off meanwhile. The thread only counts its open spans. So if
 * another span is open, the end of a span without a recorded begin is recorded, too: then the trace
 * has an end without a begin.
 */
static bool may_end(const struct kymo_site *site, uint16_t id)
{
	struct kymo_thread *thread = kymo__thread;
	const uint32_t open = thread->open_spans;

	if (open) {
		thread->open_spans = open - 1;
		return true;
	}
	return !kymo_switch_off() && __atomic_load_n(&site->id, __ATOMIC_RELAXED) == id;
}

/*
 * All ids are used up. The event counts as dropped, if the process is in state RECORD or not
 * registered yet.
 */
static bool drop_without_id(void)
{
	const struct kymo_process *process = kymo_process;

	if (process && process->registration == KYMO_REGISTERED &&
	    __atomic_load_n(&process->region->state, __ATOMIC_RELAXED) != KYMO_STATE_RECORD)
		return false;
	return kymo_drop(NULL);
}

static inline __attribute__((always_inline)) void finish(const struct kymo_record *record,
							 const struct kymo_site *site,
							 const void *payload, size_t size)
{
	memcpy(record->at, payload, size);
	kymo_commit_sp(record);
	if (site->shape == KYMO__BEGIN)
		record->thread->open_spans++;
}

/*
 * The slow path is a function of its own, so that the record of the usual path stays in registers.
 * On the stack, the record's stores cost an event 11 ns more if their addresses have the same lower
 * 12 bits as the next loads.
 */
static __attribute__((noinline))
bool event_slow(const struct kymo_site *site, unsigned id, const void *payload, size_t size)
{
	struct kymo_record record;

	if (!kymo__reserve(&record, id, size))
		return false;
	finish(&record, site, payload, size);
	return true;
}

/* Only count: the span is not recorded, so it has no end either. */
static __attribute__((noinline)) bool event_counts(const struct kymo_site *site, unsigned id)
{
	if (site->shape == KYMO__BEGIN)
		kymo_count(KYMO_COUNT_KEY(id, KYMO_COUNT_NOT));
	return false;
}

bool kymo__event(struct kymo_site *site, const void *payload, size_t size)
{
	struct kymo_record record;
	uint16_t id = __atomic_load_n(&site->own_id, __ATOMIC_RELAXED);
	uint8_t wanted;

	if (kymo_unlikely(id == KYMO_SITE_NEW)) {
		id = enter_late(site);
		if (__atomic_load_n(&site->id, __ATOMIC_RELAXED) == KYMO_POINT_MUTED)
			return false;
	}
	if (site->shape == KYMO__END && !may_end(site, id))
		return false;
	if (kymo_unlikely(id >= KYMO_POINT_NO_ID))
		return drop_without_id();
	wanted = kymo_recorder_wants(id);
	if (!wanted)
		return false;
	if (kymo_unlikely(wanted == KYMO_ENABLE_COUNT))
		return event_counts(site, id);
	if (kymo_unlikely(!kymo_try_reserve_sp(&record, id, size)))
		return event_slow(site, id, payload, size);
	finish(&record, site, payload, size);
	return true;
}

void kymo__text_cut(void)
{
	struct kymo_process *process = kymo_process;

	if (process && __atomic_load_n(&process->registration, __ATOMIC_ACQUIRE) == KYMO_REGISTERED)
		(void)__atomic_fetch_add(&process->region->texts_cut, 1, __ATOMIC_RELAXED);
}

/* ---- functions of kymo.h ---- */

bool kymo_thread_ready(void)
{
	return !kymo_settings.disabled && kymo_thread_with_ring();
}

uint64_t kymo_now(void)
{
	struct kymo_thread *thread = kymo_thread_slot();

	return thread ? kymo_clock_read(thread) : kymo_clock_ns();
}

/* Write an init event of one of libkymo's own sites. */
static void tell(struct kymo_site *site, enum kymo_log_key key, const uint8_t *payload, size_t size)
{
	struct kymo_fact fact;

	if (site->own_id == KYMO_SITE_NEW)
		(void)enter_late(site);
	if (site->own_id >= KYMO_IDS_END || !kymo__log_reserve_as(&fact, site->own_id, key, size))
		return;
	memcpy(fact.payload, payload, size);
	kymo__log_commit(&fact);
}

uint64_t kymo_track(const char *name, uint64_t parent)
{
	KYMO__SITE(site, KYMO__POINT, "kymo", "track", ("track", parent), ("parent", parent), ("name", name));
	static uint32_t count;
	uint8_t payload[16 + KYMO_TEXT_MAX + 1], *at = payload;
	uint64_t track;

	if (kymo_settings.disabled || !kymo_thread_slot())
		return 0;
	track = (uint64_t)getpid() << 32 | (__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) + 1);
	at = kymo__put_uint64_t(at, track);
	at = kymo__put_uint64_t(at, parent);
	at = kymo__put_text(at, name);
	tell(&site, KYMO_LOG_KEY_TABLE, payload, (size_t)(at - payload));
	return track;
}

void kymo_thread_name(const char *name)
{
	KYMO__SITE(site, KYMO__POINT, "kymo", "thread_name", ("name", name));
	uint8_t payload[KYMO_TEXT_MAX + 1];

	(void)prctl(PR_SET_NAME, name);
	if (!kymo_settings.disabled)
		tell(&site, KYMO_LOG_KEY_THREAD, payload,
		     (size_t)(kymo__put_text(payload, name) - payload));
}

void kymo_realtime(const char *name)
{
	KYMO__SITE(site, KYMO__POINT, "kymo", "realtime", ("name", name));
	uint8_t payload[KYMO_TEXT_MAX + 1];

	if (!kymo_settings.disabled && kymo_thread_slot())
		tell(&site, KYMO_LOG_KEY_TABLE, payload,
		     (size_t)(kymo__put_text(payload, name) - payload));
}

bool kymo_begin_named(const char *category, const char *name)
{
	return !kymo_category_off(category) &&
	       KYMO__EMIT(KYMO__BEGIN, "kymo", "begin", ("category", category), ("name", name));
}

void kymo_end_named(void)
{
	KYMO_END("kymo", "begin");
}

void kymo_instant_named(const char *category, const char *name)
{
	if (!kymo_category_off(category))
		KYMO_INSTANT("kymo", "instant", ("category", category), ("name", name));
}

void kymo_counter_named(const char *category, const char *name, double value)
{
	if (!kymo_category_off(category))
		KYMO_COUNTER("kymo", "counter", value, ("category", category), ("name", name));
}
