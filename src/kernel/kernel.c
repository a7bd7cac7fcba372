/* SPDX-License-Identifier: Apache-2.0 */
/* Recording the kernel's events on all CPUs; see kernel.h. */
#include "kernel/kernel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/now.h"
#include "kernel/kernel_place.h"
#include "kernel/perf_counts.h"

#define RING_DEFAULT (4u << 20)		/* 40 000 switches: at 100 000 a second, four polls */
#define POLL_MS 100
#define LIVE_POLL_MS 20			/* a viewer may watch */
#define READS_MAX 16 /* in a poll; each holds what fits into a buffer of the kernel */
/* older events are written, so that a crash loses no more than this */
#define FLUSH_NS 1000000000u

/* ---- opening ---- */

static void record_event(void *context, unsigned cpu, unsigned event, const struct krecord *record)
{
	struct kernel *kernel = context;
	uint8_t payload[KEVENT_SIZE_MAX];
	size_t size = event_encode(&kevents[event], &kernel->format[event], record, payload);
	unsigned skip, class = calls_class(event, &kernel->format[event], record, &skip);

	if (kernel->left_out[event])
		return;
	if (size && kernel->rc == 0)
		kernel->rc = stream_add(&kernel->stream[cpu], class, record->ns, payload + skip,
					size - skip);
}

/* The kernel names threads by the numbers of the host. */
static int open_select(struct kernel *kernel, struct kymo_err *err)
{
	if (!namespace_is_first("pid"))
		return err_set(err, KYMO_EXIT_FAILED, "kernel events name threads by the host's numbers, and this container has its "
			       "own, so the threads of traced programs are unknown: record on the host, or start the "
			       "container with --pid=host; --kernel-all records all threads");
	kernel->select = select_create(kernel->source->cpus, kernel->format, record_event, kernel);
	return kernel->select ? 0 : err_no_memory(err);
}

/* The first source that works. @err: of the last one, with the command that grants it. */
static int open_source(struct kernel *kernel, const struct kernel_options *options,
		       struct kymo_err *err)
{
	static const struct ksource_ops *const all[] = { &ksource_beside, &ksource_perf };
	const size_t size = options->ring_size ? options->ring_size : RING_DEFAULT;

	(void)err_set(err, KYMO_EXIT_USAGE,
		      "unknown source of kernel events '%s'; set KYMO_KERNEL_SOURCE to tracefs or "
		      "perf_event_open",
		      options->source ? options->source : "");
	for (unsigned i = 0; !kernel->source && i < COUNT_OF(all); i++)
		if (!options->source || strcmp(options->source, all[i]->name) == 0)
			(void)all[i]->open(&kernel->source, kernel->format, size, err);
	if (!kernel->source)
		return -1;
	kernel->stream = calloc(kernel->source->cpus, sizeof(*kernel->stream));
	if (!kernel->stream)
		return err_no_memory(err);
	if (kernel->format[KEVENT_ID_sched_switch].id &&
	    !kernel->left_out[KEVENT_ID_sched_switch]) {
		kernel->unseen = unseen_create(kernel->source->cpus, kernel->format);
		if (!kernel->unseen)
			return err_no_memory(err);
	}
	return options->all ? 0 : open_select(kernel, err);
}

static void release(struct kernel *kernel)
{
	for (unsigned i = 0; kernel->stream && i < kernel->source->cpus; i++)
		(void)stream_close(&kernel->stream[i], 0);
	for (unsigned i = 0; kernel->kept && i < kernel->source->cpus; i++)
		kept_free(&kernel->kept[i]);
	if (kernel->source)
		kernel->source->ops->close(kernel->source);
	if (kernel->dir_fd >= 0)
		(void)close(kernel->dir_fd);
	select_free(kernel->select);
	free(kernel->unseen);
	free(kernel->kept);
	free(kernel->stream);
	free(kernel->process);
	free(kernel->dir);
	free(kernel->format);
	free(kernel);
}

int kernel_no_cycles(const struct kernel *kernel)
{
	return kernel->no_cycles;
}

/* Leaves out all counters but one, which is kept in kernel->counter. */
static void choose_counter(struct kernel *kernel, bool wanted)
{
	struct kformat *format = kernel->format;
	unsigned chosen = kevent_count;

	if (wanted) {
		kernel->no_cycles = -counts_probe(format[KEVENT_ID_cpu_cycles].id);
		chosen = kernel->no_cycles ? KEVENT_ID_cpu_clock : KEVENT_ID_cpu_cycles;
		if (kernel->no_cycles && counts_probe(format[chosen].id) < 0)
			chosen = kevent_count;
	}
	for (unsigned i = 0; i < kevent_count; i++)
		if (kevents[i].counts && i != chosen)
			format[i] = (struct kformat){ 0 };
	kernel->counter = chosen < kevent_count ? kevents[chosen].name : NULL;
}

