/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleaning the init log: forget the facts that no longer hold, so that the log of a program that
 * creates and destroys objects stays small. A writer cleans when it finds that the log has grown.
 * The cleaner goes through the log from the head, copies each fact that still holds to the tail,
 * and then moves the head past the originals:
 *
 *   before   head|a b c d|tail                  b and d no longer hold
 *   copies   head|a b c d|a c|tail
 *   after             head|a c|tail             the memory of "a b c d" is free
 *
 * Cleaning proceeds chunk by chunk, so it needs at most two chunks of extra room. The cleaner goes
 * through the facts three times: to count them, to decide which facts hold (src/abi/life.h), and to
 * copy those.
 *
 * The order of stores protects readers, and a process that dies while it cleans: first the copies
 * with their stamps, then the new head, then the reuse of the memory.
 */
#include <sys/mman.h>

#include "inside/tracer/tracer_initlog_internal.h"

struct cleaner {
	struct kymo_process *process;
	struct kymo_thread *thread;
	struct kymo_region *region;
	uint64_t head, limit;		/* the positions between which the cleaner works */
	uint64_t tail;			/* of the log when the cleaner chose the limit */
	/* the recorder has not read facts from here on: if forgotten, they count as dropped */
	uint64_t unread;
	/* facts, declarations and records KYMO_LOG_GONE between head and limit */
	size_t records;
	bool gone;			/* some of the records are KYMO_LOG_GONE */
	uint64_t blocked; /* 1 + position of a record that a thread writes, which became the limit;
			     0: none */
};

/* Choose the position up to which facts may be forgotten; the rules are in src/abi/region.h. */
static void choose_limit(struct cleaner *cleaner)
{
	const struct kymo_region *region = cleaner->region;
	const uint64_t tail = __atomic_load_n(&region->log_tail, __ATOMIC_ACQUIRE),
		       used = tail - cleaner->head;
	const uint64_t keep = smaller(KYMO_LOG_KEEP, kymo_settings.log_size / 4);
	uint64_t limit;

	cleaner->tail = cleaner->limit = tail;
	cleaner->unread = UINT64_MAX;
	if (__atomic_load_n(&region->state, __ATOMIC_ACQUIRE) == KYMO_STATE_WAIT)
		return;
	if (__atomic_load_n(&region->mode, __ATOMIC_RELAXED) == KYMO_MODE_OVERWRITE) {
		cleaner->limit = used > keep ? tail - keep : cleaner->head;
		return;
	}
	limit = __atomic_load_n(&region->log_settled, __ATOMIC_ACQUIRE);
	if (used >= kymo_settings.log_size / 2)
		limit = __atomic_load_n(&region->log_taken, __ATOMIC_ACQUIRE);
	if (used >= kymo_settings.log_size / 4 * 3)
		cleaner->unread = limit;
	else if (limit < tail)
		cleaner->limit = limit > cleaner->head ? limit : cleaner->head;
}

/*
 * The position of the next record after an incomplete record at @at that will never be completed.
 */
__attribute__((no_sanitize("thread")))
static uint64_t behind_hole(struct cleaner *cleaner, uint64_t at)
{
	uint64_t end = smaller((at / KYMO_LOG_CHUNK + 1) * KYMO_LOG_CHUNK, cleaner->limit);

	for (at += 8; at + LOG_HEADER <= end; at += 8)
		if (__atomic_load_n(&kymo_log_at(cleaner->process, at)->stamp, __ATOMIC_ACQUIRE) ==
		    (KYMO_LOG_STAMP ^ at))
			return at;
	return end;
}

uint64_t kymo_log_patience_ns = KYMO_LOG_PATIENCE_NS;

/*
 * A writer may complete the record if its claim is at or before @position. Claims older than
 * kymo_log_patience_ns do not count: a writer that ended by a long jump never releases its claim.
 */
bool kymo_log_is_claimed(const struct kymo_process *process, struct kymo_thread *thread,
			 uint64_t position)
{
	const uint64_t now = kymo_clock_read(thread);

	for (unsigned s = 0; s < KYMO_SLABS_MAX; s++) {
		const struct kymo_thread *slab =
			__atomic_load_n(&process->slab[s], __ATOMIC_ACQUIRE);

		for (unsigned i = 0; slab && i < KYMO_THREADS_PER_SLAB; i++) {
			const uint64_t claim =
				__atomic_load_n(&slab[i].log_claim, __ATOMIC_ACQUIRE);

			if (claim && claim - 1 <= position &&
			    now < __atomic_load_n(&slab[i].log_claim_ns, __ATOMIC_RELAXED) +
					    kymo_log_patience_ns)
				return true;
		}
	}
	return false;
}

/*
 * The record is complete and valid. A very slow writer may have overwritten it, so all sizes are
 * checked.
 */
static bool is_whole(const struct kymo_log_record *record, uint64_t at)
{
	return __atomic_load_n(&record->stamp, __ATOMIC_ACQUIRE) == (KYMO_LOG_STAMP ^ at) &&
	       record->size >= LOG_HEADER && record->size % 8 == 0 &&
	       record->size <= KYMO_LOG_CHUNK - at % KYMO_LOG_CHUNK &&
	       (record->id == KYMO_LOG_PAD || record->payload_size <= record->size - LOG_HEADER);
}

/*
 * The next record from @at on; padding and abandoned records are skipped. NULL: no record up to the
 * limit. If a writer may still complete a record before the limit, the position of that record
 * becomes the limit.
 */
