/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fate of messages; see why_fate.h.
 *
 * The idea: for each requested message, a record per subscription of the topic stays open until the
 * subscription receives a newer message of the same publisher. This next take shows that the
 * message was skipped. Then the number of newer messages and the executor's waiting time until the
 * take are the evidence for the reason. The strongest evidence is a full queue: when the next
 * message was received, at least as many messages had been published since then, the next one
 * included, as the queue holds. So the one before it can have been displaced.
 */
#include "analysis/why/why_fate_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Number of the latest waits of a thread's executor that are kept. */
#define WAITS 64u
/* Number of the latest messages of a topic whose times are kept. A longer queue is never full. */
#define RECENT 1024u

/* When the latest messages of a topic were published: a ring. */
struct recent {
	int64_t ns[RECENT];
	uint64_t count; /* of all messages of the topic */
};

/* A ring of the latest waits for work. */
struct waits {
	int64_t start_ns[WAITS], end_ns[WAITS];
	uint64_t count;
};

const char *fate_why_name(enum fate_why why)
{
	static const char *const names[FATE_WHYS] = {
		[FATE_CAME] = "came",		[FATE_NO_CALLBACK] = "no_callback", [FATE_OVERWRITTEN] = "overwritten",
		[FATE_CLEARED] = "cleared",	[FATE_GAP] = "gap",		    [FATE_GONE] = "gone",
		[FATE_NEVER] = "never",		[FATE_NOT_YET] = "not_yet",	    [FATE_NO_MORE] = "no_more",
		[FATE_UNDERWAY] = "underway",	[FATE_OVERRUN] = "overrun",
		[FATE_NOT_SENT] = "not_sent",	[FATE_WIRE] = "wire",
		[FATE_REJECTED] = "rejected",	[FATE_QUEUE] = "queue",
		[FATE_NOT_TAKEN] = "not_taken", [FATE_UNKNOWN] = "unknown",
	};

	return names[why];
}

static void put(struct fates *fates, struct map *map, uint64_t key, uint64_t scope, void *value)
{
	fates->failed |= map_put(map, key, scope, value) != 0;
}

/* ---- publications ---- */

static uint64_t published(const struct fates *fates, const struct model_topic *topic)
{
	const struct recent *recent = map_get(&fates->recent, topic->index, 0);

	return recent ? recent->count : 0;
}

/* How many messages of the topic were published since @ns? */
static uint64_t published_since(const struct fates *fates, const struct model_topic *topic,
				int64_t ns)
{
	const struct recent *recent = map_get(&fates->recent, topic->index, 0);
	uint64_t count = 0;

	for (unsigned i = 0; recent && i < RECENT && i < recent->count; i++)
		count += recent->ns[i] >= ns;
	return count;
}

static void add(struct fates *fates, const struct model_message *message,
		const struct model_subscription *subscription)
{
	struct fate_record *record;

	if (fates->records == FATES_MAX)
		return;
	if (!ARRAY_ROOM(fates->record, fates->records, fates->room)) {
		fates->failed = true;
		return;
	}
	record = calloc(1, sizeof(*record));
	if (!record) {
		fates->failed = true;
		return;
	}
	fates->record[fates->records++] = record;
	record->pub = (struct fate){
		.id = message->id,
		.publisher = message->publisher,
		.publish_thread = message->publish_thread,
		.subscription = subscription,
		.publish_ns = message->publish_ns,
		.send_ns = message->send_ns,
		.why = FATE_UNKNOWN,
	};
	record->published = published(fates, message->topic);
	if (!subscription)
		return;
	record->before = map_get(&fates->took, subscription->index, message->publisher->index);
	record->next = map_get(&fates->open, subscription->index, 0);
	put(fates, &fates->open, subscription->index, 0, record);
}

