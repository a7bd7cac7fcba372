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
#include "analysis/why/why_fate.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"

/* Number of the latest waits of a thread's executor that are kept. */
#define WAITS 64u
/* Number of the latest losses that are kept. */
#define GAPS 1024u
/* Number of the latest messages of a topic whose times are kept. A longer queue is never full. */
#define RECENT 1024u
/* A message in the queue would have ended such a wait sooner. */
#define WAITED_MIN_NS 5000000
/* A message published this shortly before the last event of a process may have been on its way. */
#define IN_FLIGHT_NS 100000000

struct record {
	struct fate pub;
	struct record *next;		/* next open record of the same subscription */
	uint64_t published;		/* messages published on the topic before it */
	/*
	 * The subscription received a message that this publisher had published earlier, so the two
	 * knew each other.
	 */
	bool before;
	uint64_t backlog; /* messages since the next one, with it, at its take */
	enum model_lost lost;
	bool is_dropped;
};

/* Events of @process, or of an unknown process (NULL), were lost. */
struct gap {
	const struct model_process *process;
	int64_t begin_ns, end_ns;
};

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

struct fates {
	struct model *model;
	struct map ids;			/* requested id -> this struct */
	struct record **record;
	unsigned records, room;
	struct map open;		/* (subscription, 0) -> first open record */
	struct map took;		/* (subscription, publisher) -> this struct */
	/* (subscription, 0) -> the receiving model_thread; several threads: this struct */
	struct map takers;
	struct map recent; /* (topic, 0) -> struct recent */
	/* (publisher, 0) -> id of its latest message, which may be reported twice */
	struct map last;
	struct map waits;		/* (thread, 0) -> struct waits */
	struct gap gap[GAPS];		/* ring */
	uint64_t gaps;
	bool failed;
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
	struct record *record;

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

/* Can the clocks of the two hosts be compared? */
static bool compares(const struct model_publisher *publisher,
		     const struct model_subscription *subscription, int64_t ns)
{
	return model_clock_error(publisher->process, subscription->process, ns) !=
	       KYMO_CTF_ERROR_UNKNOWN;
}

static void begin(struct fates *fates, const struct model_message *message)
{
	unsigned before = fates->records;

	for (unsigned i = 0; i < model_count(fates->model, MODEL_SUBSCRIPTION); i++) {
		const struct model_subscription *subscription = model_subscription(fates->model, i);

		if (subscription->topic == message->topic &&
		    (subscription->born_ns <= message->publish_ns ||
		     !compares(message->publisher, subscription, message->publish_ns)))
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

static void decide(struct fates *fates, struct record *record, const struct model_message *taken)
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
	struct record *first, *record, **at;

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
		struct record *record = fates->record[i];

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
		fates->gap[fates->gaps++ % GAPS] = (struct gap){
			loss->thread ? loss->thread->process : NULL, loss->begin_ns, loss->end_ns };
}

static const struct model_listener listener = {
	.published = on_published,
	.taken = on_taken,
	.dropped = on_dropped,
	.executor = on_executor,
	.loss = on_loss,
};

/* ---- the reasons ---- */

/*
 * Were events lost until the next take? A message may be received a little later than that take, by
 * another thread.
 */
static bool fell_into_gap(const struct fates *fates, const struct fate *fate)
{
	for (unsigned i = 0; i < GAPS && i < fates->gaps; i++) {
		const struct gap *gap = &fates->gap[i];

		if ((!gap->process || gap->process == fate->subscription->process) &&
		    gap->end_ns >= fate->publish_ns &&
		    (!fate->next_ns || gap->begin_ns <= fate->next_ns))
			return true;
	}
	return false;
}

/* The reason why @record was passed over, from what happened until the subscription's next take. */
static enum fate_why why_passed(const struct fates *fates, const struct record *record)
{
	const struct model_subscription *subscription = record->pub.subscription;
	bool waited = record->pub.waited_ns >= WAITED_MIN_NS;

	/*
	 * With several receiving threads a wait proves nothing: one thread may wait for work while
	 * the callback group of the subscription keeps the message in the queue.
	 */
	if (waited && map_get(&fates->takers, subscription->index, 0) != fates)
		return record->before ? FATE_UNDERWAY : FATE_NOT_YET;
	if (subscription->depth && record->backlog >= subscription->depth)
		return FATE_OVERRUN;
	if (!record->before)
		return FATE_NOT_YET;
	return !waited && subscription->depth && record->pub.newer >= subscription->depth
		       ? FATE_OVERRUN
		       : FATE_UNKNOWN;
}

static enum fate_why why_of(const struct fates *fates, struct record *record)
{
	static const enum fate_why proved[MODEL_LOSTS] = {
		[MODEL_LOST_NOT_SENT] = FATE_NOT_SENT,	 [MODEL_LOST_WIRE] = FATE_WIRE,
		[MODEL_LOST_REJECTED] = FATE_REJECTED,	 [MODEL_LOST_QUEUE] = FATE_QUEUE,
		[MODEL_LOST_NOT_TAKEN] = FATE_NOT_TAKEN,
	};
	const struct model_subscription *subscription = record->pub.subscription;

	if (!subscription)
		return record->pub.why;
	record->pub.is_timed =
		compares(record->pub.publisher, subscription, record->pub.publish_ns);
	if (record->is_dropped || record->pub.why != FATE_UNKNOWN)
		return record->pub.why;
	if (!record->pub.is_timed)
		return FATE_UNKNOWN;
	if (fell_into_gap(fates, &record->pub))
		return FATE_GAP;
	if (record->lost)
		return proved[record->lost];
	record->pub.last_ns = model_process_last(subscription->process);
	if (!record->pub.next_id && record->pub.last_ns < record->pub.publish_ns + IN_FLIGHT_NS)
		return FATE_GONE;
	if (!map_get(&fates->took, subscription->index, record->pub.publisher->index))
		return FATE_NEVER;
	if (!record->pub.next_id)
		return FATE_NO_MORE;
	return why_passed(fates, record);
}

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
		fates->record[i]->pub.why = why_of(fates, fates->record[i]);
	return fates->failed ? err_no_memory(err) : 0;
}

PASS_DESTROY(fates)
const struct pass_ops fates_pass = { .turn = PASS_AFTER_MODEL,
				     .finish = find_reasons,
				     .destroy = fates_pass_destroy };
