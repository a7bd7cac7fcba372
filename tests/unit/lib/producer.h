/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A traced process for the recorder's tests, written from src/abi/region.h alone: it fills a
 * region file one record at a time, in one thread, and never grows it. Deliberately simple; not
 * the tracer's code.
 */
#ifndef KYMO_TEST_PRODUCER_H
#define KYMO_TEST_PRODUCER_H

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/hash.h"
#include "abi/points.h"
#include "abi/region.h"
#include "recorder/runtime/alive.h"

#define PRODUCER_RINGS		2u
#define PRODUCER_LOG_CHUNKS	2u
#define PRODUCER_BLOCK		4096u
#define PRODUCER_BLOCKS		4u
#define PRODUCER_RING_PAGES	(1u + PRODUCER_BLOCK * PRODUCER_BLOCKS / KYMO_PAGE)
#define PRODUCER_LOG_PAGES	(KYMO_LOG_CHUNK / KYMO_PAGE)
#define PRODUCER_PAGES									\
	(KYMO_FIRST_SEGMENT_PAGE + PRODUCER_LOG_CHUNKS * PRODUCER_LOG_PAGES +		\
	 PRODUCER_RINGS * PRODUCER_RING_PAGES)

struct producer {
	char path[512];
	uint8_t *base;
	struct kymo_region *region;
	struct kymo_ring *ring[PRODUCER_RINGS];
	uint64_t produced, dropped;
};

static inline uint64_t producer_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint32_t *producer_page(struct producer *producer, uint32_t page)
{
	return (uint32_t *)(producer->base + (size_t)page * KYMO_PAGE);
}

static inline void producer_identity(struct kymo_region *region, pid_t pid, uint64_t start_time)
{
	struct stat ns;

	assert_int_equal(stat("/proc/self/ns/pid", &ns), 0);
	region->magic = KYMO_REGION_MAGIC;
	region->abi_version = KYMO_ABI_VERSION;
	region->points_table = KYMO_POINTS_TABLE;
	region->table_hash = kymo_table_hash();
	region->pid = (uint32_t)pid;
	region->uid = geteuid();
	region->start_time = start_time;
	region->pid_ns = ns.st_ino;
	region->birth_ns = producer_now();
	snprintf(region->procname, sizeof region->procname, "fake");
	snprintf(region->exe, sizeof region->exe, "/opt/fake");
	region->tracetools = KYMO_V(8, 2);
	snprintf(region->tracetools_version, sizeof region->tracetools_version, "8.2.0");
	region->state = KYMO_STATE_WAIT;
	region->page_count = PRODUCER_PAGES;
}

/* A region of process @pid; with @pid 0 of this one. */
static inline void producer_open_as(struct producer *producer, const char *dir, pid_t pid,
				    uint64_t start_time, const char *name)
{
	uint32_t page = KYMO_FIRST_SEGMENT_PAGE;
	int fd;

	memset(producer, 0, sizeof *producer);
	snprintf(producer->path, sizeof producer->path, "%s/%s", dir, name);
	fd = open(producer->path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, PRODUCER_PAGES * KYMO_PAGE), 0);
	producer->base = mmap(NULL, PRODUCER_PAGES * KYMO_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			      fd, 0);
	assert_ptr_not_equal(producer->base, MAP_FAILED);
	close(fd);
	producer->region = (void *)producer->base;
	producer_identity(producer->region, pid, start_time);
	for (uint32_t i = 0; i < PRODUCER_LOG_CHUNKS; i++, page += PRODUCER_LOG_PAGES)
		producer_page(producer, KYMO_LOG_DIR_PAGE)[i] = page;
	producer->region->log_chunk_count = PRODUCER_LOG_CHUNKS;
	for (uint32_t i = 0; i < PRODUCER_RINGS; i++, page += PRODUCER_RING_PAGES) {
		struct kymo_ring *ring = (void *)producer_page(producer, page);

		producer_page(producer, KYMO_RING_DIR_PAGE)[i] = page;
		ring->block_size = PRODUCER_BLOCK;
		ring->block_count = PRODUCER_BLOCKS;
		ring->state = KYMO_RING_OWNED;
		ring->tid = (uint32_t)pid + i;
		ring->owner_seq = 1;
		snprintf(ring->name, sizeof ring->name, "thread%u", i);
		producer->ring[i] = ring;
	}
	producer->region->ring_count = PRODUCER_RINGS;
}

static inline void producer_open(struct producer *producer, const char *dir)
{
	uint64_t start = alive_start_time(getpid());
	char name[64];

	snprintf(name, sizeof name, "%d-%" PRIu64 ".region", getpid(), start);
	producer_open_as(producer, dir, getpid(), start, name);
}