static struct kymo_log_record *next_record(struct cleaner *cleaner, uint64_t *at)
{
	while (*at < cleaner->limit) {
		struct kymo_log_record *record = kymo_log_at(cleaner->process, *at);
		const uint64_t rest = KYMO_LOG_CHUNK - *at % KYMO_LOG_CHUNK;

		if (rest < LOG_HEADER) {
			*at += rest;
		} else if (is_whole(record, *at)) {
			if (record->size > cleaner->limit - *at)
				break;
			if (record->id != KYMO_LOG_PAD)
				return record;
			*at += record->size;
		} else if (kymo_log_is_claimed(cleaner->process, cleaner->thread, *at)) {
			cleaner->blocked = *at + 1;
			break;
		} else if (!is_whole(record, *at)) {
			/* check again: the record may have been completed before the claims were
			 * looked at */
			*at = behind_hole(cleaner, *at);
		}
	}
	cleaner->limit = smaller(cleaner->limit, *at);
	return NULL;
}

static void count(struct cleaner *cleaner)
{
	const struct kymo_log_record *record;

	for (uint64_t at = cleaner->head; (record = next_record(cleaner, &at));
	     at += record->size) {
		cleaner->records++;
		cleaner->gone |= record->id == KYMO_LOG_GONE;
	}
}

static void look(struct cleaner *cleaner, struct kymo_lives *lives)
{
	const struct kymo_log_record *record;

	for (uint64_t at = cleaner->head; (record = next_record(cleaner, &at)); at += record->size)
		kymo_lives_add(lives, record, record->payload, record->payload_size, at);
	kymo_lives_decide(lives);
}

/*
 * Move the head to @position: everything before it is forgotten. The memory of whole chunks becomes
 * free.
 */
static void head_to(struct cleaner *cleaner, uint64_t position)
{
	struct kymo_process *process = cleaner->process;

	__atomic_store_n(&cleaner->region->log_head, position, __ATOMIC_RELEASE);
	if (process->log_freed >= position / KYMO_LOG_CHUNK || !kymo_region_lock(process))
		/* the lock was busy for a second: the next call frees these chunks, too */
		return;
	while (process->log_freed < position / KYMO_LOG_CHUNK)
		kymo_region_free_log_chunk(process, process->log_freed++);
	kymo_region_unlock(process);
}

static bool copy(struct cleaner *cleaner, uint64_t position)
{
	const struct kymo_log_record *from = kymo_log_at(cleaner->process, position);
	struct kymo_log_record *to;
	uint64_t ns, at;

	at = kymo_log_take(cleaner->process, cleaner->thread, from->size, LOG_CLEANER, &ns);
	if (at == UINT64_MAX)
		return false;
	to = kymo_log_at(cleaner->process, at);
	memcpy(&to->origin, &from->origin, from->size - offsetof(struct kymo_log_record, origin));
	__atomic_store_n(&to->stamp, KYMO_LOG_STAMP ^ at, __ATOMIC_RELEASE);
	return true;
}

static void move(struct cleaner *cleaner, const struct kymo_lives *lives)
{
	uint64_t chunk = cleaner->head / KYMO_LOG_CHUNK, forgotten = 0;
	size_t i = 0;

	for (; i < lives->count; i++) {
		const struct kymo_life_fact *fact = &lives->fact[i];

		if (fact->position / KYMO_LOG_CHUNK > chunk) {
			chunk = fact->position / KYMO_LOG_CHUNK;
			head_to(cleaner, chunk * KYMO_LOG_CHUNK);
		}
		if (!kymo_lives_holds(lives, fact))
			forgotten += fact->origin >= cleaner->unread;
		else if (!copy(cleaner, fact->position))
			break;
	}
	head_to(cleaner, i < lives->count ? lives->fact[i].position : cleaner->limit);
	cleaner->process->log_copied =
		__atomic_load_n(&cleaner->region->log_tail, __ATOMIC_ACQUIRE);
	if (forgotten)
		(void)__atomic_fetch_add(&cleaner->region->log_dropped, forgotten,
					 __ATOMIC_RELAXED);
}

static void clean(struct cleaner *cleaner, unsigned share)
{
	struct kymo_lives lives;
	size_t bytes, holding = 0;
	void *memory;

	/*
	 * A KYMO_LOG_GONE record before the limit may end a fact whose copy is after the limit.
	 * Then it must not be forgotten yet. A record that is being written lowers the limit.
	 */
	choose_limit(cleaner);
	if (cleaner->limit >= cleaner->process->log_copied)
		count(cleaner);
	if (!cleaner->records || cleaner->limit < cleaner->process->log_copied)
		return;
	bytes = kymo_lives_bytes(cleaner->records, cleaner->gone);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	kymo_lives_begin(&lives, memory, cleaner->records, cleaner->gone);
	look(cleaner, &lives);
	for (size_t i = 0; i < lives.count; i++)
		holding += kymo_lives_holds(&lives, &lives.fact[i]);
	if (cleaner->records - holding >= (cleaner->records + share - 1) / share)
		move(cleaner, &lives);
	(void)munmap(memory, bytes);
}

struct log_cleaned kymo_log_clean(struct kymo_process *process, struct kymo_thread *thread,
				  unsigned share)
{
	struct cleaner cleaner = { .process = process,
				   .thread = thread,
				   .region = process->region,
				   .head = process->region->log_head };

	clean(&cleaner, share);
	return (struct log_cleaned){ cleaner.tail, cleaner.blocked };
}
