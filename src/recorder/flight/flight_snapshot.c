/* SPDX-License-Identifier: Apache-2.0 */
/* When a snapshot is taken, and its writing between the rounds of draining. */
#include <stdio.h>
#include <string.h>

#include "accounts/accounts.h"
#include "base/text.h"
#include "base/now.h"
#include "recorder/drain/drain.h"
#include "recorder/flight/flight_internal.h"

#define SLICE_NS	1000000u	/* of writing, between two polls */

/* ---- asking ---- */

static void name_process(const struct drained_process *process, struct flight_asked *asked)
{
	asked->pid = process->host_pid ? process->host_pid : (int)process->region.pid;
	(void)snprintf(asked->procname, sizeof asked->procname, "%s", process->region.procname);
}

/* The process and thread of the present record. */
static void name_source(const struct flight *flight, struct flight_asked *asked)
{
	name_process(flight->process, asked);
	if (flight->account) {
		asked->tid = flight->account->tid;
		(void)snprintf(asked->thread, sizeof asked->thread, "%s", flight->account->name);
	}
}

void flight_fire(void *context, const struct trigger_hit *hit)
{
	struct flight *flight = context;
	struct flight_asked *asked = &flight->asked;
	uint64_t now;

	if (asked->any || (flight->disarmed_ns && hit->at_ns > flight->disarmed_ns) ||
	    flight_is_done(flight) || (uint64_t)now_ns() < flight->rests_until_ns) {
		flight->suppressed++;
		return;
	}
	*asked = (struct flight_asked){
		.any = true, .cause = FLIGHT_TRIGGER, .hit = *hit, .asked_ns = hit->at_ns,
	};
	/* A program may record an event with any time; a time in the future would delay this and
	 * all other snapshots. */
	now = (uint64_t)now_ns();
	if (asked->asked_ns > now)
		asked->asked_ns = now;
	asked->due_ns = asked->asked_ns + flight->options.post_ns;
	if (!hit->owner) {
		name_source(flight, asked);
		return;
	}
	name_process(hit->owner, asked);
	asked->tid = hit->tid;
	(void)snprintf(asked->thread, sizeof asked->thread, "%s", hit->thread ? hit->thread : "");
}

void flight_request(struct flight *flight, enum flight_cause cause, uint64_t last_ns,
		    const char *path, struct flight_waiter *waiter)
{
	struct flight_asked *asked = flight->writer ? &flight->next : &flight->asked;

	if (waiter) {
		waiter->next = asked->waiters;
		asked->waiters = waiter;
	}
	if (asked->any || (!waiter && flight_is_done(flight))) {
		flight->suppressed += !waiter;
		return;
	}
	asked->any = true;
	asked->cause = cause;
	asked->asked_ns = asked->due_ns = (uint64_t)now_ns();
	asked->last_ns = last_ns;
	(void)snprintf(asked->path, sizeof asked->path, "%s", path ? path : "");
	if (cause == FLIGHT_PROGRAM)
		name_source(flight, asked);
}

bool flight_due(struct flight *flight)
{
	if (!flight->asked.any || flight->writer || (uint64_t)now_ns() < flight->asked.due_ns)
		return false;
	flight->flushed = true;
	return true;
}

/* ---- what a snapshot says of itself ---- */

static const char *const cause_name[] = {
	[FLIGHT_TRIGGER] = "trigger", [FLIGHT_REQUEST] = "request", [FLIGHT_SIGNAL] = "signal",
	[FLIGHT_PROGRAM] = "program",
};

static struct json_object *describe(const struct flight *flight)
{
	const struct flight_asked *asked = &flight->asked;
	struct accounts_snapshot account = {
		.number = flight->count + 1,
		.cause = cause_name[asked->cause],
		.at_ns = (int64_t)asked->asked_ns,
		.value = ACCOUNTS_UNKNOWN,
		.pid = ACCOUNTS_UNKNOWN,
		.tid = ACCOUNTS_UNKNOWN,
		.window_ns = asked->last_ns ? asked->last_ns : flight->options.window_ns,
		.kept_ns = flight->end_ns - flight->begin_ns,
		.memory_short = flight->store.shortest_ns != UINT64_MAX,
		.suppressed = flight->suppressed,
	};

