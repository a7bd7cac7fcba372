/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder as a sink: events are kept, and checked against the triggers. */
#include "recorder/flight/flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/now.h"
#include "recorder/flight/flight_internal.h"

#define HORIZON_EVERY_NS 100000000ull	/* how often conditions on topics and rates are judged */

/* ---- processes ---- */

static int flight_join(struct sink *sink, struct sink_process *at)
{
	struct flight *flight = (struct flight *)sink;
	struct flight_process *process = calloc(1, sizeof *process);

	if (!process)
		return -ENOMEM;
	process->trigger = trigger_process_new(&flight->options.triggers, &at->process->classes);
	if (!process->trigger) {
		free(process);
		return -ENOMEM;
	}
	trigger_process_owner(process->trigger, at->process, at->process->region.procname,
			      at->process->region.exe, (uint64_t)now_ns());
	process->process = at->process;
	process->at = at;
	process->base = flight->store.turn;
	/* Requests from before this session do not count. */
	if (at->process->region.birth_ns < sink->start_ns)
		process->snapshots_wanted = __atomic_load_n(
			&region_header(&at->process->region)->snapshots_wanted, __ATOMIC_RELAXED);
	process->next = flight->processes;
	flight->processes = process;
	at->data = process;
	return 0;
}

static void free_process(struct flight *flight, struct flight_process *process)
{
	for (unsigned i = 0; i < process->ring_count; i++)
		trigger_lane_free(&process->ring[i].lane);
	free(process->ring);
	trigger_process_free(process->trigger);
	flight_store_forget(&flight->store, process);
	free(process);
}

/* Processes that ended before the window and have no packet left. */
static void forget_old(struct flight *flight, uint64_t now_ns)
{
	for (struct flight_process **at = &flight->processes; *at;) {
		struct flight_process *process = *at;

		if (process->left_ns && !process->kept &&
		    process->left_ns + flight->options.window_ns < now_ns) {
			*at = process->next;
			free_process(flight, process);
		} else {
			at = &process->next;
		}
	}
}

/* Have all facts that held at the last turn been repeated? */
static bool is_whole(const struct flight_process *process)
{
	return process->at ? process->at->init.taken >= process->at->init.known : process->whole;
}

/* Facts of objects that ended before the oldest packet. */
static void forget_ended(struct flight *flight)
{
	if (!flight_store_may_turn(&flight->store))
		return;
	for (struct flight_process *process = flight->processes; process; process = process->next)
		if (process->base != flight->store.turn && is_whole(process))
			flight_store_rebase(&flight->store, process);
}

/* ---- what comes in ---- */

static int flight_declare(struct sink *sink, struct sink_process *at, enum ctf_class class,
			  unsigned id)
{
	struct flight_process *process = at->data;

	(void)sink;
	process->declared[class][id / 8] |= (uint8_t)(1u << id % 8);
	return 0;
}

static int flight_facts(struct sink *sink, struct sink_process *at, const struct sink_facts *facts)
{
	struct flight *flight = (struct flight *)sink;
	struct flight_process *process = at->data;
	const struct trigger_listener listener = {flight_fire, flight};
	const uint64_t lost = facts->discarded - process->facts_discarded;

	if (flight_store_facts(&flight->store, process, facts, lost) < 0)
		return -ENOMEM;
	process->facts_discarded = facts->discarded;
	flight->process = at->process;
	flight->account = NULL;
	if (lost)
		trigger_loss(&flight->options.triggers, lost, facts->end, &listener);
	for (uint32_t i = 0; i < facts->count; i++) {
		const uint32_t end =
			i + 1 < facts->count ? facts->at[i + 1] : (uint32_t)facts->size;
		const uint8_t *payload = facts->bytes + facts->at[i] + sizeof(struct sink_fact);
		struct sink_fact fact;

		memcpy(&fact, facts->bytes + facts->at[i], sizeof fact);
		trigger_fact(process->trigger, fact.id, payload,
			     (size_t)(facts->bytes + end - payload));
		if (!facts->known && fact.init_timestamp >= sink->start_ns)
			trigger_fact_event(process->trigger, fact.id, fact.init_timestamp,
					   &listener);
	}
	return 0;
}

static int flight_packet(struct sink *sink, struct sink_process *at,
			 const struct sink_packet *packet)
{
	struct flight *flight = (struct flight *)sink;
	struct flight_process *process = at->data;
	struct flight_ring *ring = ARRAY_AT(process->ring, process->ring_count, packet->ring);
	const struct trigger_listener listener = {flight_fire, flight};
	const struct flight_kept *kept;
	uint64_t lost;

	if (!ring)
		return -ENOMEM;
	lost = packet->discarded - ring->discarded;
	kept = flight_store_packet(&flight->store, process, packet, lost);
	if (!kept)
		return -ENOMEM;
	ring->discarded = packet->discarded;
	flight->process = at->process;
	flight->account = packet->account;
	if (lost)
		trigger_loss(&flight->options.triggers, lost, packet->begin, &listener);
	if (lost || ring->thread != packet->thread)
		trigger_lane_reset(&ring->lane);
	if ((ring->thread != packet->thread || !ring->lane.watch) &&
	    trigger_thread(process->trigger, &ring->lane,
			   packet->account ? packet->account->tid : 0,
			   packet->account ? packet->account->name : "") < 0)
		return -ENOMEM;
	ring->thread = packet->thread;
	(void)trigger_records(process->trigger, &ring->lane, kept->bytes, kept->size, &listener);
	return 0;
}

