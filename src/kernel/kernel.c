/* SPDX-License-Identifier: Apache-2.0 */
/* Recording the kernel's events on all CPUs; see kernel.h. */
#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernel/internal.h"

#define RING_DEFAULT (4u << 20)		/* 40 000 switches: at 100 000 a second, four polls */
#define POLL_MS 100
#define FLUSH_NS 1000000000u		/* what is older is written, so that a crash leaves no more out */
#define KEPT_MORE_NS 1000000000u		/* than the window: a snapshot takes its time */

struct kernel {
	char *dir;
	int dir_fd;
	uint8_t uuid[16];
	struct kformat *format;		/* by event */
	struct ksource *source;
	struct select *select;		/* NULL: everything is wanted */
	struct kkept *kept;		/* by CPU; NULL: it is written */
	struct kstream *stream;		/* by CPU; without one where it is switched off */
	int *process;			/* [processes] who was followed, to look again when events were lost */
	unsigned processes;
	uint64_t lost;			/* as of the last such look */
	uint64_t seen;
	bool full;
	uint64_t flushed_ns;
	const char *counter;		/* NULL: none */
	int no_cycles;			/* errno; 0: they are there, or nobody wants them */
	int rc;				/* what went wrong first */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- opening ---- */

static void take(void *context, unsigned cpu, unsigned event, const struct krecord *record)
{
	struct kernel *kernel = context;
	uint8_t payload[KEVENT_SIZE_MAX];
	size_t size = event_encode(&kevents[event], &kernel->format[event], record, payload);
	unsigned skip, class = calls_class(event, &kernel->format[event], record, &skip);

	if (size && kernel->rc == 0)
		kernel->rc = stream_add(&kernel->stream[cpu], class, record->ns, payload + skip, size - skip);
}

/* The kernel knows threads by the numbers of the host. */
static int open_select(struct kernel *kernel, struct err *err)
{
	if (!namespace_is_first("pid"))
		return err_set(err, EXIT_FAILED, "kernel events name threads by the host's numbers, and this container has its "
			       "own, so nobody here can tell which are of traced programs: record on the host, or start the "
			       "container with --pid=host; --kernel-all takes those of all threads");
	kernel->select = select_create(kernel->source->cpus, kernel->format, take, kernel);
	return kernel->select ? 0 : err_set(err, EXIT_FAILED, "out of memory");
}

/* The first one that can be; what the last one says is what grants it. */
static int open_source(struct kernel *kernel, const struct kernel_options *options, struct err *err)
{
	static const struct ksource_ops *const all[] = { &ksource_beside, &ksource_perf };
	const size_t size = options->ring_size ? options->ring_size : RING_DEFAULT;

	for (unsigned i = 0; !kernel->source && i < sizeof(all) / sizeof(*all); i++)
		if (!options->source || strcmp(options->source, all[i]->name) == 0)
			(void)all[i]->open(&kernel->source, kernel->format, size, err);
	if (!kernel->source)
		return -1;
	kernel->stream = calloc(kernel->source->cpus, sizeof(*kernel->stream));
	if (!kernel->stream)
		return err_set(err, EXIT_FAILED, "out of memory");
	return options->all ? 0 : open_select(kernel, err);
}

/* It is told when the trace begins: a reader sees what the first events have lost. */
static int open_streams(struct kernel *kernel)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < kernel->source->cpus; i++) {
		if (!kernel->source->ops->there(kernel->source, i))
			continue;
		rc = kernel->kept ? stream_keep(&kernel->stream[i], i, &kernel->kept[i]) :
		     stream_open(&kernel->stream[i], kernel->dir_fd, i, kernel->uuid);
		if (rc == 0 && !kernel->kept)
			rc = stream_front(&kernel->stream[i], now_ns());
	}
	return rc;
}

static int open_trace(struct kernel *kernel, const struct kernel_options *options, struct err *err)
{
	int rc;

	kernel->dir = strdup(options->dir);
	if (!kernel->dir)
		return err_set(err, EXIT_FAILED, "out of memory");
	if (trace_make(options->dir, options->desc, kernel->format, kernel->uuid, &kernel->dir_fd, err) < 0)
		return -1;
	rc = open_streams(kernel);
	return rc < 0 ? err_set(err, EXIT_FAILED, "cannot write into %s: %s", options->dir, strerror(-rc)) : 0;
}

