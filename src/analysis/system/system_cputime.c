/* SPDX-License-Identifier: Apache-2.0 */
/* Time on CPUs; see system_cputime.h. */
#include "analysis/system/system_cputime.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SWITCH };
enum { PREV_TID, NEXT_TID, PREV_COMM, NEXT_COMM };

static const struct kymo_ctf_bind wanted[] = {
	[SWITCH] = { "sched_switch", { "prev_tid", "next_tid", "prev_comm", "next_comm" } },
};

const struct kymo_ctf_bind *cputime_bind(unsigned *count)
{
	*count = COUNT_OF(wanted);
	return wanted;
}

void cputime_init(struct cputime *cputime, const struct kymo_ctf_reader *reader, int64_t begin_ns,
		  int64_t end_ns)
{
	*cputime = (struct cputime){ .begin_ns = begin_ns, .end_ns = end_ns };
	os_threads_init(&cputime->threads, sizeof(struct cputime_thread), reader);
}

void cputime_free(struct cputime *cputime)
{
	for (uint32_t i = 0; i < cputime->threads.count; i++)
		histogram_free(&((struct cputime_thread *)cputime->threads.record[i])->slice);
	os_threads_free(&cputime->threads);
	free(cputime->cpu);
}

static int charge(struct cputime *cputime, struct cputime_thread *thread, int32_t cpu,
		  int64_t from_ns, int64_t to_ns)
{
	if (from_ns < cputime->begin_ns)
		from_ns = cputime->begin_ns;
	if (to_ns > cputime->end_ns)
		to_ns = cputime->end_ns;
	if (to_ns <= from_ns)
		return 0;
	if (thread->os.tid)
		cputime->busy_ns += to_ns - from_ns;
	else
		cputime->idle_ns += to_ns - from_ns;
	thread->migrations += thread->slice.count && thread->last_cpu != cpu;
	thread->last_cpu = cpu;
	return histogram_add(&thread->slice, (uint64_t)(to_ns - from_ns));
}

static int on_switch(struct cputime *cputime, const struct kymo_ctf_event *event)
{
	uint32_t host =
		event->trace < cputime->threads.traces ? cputime->threads.host[event->trace] : 0;
	const struct kymo_ctf_value *value = event->value;
	struct cputime_thread *prev, *next;
	uint64_t at = (uint64_t)host * CPUTIME_CPUS_MAX + (uint32_t)event->cpu;
	int status = 0;

	if (event->cpu < 0 || (uint32_t)event->cpu >= CPUTIME_CPUS_MAX || at > UINT32_MAX / 2)
		return 0;
	prev = os_thread(&cputime->threads, event->trace, (int32_t)value[PREV_TID].i);
	next = os_thread(&cputime->threads, event->trace, (int32_t)value[NEXT_TID].i);
	if (!prev || !next || !ARRAY_AT(cputime->cpu, cputime->cpus, (uint32_t)at))
		return -ENOMEM;
	os_thread_name(prev, value[PREV_COMM].bytes, value[PREV_COMM].size, 0);
	os_thread_name(next, value[NEXT_COMM].bytes, value[NEXT_COMM].size, 0);
	if (cputime->cpu[at].since_ns)
		status = charge(cputime, prev, event->cpu, cputime->cpu[at].since_ns, event->ns);
	cputime->cpu[at].since_ns = event->ns;
	cputime->cpu[at].stream = event->stream;
	cputime->first_ns = cputime->first_ns ? cputime->first_ns : event->ns;
	cputime->last_ns = event->ns;
	cputime->switches++;
	return status;
}

int cputime_event(struct cputime *cputime, const struct kymo_ctf_event *event)
{
	uint32_t i;

	/* The thread on the CPU since the latest switch is unknown. */
	if (event->bound == KYMO_CTF_LOSS)
		for (i = 0; i < cputime->cpus; i++)
			if (cputime->cpu[i].stream == event->stream)
				cputime->cpu[i].since_ns = 0;
	if (event->bound != SWITCH || !event->value[PREV_TID].present ||
	    !event->value[NEXT_TID].present || event->ns <= 0)
		return 0;
	return on_switch(cputime, event);
}

const struct cputime_thread *cputime_thread(const struct cputime *cputime, unsigned index)
{
	return index < cputime->threads.count ? cputime->threads.record[index] : NULL;
}

/* ---- in a pass ---- */

static int cputime_pass_bind(void *analysis, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	unsigned count;
	const struct kymo_ctf_bind *rows = cputime_bind(&count);

	(void)analysis;
	return os_bind(reader, rows, count, err);
}

static void cputime_pass_destroy(void *analysis)
{
	cputime_free(analysis);
}

PASS_EVENT(cputime)
const struct pass_ops cputime_pass = {
	.turn = PASS_BEFORE_SPANS,
	.bind = cputime_pass_bind,
	.event = cputime_pass_event,
	.destroy = cputime_pass_destroy,
};
