/* SPDX-License-Identifier: Apache-2.0 */
/* The init log: append-only, shared by all threads, read from outside at any time. */
#include "tracer/initlog.h"

#include "tracer/process.h"

#define HEADER sizeof(struct kymo_log_record)

static bool drop_fact(struct kymo_process *process)
{
	if (process && process->region)
		(void)__atomic_fetch_add(&process->region->log_dropped, 1, __ATOMIC_RELAXED);
	return false;
}

/* Twice as many chunks as there are, up to 1 MiB at a time. */
static bool grow(struct kymo_process *process, uint64_t index)
{
	int error = 0;
	uint32_t have;

	if (!kymo_region_lock(process))
		return false;
	have = process->region->log_chunk_count;
	if (index >= have)
		error = kymo_region_add_log_chunks(process, have < 16 ? have : 16);
	kymo_region_unlock(process);
	return !error;
}

/* Chunk @index is there, or can be made. */
static bool chunk_ready(struct kymo_process *process, struct kymo_thread *thread, uint64_t index)
{
	bool grown;

	if (index < __atomic_load_n(&process->region->log_chunk_count, __ATOMIC_ACQUIRE))
		return true;
	if (index >= KYMO_LOG_MEMORY_CHUNKS || thread->in_slow)
		return false;		/* full, or a handler that landed in a slow path */
	thread->in_slow = 1;
	kymo_signal_fence();
	grown = grow(process, index);
	kymo_signal_fence();
	thread->in_slow = 0;
	return grown;
}

static struct kymo_log_record *record_at(struct kymo_process *process, uint64_t position)
{
	return (struct kymo_log_record *)(process->log_chunk[position / KYMO_LOG_CHUNK] +
					  position % KYMO_LOG_CHUNK);
}

static void commit_at(struct kymo_log_record *record, uint64_t position)
{
	__atomic_store_n(&record->stamp, KYMO_LOG_STAMP ^ position, __ATOMIC_RELEASE);
}

/* The rest of a chunk that the next record does not fit into. */
static void pad(struct kymo_process *process, uint64_t position, uint64_t rest)
{
	struct kymo_log_record *record = record_at(process, position);

	if (rest < HEADER)
		return;
	record->size = (uint32_t)rest;
	record->id = KYMO_LOG_PAD;
	commit_at(record, position);
}

/* Move log_tail over @size bytes inside one chunk. Return: position, with the time of the move; -1: full. */
static uint64_t reserve(struct kymo_process *process, struct kymo_thread *thread, uint64_t size,
			uint64_t *ns)
{
	uint64_t *tail = &process->region->log_tail;

	for (;;) {
		uint64_t at = __atomic_load_n(tail, __ATOMIC_ACQUIRE);
		uint64_t rest = KYMO_LOG_CHUNK - at % KYMO_LOG_CHUNK;
		uint64_t take = size <= rest ? size : rest;

		if (!chunk_ready(process, thread, at / KYMO_LOG_CHUNK))
			return UINT64_MAX;
		*ns = kymo_clock_read(thread);	/* after the load of tail: log order is time order */
		if (!__atomic_compare_exchange_n(tail, &at, at + take, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
			continue;
		if (take == size)
			return at;
		pad(process, at, rest);
	}
}

bool kymo__log_reserve(struct kymo_fact *fact, unsigned id, size_t payload)
{
	const uint64_t size = (HEADER + payload + 7) & ~7ull;
	struct kymo_thread *thread = kymo_thread_slot();
	struct kymo_process *process = kymo_process;
	struct kymo_log_record *record;
	uint64_t at, ns;

	if (!thread || size > KYMO_LOG_CHUNK)
		return drop_fact(process);
	at = reserve(process, thread, size, &ns);
	if (at == UINT64_MAX)
		return drop_fact(process);
	record = record_at(process, at);
	record->size = (uint32_t)size;
	record->tid = thread->tid;
	record->ns = ns;
	memcpy(record->name, thread->name, sizeof record->name);
	record->id = (uint16_t)id;
	record->payload_size = (uint32_t)payload;
	/* The thread's next event gets a later time: at most one step of the counter, 10 to 40 ns. */
	for (int i = 0; i < 1000 && kymo_clock_read(thread) <= ns; i++)
		;
	*fact = (struct kymo_fact){ record->payload, at };
	return true;
}

void kymo__log_commit(const struct kymo_fact *fact)
{
	commit_at(record_at(kymo_process, fact->position), fact->position);
}