static void choose_events(struct kernel *kernel, const struct kernel_options *options)
{
	for (unsigned i = 0; i < kevent_count; i++) {
		/* System calls and counts have options of their own. */
		if (calls_is_one(i) || kevents[i].counts || events_wanted(i, options->events))
			continue;
		kernel->left_out[i] = true;
		if (options->all || !events_select(i))
			kernel->format[i] = (struct kformat){ 0 };
	}
}

bool kernel_has_syscalls(const struct kernel *kernel)
{
	return kernel->format[KEVENT_ID_syscall_entry_unknown].id &&
	       kernel->format[KEVENT_ID_syscall_exit_unknown].id;
}

int kernel_open(struct kernel **out, const struct kernel_options *options, struct kymo_err *err)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));

	*out = NULL;
	if (!kernel)
		return err_no_memory(err);
	kernel->dir_fd = -1;
	kernel->format = format_read_all(err);
	if (kernel->format && !options->syscalls)
		calls_leave_out(kernel->format);
	if (kernel->format) {
		choose_counter(kernel, options->cycles);
		choose_events(kernel, options);
	}
	if (!kernel->format || open_source(kernel, options, err) < 0 ||
	    place_open(kernel, options, err) < 0) {
		place_remove(kernel);
		release(kernel);
		return -1;
	}
	kernel->source->ops->start(kernel->source);
	if (options->all)
		kernel_follow_all_calls(kernel);
	kernel->flushed_ns = (uint64_t)now_ns();
	*out = kernel;
	return 0;
}

const char *kernel_probe(const struct kernel_options *options, struct kymo_err *err)
{
	struct kernel_options probe = options ? *options : (struct kernel_options){ 0 };
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	const char *source = NULL;

	if (!kernel) {
		(void)err_no_memory(err);
		return NULL;
	}
	kernel->dir_fd = -1;
	kernel->format = format_read_all(err);
	probe.ring_size = 128u << 10;
	if (kernel->format && probe.syscalls && !kernel_has_syscalls(kernel)) {
		(void)err_set(err, KYMO_EXIT_FAILED,
			      "this kernel does not have the tracepoints of system calls "
			      "(raw_syscalls, of CONFIG_FTRACE_SYSCALLS)");
		release(kernel);
		return NULL;
	}
	if (kernel->format) {
		calls_leave_out(kernel->format);
		choose_counter(kernel, false);
		choose_events(kernel, &probe);
	}
	if (kernel->format && open_source(kernel, &probe, err) == 0)
		source = kernel->source->ops->name;
	release(kernel);
	return source;
}

/* ---- recording ---- */

static void walk(struct kernel *kernel, unsigned cpu, uint64_t to_ns)
{
	struct ksource *source = kernel->source;
	const struct krecord *record;

	while ((record = source->ops->peek(source, cpu)) && record->ns <= to_ns) {
		const unsigned event = format_find(kernel->format, record);

		if (event < kevent_count) {
			kernel->seen++;
			if (kernel->unseen)
				unseen_record(kernel->unseen, kernel->select, cpu, event, record);
			if (kernel->select)
				select_record(kernel->select, cpu, event, record);
			else
				record_event(kernel, cpu, event, record);
		}
		source->ops->next(source, cpu);
	}
}

/* The CPU with the oldest record, and the time up to which the others have none. Return: false:
 * there is none up to @to_ns. */
static bool find_first(struct kernel *kernel, unsigned *first, uint64_t *to_ns)
{
	struct ksource *source = kernel->source;
	uint64_t first_ns = UINT64_MAX, second_ns = UINT64_MAX;

	for (unsigned i = 0; i < source->cpus; i++) {
		const struct krecord *record =
			kernel->stream[i].events ? source->ops->peek(source, i) : NULL;

		if (!record)
			continue;
		if (record->ns < first_ns) {
			second_ns = first_ns;
			first_ns = record->ns;
			*first = i;
		} else if (record->ns < second_ns) {
			second_ns = record->ns;
		}
	}
	if (first_ns == UINT64_MAX || first_ns > *to_ns)
		return false;
	if (second_ns < *to_ns)
		*to_ns = second_ns;
	return true;
}

/* Return: the time up to which the records of all CPUs are captured. */
static uint64_t capture_all(struct kernel *kernel)
{
	struct ksource *source = kernel->source;
	uint64_t all = UINT64_MAX, to;

	for (unsigned i = 0; i < source->cpus; i++) {
		if (!kernel->stream[i].events)
			continue;
		to = source->ops->capture(source, i);
		all = to < all ? to : all;
		if (kernel->unseen)
			unseen_pass(kernel->unseen, i, source->ops->lost(source, i, &kernel->full));
	}
	return all;
}