	if (asked->cause == FLIGHT_TRIGGER) {
		account.trigger = flight->options.triggers.item[asked->hit.trigger].text;
		account.what = asked->hit.what;
		account.value = asked->hit.value;
	}
	if (asked->pid) {
		account.pid = (uint64_t)asked->pid;
		account.procname = asked->procname;
	}
	if (asked->tid) {
		account.tid = (uint64_t)asked->tid;
		account.thread = asked->thread;
	}
	return accounts_object(ACCOUNTS_SNAPSHOT, &account);
}

static void report(struct flight *flight, const char *path, const struct flight_totals *totals,
		   const struct kymo_err *failed)
{
	struct flight_asked *asked = &flight->asked;
	const bool fired = asked->cause == FLIGHT_TRIGGER;
	const struct flight_report said = {
		.number = flight->count,
		.path = path,
		.cause = asked->cause,
		.hit = fired ? &asked->hit : NULL,
		.trigger = fired ? &flight->options.triggers.item[asked->hit.trigger] : NULL,
		.pid = asked->pid,
		.tid = asked->tid,
		.procname = asked->procname,
		.thread = asked->thread,
		.begin_ns = flight->begin_ns,
		.end_ns = flight->end_ns,
		.events = totals->events,
		.dropped = totals->dropped,
		.bytes = totals->bytes,
		.processes = totals->processes,
		.suppressed = flight->suppressed,
		.clock_offset_ns = totals->clock_offset_ns,
		.failed = failed,
	};
	struct flight_waiter *waiter = asked->waiters;

	flight->suppressed = 0;
	if (asked->cause == FLIGHT_TRIGGER)
		flight->rests_until_ns = (uint64_t)now_ns() + flight->options.rest_ns;
	if (flight->options.written)
		flight->options.written(flight->options.context, &said);
	while (waiter) {
		struct flight_waiter *next = waiter->next;

		waiter->done(waiter, &said);
		waiter = next;
	}
	flight->asked = flight->next;
	flight->next = (struct flight_asked){ 0 };
	flight->flushed = false;
}

/* ---- writing ---- */

/* From where on: the window, or what is there of it. Facts of old stand in front of the first
 * event. */
static uint64_t begin_of(const struct flight *flight)
{
	const uint64_t window =
		flight->asked.last_ns && flight->asked.last_ns < flight->options.window_ns
			? flight->asked.last_ns
			: flight->options.window_ns;
	const uint64_t cut = flight->end_ns > window ? flight->end_ns - window : 1;
	uint64_t first = flight->end_ns;

	for (const struct flight_kept *kept = flight->store.first; kept; kept = kept->next)
		if (kept->begin < first && kept->end >= cut)
			first = kept->begin;
	return first > cut ? first - 1 : cut;
}

static bool is_empty(const struct flight *flight)
{
	bool facts = false;

	for (const struct flight_process *process = flight->processes; process;
	     process = process->next)
		facts |= process->facts != NULL;
	return !facts && !flight->store.first;
}

static int begin_writing(struct flight *flight, struct kymo_err *err)
{
	struct flight_part part = {
		.version = flight->options.version,
		.processes = flight->processes,
		.first = flight->store.first,
		.last = flight->store.last,
		.path = flight->asked.path,
	};
	char path[PATH_MAX];

	if (is_empty(flight))
		return err_set(err, KYMO_EXIT_EMPTY, "there is nothing to take a snapshot of yet: no traced process has "
			       "made an event (start programs with \"kymo run -- CMD\")");
	flight->end_ns = (uint64_t)now_ns();
	flight->begin_ns = begin_of(flight);
	part.begin_ns = flight->begin_ns;
	part.end_ns = flight->end_ns;
	if (!part.path[0]) {
		if (flight->options.name(flight->options.context, flight->count + 1, path,
					 sizeof path, err) < 0)
			return -1;
		part.path = path;
	}
	if (flight_writer_begin(&part, &flight->writer, err) < 0) {
		flight->writer = NULL;
		return -1;
	}
	flight->store.pinned = part.first;
	return 0;
}

