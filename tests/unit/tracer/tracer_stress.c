/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/*
 * Two threads that trace as fast as they can, with signal handlers that trace inside their
 * tracepoints, against a reader on another core, which switches the mode of the rings back and
 * forth meanwhile. Every record that the reader gets is checked: its numbers go up, each byte of
 * its payload is what its number says, and no time is earlier than the one before. At the end, to
 * the event:
 *
 *     produced = recorded + dropped,  recorded = read + overwritten
 *
 * KYMO_STRESS_RECORDS: how many records to check, all together; default DEFAULT_RECORDS.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "consumer.h"
#include "inside/tracer/tracer_process.h"

#define ID		KYMO_POINT_rcl_take
#define PRODUCERS	2u
#define PHASES		8u		/* DISCARD, OVERWRITE, DISCARD, ... */
#define RING_BYTES	(64u << 10)
#define WORDS_MAX	4u
#ifdef KYMO_PLAIN_ATOMICS
#define DEFAULT_RECORDS	100000u		/* under TSan */
#else
#define DEFAULT_RECORDS	2000000u
#endif

/* The payload: its head, then 0 to WORDS_MAX - 1 words. */
struct head {
	uint64_t number;		/* times 2, odd in handlers */
	uint32_t check;
} __attribute__((packed));

struct producer {
	pthread_t thread;
	uint32_t tid;
	struct kymo_ring *ring;
	volatile uint64_t next[2];	/* numbers of the thread and of its handlers: produced */
	volatile uint64_t recorded[2];
	volatile uint64_t inside;	/* handlers that interrupted an event */
};

static struct producer producers[PRODUCERS];
static __thread struct producer *self;
static atomic_bool over;
static atomic_uint ready;

static uint64_t mix(uint64_t value)
{
	value *= 0x9e3779b97f4a7c15ull;
	return value ^ value >> 29;
}

static size_t payload_words(uint64_t number)
{
	return mix(number) % WORDS_MAX;
}

/* ---- producers ---- */

static bool emit(unsigned source)
{
	const uint64_t number = self->next[source] << 1 | source;
	const size_t words = payload_words(number),
		     size = sizeof(struct head) + words * sizeof(uint64_t);
	const struct head head = { .number = number, .check = (uint32_t)mix(~number) };
	struct kymo_record record;

	self->next[source]++;
	if (!kymo_try_reserve_sp(&record, ID, size) && !kymo__reserve(&record, ID, size))
		return false;
	memcpy(record.at, &head, sizeof head);
	for (size_t i = 0; i < words; i++) {
		const uint64_t word = mix(number + i);

		memcpy(record.at + sizeof head + i * sizeof word, &word, sizeof word);
	}
	kymo_commit_sp(&record);
	self->recorded[source]++;
	return true;
}

static void on_timer(int number)
{
	(void)number;
	self->inside += self->ring->nest != 0;
	for (unsigned i = self->next[1] % 3 + 1; i--;)
		(void)emit(1);
}

static timer_t start_timer(uint32_t tid)
{
	const struct itimerspec often = { .it_interval.tv_nsec = 20000, .it_value.tv_nsec = 20000 };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	timer_t timer;

	event._sigev_un._tid = (pid_t)tid;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &often, NULL))
		abort();
	return timer;
}

static void *produce(void *argument)
{
	timer_t timer;

	self = argument;
	self->tid = (uint32_t)syscall(SYS_gettid);
	(void)emit(0);			/* takes the ring */
	self->ring = kymo__thread->ring;
	ready++;
	timer = start_timer(self->tid);
	while (!over)
		if (!emit(0))
			(void)sched_yield();	/* full: the reader's turn */
	(void)timer_delete(timer);
	return NULL;
}

/* ---- the reader ---- */

struct reader {
	struct kymo_ring *ring;
	uint64_t pos;			/* taken so far */
	/* Number of the record there, among all that were committed. */
	uint64_t next;
	uint64_t read, overwritten, refused;
	uint64_t number[2], ns;		/* least that the next record may have */
	uint64_t copy[KYMO_BLOCK_MAX / sizeof(uint64_t)];
};