/* Up to @until_ns. Return: whether nothing before that is left in a buffer of the kernel. */
static bool read_once(struct kernel *kernel, uint64_t until_ns)
{
	struct ksource *source = kernel->source;
	const uint64_t all = capture_all(kernel), end_ns = all < until_ns ? all : until_ns;
	uint64_t to_ns = end_ns;
	unsigned cpu = 0;

	if (kernel->select)
		for (; find_first(kernel, &cpu, &to_ns); to_ns = end_ns)
			walk(kernel, cpu, to_ns);
	for (unsigned i = 0; i < source->cpus; i++) {
		if (!kernel->stream[i].events)
			continue;
		if (!kernel->select)
			walk(kernel, i, end_ns);
		source->ops->release(source, i);
		kernel->stream[i].lost = source->ops->lost(source, i, &kernel->full);
	}
	return end_ns == until_ns;
}

/*
 * Reads all records that existed when it began. With a selection, records of all CPUs are walked in
 * the order of time, and later records wait: the buffer of one CPU may have the birth of a thread
 * whose first switch is in the buffer of another one.
 */
void kernel_read(struct kernel *kernel, uint64_t until_ns)
{
	for (unsigned turn = 0; turn < READS_MAX && !read_once(kernel, until_ns); turn++)
		;
}

static int failed(const struct kernel *kernel, struct kymo_err *err)
{
	if (kernel->rc == 0)
		return 0;
	if (!kernel->dir)
		return err_set(err, KYMO_EXIT_FAILED, "cannot %s kernel events: %s", kernel->store ? "send" : "keep", strerror(-kernel->rc));
	return err_set(err, KYMO_EXIT_FAILED, "cannot write kernel events into %s: %s; the rest of them is not in the trace",
		       kernel->dir, strerror(-kernel->rc));
}

uint64_t kernel_shortest(const struct kernel *kernel)
{
	uint64_t shortest = 0;

	for (unsigned i = 0; kernel->kept && i < kernel->source->cpus; i++)
		if (kernel->kept[i].shortest_ns &&
		    (!shortest || kernel->kept[i].shortest_ns < shortest))
			shortest = kernel->kept[i].shortest_ns;
	return shortest;
}

/* No event before @ns from now on: viewers may have gone on to that time. */
static void advance_streams(struct kernel *kernel, uint64_t ns)
{
	kernel->told_ns = ns;
	for (unsigned i = 0; i < kernel->source->cpus; i++)
		if (kernel->stream[i].last_ns < ns)
			kernel->stream[i].last_ns = ns;
}

int kernel_poll(struct kernel *kernel, struct kymo_err *err)
{
	uint64_t now = (uint64_t)now_ns();

	kernel_follow_again(kernel, now);
	kernel_follow_calls(kernel);
	kernel_read(kernel, now);
	if (kernel->kept || kernel->store || now - kernel->flushed_ns >= FLUSH_NS) {
		for (unsigned i = 0; i < kernel->source->cpus && kernel->rc == 0; i++)
			if (kernel->stream[i].events)
				kernel->rc = stream_flush(&kernel->stream[i], now);
		kernel->flushed_ns = now;
	}
	if (kernel->store)
		advance_streams(kernel, now);
	if (failed(kernel, err) < 0)
		return -1;
	return kernel->store ? LIVE_POLL_MS : POLL_MS;
}

uint64_t kernel_told(const struct kernel *kernel)
{
	return kernel->told_ns;
}

int kernel_close(struct kernel *kernel, struct kernel_stats *stats, struct kernel_stats *left,
		 struct kymo_err *err)
{
	uint64_t now, refused = 0;
	int rc;

	*stats = *left = (struct kernel_stats){ 0 };
	if (!kernel)
		return 0;
	kernel->source->ops->stop(kernel->source);
	kernel_read(kernel, UINT64_MAX);
	kernel_place(kernel, left);
	*stats = stats_begin(kernel);
	now = (uint64_t)now_ns();
	for (unsigned i = 0; i < kernel->source->cpus; i++) {
		struct kstream *stream = &kernel->stream[i];

		if (!stream->events)
			continue;
		stats->cpus++;
		rc = stream_close(stream, now);
		refused += stream->refused;
		kernel->rc = kernel->rc ? kernel->rc : rc;
		stats->events += stream->taken - stream->refused;
		stats->lost += stream->lost + stream->refused;
		stats->bytes += stream->bytes;
	}
	stats->left_out = kernel->seen - stats->events - refused;
	stats->unseen = unseen_switches(kernel->unseen);
	stats->unseen_calls = unseen_calls(kernel->unseen);
	rc = failed(kernel, err);
	if (!stats->events)
		place_remove(kernel);
	release(kernel);
	return rc;
}
