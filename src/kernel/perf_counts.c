/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter of perf, read at each switch of a CPU; the counted programs need nothing. A sample of
 * the group, after its id and time:
 *
 *   u64 events of the group (2) | u64 switches so far | u64 the counter
 *   | u32 size, raw bytes of sched_switch
 *
 * The difference between two samples belongs to the thread that the first switch put on the CPU, if
 * the second switch takes the same thread off. Otherwise a switch is missing, as perf_event_open(2)
 * does not deliver all of them, and the difference is dropped.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernel/perf_counts.h"

#define GROUP_EVENTS 2u

static int open_one(struct perf_event_attr *attr, int cpu, int leader)
{
	long fd;

	attr->size = sizeof(*attr);
	attr->use_clockid = 1; /* all of a group have the same clock */
	attr->clockid = CLOCK_MONOTONIC;
	attr->read_format = PERF_FORMAT_GROUP;
	fd = syscall(SYS_perf_event_open, attr, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static int open_counter(const struct kevent *event, int cpu, int leader)
{
	struct perf_event_attr attr = {.type = event->type, .config = event->counter};

	return open_one(&attr, cpu, leader);
}

struct kcounts counts_of(uint32_t id)
{
	const struct kevent *event = &kevents[KEVENT_ID_sched_switch];
	struct kcounts counts = {.event = id, .fd = -1};
	struct kformat format;

	if (!format_tracefs() || format_read(format_tracefs(), event, &format) < 0)
		return counts;
	counts.tracepoint = format.id;
	for (unsigned i = 0; event->field[i].kind != KEVENT_NONE; i++)
		if (strcmp(event->field[i].raw, "prev_pid") == 0)
			counts.prev = format.place[i];
		else if (strcmp(event->field[i].raw, "next_pid") == 0)
			counts.next = format.place[i];
	return counts;
}

int counts_open(struct kcounts *counts, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = counts->tracepoint,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_READ |
			       PERF_SAMPLE_RAW,
		.disabled = 1,
		.watermark = 1,
		.wakeup_watermark = INT32_MAX, /* no thread waits for it */
	};
	int leader = open_one(&attr, cpu, -1);

	if (leader < 0)
		return leader;
	counts->fd = open_counter(&kevents[counts->event - KCOUNT_ID], cpu, leader);
	if (counts->fd >= 0)
		return leader;
	(void)close(leader);
	return counts->fd;
}

int counts_probe(uint32_t id)
{
	struct kcounts counts = counts_of(id);
	int leader = counts_open(&counts, 0);

	if (leader < 0)
		return leader;
	(void)close(counts.fd);
	(void)close(leader);
	return 0;
}

bool counts_parse(struct kcounts *counts, uint64_t ns, const uint8_t *rest, size_t size,
		  struct krecord *record)
{
	struct __attribute__((packed)) {
		uint64_t events, switches, value;
		uint32_t raw_size;
	} head;
	const bool known = counts->known;
	struct kcount_record *made = &counts->record;
	struct krecord raw;

	if (size < sizeof(head))
		return false;
	memcpy(&head, rest, sizeof(head));
	if (head.events != GROUP_EVENTS || head.raw_size > size - sizeof(head))
		return false;
	raw = (struct krecord){ns, rest + sizeof(head), head.raw_size};
	*made = (struct kcount_record){
		.id = (uint16_t)counts->event,
		.tid = (int32_t)record_integer(&raw, &counts->prev),
		.ns = (int64_t)(ns - counts->ns),
		.count = (int64_t)(head.value - counts->value),
	};
	counts->known = true;
	counts->ns = ns;
	counts->value = head.value;
	*record = (struct krecord){ns, (const uint8_t *)made, sizeof(*made)};
	if (!known || counts->tid != made->tid) {
		counts->tid = (int32_t)record_integer(&raw, &counts->next);
		return false;
	}
	counts->tid = (int32_t)record_integer(&raw, &counts->next);
	return made->ns > 0 && made->count >= 0;
}
