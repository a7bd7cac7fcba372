/* SPDX-License-Identifier: Apache-2.0 */
/* Recording the kernel's events on all CPUs; see kernel.h. */
#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernel/internal.h"

#define RING_DEFAULT (4u << 20)		/* 40 000 switches: at 100 000 a second, four polls */
#define RING_LEAST (128u << 10)
#define POLL_MS 100
#define FLUSH_NS 1000000000u		/* what is older is written, so that a crash leaves no more out */

struct cpu {
	struct kring ring;
	struct kstream stream;
	bool full;
};

struct kernel {
	char *dir;
	int dir_fd;
	uint8_t uuid[16];
	struct kformat *format;		/* by event */
	struct cpu *cpu;
	unsigned cpus;
	struct cpu *now;		/* the one whose ring is read */
	uint64_t flushed_ns;
	int rc;				/* what went wrong first */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- opening ---- */

static int read_formats(struct kernel *kernel, struct err *err)
{
	const char *tracefs = format_tracefs();

	if (!tracefs)
		return err_set(err, EXIT_FAILED, "kernel events need tracefs, and it is not there or cannot be read; as root: "
			       "mount -t tracefs tracefs /sys/kernel/tracing; for others: mount -o remount,mode=755 "
			       "/sys/kernel/tracing");
	kernel->format = calloc(kevent_count, sizeof(*kernel->format));
	if (!kernel->format)
		return err_set(err, EXIT_FAILED, "out of memory");
	for (unsigned i = 0; i < kevent_count; i++)
		if (format_read(tracefs, &kevents[i], &kernel->format[i]) < 0 && !i)
			return err_set(err, EXIT_FAILED, "kernel events need the tracepoint %s, and this kernel does not have it",
				       kevents[i].raw);
	return 0;
}

static int refused(int rc, struct err *err)
{
	if (rc == -EACCES || rc == -EPERM)
		return err_set(err, EXIT_FAILED, "kernel events need CAP_PERFMON: run kymo as root; or once: sudo setcap "
			       "cap_perfmon+ep kymo; or for everybody: sudo sysctl kernel.perf_event_paranoid=-1");
	if (rc == -ENOSYS || rc == -ENOENT)
		return err_set(err, EXIT_FAILED, "kernel events need perf_event_open(2), and this kernel, or container, does not "
			       "have it");
	return err_set(err, EXIT_FAILED, "cannot record kernel events: %s", strerror(-rc));
}

/* Whoever may lock little memory gets a smaller ring. */
static int open_ring(struct kring *ring, int cpu, const uint32_t *id, unsigned count, size_t size)
{
	int rc;

	do {
		rc = ring_open(ring, cpu, id, count, size);
		size /= 2;
	} while (rc == -EPERM && size >= RING_LEAST);
	return rc;
}

static int open_rings(struct kernel *kernel, size_t size, struct err *err)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	size_t power = RING_LEAST;
	uint32_t id[RING_EVENTS_MAX];
	unsigned count = 0;
	int rc;

	while (power < (size ? size : RING_DEFAULT))
		power *= 2;
	for (unsigned i = 0; i < kevent_count && count < RING_EVENTS_MAX; i++)
		if (kernel->format[i].id)
			id[count++] = kernel->format[i].id;
	kernel->cpu = calloc((size_t)configured, sizeof(*kernel->cpu));
	if (!kernel->cpu)
		return err_set(err, EXIT_FAILED, "out of memory");
	for (; kernel->cpus < (unsigned)configured; kernel->cpus++) {
		rc = open_ring(&kernel->cpu[kernel->cpus].ring, (int)kernel->cpus, id, count, power);
		/* One that is switched off has nothing to tell. */
		if (rc < 0 && rc != -ENODEV && rc != -EINVAL)
			return refused(rc, err);
	}
	return 0;
}

static int open_stream(struct kernel *kernel, uint32_t cpu)
{
	int rc = stream_open(&kernel->cpu[cpu].stream, kernel->dir_fd, cpu, kernel->uuid);

	return rc < 0 ? rc : stream_front(&kernel->cpu[cpu].stream, now_ns());
}

