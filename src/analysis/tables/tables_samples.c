/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of sampled call stacks (kymo record --stacks), with the run of a callback around each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/system/system_cputime_thread.h"
#include "analysis/system/system_modules.h"
#include "analysis/tables/tables_internal.h"
#include "base/array.h"

#define NESTED_MAX 8u
#define NAME_MAX 4096
#define STACK_BYTES 65536u
#define FRAMES_MAX 512u /* of a stack; the recorder writes no more */

enum { SAMPLE, OFF_CPU, SAMPLE_ROWS };

static const struct kymo_ctf_bind wanted[SAMPLE_ROWS] = {
	[SAMPLE] = { "kymo_stacks:sample", { "ns", "kernel", "frames" } },
	[OFF_CPU] = { "kymo_stacks:off_cpu", { "ns", "kernel", "frames" } },
};

/* The open runs of a thread; those that are nested deeper are not kept. */
struct samples_running {
	unsigned depth;
	uint64_t id[NESTED_MAX];
	const struct model_callback *callback[NESTED_MAX];
};

struct tables_samples {
	struct modules modules;
	struct map running; /* (tid, host) -> struct samples_running */
	unsigned first;     /* the number of the first bound row */
	char stack[STACK_BYTES], function[NAME_MAX];
};

static uint64_t host_key(const char *host)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *host; host++)
		hash = (hash ^ (unsigned char)*host) * 0x100000001b3ull;
	return hash;
}

/* ---- runs ---- */

static struct samples_running *running_of(struct tables_scan *scan,
					  const struct model_instance *instance, bool create)
{
	const struct model_thread *thread = instance->thread;
	struct map *map = &scan->samples->running;
	const uint64_t host = thread ? host_key(thread->process->hostname) : 0;

	if (!thread)
		return NULL;
	return create ? map_at(map, (uint64_t)thread->tid, host, sizeof(struct samples_running))
		      : map_get(map, (uint64_t)thread->tid, host);
}

static void on_started(void *context, const struct model_instance *instance)
{
	struct tables_scan *scan = context;
	struct samples_running *running = running_of(scan, instance, true);

	if (!running) {
		scan->out_of_memory |= instance->thread != NULL;
		return;
	}
	if (running->depth < NESTED_MAX) {
		running->id[running->depth] = instance->id;
		running->callback[running->depth++] = instance->callback;
	}
}

/* Runs inside of it are over, too. */
static void on_ended(void *context, const struct model_instance *instance)
{
	struct samples_running *running = running_of(context, instance, false);

	for (unsigned i = 0; running && i < running->depth; i++)
		if (running->id[i] == instance->id)
			running->depth = i;
}

/* ---- rows ---- */

static const char *name_of(struct tables_samples *samples, const struct kymo_ctf_event *event,
			   uint64_t start, const char **file)
{
	static __thread char address_text[32];
	const char *name = modules_name(&samples->modules, event->trace, event->vpid, start, file);

	if (name)
		return name;
	(void)snprintf(address_text, sizeof(address_text), "0x%llx", (unsigned long long)start);
	return address_text;
}

/* "main;spin;on_timer": a stack that is too long loses its innermost functions. */
static void write_stack(struct tables_samples *samples, const struct kymo_ctf_event *event,
			const uint64_t start[], uint32_t count)
{
	const char *file;
	size_t used = 0;

	samples->stack[0] = '\0';
	for (uint32_t i = count; i-- > 0;) {
		const char *name = name_of(samples, event, start[i], &file);
		const size_t length = strlen(name);

		if (used + length + 2 > sizeof(samples->stack))
			break;
		if (used)
			samples->stack[used++] = ';';
		memcpy(samples->stack + used, name, length + 1);
		for (; samples->stack[used]; used++)
			if (samples->stack[used] == ';')
				samples->stack[used] = ':';
	}
}

static void add_row(struct tables_scan *scan, const struct kymo_ctf_event *event, bool is_off)
{
	struct tables_samples *samples = scan->samples;
	const struct kymo_ctf_value *frames = &event->value[2];
	uint32_t count = frames->present && frames->bytes ? frames->size : 0;
	uint64_t start[FRAMES_MAX];
	const char *host = kymo_ctf_trace(scan->reader, event->trace)->hostname, *file = NULL;
	const struct samples_running *running =
		map_get(&samples->running, (uint64_t)event->vtid, host_key(host));
	struct tables_row *row = tables_row_new(scan, TABLE_samples);

	if (!row)
		return;
	count = modules_stack(&samples->modules, event, event->value[1].u, frames,
			      count < FRAMES_MAX ? count : FRAMES_MAX, start);
	write_stack(samples, event, start, count);
	samples->function[0] = '\0';
	if (count)
		(void)snprintf(samples->function, sizeof(samples->function), "%s",
			       name_of(samples, event, start[0], &file));
	row->sample.ns = event->ns;
	row->sample.duration_ns = event->value[0].i;
	row->sample.is_off = is_off;
	row->sample.host = host;
	row->sample.pid = event->vpid;
	row->sample.tid = event->vtid;
	row->sample.thread = event->procname;
	row->sample.function = samples->function;
	row->sample.file = file;
	row->sample.stack = samples->stack;
	if (running && running->depth) {
		row->sample.run = running->id[running->depth - 1];
		row->sample.callback = running->callback[running->depth - 1];
	}
}

void tables_samples_event(struct tables_scan *scan, const struct kymo_ctf_event *event)
{
	const int row = scan->samples ? event->bound - (int)scan->samples->first : -1;

	if (row < 0 || event->bound < 0 || row >= (int)(SAMPLE_ROWS + MODULES_BINDS))
		return;
	if (row >= SAMPLE_ROWS)
		modules_event(&scan->samples->modules, (unsigned)row - SAMPLE_ROWS, event);
	else if (event->value[0].present)
		add_row(scan, event, row == OFF_CPU);
	scan->out_of_memory |= scan->samples->modules.failed;
}

static const struct model_listener listener = { .started = on_started,
						.instance = on_ended,
						.unfinished = on_ended };

int tables_samples_attach(struct tables_scan *scan, struct kymo_err *err)
{
	struct kymo_ctf_bind bind[SAMPLE_ROWS + MODULES_BINDS];

	if (!tables_wants(scan, TABLE_samples) ||
	    !reader_declares(scan->reader, wanted[SAMPLE].event))
		return 0;
	scan->samples = calloc(1, sizeof(*scan->samples));
	if (!scan->samples)
		return err_no_memory(err);
	memcpy(bind, wanted, sizeof(wanted));
	memcpy(bind + SAMPLE_ROWS, modules_bind, MODULES_BINDS * sizeof(*modules_bind));
	os_fit(scan->reader, bind, COUNT_OF(bind));
	if (model_listen(scan->model, &listener, scan, err))
		return -1;
	return model_bind_also(scan->model, bind, SAMPLE_ROWS + MODULES_BINDS,
			       &scan->samples->first, err);
}

void tables_samples_free(struct tables_scan *scan)
{
	if (!scan->samples)
		return;
	map_free_all(&scan->samples->running);
	modules_free(&scan->samples->modules);
	free(scan->samples);
	scan->samples = NULL;
}