static void begin(struct fates *fates, const struct model_message *message)
{
	unsigned before = fates->records;

	for (unsigned i = 0; i < model_count(fates->model, MODEL_SUBSCRIPTION); i++) {
		const struct model_subscription *subscription = model_subscription(fates->model, i);

		if (subscription->topic == message->topic &&
		    (subscription->born_ns <= message->publish_ns ||
		     !fate_is_timed(message->publisher, subscription, message->publish_ns)))
			add(fates, message, subscription);
	}
	if (fates->records == before)
		add(fates, message, NULL);
}

/* A publish call that uses both paths is reported twice. */
static void on_published(void *context, const struct model_message *message)
{
	struct fates *fates = context;
	struct recent *recent;

	if (!message->id || !message->publisher || !message->topic)
		return;
	if ((uint64_t)(uintptr_t)map_get(&fates->last, message->publisher->index, 0) == message->id)
		return;
	put(fates, &fates->last, message->publisher->index, 0, (void *)(uintptr_t)message->id);
	recent = map_at(&fates->recent, message->topic->index, 0, sizeof(*recent));
	fates->failed |= !recent;
	if (!recent)
		return;
	recent->ns[recent->count++ % RECENT] = message->publish_ns;
	if (map_get(&fates->ids, message->id, 0))
		begin(fates, message);
}

/* ---- takes ---- */

/* How long @thread is known to have waited for work in this time. */
static int64_t waited(const struct fates *fates, const struct model_thread *thread, int64_t from_ns,
		      int64_t to_ns)
{
	const struct waits *waits = thread ? map_get(&fates->waits, thread->index, 0) : NULL;
	int64_t sum_ns = 0, start_ns, end_ns;

	if (!waits)
		return -1;
	for (unsigned i = 0; i < WAITS && i < waits->count; i++) {
		start_ns = waits->start_ns[i] > from_ns ? waits->start_ns[i] : from_ns;
		end_ns = waits->end_ns[i] < to_ns ? waits->end_ns[i] : to_ns;
		sum_ns += end_ns > start_ns ? end_ns - start_ns : 0;
	}
	return sum_ns;
}

static void decide(struct fates *fates, struct fate_record *record,
		   const struct model_message *taken)
{
	record->pub.next_id = taken->id;
	record->pub.next_ns = taken->take_ns;
	record->pub.newer = published(fates, taken->topic) - record->published;
	record->backlog = published_since(fates, taken->topic, taken->publish_ns);
	record->pub.waited_ns =
		waited(fates, taken->take_thread, record->pub.publish_ns, taken->take_ns);
}

/* Remembers that the subscription receives messages of this publisher, and on which thread. */
static void know(struct fates *fates, const struct model_message *message)
{
	uint32_t subscription = message->subscription->index;
	const void *taker = map_get(&fates->takers, subscription, 0);

	if (!map_get(&fates->took, subscription, message->publisher->index))
		put(fates, &fates->took, subscription, message->publisher->index, fates);
	if (message->take_thread && taker != message->take_thread && taker != fates)
		put(fates, &fates->takers, subscription, 0,
		    taker ? (void *)fates : (void *)(uintptr_t)message->take_thread);
}

/*
 * Messages of one publisher are received in order; with several threads they may be reported
 * slightly out of order.
 */
static void on_taken(void *context, const struct model_message *message)
{
	struct fates *fates = context;
	struct fate_record *first, *record, **at;

	if (!message->id || !message->subscription || !message->publisher || !message->topic ||
	    !message->take_ns)
		return;
	know(fates, message);
	if (map_get(&fates->ids, message->id, 0))
		for (unsigned i = fates->records; i-- > 0;) {
			record = fates->record[i];
			if (record->pub.id != message->id ||
			    record->pub.subscription != message->subscription)
				continue;
			record->pub.take_ns = message->take_ns;
			record->pub.why = message->callback ? FATE_CAME : FATE_NO_CALLBACK;
			break;
		}
	first = map_get(&fates->open, message->subscription->index, 0);
	if (!first)
		return;
	for (at = &first; (record = *at);) {
		if (record->pub.publisher != message->publisher || record->pub.id >= message->id) {
			record->before |= record->pub.publisher == message->publisher &&
					  record->pub.id > message->id;
			at = &record->next;
			continue;
		}
		decide(fates, record, message);
		*at = record->next;
	}
	if (first)
		put(fates, &fates->open, message->subscription->index, 0, first);
	else
		(void)map_del(&fates->open, message->subscription->index, 0);
}

