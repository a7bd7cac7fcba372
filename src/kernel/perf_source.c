/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source of the kernel's events: a ring of perf_event_open(2) for each CPU. It belongs to the
 * first event; the other events also write into it (PERF_EVENT_IOC_SET_OUTPUT), so records are in
 * the order in which they happened. A record with the sample types requested here:
 *
 *   header { u32 type, u16 misc, u16 size } | u64 id | u64 time
 *   | of a tracepoint: u32 size, raw bytes: u16 id of it, ..., fields
 *   | of a counter: u64 address
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

#include "kernel/kernel_source.h"
#include "kernel/perf_counts.h"

#define RING_LEAST (128u << 10)
#define RING_EVENTS_MAX 16

struct kring {
	int fd[RING_EVENTS_MAX];         /* of the events; the first one has the ring */
	uint32_t event[RING_EVENTS_MAX]; /* their ids, ... */
	uint64_t id[RING_EVENTS_MAX];    /* ... and those that records have */
	unsigned fds;
	void *map;
	size_t size;       /* of the data, a power of two */
	uint8_t *copy;     /* of a record that lies across the end of the ring */
	uint64_t head, at; /* captured up to here, walked up to there */
	uint64_t captured; /* records */
	uint64_t lost;
	struct krecord record;          /* at `at` */
	struct kcounter_record counter; /* the bytes of record, if it is a counter's */
	struct kcounts counts;
	bool known; /* record is valid */
	bool full;  /* it was, at some time */
};

struct perf {
	struct ksource source;		/* first */
	struct kring ring[];
};

static struct kring *ring_of(const struct ksource *source, unsigned cpu)
{
	return &((struct perf *)source)->ring[cpu];
}

/* ---- opening ---- */

static bool is_counter(uint32_t event)
{
	return event >= KCOUNTER_ID;
}

static bool is_count(uint32_t event)
{
	return event >= KCOUNT_ID && event < KCOUNTER_ID;
}