static int open_kept(struct kernel *kernel, const struct kernel_options *options, struct err *err)
{
	kernel->kept = calloc(kernel->source->cpus, sizeof(*kernel->kept));
	for (unsigned i = 0; kernel->kept && i < kernel->source->cpus; i++)
		kernel->kept[i] = (struct kkept){
			.window_ns = options->window_ns + KEPT_MORE_NS, .limit = options->memory / kernel->source->cpus,
		};
	return kernel->kept && open_streams(kernel) == 0 ? 0 : err_set(err, EXIT_FAILED, "out of memory");
}

/* A trace in which nothing is, goes. */
static void unmake(const struct kernel *kernel)
{
	if (kernel->dir_fd >= 0)
		trace_unmake(kernel->dir, kernel->dir_fd, kernel->stream, kernel->source->cpus);
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

bool kernel_has_syscalls(const struct kernel *kernel)
{
	return kernel->format[KEVENT_ID_syscall_entry_unknown].id && kernel->format[KEVENT_ID_syscall_exit_unknown].id;
}

int kernel_open(struct kernel **out, const struct kernel_options *options, struct err *err)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));

	*out = NULL;
	if (!kernel)
		return err_set(err, EXIT_FAILED, "out of memory");
	kernel->dir_fd = -1;
	kernel->format = format_read_all(err);
	if (kernel->format && !options->syscalls)
		calls_leave_out(kernel->format);
	if (kernel->format)
		choose_counter(kernel, options->cycles);
	if (!kernel->format || open_source(kernel, options, err) < 0 ||
	    (options->dir ? open_trace(kernel, options, err) : open_kept(kernel, options, err)) < 0) {
		unmake(kernel);
		release(kernel);
		return -1;
	}
	kernel->source->ops->start(kernel->source);
	if (options->all)
		follow_calls(kernel->source, 0);
	kernel->flushed_ns = now_ns();
	*out = kernel;
	return 0;
}

const char *kernel_probe(struct err *err)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	const char *source = NULL;

	if (!kernel) {
		(void)err_set(err, EXIT_FAILED, "out of memory");
		return NULL;
	}
	kernel->dir_fd = -1;
	kernel->format = format_read_all(err);
	if (kernel->format) {
		calls_leave_out(kernel->format);
		choose_counter(kernel, false);
	}
	if (kernel->format && open_source(kernel, &(struct kernel_options){ .ring_size = 128u << 10 }, err) == 0)
		source = kernel->source->ops->name;
	release(kernel);
	return source;
}

/* ---- who is followed ---- */

void kernel_follow(struct kernel *kernel, int pid)
{
	int *grown;

	if (!kernel->select || pid <= 0)
		return;
	follow_threads(kernel->select, kernel->source, pid);
	grown = realloc(kernel->process, (kernel->processes + 1) * sizeof(*grown));
	if (!grown)
		return;
	kernel->process = grown;
	kernel->process[kernel->processes++] = pid;
}

/* What this thread calls itself is left out by the select. */
void kernel_starts(struct kernel *kernel)
{
	if (kernel->select)
		follow_calls(kernel->source, (int32_t)gettid());
}

/* Among what was lost may be threads that came. */
static void follow_again(struct kernel *kernel)
{
	uint64_t lost = 0;
	unsigned kept = 0;

	for (unsigned i = 0; i < kernel->source->cpus; i++)
		lost += kernel->stream[i].lost;
	if (lost == kernel->lost)
		return;
	kernel->lost = lost;
	for (unsigned i = 0; i < kernel->processes; i++)
		if (kill(kernel->process[i], 0) == 0 || errno != ESRCH) {
			follow_threads(kernel->select, kernel->source, kernel->process[i]);
			kernel->process[kept++] = kernel->process[i];
		}
	kernel->processes = kept;
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
			if (kernel->select)
				select_record(kernel->select, cpu, event, record);
			else
				take(kernel, cpu, event, record);
		}
		source->ops->next(source, cpu);
	}
}