/* A pid that is nobody's any more. */
static inline pid_t producer_dead_pid(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static inline void producer_close(struct producer *producer)
{
	munmap(producer->base, PRODUCER_PAGES * KYMO_PAGE);
}

static inline uint8_t *producer_at(const struct kymo_ring *ring, uint64_t position)
{
	return (uint8_t *)ring + KYMO_PAGE +
	       position % ((uint64_t)ring->block_size * ring->block_count);
}

/* Room for @size bytes in the ring's present block, or in the next. */
static inline bool producer_room(struct kymo_ring *ring, size_t size)
{
	uint64_t word = ring->wpos, position = KYMO_WORD_POS(word), bytes = ring->block_size;
	uint64_t number = position / bytes, next = position ? number + 1 : 0;
	struct kymo_block *block = (void *)producer_at(ring, number * bytes);

	/* A new owner begins a new block. */
	if (position && position % bytes + size < bytes && block->owner_seq == ring->owner_seq)
		return true;
	if (next >= ring->block_count && ring->rpos < (next - ring->block_count + 1) * bytes)
		return false;
	if (position) {
		block = (void *)producer_at(ring, number * bytes);
		block->used = (uint32_t)(position % bytes);
		block->records = (uint32_t)KYMO_WORD_COUNT(word);
	}
	block = (void *)producer_at(ring, next * bytes);
	*block = (struct kymo_block){
		.seq = next + 1, .ts_first = ring->lastts, .dropped_at_start = ring->dropped,
		.owner_seq = ring->owner_seq,
	};
	__atomic_store_n(&ring->wpos, KYMO_WORD(next * bytes + sizeof *block, 0), __ATOMIC_RELEASE);
	return true;
}

/* One event, if it is wanted; dropped when there is no room. */
static inline void producer_emit(struct producer *producer, unsigned index, uint16_t id,
				 const void *payload, size_t size)
{
	struct kymo_ring *ring = producer->ring[index];
	uint64_t ns = producer_now(), word;
	uint8_t *at;

	if (!producer_page(producer, KYMO_ENABLE_PAGE) ||
	    !((uint8_t *)producer_page(producer, KYMO_ENABLE_PAGE))[id])
		return;
	producer->produced++;
	if (!producer_room(ring, KYMO_RECORD_HEADER + size)) {
		ring->dropped++;
		producer->dropped++;
		return;
	}
	word = ring->wpos;
	at = producer_at(ring, KYMO_WORD_POS(word));
	memcpy(at, &id, sizeof id);
	memcpy(at + 2, &ns, sizeof ns);
	memcpy(at + KYMO_RECORD_HEADER, payload, size);
	ring->lastts = ns;
	__atomic_store_n(&ring->wpos, KYMO_WORD(KYMO_WORD_POS(word) + KYMO_RECORD_HEADER + size,
						KYMO_WORD_COUNT(word) + 1), __ATOMIC_RELEASE);
}

/* callback_end(@callback) on ring @index. */
static inline void producer_event(struct producer *producer, unsigned index, uint64_t callback)
{
	producer_emit(producer, index, KYMO_POINT_callback_end, &callback, sizeof callback);
}

/* An init record; @id KYMO_LOG_PAD fills a chunk. */
static inline void producer_init_record(struct producer *producer, uint16_t id, const void *payload,
					size_t size)
{
	uint64_t position = producer->region->log_tail;
	uint64_t whole = (sizeof(struct kymo_log_record) + size + 7) / 8 * 8;
	uint64_t rest = KYMO_LOG_CHUNK - position % KYMO_LOG_CHUNK;
	struct kymo_log_record *record;
	uint8_t *log = producer->base + KYMO_FIRST_SEGMENT_PAGE * KYMO_PAGE;

	if (whole > rest) {
		record = (void *)(log + position);
		if (rest >= sizeof *record) {
			record->size = (uint32_t)rest;
			record->id = KYMO_LOG_PAD;
			record->stamp = KYMO_LOG_STAMP ^ position;
		}
		position += rest;
	}
	record = (void *)(log + position);
	*record = (struct kymo_log_record){
		.origin = position,
		.size = (uint32_t)whole,
		.tid = producer->region->pid,
		.ns = producer_now(),
		.id = id,
		.payload_size = (uint32_t)size,
		.name = "main",
	};
	memcpy(record->payload, payload, size);
	record->stamp = KYMO_LOG_STAMP ^ position;
	__atomic_store_n(&producer->region->log_tail, position + whole, __ATOMIC_RELEASE);
}

/* rclcpp_callback_register(@callback, @symbol) */
static inline void producer_init(struct producer *producer, uint64_t callback, const char *symbol)
{
	uint8_t payload[512];
	size_t length = strlen(symbol) + 1;

	memcpy(payload, &callback, 8);
	memcpy(payload + 8, symbol, length);
	producer_init_record(producer, KYMO_POINT_rclcpp_callback_register, payload, 8 + length);
}

#endif
