/* SPDX-License-Identifier: Apache-2.0 */
#include "own.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/points.h"
#define KYMO_REGISTER_LATE
#include "kymo/kymo.h"
#include "floor.h"

static struct kymo_region *region;
static uint8_t *enable;
static struct kymo_ring *ring;

void own_die(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

static int region_file(void)
{
	const char *directory = getenv("KYMO_DIR");
	char own[32], path[4096];
	DIR *dir = directory ? opendir(directory) : NULL;
	struct dirent *entry;
	int fd = -1;

	snprintf(own, sizeof(own), "%d-", getpid());
	while (dir && fd < 0 && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, own, strlen(own))) {
			snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
			fd = open(path, O_RDWR | O_CLOEXEC);
		}
	if (dir)
		closedir(dir);
	return fd;
}

static void ring_find(void)
{
	const uint32_t *page = (uint32_t *)((uint8_t *)region + KYMO_RING_DIR_PAGE * KYMO_PAGE);

	for (uint32_t i = 0; i < region->ring_count; i++) {
		ring = (struct kymo_ring *)((uint8_t *)region + (size_t)page[i] * KYMO_PAGE);
		if (ring->state == KYMO_RING_OWNED && ring->tid == (uint32_t)gettid())
			return;
	}
	own_die("our thread has no ring");
}

void own_attach(void)
{
	struct stat st;
	int fd;

	if (!kymo_thread_ready())
		own_die("this process cannot be traced");
	fd = region_file();
	if (fd < 0 || fstat(fd, &st))
		own_die("not traced: run it through event.sh");
	region = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (region == MAP_FAILED)
		own_die("cannot map the region");
	enable = (uint8_t *)region + KYMO_ENABLE_PAGE * KYMO_PAGE;
	ring_find();
}

void own_open(void)
{
	own_attach();
	region->state = KYMO_STATE_RECORD;
	own_record(KYMO_ENABLE_NO);
}

void own_record(enum kymo_enable wanted)
{
	/* The last but one id is that of switched-off categories. */
	for (int id = 0; id < KYMO_POINT_UNDECLARED - 1; id++)
		if (id >= KYMO_POINTS_TABLE || kymo_points[id].phase == KYMO_PHASE_RUN)
			__atomic_store_n(&enable[id],
					 wanted == KYMO_ENABLE_COUNT &&
							 KYMO_COUNTED_AS(id) == KYMO_COUNT_NOT
						 ? KYMO_ENABLE_NO
						 : wanted,
					 __ATOMIC_RELAXED);
}

static void leave_out(uint64_t address)
{
	uint64_t *set = (uint64_t *)((uint8_t *)region + KYMO_LEFT_OUT_PAGE * KYMO_PAGE);

	for (unsigned i = 0; i < KYMO_LEFT_OUT_PROBES; i++) {
		uint64_t *slot = &set[(KYMO_LEFT_OUT_SLOT(address) + i) % KYMO_LEFT_OUT_MAX];

		if (*slot == KYMO_LEFT_OUT_FREE) {
			__atomic_store_n(slot, address, __ATOMIC_RELAXED);
			return;
		}
	}
}

void own_leave_out(const void *object)
{
	memset((uint8_t *)region + KYMO_LEFT_OUT_PAGE * KYMO_PAGE, 0,
	       KYMO_LEFT_OUT_MAX * sizeof(uint64_t));
	for (uint64_t i = 0; i < 1000; i++)
		leave_out(0x560000000000 + 208 * i);
	if (object)
		leave_out((uintptr_t)object);
}

void own_consume(void)
{
	__atomic_store_n(&ring->rpos, KYMO_WORD_POS(ring->wpos), __ATOMIC_RELEASE);
}

uint64_t own_dropped(void)
{
	return ring->dropped;
}

struct floor_ring own_floor(void)
{
	const size_t size = (size_t)ring->block_size * ring->block_count;
	struct floor_ring floor = { .mask = size - 1, .ns = own_ns(), .counter = kymo_counter() };
	const uint64_t until = floor.ns + 20000000;

	floor.data = mmap(NULL, size + KYMO_PAGE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (floor.data == MAP_FAILED)
		own_die("out of memory");
	while (own_ns() < until)
		;
	floor.mult = (uint64_t)(((unsigned __int128)(own_ns() - floor.ns) << 32) /
				(kymo_counter() - floor.counter));
	return floor;
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

void own_sort(float *value, size_t count)
{
	qsort(value, count, sizeof(*value), by_value);
}

double own_quantile(const float *sorted, size_t count, double q)
{
	return sorted[(size_t)(q * (double)(count - 1))];
}