/* TSan is right that this races; the second look at seq is what makes it good. */
__attribute__((no_sanitize("thread")))
static void copy(uint8_t *to, const uint8_t *from, size_t size)
{
	const volatile uint64_t *words = (const volatile uint64_t *)from;
	size_t i = 0;

#ifndef KYMO_PLAIN_ATOMICS
	memcpy(to, from, size);
	return;
#endif
	for (; i < size / sizeof *words; i++)
		((uint64_t *)to)[i] = words[i];
	for (i *= sizeof *words; i < size; i++)
		to[i] = ((const volatile uint8_t *)from)[i];
}

/* Block @n up to @stop bytes. Return: false when the producer was there meanwhile. */
static bool copy_block(struct reader *reader, uint64_t n, size_t stop)
{
	const uint64_t mask = (uint64_t)reader->ring->block_size * reader->ring->block_count - 1;
	const uint8_t *data =
		(const uint8_t *)reader->ring + KYMO_PAGE + (n * reader->ring->block_size & mask);
	const struct kymo_block *shared = (const void *)data;

	if (__atomic_load_n(&shared->seq, __ATOMIC_ACQUIRE) != n + 1)
		return false;
	copy((uint8_t *)reader->copy, data, stop);
#ifndef KYMO_PLAIN_ATOMICS		/* TSan knows none */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
	return __atomic_load_n(&shared->seq, __ATOMIC_RELAXED) == n + 1;
}

static void check_record(struct reader *reader, const uint8_t *at, const uint8_t *end, size_t *size)
{
	struct head head;
	uint64_t ns, word;
	size_t words;
	uint16_t id;

	assert_true(end - at >= (ptrdiff_t)(KYMO_RECORD_HEADER + sizeof head));
	memcpy(&id, at, sizeof id);
	memcpy(&ns, at + sizeof id, sizeof ns);
	memcpy(&head, at + KYMO_RECORD_HEADER, sizeof head);
	assert_int_equal(id, ID);
	assert_true(ns >= reader->ns);
	reader->ns = ns;
	assert_true(head.check == (uint32_t)mix(~head.number));
	assert_true(head.number >= reader->number[head.number & 1]);
	reader->number[head.number & 1] = head.number + 2;
	words = payload_words(head.number);
	*size = KYMO_RECORD_HEADER + sizeof head + words * sizeof word;
	assert_true(at + *size <= end);
	for (size_t i = 0; i < words; i++) {
		memcpy(&word, at + KYMO_RECORD_HEADER + sizeof head + i * sizeof word, sizeof word);
		assert_true(word == mix(head.number + i));
	}
}

/* What of block @n lies before @end. Return: false when it was overwritten. */
static bool take_block(struct reader *reader, uint64_t n, uint64_t end)
{
	const uint64_t size = reader->ring->block_size, start = n * size;
	const bool complete = end / size > n;
	const struct kymo_block *block = (const void *)reader->copy;
	uint64_t from = reader->pos > start ? reader->pos - start : 0,
		 stop = complete ? size : end - start;
	size_t record = 0;

	if (!copy_block(reader, n, stop))
		return false;
	if (complete)
		stop = block->used;
	assert_true(stop <= size && stop >= from);
	if (from < sizeof *block) {
		assert_true(block->records_before >= reader->next);
		reader->overwritten += block->records_before - reader->next;
		reader->next = block->records_before;
		from = sizeof *block;
	}
	for (; from < stop; from += record) {
		check_record(reader, (const uint8_t *)reader->copy + from,
			     (const uint8_t *)reader->copy + stop, &record);
		reader->read++;
		reader->next++;
	}
	if (complete)
		assert_int_equal(reader->next, block->records_before + block->records);
	reader->pos = complete ? start + size : end;
	return true;
}

