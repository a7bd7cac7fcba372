/* SPDX-License-Identifier: Apache-2.0 */
/* A source of the kernel's events: a ring of perf_event_open(2) for each CPU. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kernel_source.h"
#include "kernel/perf_ring.h"

#define RING_LEAST (128u << 10)

struct perf {
	struct ksource source;		/* first */
	struct kring ring[];
};

static struct kring *ring_of(const struct ksource *source, unsigned cpu)
{
	return &((struct perf *)source)->ring[cpu];
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
static int open_ring(struct kring *ring, int cpu, const uint32_t *id, unsigned count, const struct kcounts *counts, size_t size)
{
	int rc;

	do {
		rc = ring_open(ring, cpu, id, count, counts, size);
		size /= 2;
	} while (rc == -EPERM && size >= RING_LEAST);
	/* A CPU that is switched off has no events. */
	return rc == -ENODEV || rc == -EINVAL ? 0 : rc;
}

static int perf_open(struct ksource **source, const struct kformat *format, size_t size, struct kymo_err *err)
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
		rc = open_ring(&perf->ring[perf->source.cpus], (int)perf->source.cpus, id, count, &counts, power);
		if (rc < 0) {
			perf_close(&perf->source);
			return explain_refusal(rc, err);
		}
	}
	*source = &perf->source;
	return 0;
}

static void perf_start(struct ksource *source)
{
	for (unsigned i = 0; i < source->cpus; i++)
		ring_start(ring_of(source, i));
}

static void perf_stop(struct ksource *source)
{
	for (unsigned i = 0; i < source->cpus; i++)
		ring_stop(ring_of(source, i));
}

static bool perf_there(const struct ksource *source, unsigned cpu)
{
	return ring_of(source, cpu)->map != NULL;
}

static void perf_capture(struct ksource *source, unsigned cpu)
{
	ring_capture(ring_of(source, cpu));
}

static const struct krecord *perf_peek(struct ksource *source, unsigned cpu)
{
	return ring_peek(ring_of(source, cpu));
}

static void perf_next(struct ksource *source, unsigned cpu)
{
	ring_next(ring_of(source, cpu));
}

static void perf_release(struct ksource *source, unsigned cpu)
{
	ring_release(ring_of(source, cpu));
}

static uint64_t perf_lost(const struct ksource *source, unsigned cpu, bool *full)
{
	*full |= ring_of(source, cpu)->full;
	return ring_of(source, cpu)->lost;
}

const struct ksource_ops ksource_perf = {
	.name = "perf_event_open", .open = perf_open, .start = perf_start, .stop = perf_stop, .there = perf_there,
	.capture = perf_capture, .peek = perf_peek, .next = perf_next, .release = perf_release, .lost = perf_lost,
	.close = perf_close,
};
