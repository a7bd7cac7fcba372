/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perf's events for sampling, and their rings; see stacks_internal.h.
 *
 * A thread has two events for each CPU, which the threads and processes that it creates inherit:
 * the clock of the time that it runs, and its switches. All events of a CPU write into one ring.
 * That belongs to an event of this thread that counts nothing, because the threads that are sampled
 * may end.
 *
 *   sample    header | u64 id | u32 pid, tid | u64 time | u64 count, addresses
 *   others    header | ... | u32 pid, tid | u64 time | u64 id
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "kernel/stacks_internal.h"

#define RING_SIZE (1u << 20)
#define RING_LEAST (64u << 10)
#define SECOND_NS 1000000000u
#define FILES_EIGHTHS 4 /* the others are for what the recorder opens later */

struct __attribute__((packed)) sample_head {
	uint64_t id;
	uint32_t pid, tid;
	uint64_t ns;
};

struct __attribute__((packed)) other_tail {
	uint32_t pid, tid;
	uint64_t ns, id;
};

/* ---- opening ---- */

static int open_event(struct perf_event_attr *attr, int32_t tid, int cpu)
{
	long fd;

	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->wakeup_watermark = INT32_MAX; /* no thread waits for it */
	fd = syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static int open_kind(const struct stacks_rings *rings, enum stacks_kind kind, int32_t tid, int cpu)
{
	struct perf_event_attr attr = { .inherit = 1, .exclude_kernel = rings->user_only };

	if (kind == STACKS_RUNS) {
		attr.config = PERF_COUNT_SW_TASK_CLOCK;
		attr.sample_period = SECOND_NS / rings->hz;
		attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
	} else {
		attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
		attr.sample_period = 1;
		attr.context_switch = 1;
	}
	return open_event(&attr, tid, cpu);
}

/* A user who may lock little memory gets a smaller ring. */
static int open_ring(struct stacks_ring *ring, int cpu, bool user_only)
{
	struct perf_event_attr attr = { .config = PERF_COUNT_SW_DUMMY,
					.disabled = 1,
					.exclude_kernel = user_only };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	ring->fd = open_event(&attr, 0, cpu);
	if (ring->fd < 0)
		return ring->fd;
	ring->copy = malloc(UINT16_MAX + 1);
	if (!ring->copy)
		return -ENOMEM;
	for (ring->size = RING_SIZE; ring->size >= RING_LEAST; ring->size /= 2) {
		ring->map = mmap(NULL, page + ring->size, PROT_READ | PROT_WRITE, MAP_SHARED,
				 ring->fd, 0);
		if (ring->map != MAP_FAILED)
			return 0;
		ring->map = NULL;
		if (errno != EPERM)
			break;
	}
	return -errno;
}

static bool is_off(int rc)
{
	return rc == -ENODEV || rc == -ENXIO || rc == -EINVAL;
}

static int open_all(struct stacks_rings *rings)
{
	int rc, open = 0;

	for (unsigned i = 0; i < rings->cpus; i++) {
		rc = open_ring(&rings->ring[i], (int)i, rings->user_only);
		if (rc < 0 && !is_off(rc))
			return rc;
		open += rc == 0;
	}
	return open ? 0 : -ENODEV;
}

/* Stacks of the kernel, and what it says about switches, need more rights than the rest. */
static int probe(struct stacks_rings *rings)
{
	int fd;

	for (;; rings->user_only = true) {
		fd = open_kind(rings, STACKS_RUNS, 0, -1);
		if (fd >= 0)
			break;
		if (rings->user_only || (fd != -EACCES && fd != -EPERM))
			return fd;
	}
	(void)close(fd);
	return 0;
}

int stacks_rings_open(struct stacks_rings *rings, unsigned hz)
{
	int rc;

	*rings = (struct stacks_rings){ .cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF), .hz = hz };
	rings->ring = calloc(rings->cpus, sizeof(*rings->ring));
	if (!rings->ring)
		return -ENOMEM;
	for (unsigned i = 0; i < rings->cpus; i++)
		rings->ring[i].fd = -1;
	rc = probe(rings);
	if (rc == 0)
		rc = open_all(rings);
	if (rc < 0)
		stacks_rings_close(rings);
	return rc;
}

/* ---- threads ---- */

static void close_opened(struct stacks_rings *rings, struct stacks_opened *opened)
{
	for (unsigned i = 0; opened->fd && i < rings->cpus * STACKS_KINDS; i++)
		if (opened->fd[i] >= 0)
			(void)close(opened->fd[i]);
	free(opened->fd);
	opened->fd = NULL;
}

/* Return: 0, also if there is nothing to open; -errno. */
static int open_one(struct stacks_rings *rings, unsigned index, unsigned cpu, enum stacks_kind kind)
{
	struct stacks_opened *opened = &rings->opened[index];
	const int fd = open_kind(rings, kind, opened->tid, (int)cpu);
	uint64_t id;

	if (fd < 0)
		return is_off(fd) ? 0 : fd;
	opened->fd[cpu * STACKS_KINDS + kind] = fd;
	if (fds_exceed(fd, FILES_EIGHTHS))
		return -EMFILE;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, rings->ring[cpu].fd) < 0 ||
	    ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
		return -errno;
	return map_put(&rings->ids, id, 0, (void *)(uintptr_t)(1 + kind + index * STACKS_KINDS));
}