/* Everything that is there. */
static void take(struct reader *reader, bool overwrite)
{
	const uint64_t size = reader->ring->block_size;
	uint64_t word, lastts, end, last;

	while (!test_snapshot(reader->ring, &word, &lastts))
		;
	end = KYMO_WORD_POS(word);
	last = end / size;
	while (reader->pos < end) {
		uint64_t n = reader->pos / size;

		if (overwrite && last - n >= reader->ring->block_count) {
			n = last - reader->ring->block_count + 1;
			reader->pos = n * size;
		}
		if (take_block(reader, n, end)) {
			if (!overwrite)
				__atomic_store_n(&reader->ring->rpos, reader->pos,
						 __ATOMIC_RELEASE);
			continue;
		}
		assert_true(overwrite);	/* even the last one: wpos was somewhere else meanwhile */
		reader->refused++;
		reader->pos = (n + 1) * size;
	}
	assert_true(reader->ns <= lastts);
}

/* From here on the producer looks at rpos again; what it did before it knew that is overwriting
 * still. */
static void end_overwriting(struct reader *reader)
{
	take(reader, true);
	__atomic_store_n(&reader->ring->rpos, reader->pos, __ATOMIC_RELEASE);
}

/* ---- */

static struct reader readers[PRODUCERS];

static uint64_t all_read(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < PRODUCERS; i++)
		sum += readers[i].read;
	return sum;
}

static void read_until(uint64_t records, bool overwrite)
{
	while (all_read() < records) {
		const uint64_t before = all_read();

		for (unsigned i = 0; i < PRODUCERS; i++)
			take(&readers[i], overwrite);
		if (all_read() == before)
			(void)sched_yield();
	}
}

static void check_counts(unsigned i)
{
	const struct producer *producer = &producers[i];
	const struct reader *reader = &readers[i];
	const uint64_t produced = producer->next[0] + producer->next[1];
	const uint64_t recorded = producer->recorded[0] + producer->recorded[1];

	printf("  produced %lu (%lu in handlers, %lu of which came inside an event) = read %lu + overwritten %lu "
	       "(%lu copies refused) + dropped %lu\n", produced, producer->next[1], producer->inside, reader->read,
	       reader->overwritten, reader->refused, reader->ring->dropped);
	assert_int_equal(produced, recorded + reader->ring->dropped);
	assert_int_equal(recorded, reader->read + reader->overwritten);
	assert_int_equal(recorded, reader->next);
	assert_int_equal(reader->ring->nest, 0);
	assert_int_equal(reader->ring->nseq & 1, 0);
}

static void test_every_record(void **state)
{
	const char *asked = getenv("KYMO_STRESS_RECORDS");
	const uint64_t records = asked ? strtoull(asked, NULL, 10) : DEFAULT_RECORDS;
	uint64_t wanted = 0;
	const struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	struct test_region region;

	(void)state;
	kymo_settings.ring_bytes = RING_BYTES;
	assert_non_null(kymo_thread_slot());
	region = test_region_open(getpid());
	test_enable(region, ID, true);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	for (unsigned i = 0; i < PRODUCERS; i++)
		assert_int_equal(pthread_create(&producers[i].thread, NULL, produce, &producers[i]),
				 0);
	while (ready < PRODUCERS)
		(void)sched_yield();
	for (unsigned i = 0; i < PRODUCERS; i++)
		readers[i].ring = producers[i].ring;
	for (unsigned phase = 0; phase < PHASES; phase++) {
		const bool overwrite = phase & 1;

		__atomic_store_n(&test_head(region)->mode,
				 overwrite ? KYMO_MODE_OVERWRITE : KYMO_MODE_DISCARD,
				 __ATOMIC_RELEASE);
		for (unsigned i = 0; !overwrite && i < PRODUCERS; i++)
			end_overwriting(&readers[i]);
		/* Overwriting takes longer: most of it nobody reads. */
		wanted += records / PHASES * 2 * (overwrite ? 1 : 7) / 8;
		read_until(wanted, overwrite);
	}
	over = true;
	for (unsigned i = 0; i < PRODUCERS; i++)
		(void)pthread_join(producers[i].thread, NULL);
	for (unsigned i = 0; i < PRODUCERS; i++) {
		take(&readers[i], true);
		check_counts(i);
	}
	assert_int_equal(test_head(region)->dropped_no_ring, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_record) };
	char *directory = test_directory();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	test_directory_remove(directory);
	return failed;
}
