/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of messages through callbacks: chain(), latency(), lost(), late(). The notes come in the
 * order of time.
 *
 * What a callback carries goes on to the messages that it publishes, and from a message to the
 * callback that receives it. A message between processes is known by its source timestamp in a ring
 * of its topic; one within a process by its place in a buffer. Each topic and callback on the way
 * that is the next step of a chain counts; the data began at the chain's first step.
 *
 * A message is lost for a subscription when that receives a later one of the same publisher.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/trigger/trigger_watch.h"

static void watch_hit_at(struct trigger_watch *watch, uint32_t mask, uint64_t ns, uint64_t value,
			 const char *what, const struct watch_thread *thread)
{
	if (mask)
		watch_hit(watch, mask, ns, value, what, thread->process->owner, thread);
}

/* ---- chains ---- */

static const struct trigger *chain_of(const struct trigger_watch *watch, unsigned chain)
{
	return &watch->triggers->item[watch->chain_condition[chain]];
}

/* "/scan -> /cmd_vel" */
static void watch_chain_name(const struct trigger *chain, char what[TRIGGER_WHAT_MAX])
{
	const char *step = chain->name;
	int used = 0;

	what[0] = 0;
	for (unsigned i = 0; i < chain->steps && used < TRIGGER_WHAT_MAX;
	     i++, step += strlen(step) + 1)
		used += snprintf(what + used, (size_t)(TRIGGER_WHAT_MAX - used), "%s%s", i ? " -> " : "", step);
}

static void pass_step(const struct trigger_watch *watch, struct watch_carry *carry,
		      const uint8_t *steps, uint64_t ns, bool restarts)
{
	for (unsigned i = 0; i < watch->chains; i++) {
		if (!steps[i])
			continue;
		if (steps[i] & 1 && (restarts || !carry->since_ns[i])) {
			carry->since_ns[i] = ns;
			carry->step[i] = 1;
			carry->any = true;
		} else if (carry->since_ns[i] && carry->step[i] < TRIGGER_STEPS_MAX &&
			   steps[i] & 1u << carry->step[i]) {
			carry->step[i]++;
		}
	}
}

/* The chains that @carry has completed: are they too long? They end here. */
static void judge_chains(struct trigger_watch *watch, struct watch_carry *carry, uint64_t ns,
			 const struct watch_thread *thread)
{
	if (!carry->any)
		return;
	for (unsigned i = 0; i < watch->chains; i++) {
		const struct trigger *chain = chain_of(watch, i);

		if (!carry->since_ns[i] || carry->step[i] < chain->steps)
			continue;
		if (ns > carry->since_ns[i] && ns - carry->since_ns[i] > chain->over_ns) {
			char what[TRIGGER_WHAT_MAX];

			watch_chain_name(chain, what);
			watch_hit_at(watch, 1u << watch->chain_condition[i], ns,
				     ns - carry->since_ns[i], what, thread);
		}
		carry->since_ns[i] = 0;
	}
}

/* ---- publishing ---- */

static void on_publish(struct trigger_watch *watch, const struct watch_note *note)
{
	struct watch_thread *thread = note->thread;
	struct watch_topic *topic = &watch->topic[note->topic];
	/* A publish call that uses both paths begins with the one within the process. */
	const bool again = note->kind == WATCH_PUBLISH && thread->intra &&
			   thread->publishes == note->topic && thread->publisher == note->a;

	thread->intra = note->kind == WATCH_INTRA;
	if (again)
		return;
	thread->publishes = note->topic;
	thread->publisher = note->a;
	thread->published_ns = note->ns;
	thread->sent =
		thread->depth ? thread->run[thread->depth - 1].carry : (struct watch_carry){ 0 };
	pass_step(watch, &thread->sent, topic->steps, note->ns, true);
	if (!topic->subscriptions)
		judge_chains(watch, &thread->sent, note->ns, thread);
	watch_published(watch, topic, note->ns, thread->process->owner);
}

