/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing to the init log. All threads share the log, so a writer reserves its bytes by moving
 * log_tail with a compare-exchange, and marks the record as complete with the stamp. The recorder
 * may read at any time. abi/region.h draws the log.
 */
#include "inside/tracer/tracer_initlog_internal.h"

#include "inside/tracer/tracer_calm.h"

/* In a full log a fact waits for threads that keep the log from being cleaned: so long, and then a
 * little for the cleaning. */
#define FULL_WAIT_NS (kymo_log_patience_ns + 2000000000ull)
#define FULL_TRIES                                                                                \
	64 /* in a log that is full and nobody keeps from being cleaned: other threads may use up \
	      the room first */

static bool drop_fact(struct kymo_process *process)
{
	if (process && process->region)
		(void)__atomic_fetch_add(&process->region->log_dropped, 1, __ATOMIC_RELAXED);
	return false;
}

static bool grow(struct kymo_process *process, uint64_t index, unsigned leave)
{
	int error = 0;

	if (!kymo_region_lock(process))
		return false;
	while (!error && index >= process->region->log_chunk_count)
		error = kymo_region_add_log_chunk(process, leave);
	kymo_region_unlock(process);
	return !error;
}

/*
 * Whether @writer may write into chunk @index; if the chunk does not exist, create it. A chunk that
 * the cleaner took from the spare ones is the cleaner's, until it has freed others: facts that used
 * it up would leave no room to copy a fact that holds, and the log would stay full for good.
 */
static bool chunk_ready(struct kymo_process *process, struct kymo_thread *thread, uint64_t index,
			enum log_writer writer)
{
	const unsigned leave = writer == LOG_CLEANER ? 0 : writer == LOG_GONE ? 1 : KYMO_LOG_SPARE;
	struct kymo_calm calm;
	bool grown;

	if (index < __atomic_load_n(&process->region->log_chunk_count, __ATOMIC_ACQUIRE))
		return __atomic_load_n(&process->log_lent, __ATOMIC_RELAXED) + leave <=
		       KYMO_LOG_SPARE;
	if (writer == LOG_CLEANER)
		return grow(process, index, leave);
	if (thread->in_slow)
		return false;		/* in a signal handler that interrupted a slow path */
	kymo_calm_begin(&calm);
	thread->in_slow = 1;
	kymo_signal_fence();
	grown = grow(process, index, leave);
	kymo_signal_fence();
	thread->in_slow = 0;
	kymo_calm_end(&calm);
	return grown;
}

static void commit_at(struct kymo_log_record *record, uint64_t position)
{
	__atomic_store_n(&record->stamp, KYMO_LOG_STAMP ^ position, __ATOMIC_RELEASE);
}

/* Fill the last @rest bytes of a chunk, into which the next record does not fit. */
static void pad(struct kymo_process *process, uint64_t position, uint64_t rest)
{
	struct kymo_log_record *record = kymo_log_at(process, position);

	if (rest < LOG_HEADER)
		return;
	record->size = (uint32_t)rest;
	record->id = KYMO_LOG_PAD;
	commit_at(record, position);
}

/*
 * A claim protects the bytes that the thread writes: the cleaner stops at an incomplete record if a
 * claim is at or before it. If a signal handler interrupts a writer, the claim of the interrupted
 * writer is at an earlier position, and protects the handler's record, too. The cleaner's own
 * copies need no claim.
 */
static void claim(struct kymo_thread *thread, uint64_t outer, uint64_t position,
		  enum log_writer writer)
{
	if (!outer && writer != LOG_CLEANER)
		__atomic_store_n(&thread->log_claim, position + 1, __ATOMIC_RELAXED);
}

uint64_t kymo_log_take(struct kymo_process *process, struct kymo_thread *thread, uint64_t size,
		       enum log_writer writer, uint64_t *ns)
{
	uint64_t *tail = &process->region->log_tail;
	const uint64_t outer = thread->log_claim;

