/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring that perf_event_open(2) fills for one CPU. The first tracepoint has it, the others write into it, too
 * (PERF_EVENT_IOC_SET_OUTPUT), so the order is that in which things happened. A record, as asked for here:
 *
 *   header { u32 type, u16 misc, u16 size } | u64 time | u32 size, raw bytes: u16 id of the tracepoint, ..., fields
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

#include "kernel/internal.h"

static int open_tracepoint(uint32_t id, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.disabled = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = INT32_MAX,		/* nobody sleeps on it */
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int ring_open(struct kring *ring, int cpu, const uint32_t *id, unsigned count, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd;

	*ring = (struct kring){ .size = size };
	for (unsigned i = 0; i < count && i < RING_EVENTS_MAX; i++) {
		fd = open_tracepoint(id[i], cpu);
		if (fd < 0) {
			ring_close(ring);
			return fd;
		}
		ring->fd[ring->fds++] = fd;
	}
	ring->record = malloc(UINT16_MAX + 1);
	ring->map = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd[0], 0);
	if (ring->map == MAP_FAILED || !ring->record) {
		int rc = ring->map == MAP_FAILED ? -errno : -ENOMEM;

		ring->map = ring->map == MAP_FAILED ? NULL : ring->map;
		ring_close(ring);
		return rc;
	}
	for (unsigned i = 1; i < ring->fds; i++)
		if (ioctl(ring->fd[i], PERF_EVENT_IOC_SET_OUTPUT, ring->fd[0]) < 0) {
			fd = -errno;
			ring_close(ring);
			return fd;
		}
	return 0;
}

void ring_start(struct kring *ring)
{
	for (unsigned i = 0; i < ring->fds; i++)
		(void)ioctl(ring->fd[i], PERF_EVENT_IOC_ENABLE, 0);	/* it is ours: nothing to fail */
}

void ring_stop(struct kring *ring)
{
	for (unsigned i = 0; i < ring->fds; i++)
		(void)ioctl(ring->fd[i], PERF_EVENT_IOC_DISABLE, 0);
}

void ring_close(struct kring *ring)
{
	if (ring->map)
		(void)munmap(ring->map, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
	for (unsigned i = 0; i < ring->fds; i++)
		(void)close(ring->fd[i]);
	free(ring->record);
	*ring = (struct kring){ 0 };
}

uint64_t ring_counted(const struct kring *ring)
{
	uint64_t sum = 0, count;

	for (unsigned i = 0; i < ring->fds; i++)
		if (read(ring->fd[i], &count, sizeof(count)) == sizeof(count))
			sum += count;
	return sum;
}

/* ---- reading ---- */

static void take_sample(const uint8_t *body, size_t size, void (*take)(void *context, const struct krecord *record),
			void *context)
{
	struct krecord record;

	if (size < sizeof(record.ns) + sizeof(record.raw_size))
		return;
	memcpy(&record.ns, body, sizeof(record.ns));
	memcpy(&record.raw_size, body + sizeof(record.ns), sizeof(record.raw_size));
	record.raw = body + sizeof(record.ns) + sizeof(record.raw_size);
	if (record.raw_size <= size - sizeof(record.ns) - sizeof(record.raw_size))
		take(context, &record);
}

bool ring_read(struct kring *ring, void (*take)(void *context, const struct krecord *record), void *context)
{
	struct perf_event_mmap_page *page = ring->map;
	const uint8_t *data = (const uint8_t *)ring->map + sysconf(_SC_PAGESIZE);
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
	struct perf_event_header header;
	bool full = false;

	while (tail < head) {
		size_t at = tail & (ring->size - 1), first = ring->size - at;
		const uint8_t *record = data + at;

		memcpy(&header, record, sizeof(header));	/* records are multiples of 8: it is never cut */
		if (header.size < sizeof(header) || header.size > head - tail)
			break;		/* never of the kernel's */
		if (header.size > first) {
			memcpy(ring->record, record, first);
			memcpy(ring->record + first, data, header.size - first);
			record = ring->record;
		}
		if (header.type == PERF_RECORD_SAMPLE)
			take_sample(record + sizeof(header), header.size - sizeof(header), take, context);
		full |= header.type == PERF_RECORD_LOST;
		tail += header.size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return full;
}