/* Who is the first, and to when the others have nothing. Return: false: nobody has anything up to @to_ns. */
static bool find_first(struct kernel *kernel, unsigned *first, uint64_t *to_ns)
{
	struct ksource *source = kernel->source;
	uint64_t first_ns = UINT64_MAX, second_ns = UINT64_MAX;

	for (unsigned i = 0; i < source->cpus; i++) {
		const struct krecord *record = kernel->stream[i].events ? source->ops->peek(source, i) : NULL;

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

/*
 * All that was there when it began. With a choice, in the order of time, and not what came meanwhile: on a CPU that was
 * looked at first there may be the birth of a thread that ran on one that is looked at now.
 */
static void read_all(struct kernel *kernel, uint64_t until_ns)
{
	struct ksource *source = kernel->source;
	uint64_t to_ns = until_ns;
	unsigned cpu = 0;

	for (unsigned i = 0; i < source->cpus; i++)
		if (kernel->stream[i].events)
			source->ops->capture(source, i);
	if (kernel->select)
		for (; find_first(kernel, &cpu, &to_ns); to_ns = until_ns)
			walk(kernel, cpu, to_ns);
	for (unsigned i = 0; i < source->cpus; i++) {
		if (!kernel->stream[i].events)
			continue;
		if (!kernel->select)
			walk(kernel, i, until_ns);
		source->ops->release(source, i);
		kernel->stream[i].lost = source->ops->lost(source, i, &kernel->full);
	}
}

static int failed(const struct kernel *kernel, struct err *err)
{
	if (kernel->rc == 0)
		return 0;
	if (!kernel->dir)
		return err_set(err, EXIT_FAILED, "cannot keep kernel events: %s", strerror(-kernel->rc));
	return err_set(err, EXIT_FAILED, "cannot write kernel events into %s: %s; the rest of them is not in the trace",
		       kernel->dir, strerror(-kernel->rc));
}

int kernel_snapshot(struct kernel *kernel, const struct kernel_snapshot *snapshot, struct err *err)
{
	const unsigned cpus = kernel->source->cpus;
	struct kstream *stream = calloc(cpus, sizeof(*stream));
	uint8_t uuid[16];
	int dir_fd = -1, rc, end;

	if (!stream)
		return err_set(err, EXIT_FAILED, "out of memory");
	if (kernel_poll(kernel, err) < 0 ||
	    trace_make(snapshot->dir, snapshot->desc, kernel->format, uuid, &dir_fd, err) < 0) {
		free(stream);
		return -1;
	}
	rc = 0;
	for (unsigned i = 0; rc == 0 && i < cpus; i++) {
		if (!kernel->stream[i].events)
			continue;
		rc = stream_open(&stream[i], dir_fd, i, uuid);
		rc = rc ? rc : kept_write(&kernel->kept[i], &stream[i], snapshot->begin_ns, snapshot->end_ns);
	}
	for (unsigned i = 0; i < cpus; i++) {
		end = stream_close(&stream[i], 0);
		rc = rc ? rc : end;
	}
	(void)close(dir_fd);
	free(stream);
	return rc < 0 ? err_set(err, EXIT_FAILED, "cannot write kernel events into %s: %s", snapshot->dir, strerror(-rc)) : 0;
}

uint64_t kernel_shortest(const struct kernel *kernel)
{
	uint64_t shortest = 0;

	for (unsigned i = 0; kernel->kept && i < kernel->source->cpus; i++)
		if (kernel->kept[i].shortest_ns && (!shortest || kernel->kept[i].shortest_ns < shortest))
			shortest = kernel->kept[i].shortest_ns;
	return shortest;
}

int kernel_poll(struct kernel *kernel, struct err *err)
{
	uint64_t now = now_ns();

	read_all(kernel, now);
	if (kernel->select)
		follow_again(kernel);
	if (kernel->kept || now - kernel->flushed_ns >= FLUSH_NS) {
		for (unsigned i = 0; i < kernel->source->cpus && kernel->rc == 0; i++)
			if (kernel->stream[i].events)
				kernel->rc = stream_flush(&kernel->stream[i], now);
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
	kernel->source->ops->stop(kernel->source);
	read_all(kernel, UINT64_MAX);
	now = now_ns();
	for (unsigned i = 0; i < kernel->source->cpus; i++) {
		struct kstream *stream = &kernel->stream[i];

		if (!stream->events)
			continue;
		stats->cpus++;
		rc = stream_close(stream, now);
		kernel->rc = kernel->rc ? kernel->rc : rc;
		stats->events += stream->taken;
		stats->lost += stream->lost;
		stats->bytes += stream->offset;
	}
	stats->left_out = kernel->seen - stats->events;
	stats->full = kernel->full;
	stats->all = !kernel->select;
	stats->syscalls = kernel_has_syscalls(kernel);
	stats->counter = kernel->counter;
	stats->source = kernel->source->ops->name;
	rc = failed(kernel, err);
	if (!stats->events)
		unmake(kernel);
	release(kernel);
	return rc;
}