	for (;;) {
		uint64_t at = __atomic_load_n(tail, __ATOMIC_ACQUIRE);
		uint64_t rest = KYMO_LOG_CHUNK - at % KYMO_LOG_CHUNK;
		uint64_t take = size <= rest ? size : rest;

		if (!chunk_ready(process, thread, at / KYMO_LOG_CHUNK, writer))
			return UINT64_MAX;
		claim(thread, outer, at, writer);
		/* after the load of tail: so the order of positions is the order of times */
		*ns = kymo_clock_read(thread);
		if (!__atomic_compare_exchange_n(tail, &at, at + take, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
			continue;
		/*
		 * Pairs with a reader's acquire fence. This memory may have been an older chunk: a
		 * reader of the older chunk that reads the new bytes also sees that log_head has
		 * passed the older chunk.
		 */
		__atomic_thread_fence(__ATOMIC_RELEASE);
		if (take == size)
			return at;
		pad(process, at, rest);
	}
}

/*
 * As kymo_log_take(). If the log is full, clean it, and try again as long as cleaning makes
 * progress: other threads may use up the new room first. Meanwhile the thread has no claim of its
 * own, which could hold up the others.
 */
static uint64_t take_room(struct kymo_process *process, struct kymo_thread *thread, uint64_t size,
			  enum log_writer writer, uint64_t *ns)
{
	const uint64_t outer = thread->log_claim;
	uint64_t at, begin = 0;
	unsigned tries = 0;

	for (;;) {
		if (!outer)
			__atomic_store_n(&thread->log_claim_ns, kymo_clock_read(thread),
					 __ATOMIC_RELAXED);
		at = kymo_log_take(process, thread, size, writer, ns);
		if (at != UINT64_MAX)
			return at;
		__atomic_store_n(&thread->log_claim, outer, __ATOMIC_RELEASE);
		if (!begin)
			begin = kymo_clock_ns();
		if (!kymo_log_clean_if_full(process, thread) ||
		    kymo_clock_ns() - begin > FULL_WAIT_NS)
			return UINT64_MAX;
		tries += !__atomic_load_n(&process->log_blocked, __ATOMIC_RELAXED);
		if (tries > FULL_TRIES)
			return UINT64_MAX;
	}
}

static bool reserve(struct kymo_fact *fact, unsigned id, enum kymo_log_key key, size_t payload,
		    enum log_writer writer)
{
	const uint64_t size = (LOG_HEADER + payload + 7) & ~7ull;
	struct kymo_thread *thread = kymo_thread_slot();
	struct kymo_process *process = kymo_process;
	struct kymo_log_record *record;
	uint64_t at, ns, outer;

	if (!thread || size > KYMO_LOG_CHUNK)
		return false;
	kymo_log_clean_if_due(process, thread);
	outer = thread->log_claim;
	at = take_room(process, thread, size, writer, &ns);
	if (at == UINT64_MAX)
		return false;
	record = kymo_log_at(process, at);
	record->origin = at;
	record->size = (uint32_t)size;
	record->tid = thread->tid;
	record->ns = ns;
	memcpy(record->name, thread->name, sizeof record->name);
	record->id = (uint16_t)id;
	record->key = (uint16_t)key;
	record->payload_size = (uint32_t)payload;
	if (key == KYMO_LOG_KEY_THREAD)
		thread->named = 1;
	/*
	 * Wait until the clock advances, so that the thread's next event has a later time: at most
	 * one step of the counter, 10 to 40 ns.
	 */
	for (int i = 0; i < 1000 && kymo_clock_read(thread) <= ns; i++)
		;
	*fact = (struct kymo_fact){ record->payload, at, outer };
	return true;
}

bool kymo__log_reserve_as(struct kymo_fact *fact, unsigned id, enum kymo_log_key key,
			  size_t payload)
{
	return reserve(fact, id, key, payload, LOG_FACT) || drop_fact(kymo_process);
}

bool kymo__log_reserve(struct kymo_fact *fact, unsigned id, size_t payload)
{
	return kymo__log_reserve_as(fact, id, KYMO_LOG_KEY_TABLE, payload);
}

void kymo__log_commit(const struct kymo_fact *fact)
{
	struct kymo_process *process = kymo_process;

	/*
	 * The writer was so slow that the cleaner skipped its record as a hole. The bytes may
	 * belong to another record by now.
	 */
	if (kymo_unlikely(__atomic_load_n(&process->region->log_head, __ATOMIC_ACQUIRE) >
			  fact->position))
		(void)drop_fact(process);
	else
		commit_at(kymo_log_at(process, fact->position), fact->position);
	__atomic_store_n(&kymo__thread->log_claim, fact->outer, __ATOMIC_RELEASE);
}

/*
 * A lost record of this kind is not counted as dropped: the log then only keeps a few facts too
 * many.
 */
void kymo__log_gone(enum kymo_entity entity, uint64_t handle)
{
	const struct kymo_gone gone = { handle, entity };
	struct kymo_process *process = kymo_process;
	struct kymo_fact fact;

	if (!process ||
	    __atomic_load_n(&process->registration, __ATOMIC_ACQUIRE) != KYMO_REGISTERED)
		return;
	if (!reserve(&fact, KYMO_LOG_GONE, KYMO_LOG_KEY_TABLE, sizeof gone, LOG_GONE))
		return;
	memcpy(fact.payload, &gone, sizeof gone);
	kymo__log_commit(&fact);
}