static void on_dropped(void *context, const struct model_message *message, enum model_drop why)
{
	struct fates *fates = context;

	if (!map_get(&fates->ids, message->id, 0))
		return;
	for (unsigned i = fates->records; i-- > 0;) {
		struct fate_record *record = fates->record[i];

		if (record->pub.id != message->id ||
		    (message->subscription && record->pub.subscription != message->subscription))
			continue;
		record->lost = message->lost;
		if (why == MODEL_DROP_UNTAKEN)
			continue;
		record->is_dropped = true;
		record->pub.why = why == MODEL_DROP_CLEARED ? FATE_CLEARED : FATE_OVERWRITTEN;
	}
}

/* ---- other events of the model ---- */

static void on_executor(void *context, const struct model_executor_interval *interval)
{
	struct fates *fates = context;
	struct waits *waits;
	unsigned at;

	if (interval->state != MODEL_EXECUTOR_WAIT_FOR_WORK || !interval->end_ns)
		return;
	waits = map_at(&fates->waits, interval->thread->index, 0, sizeof(*waits));
	fates->failed |= !waits;
	if (!waits)
		return;
	at = waits->count++ % WAITS;
	waits->start_ns[at] = interval->start_ns;
	waits->end_ns[at] = interval->end_ns;
}

static void on_loss(void *context, const struct model_loss *loss)
{
	struct fates *fates = context;

	if (!loss->is_elsewhere)
		fates->gap[fates->gaps++ % FATE_GAPS] =
			(struct fate_gap){ loss->thread ? loss->thread->process : NULL,
					   loss->begin_ns, loss->end_ns };
}

static const struct model_listener listener = {
	.published = on_published,
	.taken = on_taken,
	.dropped = on_dropped,
	.executor = on_executor,
	.loss = on_loss,
};

const struct fate *fates_at(const struct fates *fates, unsigned index)
{
	return fates && index < fates->records ? &fates->record[index]->pub : NULL;
}

static void fates_destroy(struct fates *fates)
{
	if (!fates)
		return;
	for (unsigned i = 0; i < fates->records; i++)
		free(fates->record[i]);
	free(fates->record);
	map_free(&fates->ids);
	map_free(&fates->open);
	map_free(&fates->took);
	map_free(&fates->takers);
	map_free(&fates->last);
	map_free_all(&fates->recent);
	map_free_all(&fates->waits);
	free(fates);
}

int fates_create(struct fates **out, struct model *model, const uint64_t *id, unsigned ids,
		 struct kymo_err *err)
{
	struct fates *fates = calloc(1, sizeof(*fates));

	if (!fates)
		return err_no_memory(err);
	fates->model = model;
	for (unsigned i = 0; i < ids; i++)
		put(fates, &fates->ids, id[i], 0, fates);
	if (fates->failed) {
		fates_destroy(fates);
		return err_no_memory(err);
	}
	if (model_listen(model, &listener, fates, err)) {
		fates_destroy(fates);
		return -1;
	}
	*out = fates;
	return 0;
}

static int find_reasons(void *analysis, struct kymo_err *err)
{
	struct fates *fates = analysis;

	for (unsigned i = 0; i < fates->records; i++)
		fates->record[i]->pub.why = fate_reason(fates, fates->record[i]);
	return fates->failed ? err_no_memory(err) : 0;
}

PASS_DESTROY(fates)
const struct pass_ops fates_pass = { .turn = PASS_AFTER_MODEL,
				     .finish = find_reasons,
				     .destroy = fates_pass_destroy };