static int open_event(uint32_t event, int cpu)
{
	struct perf_event_attr attr = {
		.type = is_counter(event) ? PERF_TYPE_SOFTWARE : PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = is_counter(event) ? event - KCOUNTER_ID : event,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME |
			       (is_counter(event) ? PERF_SAMPLE_ADDR : PERF_SAMPLE_RAW),
		.disabled = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = INT32_MAX, /* no thread waits for it */
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static void ring_close(struct kring *ring)
{
	if (ring->map)
		(void)munmap(ring->map, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
	for (unsigned i = 0; i < ring->fds; i++)
		(void)close(ring->fd[i]);
	if (ring->size && ring->counts.fd >= 0)
		(void)close(ring->counts.fd);
	free(ring->copy);
	*ring = (struct kring){0};
}

/* A ring for events @id of CPU @cpu, not started. @counts: for the event that counts. Return: 0;
 * -errno. */
static int ring_open(struct kring *ring, int cpu, const uint32_t *id, unsigned count,
		     const struct kcounts *counts, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd;

	*ring = (struct kring){.size = size, .counts = *counts};
	ring->counts.fd = -1;
	for (unsigned i = 0; i < count && i < RING_EVENTS_MAX; i++) {
		fd = is_count(id[i]) ? counts_open(&ring->counts, cpu) : open_event(id[i], cpu);
		if (fd >= 0) {
			ring->event[i] = id[i];
			ring->fd[ring->fds++] = fd;
			fd = ioctl(fd, PERF_EVENT_IOC_ID, &ring->id[i]) < 0 ? -errno : 0;
		}
		if (fd < 0) {
			ring_close(ring);
			return fd;
		}
	}
	ring->copy = malloc(UINT16_MAX + 1);
	ring->map = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd[0], 0);
	if (ring->map == MAP_FAILED || !ring->copy) {
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

static int explain_refusal(int rc, struct kymo_err *err)
{
	if ((rc == -EACCES || rc == -EPERM) && !namespace_is_first("user"))
		(void)err_set(err, KYMO_EXIT_FAILED, NAMESPACE_NO_RIGHTS);
	else if ((rc == -EACCES || rc == -EPERM) && geteuid() == 0)
		(void)err_set(err, KYMO_EXIT_FAILED, "kernel events need CAP_PERFMON on the host, and in this container root does not have "
			      "it: record on the host, or start it with --cap-add PERFMON (docker, podman)");
	else if (rc == -EACCES || rc == -EPERM)
		(void)err_set(err, KYMO_EXIT_FAILED, "kernel events need CAP_PERFMON: run kymo as root; or once: sudo setcap "
			      "cap_perfmon+ep $(command -v kymo); or for everybody: sudo sysctl kernel.perf_event_paranoid=-1");
	else if (rc == -ENOSYS || rc == -ENOENT)
		(void)err_set(err, KYMO_EXIT_FAILED, "kernel events need perf_event_open(2), and this kernel, or container, does not "
			      "have it");
	else
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot record kernel events: %s", strerror(-rc));
	return rc;
}

static void perf_close(struct ksource *source)
{
	for (unsigned i = 0; i < source->cpus; i++)
		ring_close(ring_of(source, i));
	free(source);
}

/* A user who may lock little memory gets a smaller ring. */
static int open_ring(struct kring *ring, int cpu, const uint32_t *id, unsigned count,
		     const struct kcounts *counts, size_t size)
{
	int rc;

	do {
		rc = ring_open(ring, cpu, id, count, counts, size);
		size /= 2;
	} while (rc == -EPERM && size >= RING_LEAST);
	/* A CPU that is switched off has no events. */
	return rc == -ENODEV || rc == -EINVAL ? 0 : rc;
}

static int perf_open(struct ksource **source, const struct kformat *format, size_t size,
		     struct kymo_err *err)
{
	unsigned configured = (unsigned)sysconf(_SC_NPROCESSORS_CONF), count = 0;
	struct perf *perf = calloc(1, sizeof(*perf) + configured * sizeof(perf->ring[0]));
	uint32_t id[RING_EVENTS_MAX];
	struct kcounts counts = { 0 };
	size_t power = RING_LEAST;
	int rc;

	if (!perf)
		return err_no_memory(err), -ENOMEM;
	perf->source.ops = &ksource_perf;
	while (power < size)
		power *= 2;
	for (unsigned i = 0; i < kevent_count && count < RING_EVENTS_MAX; i++)
		if (format[i].id) {
			if (kevents[i].counts)
				counts = counts_of(format[i].id);
			id[count++] = format[i].id;
		}
	for (; perf->source.cpus < configured; perf->source.cpus++) {
		rc = open_ring(&perf->ring[perf->source.cpus], (int)perf->source.cpus, id, count,
			       &counts, power);
		if (rc < 0) {
			perf_close(&perf->source);
			return explain_refusal(rc, err);
		}
	}
	*source = &perf->source;
	return 0;
}

static void perf_control(struct ksource *source, unsigned long request)
{
	for (unsigned i = 0; i < source->cpus; i++)
		for (unsigned k = 0; k < ring_of(source, i)->fds; k++)
			(void)ioctl(ring_of(source, i)->fd[k], request,
				    PERF_IOC_FLAG_GROUP); /* it is ours: nothing to fail */
}

static void perf_start(struct ksource *source)
{
	perf_control(source, PERF_EVENT_IOC_ENABLE);
}

static void perf_stop(struct ksource *source)
{
	perf_control(source, PERF_EVENT_IOC_DISABLE);
}

/* Events that happened since perf_start(), by the kernel's own count. */
static uint64_t counted(const struct kring *ring)
{
	struct {
		uint64_t events, leader, counter;
	} group;
	uint64_t sum = 0, count;

	for (unsigned i = 0; i < ring->fds; i++)
		if (is_count(ring->event[i]))
			sum += read(ring->fd[i], &group, sizeof(group)) == sizeof(group)
				       ? group.leader
				       : 0;
		else if (read(ring->fd[i], &count, sizeof(count)) == sizeof(count))
			sum += count;
	return sum;
}

/* ---- reading ---- */

static const uint8_t *data(const struct kring *ring)
{
	return (const uint8_t *)ring->map + sysconf(_SC_PAGESIZE);
}

/* The header at @at. Return: false: it is damaged. */
static bool header_at(const struct kring *ring, uint64_t at, struct perf_event_header *header)
{
	memcpy(header, data(ring) + (at & (ring->size - 1)),
	       sizeof(*header)); /* multiples of 8: it is never cut */
	return header->size >= sizeof(*header) && header->size <= ring->head - at;
}

/*
 * Losses are the difference between the kernel's count of events and the records in the ring: an
 * event may be missing because the ring was full, or for reasons of the kernel
 * (docs/record/kernel.md). The count is read first, so that a record on its way is not a loss.
 */
static uint64_t perf_capture(struct ksource *source, unsigned cpu)
{
	struct kring *ring = ring_of(source, cpu);
	const struct perf_event_mmap_page *page = ring->map;
	const uint64_t happened = counted(ring);
	struct perf_event_header header;
	uint64_t at = ring->head;

	ring->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	for (; at < ring->head && header_at(ring, at, &header); at += header.size) {
		ring->captured += header.type == PERF_RECORD_SAMPLE;
		ring->full |= header.type == PERF_RECORD_LOST;
	}
	if (happened > ring->captured + ring->lost)
		ring->lost = happened - ring->captured;
	return UINT64_MAX;
}

static bool parse_counter(struct kring *ring, uint32_t event, const uint8_t *rest, size_t size)
{
	if (size < sizeof(ring->counter.address))
		return false;
	ring->counter.id = (uint16_t)event;
	memcpy(&ring->counter.address, rest, sizeof(ring->counter.address));
	ring->record.raw = (const uint8_t *)&ring->counter;
	ring->record.raw_size = sizeof(ring->counter);
	return true;
}

static bool parse_tracepoint(struct krecord *record, const uint8_t *rest, size_t size)
{
	if (size < sizeof(record->raw_size))
		return false;
	memcpy(&record->raw_size, rest, sizeof(record->raw_size));
	record->raw = rest + sizeof(record->raw_size);
	return record->raw_size <= size - sizeof(record->raw_size);
}

/* Return: false: not one of our samples. */
static bool parse(struct kring *ring, const uint8_t *body, size_t size)
{
	struct {
		uint64_t id, ns;
	} head;
	unsigned i = 0;

	if (size < sizeof(head))
		return false;
	memcpy(&head, body, sizeof(head));
	while (i < ring->fds && ring->id[i] != head.id)
		i++;
	if (i == ring->fds)
		return false;
	ring->record.ns = head.ns;
	if (is_count(ring->event[i]))
		return counts_parse(&ring->counts, head.ns, body + sizeof(head),
				    size - sizeof(head), &ring->record);
	return is_counter(ring->event[i])
		       ? parse_counter(ring, ring->event[i], body + sizeof(head),
				       size - sizeof(head))
		       : parse_tracepoint(&ring->record, body + sizeof(head), size - sizeof(head));
}

static const struct krecord *perf_peek(struct ksource *source, unsigned cpu)
{
	struct kring *ring = ring_of(source, cpu);
	struct perf_event_header header;

	if (ring->known)
		return &ring->record;
	for (; ring->at < ring->head; ring->at += header.size) {
		const size_t at = ring->at & (ring->size - 1), first = ring->size - at;
		const uint8_t *record = data(ring) + at;

		if (!header_at(ring, ring->at, &header)) {
			ring->at = ring->head;
			break;
		}
		if (header.type != PERF_RECORD_SAMPLE)
			continue;
		if (header.size > first) {
			memcpy(ring->copy, record, first);
			memcpy(ring->copy + first, data(ring), header.size - first);
			record = ring->copy;
		}
		ring->known = parse(ring, record + sizeof(header), header.size - sizeof(header));
		if (ring->known)
			return &ring->record;
	}
	return NULL;
}

static void perf_next(struct ksource *source, unsigned cpu)
{
	struct kring *ring = ring_of(source, cpu);
	struct perf_event_header header;

	if (ring->known && header_at(ring, ring->at, &header))
		ring->at += header.size;
	ring->known = false;
}

static void perf_release(struct ksource *source, unsigned cpu)
{
	struct kring *ring = ring_of(source, cpu);
	struct perf_event_mmap_page *page = ring->map;

	__atomic_store_n(&page->data_tail, ring->at, __ATOMIC_RELEASE);
}

static bool perf_there(const struct ksource *source, unsigned cpu)
{
	return ring_of(source, cpu)->map != NULL;
}

static uint64_t perf_lost(const struct ksource *source, unsigned cpu, bool *full)
{
	*full |= ring_of(source, cpu)->full;
	return ring_of(source, cpu)->lost;
}

const struct ksource_ops ksource_perf = {
	.name = "perf_event_open",
	.open = perf_open,
	.start = perf_start,
	.stop = perf_stop,
	.there = perf_there,
	.capture = perf_capture,
	.peek = perf_peek,
	.next = perf_next,
	.release = perf_release,
	.lost = perf_lost,
	.close = perf_close,
};