static void on_stamp(struct trigger_watch *watch, const struct watch_note *note)
{
	struct watch_thread *thread = note->thread;
	struct watch_topic *topic = thread->publishes < 0 ? NULL : &watch->topic[thread->publishes];
	struct watch_message *message;

	thread->publishes = -1;
	thread->intra = false;
	if (!topic || !note->b || (!thread->sent.any && !topic->conditions))
		return;
	if (!topic->message)
		topic->message = calloc(WATCH_MESSAGES, sizeof *topic->message);
	if (!topic->message)
		return;
	message = &topic->message[topic->next++ % WATCH_MESSAGES];
	*message = (struct watch_message){ .source_ns = (int64_t)note->b,
					   .published_ns = thread->published_ns,
					   .publisher = thread->publisher ^
							(uintptr_t)thread->process << 16,
					   .carry = thread->sent };
}

/* ---- receiving ---- */

/* Messages that came before @index from the same publisher, and that the subscription did not
 * receive: it never will. */
static void judge_lost(struct trigger_watch *watch, struct watch_topic *topic, uint32_t index,
		       const struct watch_note *note)
{
	const struct watch_end *end = note->at;
	const struct watch_message *taken = &topic->message[index % WATCH_MESSAGES];
	const uint64_t bit = 1ull << end->ordinal;
	uint64_t lost = 0;

	for (uint32_t back = 1; back < WATCH_MESSAGES; back++) {
		struct watch_message *message = &topic->message[(index - back) % WATCH_MESSAGES];

		if (!message->source_ns || message->taken & bit)
			break;
		if (message->publisher == taken->publisher &&
		    message->source_ns < taken->source_ns) {
			message->taken |= bit;
			lost++;
		}
	}
	if (end->took && lost)
		watch_hit_at(watch, topic->conditions & triggers_of(watch->triggers, TRIGGER_LOST),
			     note->ns, lost, topic->name, note->thread);
}

static void on_take(struct trigger_watch *watch, const struct watch_note *note)
{
	struct watch_thread *thread = note->thread;
	struct watch_topic *topic = &watch->topic[note->topic];
	struct watch_end *end = note->at;

	thread->took = note->topic;
	thread->received = (struct watch_carry){ 0 };
	thread->took_ns = 0;
	for (uint32_t back = 1; topic->message && back <= WATCH_MESSAGES; back++) {
		const uint32_t index = topic->next - back;
		struct watch_message *message = &topic->message[index % WATCH_MESSAGES];

		if (message->source_ns != (int64_t)note->b)
			continue;
		thread->received = message->carry;
		thread->took_ns = message->published_ns;
		if (topic->conditions && end->ordinal < 64) {
			message->taken |= 1ull << end->ordinal;
			judge_lost(watch, topic, index, note);
		}
		break;
	}
	end->took = true;
}

static void on_start(struct trigger_watch *watch, const struct watch_note *note)
{
	struct watch_thread *thread = note->thread;
	struct watch_callback *callback = note->at;
	struct watch_run *run;

	if (thread->depth == WATCH_RUNS_MAX)
		thread->depth = 0;	/* exceptions left callbacks without an end */
	run = &thread->run[thread->depth++];
	*run = (struct watch_run){
		.address = note->a, .callback = callback, .start_ns = note->ns,
		.counted_ns = note->ns,
	};
	if (callback->topic >= 0 && callback->topic == thread->took) {
		const struct watch_topic *topic = &watch->topic[thread->took];
		const uint32_t mask =
			topic->conditions & triggers_of(watch->triggers, TRIGGER_LATENCY);
		const uint64_t waited = thread->took_ns && note->ns > thread->took_ns
						? note->ns - thread->took_ns
						: 0;

		run->carry = thread->received;
		watch_hit_at(watch, trigger_exceeded(watch->triggers, mask, waited), note->ns,
			     waited, topic->name, thread);
	}
	thread->took = thread->publishes = -1;
	thread->intra = false;
	pass_step(watch, &run->carry, callback->steps, note->ns, false);
	if (callback->late && callback->started_ns &&
	    note->ns > callback->started_ns + callback->period_ns) {
		const uint64_t late = note->ns - callback->started_ns - callback->period_ns;

		watch_hit_at(watch, trigger_exceeded(watch->triggers, callback->late, late),
			     note->ns, late, callback->name, thread);
	}
	callback->started_ns = note->ns;
}

