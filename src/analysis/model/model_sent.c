/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that can still be received.
 *
 * The idea: each publisher has a ring of its latest messages, and a map finds a message in the
 * rings by its source timestamp and topic. When the ring overwrites a message, or when the trace
 * ends, the message is reported as dropped once for each subscription that should have received it
 * and did not.
 */
#include <string.h>

#include "analysis/model/model_internal_messages.h"

void model_sent_message(const struct sent *sent, struct model_message *message)
{
	*message = (struct model_message){
		.id = sent->id,
		.publisher = &sent->publisher->pub,
		.topic = sent->publisher->pub.topic,
		.publish_thread = &sent->thread->pub,
		.from = sent->from ? &sent->from->pub : NULL,
		.from_instance = sent->from_instance,
		.publish_ns = sent->publish_ns,
		.rcl_ns = sent->rcl_ns,
		.send_ns = sent->send_ns,
		.source_ns = sent->source_ns,
		.stamp_ns = sent->stamp_ns,
		.size = sent->size,
	};
}

/* A message younger than this may have been on its way when the trace ended. */
#define IN_FLIGHT_NS 100000000ll

static bool was_taken(const struct sent *sent, const struct subscription *subscription)
{
	unsigned word = subscription->ordinal / 64;
	uint64_t bits = !word                       ? sent->taken
			: word <= sent->taken_words ? sent->taken_more[word - 1]
						    : 0;

	return bits >> subscription->ordinal % 64 & 1;
}

void model_sent_taken(struct model *model, struct sent *sent,
		      const struct subscription *subscription)
{
	unsigned word = subscription->ordinal / 64,
		 words = subscription->topic->pub.subscriptions / 64;
	uint64_t bit = 1ull << subscription->ordinal % 64, *more;

	if (word > sent->taken_words) {
		more = model_alloc(model, words * sizeof(*more));
		if (!more)
			return;
		for (unsigned i = 0; i < words; i++)
			more[i] = i < sent->taken_words ? sent->taken_more[i] : 0;
		sent->taken_more = more;
		sent->taken_words = words;
	}
	*(word ? &sent->taken_more[word - 1] : &sent->taken) |= bit;
}

/* A place of the ring; NULL: no message has come there yet. */
static struct sent *sent_place(const struct publisher *publisher, unsigned at)
{
	struct sent *block;

	at &= publisher->sent_size - 1;
	block = publisher->sent[at / SENT_BLOCK];
	return block ? &block[at % SENT_BLOCK] : NULL;
}

/* Did @subscription receive a message that the publisher of @sent published later? */
static bool was_overtaken(const struct sent *sent, const struct subscription *subscription)
{
	for (unsigned i = 0; i < sent->publisher->sent_size; i++) {
		const struct sent *other = sent_place(sent->publisher, i);

		if (other && other->id > sent->id && was_taken(other, subscription))
			return true;
	}
	return false;
}

/*
 * Should @subscription have received @sent? Then the subscription was created before the
 * publication and existed afterwards, its process had events afterwards, and it did not receive the
 * message through a ring buffer.
 */
static bool was_expected(const struct sent *sent, const struct subscription *subscription,
			 bool at_end)
{
	const struct process *process = (const struct process *)subscription->pub.process;

	if (subscription->pub.born_ns > sent->publish_ns || process->last_ns < sent->publish_ns ||
	    (subscription->gone_ns && subscription->gone_ns < sent->publish_ns))
		return false;
	if (sent->also_intra && subscription->has_intra && process == sent->thread->process)
		return false;
	return !at_end || process->last_ns - IN_FLIGHT_NS >= sent->publish_ns ||
	       was_overtaken(sent, subscription);
}

static void report_one_untaken(struct model *model, const struct sent *sent,
			       const struct subscription *subscription)
{
	struct model_message message;

	model_sent_message(sent, &message);
	message.subscription = &subscription->pub;
	message.lost = model_lost_where(model, &message, &subscription->pub);
	if (message.lost == MODEL_LOST_NOT_TAKEN && was_overtaken(sent, subscription))
		message.lost = model_lost_in_queue(&message);
	EMIT(model, dropped, &message, MODEL_DROP_UNTAKEN);
}

static void report_untaken(struct model *model, const struct sent *sent, bool at_end)
{
	const struct subscription *s;

	for (s = sent->publisher->topic->subscriptions; s; s = s->next)
		if (!was_taken(sent, s) && was_expected(sent, s, at_end))
			report_one_untaken(model, sent, s);
}

static void sent_forget(struct model *model, struct sent *sent, bool at_end)
{
	uint64_t scope;

	if (!sent->id)
		return;
	scope = sent->publisher->topic->pub.index;
	/* Another publisher of the topic may have a message with the same timestamp. */
	map_del_if(&model->sent, (uint64_t)sent->source_ns, scope, sent);
	report_untaken(model, sent, at_end);
	sent->id = 0;
}

static unsigned window_size(const struct publisher *publisher)
{
	uint64_t depth = publisher->pub.depth, most = SENT_MIN, size = SENT_MIN;

	if (publisher->topic->depth_max > depth)
		depth = publisher->topic->depth_max;
	if (depth > most / 2)
		most = depth < SENT_MAX / 2 ? depth * 2 : SENT_MAX;
	while (size < most)
		size *= 2;
	return size;
}

/* The next place of the ring. A publisher with few messages has few blocks. Return: NULL: no
 * memory. */
static struct sent *sent_next(struct model *model, struct publisher *publisher)
{
	struct sent **block;
	unsigned at;

	if (!publisher->sent) {
		const unsigned size = window_size(publisher);

		publisher->sent = model_alloc(model, size / SENT_BLOCK * sizeof(*publisher->sent));
		if (!publisher->sent)
			return NULL;
		publisher->sent_size = size;
	}
	at = publisher->sent_next & (publisher->sent_size - 1);
	block = &publisher->sent[at / SENT_BLOCK];
	if (!*block)
		*block = model_alloc(model, SENT_BLOCK * sizeof(**block));
	return *block ? sent_place(publisher, publisher->sent_next++) : NULL;
}

struct sent *model_sent_new(struct model *model, struct publisher *publisher)
{
	struct sent *sent = sent_next(model, publisher);
	uint64_t *more;

	if (!sent)
		return NULL;
	sent_forget(model, sent, false);
	more = sent->taken_more;
	if (more)
		memset(more, 0, sent->taken_words * sizeof(*more));
	*sent = (struct sent){ .publisher = publisher,
			       .taken_more = more,
			       .taken_words = sent->taken_words };
	return sent;
}

void model_sent_forget_all(struct model *model)
{
	const struct list *list = &model->list[MODEL_PUBLISHER];

	/* The oldest first: the newer ones show which messages were overtaken. */
	for (unsigned i = 0; i < list->count; i++) {
		struct publisher *publisher = list->item[i];

		for (unsigned j = 0; j < publisher->sent_size; j++) {
			struct sent *sent = sent_place(publisher, publisher->sent_next + j);

			if (sent)
				sent_forget(model, sent, true);
		}
	}
}