static void end_writing(struct flight *flight, int rc)
{
	struct flight_totals totals;
	char path[PATH_MAX];
	struct kymo_err err;
	int end;

	flight_writer_totals(flight->writer, &totals);
	(void)snprintf(path, sizeof path, "%s", flight_writer_path(flight->writer));
	end = flight_writer_end(flight->writer, flight->accounts, describe(flight));
	flight->writer = NULL;
	flight->store.pinned = NULL;
	flight->count++;
	rc = rc < 0 ? rc : end;
	if (rc < 0)
		(void)err_set(&err, KYMO_EXIT_FAILED, "cannot write the snapshot %s: %s; free some space, or name another "
			      "place with -o DIR", path, strerror(-rc));
	report(flight, path, &totals, rc < 0 ? &err : NULL);
}

/* Return: true: it is not complete yet. */
static bool write_slice(struct flight *flight, uint64_t for_ns)
{
	const uint64_t begun = (uint64_t)now_ns();
	int rc;

	do
		rc = flight_writer_step(flight->writer);
	while (rc > 0 && (uint64_t)now_ns() - begun < for_ns);
	if (rc > 0) {
		flight->store.pinned = flight_writer_cursor(flight->writer);
		return true;
	}
	end_writing(flight, rc);
	return false;
}

/*
 * No directory was created. That counts as a snapshot for a user who waits for N of them; but not
 * if the client's request was wrong, nor if there was nothing to write.
 */
static void not_begun(struct flight *flight, const struct kymo_err *err)
{
	flight->count += flight->asked.cause != FLIGHT_REQUEST && err->status != KYMO_EXIT_EMPTY;
	report(flight, flight->asked.path, &(struct flight_totals){ 0 }, err);
}

bool flight_work(struct flight *flight)
{
	struct kymo_err err;

	if (flight->writer)
		return write_slice(flight, SLICE_NS);
	if (!flight->flushed)
		return false;
	if (begin_writing(flight, &err) < 0) {
		not_begun(flight, &err);
		return false;
	}
	return true;
}

void flight_trim(struct flight *flight)
{
	struct flight_store *store = &flight->store;
	const struct sayer sayer = {flight->options.say, flight->options.say_context};
	char kept[TEXT_QUANTITY_MAX], window[TEXT_QUANTITY_MAX], limit[TEXT_QUANTITY_MAX];

	/* More comes in than is written: write more slices at once. */
	while (flight_store_trim(store, flight->now_ns) && flight->writer &&
	       store->bytes > 2 * store->limit)
		(void)write_slice(flight, SLICE_NS);
	if (store->shortest_ns == UINT64_MAX || flight->told_short)
		return;
	flight->told_short = true;
	say_text(&sayer, "%s of memory hold only the last %s of %s; increase --flight-memory",
		 text_bytes(limit, store->limit), text_ns(kept, (int64_t)store->shortest_ns),
		 text_ns(window, (int64_t)store->window_ns));
}

void flight_finish(struct flight *flight)
{
	struct kymo_err err;

	while (flight->asked.any) {
		if (!flight->writer && begin_writing(flight, &err) < 0) {
			not_begun(flight, &err);
			continue;
		}
		(void)write_slice(flight, UINT64_MAX);
	}
}

void flight_disarm(struct flight *flight)
{
	if (!flight->disarmed_ns)
		flight->disarmed_ns = (uint64_t)now_ns();
}

bool flight_is_done(const struct flight *flight)
{
	return flight->options.snapshots && flight->count >= flight->options.snapshots;
}

void flight_unmet(const struct flight *flight, char *text, unsigned size)
{
	const struct triggers *triggers = &flight->options.triggers;
	unsigned used = 0;
	char nearest[128];

	text[0] = 0;
	for (unsigned i = 0; i < triggers->count && used < size; i++) {
		const struct trigger *trigger = &triggers->item[i];
		const char *name = triggers_nearest(triggers, trigger);

		if (triggers->met & 1u << i || trigger->any || trigger->kind == TRIGGER_DIED)
			continue;
		nearest[0] = 0;
		if (name)
			(void)snprintf(nearest, sizeof nearest, " (did you mean '%.100s'?)", name);
		used += (unsigned)snprintf(text + used, size - used, "%s'%s'%s", used ? ", " : "", trigger->text, nearest);
	}
	if (used && used < size)
		(void)snprintf(text + used, size - used, ": nothing had that name");
}
