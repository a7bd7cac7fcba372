/* SPDX-License-Identifier: Apache-2.0 */
/* Where the kernel's events go: into one directory or one after the other, into a store, or into
 * memory and snapshots of it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "kernel/kernel_place.h"

/* more than the window: writing a snapshot takes time */
#define KEPT_MORE_NS 1000000000u

/* ---- beginning ---- */

/* An empty packet marks the begin of the trace: so a reader sees what was lost before the first
 * events. */
static int open_streams(struct kernel *kernel)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < kernel->source->cpus; i++) {
		if (!kernel->source->ops->there(kernel->source, i))
			continue;
		if (kernel->kept)
			rc = stream_keep(&kernel->stream[i], i, &kernel->kept[i]);
		else if (kernel->store)
			rc = stream_store(&kernel->stream[i], kernel->store, i, kernel->uuid);
		else
			rc = stream_open(&kernel->stream[i], kernel->dir_fd, i, kernel->uuid);
		if (rc == 0 && !kernel->kept)
			rc = stream_front(&kernel->stream[i], (uint64_t)now_ns());
	}
	return rc;
}

static int open_trace(struct kernel *kernel, const struct kernel_options *options,
		      struct kymo_err *err)
{
	int rc;

	kernel->dir = strdup(options->dir);
	if (!kernel->dir)
		return err_no_memory(err);
	if (trace_create(options->dir, options->desc, trace_put_kernel, kernel->format,
			 kernel->uuid, &kernel->dir_fd, err) < 0)
		return -1;
	rc = open_streams(kernel);
	return rc < 0 ? err_set(err, KYMO_EXIT_FAILED, "cannot write into %s: %s", options->dir, strerror(-rc)) : 0;
}

static int open_kept(struct kernel *kernel, const struct kernel_options *options,
		     struct kymo_err *err)
{
	kernel->kept = calloc(kernel->source->cpus, sizeof(*kernel->kept));
	for (unsigned i = 0; kernel->kept && i < kernel->source->cpus; i++)
		kernel->kept[i] = (struct kkept){
			.window_ns = options->window_ns + KEPT_MORE_NS,
			.limit = options->memory / kernel->source->cpus,
		};
	return kernel->kept && open_streams(kernel) == 0 ? 0 : err_no_memory(err);
}

static int open_store(struct kernel *kernel, const struct kernel_options *options,
		      struct kymo_err *err)
{
	int rc;

	kernel->store = options->store;
	if (trace_store(options->store, options->desc, kernel->format, kernel->uuid, err) < 0)
		return -1;
	rc = open_streams(kernel);
	return rc < 0 ? err_set(err, KYMO_EXIT_FAILED, "cannot send kernel events: %s", strerror(-rc)) : 0;
}

int place_open(struct kernel *kernel, const struct kernel_options *options, struct kymo_err *err)
{
	if (options->store)
		return open_store(kernel, options, err);
	return options->dir ? open_trace(kernel, options, err) : open_kept(kernel, options, err);
}

void place_remove(const struct kernel *kernel)
{
	if (kernel->dir_fd >= 0)
		trace_remove(kernel->dir, kernel->dir_fd, kernel->stream, kernel->source->cpus);
}

/* ---- one after the other ---- */

struct kernel_stats stats_begin(const struct kernel *kernel)
{
	return (struct kernel_stats){
		.source = kernel->source->ops->name,
		.all = !kernel->select,
		.syscalls = kernel_has_syscalls(kernel),
		.counter = kernel->counter,
		.full = kernel->full,
	};
}

/* In the present directory. */
static void count_stream(struct kernel_stats *stats, const struct kstream *stream)
{
	if (!stream->events)
		return;
	stats->cpus++;
	stats->events += stream->taken - stream->taken_before;
	stats->lost += stream->lost - stream->base;
	stats->bytes += stream->offset + stream->size;
}

void kernel_place(const struct kernel *kernel, struct kernel_stats *stats)
{
	*stats = stats_begin(kernel);
	for (unsigned i = 0; i < kernel->source->cpus; i++)
		count_stream(stats, &kernel->stream[i]);
	stats->left_out = kernel->seen - kernel->seen_before - stats->events;
	stats->unseen = unseen_switches(kernel->unseen) - kernel->unseen_before;
	stats->unseen_calls = unseen_calls(kernel->unseen) - kernel->calls_before;
}

static int turn_streams(struct kernel *kernel, int dir_fd)
{
	int rc = 0, turned;

	for (unsigned i = 0; i < kernel->source->cpus; i++) {
		if (!kernel->stream[i].events)
			continue;
		turned = stream_turn(&kernel->stream[i], dir_fd);
		rc = rc ? rc : turned;
	}
	return rc;
}

int kernel_turn(struct kernel *kernel, const char *dir, const struct ctf_trace_desc *desc,
		struct kernel_stats *left, struct kymo_err *err)
{
	char *path = strdup(dir);
	uint8_t uuid[16];
	int dir_fd = -1;

	if (!path)
		return err_no_memory(err);
	if (trace_create(dir, desc, trace_put_kernel, kernel->format, uuid, &dir_fd, err) < 0) {
		if (dir_fd >= 0)
			trace_remove(dir, dir_fd, NULL, 0);
		if (dir_fd >= 0)
			(void)close(dir_fd);
		free(path);
		return -1;
	}
	kernel_read(kernel, (uint64_t)now_ns());
	for (unsigned i = 0; i < kernel->source->cpus && kernel->rc == 0; i++)
		if (kernel->stream[i].events)
			kernel->rc = stream_flush(&kernel->stream[i], kernel->stream[i].last_ns);
	kernel_place(kernel, left);
	memcpy(kernel->uuid, uuid, sizeof(uuid));
	if (kernel->rc == 0)
		kernel->rc = turn_streams(kernel, dir_fd);
	(void)close(kernel->dir_fd);
	free(kernel->dir);
	kernel->dir_fd = dir_fd;
	kernel->dir = path;
	kernel->seen_before = kernel->seen;
	kernel->unseen_before = unseen_switches(kernel->unseen);
	kernel->calls_before = unseen_calls(kernel->unseen);
	return 0;
}

/* ---- from memory ---- */

int kernel_snapshot(struct kernel *kernel, const struct kernel_snapshot *snapshot,
		    struct kernel_stats *stats, struct kymo_err *err)
{
	const unsigned cpus = kernel->source->cpus;
	struct kstream *stream = calloc(cpus, sizeof(*stream));
	uint8_t uuid[16];
	int dir_fd = -1, rc, end;

	*stats = stats_begin(kernel);
	if (!stream)
		return err_no_memory(err);
	if (kernel_poll(kernel, err) < 0 ||
	    trace_create(snapshot->dir, snapshot->desc, trace_put_kernel, kernel->format, uuid,
			 &dir_fd, err) < 0) {
		free(stream);
		return -1;
	}
	rc = 0;
	for (unsigned i = 0; rc == 0 && i < cpus; i++) {
		if (!kernel->stream[i].events)
			continue;
		rc = stream_open(&stream[i], dir_fd, i, uuid);
		rc = rc ? rc
			: stream_write_kept(&stream[i], &kernel->kept[i], snapshot->begin_ns,
					    snapshot->end_ns);
	}
	for (unsigned i = 0; i < cpus; i++) {
		count_stream(stats, &stream[i]);
		end = stream_close(&stream[i], 0);
		rc = rc ? rc : end;
	}
	(void)close(dir_fd);
	free(stream);
	return rc < 0 ? err_set(err, KYMO_EXIT_FAILED, "cannot write kernel events into %s: %s", snapshot->dir, strerror(-rc)) : 0;
}
