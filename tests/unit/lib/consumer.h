/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A consumer for the tracer's tests, written from src/abi/region.h alone: it maps the region's
 * file as an outsider does and walks every record. Deliberately simple; not the recorder's code.
 */
#ifndef KYMO_TEST_CONSUMER_H
#define KYMO_TEST_CONSUMER_H

#include <dirent.h>
#include <fcntl.h>
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
#include <unistd.h>

#include <cmocka.h>

#include "abi/points.h"
#include "abi/region.h"

/* How far a thread's clock may be from CLOCK_MONOTONIC on a busy machine. */
#ifndef TEST_CLOCK_NS
#define TEST_CLOCK_NS 5000
#endif

/* A private runtime directory; before the first event. */
static inline char *test_directory(void)
{
	static char path[] = "/dev/shm/kymo-test-XXXXXX";

	assert_non_null(mkdtemp(path));
	assert_int_equal(setenv("KYMO_DIR", path, 1), 0);
	return path;
}

static inline void test_directory_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	(void)closedir(dir);
}

static inline void test_directory_remove(const char *path)
{
	test_directory_empty(path);
	assert_int_equal(rmdir(path), 0);
}

struct test_region {
	uint8_t *base;
	size_t size;
};

/* The region of @pid in $KYMO_DIR, mapped whole. */
static inline struct test_region test_region_open(pid_t pid)
{
	struct test_region region = { 0 };
	char prefix[32], path[512];
	DIR *dir = opendir(getenv("KYMO_DIR"));
	struct dirent *entry;
	struct stat st;
	int fd;

	assert_non_null(dir);
	(void)snprintf(prefix, sizeof prefix, "%d-", (int)pid);
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) || !strstr(entry->d_name, ".region") ||
		    strstr(entry->d_name, ".new"))
			continue;
		(void)snprintf(path, sizeof path, "%s/%s", getenv("KYMO_DIR"), entry->d_name);
		fd = open(path, O_RDWR);
		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
		region.size = (size_t)st.st_size;
		region.base = mmap(NULL, region.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		assert_true(region.base != MAP_FAILED);
		(void)close(fd);
	}
	(void)closedir(dir);
	return region;
}

static inline struct kymo_region *test_head(struct test_region region)
{
	return (struct kymo_region *)region.base;
}

static inline struct kymo_ring *test_ring(struct test_region region, unsigned index)
{
	const uint32_t *page = (const uint32_t *)(region.base + KYMO_RING_DIR_PAGE * KYMO_PAGE);

	assert_true(index < test_head(region)->ring_count);
	assert_true((size_t)page[index] * KYMO_PAGE < region.size);
	return (struct kymo_ring *)(region.base + (size_t)page[index] * KYMO_PAGE);
}

static inline void test_enable(struct test_region region, unsigned id, bool on)
{
	__atomic_store_n(&region.base[KYMO_ENABLE_PAGE * KYMO_PAGE + id], on, __ATOMIC_RELEASE);
}

/* What one ring gave so far. Test records are u16 id, u64 ns, and @payload bytes. */
struct test_reader {
	struct kymo_ring *ring;
	uint64_t records;
	uint64_t last_ns;		/* of the last record */
	uint64_t packet_end;		/* lastts of the last drain: no later record is earlier */
	uint32_t payload;
	void (*check)(void *context, unsigned id, uint64_t ns, const uint8_t *payload);
	void *context;
};

/* Walk [from, to) of one block, to's word count being @count when @count >= 0. */
static inline void test_walk(struct test_reader *reader, const uint8_t *from, const uint8_t *to)
{
	while (from < to) {
		uint16_t id;
		uint64_t ns;

		assert_true(to - from >= (ptrdiff_t)(KYMO_RECORD_HEADER + reader->payload));
		memcpy(&id, from, 2);
		memcpy(&ns, from + 2, 8);
		assert_true(ns >= reader->last_ns);
		reader->last_ns = ns;
		reader->check(reader->context, id, ns, from + KYMO_RECORD_HEADER);
		reader->records++;
		from += KYMO_RECORD_HEADER + reader->payload;
	}
	assert_true(from == to);
}

/* Position and time that belong together. Return: false while the producer is in between. */
static inline bool test_snapshot(const struct kymo_ring *ring, uint64_t *word, uint64_t *lastts)
{
	const uint32_t seq = __atomic_load_n(&ring->nseq, __ATOMIC_ACQUIRE);

	*word = __atomic_load_n(&ring->wpos, __ATOMIC_ACQUIRE);
	*lastts = __atomic_load_n(&ring->lastts, __ATOMIC_ACQUIRE);
	return !(seq & 1) && __atomic_load_n(&ring->wpos, __ATOMIC_ACQUIRE) == *word &&
	       __atomic_load_n(&ring->nseq, __ATOMIC_ACQUIRE) == seq;
}

/* Where the block at position @start is. */
static inline uint8_t *test_block(const struct kymo_ring *ring, uint64_t start)
{
	const uint64_t number = start / ring->block_size;
	const int64_t away = start < __atomic_load_n(&ring->lent, __ATOMIC_ACQUIRE)
				     ? ring->place[number % KYMO_PLACES]
				     : 0;

	return away ? (uint8_t *)ring + away * (int64_t)KYMO_PAGE
		    : (uint8_t *)ring + KYMO_PAGE + number % ring->block_count * ring->block_size;
}

/* Take everything committed, as one packet. Return: records taken. */
static inline uint64_t test_drain(struct test_reader *reader)
{
	struct kymo_ring *ring = reader->ring;
	const uint64_t size = ring->block_size;
	const uint64_t before = reader->records;
	uint64_t pos = ring->rpos, word, lastts, end;

	while (!test_snapshot(ring, &word, &lastts))
		;
	end = KYMO_WORD_POS(word);
	if (reader->last_ns < reader->packet_end)
		/* Walking checks that no record is earlier. */
		reader->last_ns = reader->packet_end;

	while (pos / size < end / size) {	/* complete blocks */
		const uint64_t start = pos / size * size;
		struct kymo_block *block = (struct kymo_block *)test_block(ring, start);
		const uint64_t from = pos == start ? start + sizeof *block : pos;

		assert_int_equal(block->seq, start / size + 1);
		assert_true(block->used <= size);
		test_walk(reader, (uint8_t *)block + (from - start),
			  (uint8_t *)block + block->used);
		pos = start + size;
		__atomic_store_n(&ring->rpos, pos, __ATOMIC_RELEASE);
	}
	if (end > pos) {
		const uint64_t start = pos / size * size;
		const uint64_t from = pos == start ? start + sizeof(struct kymo_block) : pos;

		test_walk(reader, test_block(ring, start) + (from - start),
			  test_block(ring, start) + (end - start));
		__atomic_store_n(&ring->rpos, end, __ATOMIC_RELEASE);
	}
	if (reader->records == before)
		return 0;
	assert_true(reader->last_ns <= lastts);
	reader->packet_end = lastts;
	return reader->records - before;
}

#endif