int stacks_rings_add(struct stacks_rings *rings, int32_t tid)
{
	const unsigned index = rings->count, kinds = rings->user_only ? 1 : STACKS_KINDS;
	int rc = 0;

	if (!ARRAY_ROOM(rings->opened, rings->count, rings->room))
		return -ENOMEM;
	rings->opened[index] = (struct stacks_opened){ .tid = tid };
	rings->opened[index].fd = malloc(rings->cpus * STACKS_KINDS * sizeof(int));
	if (!rings->opened[index].fd)
		return -ENOMEM;
	memset(rings->opened[index].fd, 0xff, rings->cpus * STACKS_KINDS * sizeof(int));
	rings->count++;
	for (unsigned i = 0; i < rings->cpus; i++)
		for (unsigned kind = 0; rc == 0 && kind < kinds && rings->ring[i].map; kind++)
			rc = open_one(rings, index, i, (enum stacks_kind)kind);
	if (rc == 0)
		return (int)index;
	close_opened(rings, &rings->opened[index]);
	return rc;
}

void stacks_rings_user(struct stacks_rings *rings, unsigned opened, int change)
{
	rings->opened[opened].users += (unsigned)change;
	if (!rings->opened[opened].users)
		close_opened(rings, &rings->opened[opened]);
}

bool stacks_rings_find(const struct stacks_rings *rings, uint64_t id, unsigned *opened,
		       enum stacks_kind *kind)
{
	const uintptr_t found = (uintptr_t)map_get(&rings->ids, id, 0);

	if (!found)
		return false;
	*opened = (unsigned)((found - 1) / STACKS_KINDS);
	*kind = (enum stacks_kind)((found - 1) % STACKS_KINDS);
	return true;
}

/* ---- reading ---- */

static const uint8_t *data(const struct stacks_ring *ring)
{
	return (const uint8_t *)ring->map + sysconf(_SC_PAGESIZE);
}

void stacks_rings_capture(struct stacks_rings *rings)
{
	for (unsigned i = 0; i < rings->cpus; i++) {
		struct stacks_ring *ring = &rings->ring[i];
		const struct perf_event_mmap_page *page = ring->map;

		if (page)
			ring->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	}
}

/* Return: false: it makes no sense. */
static bool parse(struct stacks_record *record, const struct perf_event_header *header,
		  const uint8_t *body, size_t size)
{
	struct sample_head sample;
	struct other_tail other;

	record->type = header->type;
	record->misc = header->misc;
	if (header->type == PERF_RECORD_SAMPLE) {
		if (size < sizeof(sample))
			return false;
		memcpy(&sample, body, sizeof(sample));
		other = (struct other_tail){ sample.pid, sample.tid, sample.ns, sample.id };
		record->body = body + sizeof(sample);
		record->size = size - sizeof(sample);
	} else {
		if (size < sizeof(other))
			return false;
		record->body = body;
		record->size = size - sizeof(other);
		memcpy(&other, body + record->size, sizeof(other));
	}
	record->ns = other.ns;
	record->id = other.id;
	record->pid = (int32_t)other.pid;
	record->tid = (int32_t)other.tid;
	return true;
}

/* The record at ring->at. Return: NULL: nothing is left. */
static const struct stacks_record *peek(struct stacks_ring *ring)
{
	struct perf_event_header header;
	const uint8_t *record;
	size_t at, first;

	while (!ring->known && ring->at < ring->head) {
		at = ring->at & (ring->size - 1);
		first = ring->size - at;
		record = data(ring) + at;
		memcpy(&header, record, sizeof(header)); /* multiples of 8: it is never cut */
		if (header.size < sizeof(header) || header.size > ring->head - ring->at) {
			ring->at = ring->head; /* damaged */
			return NULL;
		}
		if (header.size > first) {
			memcpy(ring->copy, record, first);
			memcpy(ring->copy + first, data(ring), header.size - first);
			record = ring->copy;
		}
		ring->from = ring->at;
		ring->at += header.size;
		ring->known = parse(&ring->record, &header, record + sizeof(header),
				    header.size - sizeof(header));
	}
	return ring->known ? &ring->record : NULL;
}

const struct stacks_record *stacks_rings_next(struct stacks_rings *rings, uint64_t to_ns,
					      unsigned *cpu)
{
	const struct stacks_record *first = NULL, *record;

	for (unsigned i = 0; i < rings->cpus; i++) {
		record = rings->ring[i].map ? peek(&rings->ring[i]) : NULL;
		if (record && record->ns <= to_ns && (!first || record->ns < first->ns)) {
			first = record;
			*cpu = i;
		}
	}
	if (first)
		rings->ring[*cpu].known = false;
	return first;
}

/* But not the record that is kept for the next call of stacks_rings_next(). */
void stacks_rings_release(struct stacks_rings *rings)
{
	for (unsigned i = 0; i < rings->cpus; i++) {
		struct stacks_ring *ring = &rings->ring[i];
		struct perf_event_mmap_page *page = ring->map;

		if (page)
			__atomic_store_n(&page->data_tail, ring->known ? ring->from : ring->at,
					 __ATOMIC_RELEASE);
	}
}

void stacks_rings_close(struct stacks_rings *rings)
{
	for (unsigned i = 0; i < rings->count; i++)
		close_opened(rings, &rings->opened[i]);
	for (unsigned i = 0; rings->ring && i < rings->cpus; i++) {
		struct stacks_ring *ring = &rings->ring[i];

		if (ring->map)
			(void)munmap(ring->map, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
		if (ring->fd >= 0)
			(void)close(ring->fd);
		free(ring->copy);
	}
	map_free(&rings->ids);
	free(rings->opened);
	free(rings->ring);
	*rings = (struct stacks_rings){ 0 };
}