static int open_trace(struct kernel *kernel, const struct kernel_options *options, struct err *err)
{
	int rc;

	if (getrandom(kernel->uuid, sizeof(kernel->uuid), 0) != sizeof(kernel->uuid))
		memset(kernel->uuid, 0x5a, sizeof(kernel->uuid));	/* never on Linux */
	kernel->uuid[6] = (kernel->uuid[6] & 0x0f) | 0x40;		/* version 4, random */
	kernel->uuid[8] = (kernel->uuid[8] & 0x3f) | 0x80;
	kernel->dir = strdup(options->dir);
	if (!kernel->dir)
		return err_set(err, EXIT_FAILED, "out of memory");
	if (mkdir(options->dir, 0755) < 0)
		return err_set(err, EXIT_FAILED, "cannot make %s: %s", options->dir, strerror(errno));
	kernel->dir_fd = open(options->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (kernel->dir_fd < 0 || mkdirat(kernel->dir_fd, "index", 0755) < 0)
		return err_set(err, EXIT_FAILED, "cannot write into %s: %s", options->dir, strerror(errno));
	rc = trace_metadata(kernel->dir_fd, options->desc, kernel->uuid, kernel->format);
	for (unsigned i = 0; rc == 0 && i < kernel->cpus; i++)
		if (kernel->cpu[i].ring.map)
			rc = open_stream(kernel, i);
	return rc < 0 ? err_set(err, EXIT_FAILED, "cannot write into %s: %s", options->dir, strerror(-rc)) : 0;
}

static void release(struct kernel *kernel)
{
	for (unsigned i = 0; kernel->cpu && i < kernel->cpus; i++)
		ring_close(&kernel->cpu[i].ring);
	if (kernel->dir_fd >= 0)
		(void)close(kernel->dir_fd);
	free(kernel->dir);
	free(kernel->format);
	free(kernel->cpu);
	free(kernel);
}

int kernel_open(struct kernel **out, const struct kernel_options *options, struct err *err)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));

	*out = NULL;
	if (!kernel)
		return err_set(err, EXIT_FAILED, "out of memory");
	kernel->dir_fd = -1;
	if (read_formats(kernel, err) < 0 || open_rings(kernel, options->ring_size, err) < 0 ||
	    open_trace(kernel, options, err) < 0) {
		release(kernel);
		return -1;
	}
	for (unsigned i = 0; i < kernel->cpus; i++)
		ring_start(&kernel->cpu[i].ring);
	kernel->flushed_ns = now_ns();
	*out = kernel;
	return 0;
}

/* ---- recording ---- */

static void on_record(void *context, const struct krecord *record)
{
	struct kernel *kernel = context;
	uint8_t payload[KEVENT_SIZE_MAX];
	uint16_t id;
	size_t size;

	if (record->raw_size < sizeof(id))
		return;
	memcpy(&id, record->raw, sizeof(id));
	for (unsigned i = 0; i < kevent_count; i++) {
		if (kernel->format[i].id != id)
			continue;
		size = event_encode(&kevents[i], &kernel->format[i], record, payload);
		if (!size)
			return;
		if (kernel->rc == 0)
			kernel->rc = stream_add(&kernel->now->stream, i, record->ns, payload, size);
		return;
	}
}

static int failed(const struct kernel *kernel, struct err *err)
{
	if (kernel->rc == 0)
		return 0;
	return err_set(err, EXIT_FAILED, "cannot write kernel events into %s: %s; the rest of them is not in the trace",
		       kernel->dir, strerror(-kernel->rc));
}

/*
 * What was lost tells the kernel's own count of what happened: beyond what came through the ring, some was not put into it,
 * because it was full, or for reasons of the kernel's own (docs/kernel.md). Counted first, so nothing is lost that is on its way.
 */
static void read_rings(struct kernel *kernel)
{
	uint64_t counted;

	for (unsigned i = 0; i < kernel->cpus; i++) {
		struct cpu *cpu = kernel->now = &kernel->cpu[i];

		if (!cpu->ring.map)
			continue;
		counted = ring_counted(&cpu->ring);
		cpu->full |= ring_read(&cpu->ring, on_record, kernel);
		if (counted > cpu->stream.taken + cpu->stream.lost)
			cpu->stream.lost = counted - cpu->stream.taken;
	}
}

int kernel_poll(struct kernel *kernel, struct err *err)
{
	uint64_t now = now_ns();

	read_rings(kernel);
	if (now - kernel->flushed_ns >= FLUSH_NS) {
		for (unsigned i = 0; i < kernel->cpus && kernel->rc == 0; i++)
			if (kernel->cpu[i].stream.events)
				kernel->rc = stream_flush(&kernel->cpu[i].stream, now);
		kernel->flushed_ns = now;
	}
	return failed(kernel, err) < 0 ? -1 : POLL_MS;
}

int kernel_close(struct kernel *kernel, struct kernel_stats *stats, struct err *err)
{
	uint64_t now;
	int rc;

	*stats = (struct kernel_stats){ 0 };
	if (!kernel)
		return 0;
	for (unsigned i = 0; i < kernel->cpus; i++)
		ring_stop(&kernel->cpu[i].ring);
	read_rings(kernel);
	now = now_ns();
	for (unsigned i = 0; i < kernel->cpus; i++) {
		struct kstream *stream = &kernel->cpu[i].stream;

		if (!stream->events)
			continue;
		stats->cpus++;
		stats->full |= kernel->cpu[i].full;
		rc = stream_close(stream, now);
		kernel->rc = kernel->rc ? kernel->rc : rc;
		stats->events += stream->taken;
		stats->lost += stream->lost;
		stats->bytes += stream->offset;
	}
	rc = failed(kernel, err);
	release(kernel);
	return rc;
}