/* ---- a program's own request ---- */

static void check_own_request(struct flight *flight, struct flight_process *process)
{
	uint32_t wanted;

	if (process->left_ns || !process->process->region.base)
		return;
	wanted = __atomic_load_n(&region_header(&process->process->region)->snapshots_wanted,
				 __ATOMIC_RELAXED);
	if (wanted == process->snapshots_wanted)
		return;
	process->snapshots_wanted = wanted;
	flight->process = process->process;
	flight->account = NULL;
	flight_request(flight, FLIGHT_PROGRAM, 0, NULL, NULL);
}

static void flight_leave(struct sink *sink, struct sink_process *at)
{
	struct flight *flight = (struct flight *)sink;
	struct flight_process *process = at->data;
	const struct trigger_listener listener = {flight_fire, flight};

	flight->process = at->process;
	flight->account = NULL;
	check_own_request(flight, process);
	if (at->process->end == PROCESS_KILLED)
		trigger_died(&flight->options.triggers, at->process->region.procname,
			     at->process->region.exe, (uint64_t)now_ns(), &listener);
	if (at->process->end != PROCESS_KILLED)
		trigger_process_exited(process->trigger);
	for (unsigned i = 0; i < process->ring_count; i++)
		trigger_lane_free(&process->ring[i].lane);
	trigger_process_free(process->trigger);
	process->trigger = NULL;
	process->left_ns = (uint64_t)now_ns();
	process->whole = is_whole(process);
	process->at = NULL;
}

/* ---- the rest of a sink ---- */

static int flight_accounts(struct sink *sink, const char *json, bool last)
{
	struct flight *flight = (struct flight *)sink;
	char *copy = strdup(json);

	(void)last;
	if (!copy)
		return -ENOMEM;
	free(flight->accounts);
	flight->accounts = copy;
	return 0;
}

static void flight_round(struct sink *sink, uint64_t now_ns)
{
	struct flight *flight = (struct flight *)sink;

	flight->now_ns = now_ns;
	for (struct flight_process *process = flight->processes; process; process = process->next)
		check_own_request(flight, process);
	flight_trim(flight);
	if (flight->writer)
		return;
	forget_old(flight, now_ns);
	forget_ended(flight);
}

/* Not while facts are being written, nor before a snapshot: it would lack the facts that are still
 * to be repeated. */
static bool flight_wants_turn(const struct sink *sink, uint64_t now_ns)
{
	const struct flight *flight = (const struct flight *)sink;

	(void)now_ns;
	return !flight->writer && !flight->asked.any && flight_store_wants_turn(&flight->store);
}

static int flight_turn(struct sink *sink, uint64_t begin_ns, uint64_t now_ns)
{
	struct flight *flight = (struct flight *)sink;

	(void)begin_ns;
	(void)now_ns;
	flight_store_turn(&flight->store);
	for (struct flight_process *process = flight->processes; process; process = process->next)
		if (process->trigger)
			trigger_forget(process->trigger);
	return 0;
}

/* Called only with a watch: flight_create(). */
static void flight_horizon(struct sink *sink, uint64_t ns)
{
	trigger_watch_until(&((struct flight *)sink)->options.triggers, ns);
}

static bool flight_holds(const struct sink *sink, const struct drained_process *process)
{
	const struct flight *flight = (const struct flight *)sink;
	const struct flight_process *at = flight->processes;

	while (at && at->process != process)
		at = at->next;
	return at || flight->process == process;
}

static uint64_t flight_bytes(const struct sink *sink)
{
	const struct flight *flight = (const struct flight *)sink;

	return flight->store.bytes + flight->store.facts_bytes;
}

static void flight_close(struct sink *sink)
{
	struct flight *flight = (struct flight *)sink;

	flight_finish(flight);
	flight_store_free(&flight->store);
	while (flight->processes) {
		struct flight_process *process = flight->processes;

		flight->processes = process->next;
		free_process(flight, process);
	}
	triggers_watch_end(&flight->options.triggers);
	free(flight->accounts);
	free(flight);
}

static const struct sink_place_ops flight_place_ops = { .due = flight_wants_turn,
							.turn = flight_turn };

static const struct sink_ops flight_ops = {
	.kind = "flight",
	.place = &flight_place_ops,
	.join = flight_join,
	.declare = flight_declare,
	.facts = flight_facts,
	.packet = flight_packet,
	.leave = flight_leave,
	.accounts = flight_accounts,
	.holds = flight_holds,
	.round = flight_round,
	.horizon = flight_horizon,
	.bytes = flight_bytes,
	.close = flight_close,
};

int flight_create(const struct flight_options *options, struct flight **result,
		  struct kymo_err *err)
{
	struct flight *flight = calloc(1, sizeof *flight);

	if (!flight)
		return err_no_memory(err);
	flight->sink.ops = &flight_ops;
	flight->sink.name = "the flight recorder's memory";
	flight->options = *options;
	if (triggers_watch(&flight->options.triggers,
			   &(struct trigger_listener){ flight_fire, flight }) < 0) {
		free(flight);
		return err_no_memory(err);
	}
	flight->sink.horizon_every_ns =
		flight->options.triggers.watch ? HORIZON_EVERY_NS : UINT64_MAX;
	flight->store.limit = options->memory;
	flight->store.window_ns = options->window_ns;
	flight->store.shortest_ns = UINT64_MAX;
	*result = flight;
	return 0;
}

struct sink *flight_sink(struct flight *flight)
{
	return &flight->sink;
}