static void on_end(struct trigger_watch *watch, const struct watch_note *note)
{
	struct watch_thread *thread = note->thread;
	unsigned at = thread->depth;

	while (at && thread->run[at - 1].address != note->a)
		at--;
	if (!at)
		return;
	at--;
	judge_chains(watch, &thread->run[at].carry, note->ns, thread);
	if (!at && watch->on_busy) {
		watch_ran(watch, thread->process->entity, thread->run[0].counted_ns, note->ns,
			  thread->process->owner);
		watch_ran(watch, thread->run[0].callback->node, thread->run[0].counted_ns, note->ns,
			  thread->process->owner);
	}
	thread->depth = at;
	thread->publishes = -1;
	thread->intra = false;
}

/* ---- within a process ---- */

struct stored { struct watch_carry carry; uint64_t published_ns; int topic; };

static uint64_t place_of(const struct watch_note *note)
{
	return note->a ^ (uintptr_t)note->thread->process << 16;
}

static void on_store(struct trigger_watch *watch, const struct watch_note *note)
{
	const struct watch_thread *thread = note->thread;
	const struct watch_topic *topic =
		thread->publishes < 0 ? NULL : &watch->topic[thread->publishes];
	struct stored *stored = map_get(&watch->stored, place_of(note), note->b);

	if (topic && note->flag)
		watch_hit_at(watch, topic->conditions & triggers_of(watch->triggers, TRIGGER_LOST),
			     note->ns, 1, topic->name, thread);
	if (!stored && topic && watch->stored.count < WATCH_STORED_MAX)
		stored = map_at(&watch->stored, place_of(note), note->b, sizeof *stored);
	if (!stored)
		return;
	*stored = (struct stored){ .topic = -1 };
	if (topic)
		*stored = (struct stored){
			.carry = thread->sent, .published_ns = thread->published_ns,
			.topic = thread->publishes,
		};
}

static void on_fetch(struct trigger_watch *watch, const struct watch_note *note)
{
	struct stored *stored = map_get(&watch->stored, place_of(note), note->b);
	struct watch_thread *thread = note->thread;

	if (!stored)
		return;
	thread->took = stored->topic;
	thread->took_ns = stored->published_ns;
	thread->received = stored->carry;
	stored->topic = -1;
}

/* What is open, is not known any more; messages that are kept may be lost or not. */
static void on_lost(struct trigger_watch *watch, uint64_t ns)
{
	for (struct watch_thread *thread = watch->threads; thread; thread = thread->next) {
		thread->depth = 0;
		thread->took = thread->publishes = -1;
	}
	for (unsigned i = 0; i < watch->topics; i++)
		for (unsigned j = 0; watch->topic[i].message && j < WATCH_MESSAGES; j++)
			watch->topic[i].message[j].source_ns = 0;
	for (struct watch_process *process = watch->processes; process; process = process->next) {
		const struct map_slot *slot;
		size_t at = 0;

		while ((slot = map_next(&process->callbacks, &at)))
			((struct watch_callback *)slot->value)->started_ns = 0;
	}
	map_free_all(&watch->stored);
	watch_levels_restart(watch, ns);
}

void watch_apply(struct trigger_watch *watch, const struct watch_note *note)
{
	if (watch->on_busy && note->ns >= watch->second_ns) {
		if (watch->second_ns)
			watch_count_open(watch, note->ns / WATCH_SECOND * WATCH_SECOND);
		watch->second_ns = (note->ns / WATCH_SECOND + 1) * WATCH_SECOND;
	}
	switch ((enum watch_kind)note->kind) {
	case WATCH_PUBLISH:
	case WATCH_INTRA:
		on_publish(watch, note);
		break;
	case WATCH_STAMP:
		on_stamp(watch, note);
		break;
	case WATCH_TAKE:
		on_take(watch, note);
		break;
	case WATCH_START:
		on_start(watch, note);
		break;
	case WATCH_END:
		on_end(watch, note);
		break;
	case WATCH_STORE:
		on_store(watch, note);
		break;
	case WATCH_FETCH:
		on_fetch(watch, note);
		break;
	case WATCH_LOST:
		on_lost(watch, note->ns);
		break;
	}
}
