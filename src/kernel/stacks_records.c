/* SPDX-License-Identifier: Apache-2.0 */
/* Perf's records become events of the trace; see stacks.c. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kernel/stacks_internal.h"

#define MARKERS ((uint64_t)-4096) /* from here on: PERF_CONTEXT_... */
#define USER ((uint64_t)PERF_CONTEXT_USER)
#define USER_FIRST 65536 /* no program has code below: vm.mmap_min_addr */
#define USER_BITS 56     /* of addresses of programs, at most, on x86-64 and aarch64 */

/* ---- threads ---- */

static void read_name(struct stacks_thread *thread)
{
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", thread->pid, thread->tid);
	file = fopen(path, "re");
	if (file && fgets(thread->name, sizeof(thread->name), file))
		thread->name[strcspn(thread->name, "\n")] = '\0';
	if (file)
		(void)fclose(file);
}

static void end_thread(struct stacks *stacks, struct stacks_thread *thread)
{
	if (thread->has_events)
		stacks_rings_user(&stacks->rings, thread->opened, -1);
	(void)map_del(&stacks->threads, (uint64_t)thread->tid, 0);
	free(thread->frame);
	free(thread);
}

struct stacks_thread *stacks_find(const struct stacks *stacks, int32_t tid)
{
	return map_get(&stacks->threads, (uint64_t)tid, 0);
}

static struct stacks_thread *add_thread(struct stacks *stacks, int32_t pid, int32_t tid)
{
	struct stacks_thread *thread = map_at(&stacks->threads, (uint64_t)tid, 0, sizeof(*thread));

	if (!thread) {
		stacks->failed = true;
		return NULL;
	}
	thread->pid = pid;
	thread->tid = tid;
	return thread;
}

static void has_events(struct stacks *stacks, struct stacks_thread *thread, unsigned opened)
{
	if (thread->has_events)
		return;
	thread->has_events = true;
	thread->opened = opened;
	stacks_rings_user(&stacks->rings, opened, 1);
}

bool stacks_add(struct stacks *stacks, int32_t pid, int32_t tid, unsigned opened, uint64_t since_ns)
{
	struct stacks_thread *thread = add_thread(stacks, pid, tid);

	if (!thread)
		return false;
	read_name(thread);
	if (!thread->has_events)
		thread->since_ns = since_ns;
	has_events(stacks, thread, opened);
	return true;
}

/* ---- events ---- */

static void put_context(const struct stacks_thread *thread, struct stacks_context *context)
{
	*context = (struct stacks_context){ thread->pid, thread->tid, "" };
	memcpy(context->name, thread->name, sizeof(context->name));
}

static void put(struct stacks *stacks, unsigned cpu, enum stacks_event event, uint64_t ns,
		const void *payload, size_t size)
{
	stacks_trace_event(&stacks->place, cpu, event, ns, payload, size);
	stacks->events++;
}

void stacks_put_file(struct stacks *stacks, unsigned cpu, uint64_t ns,
		     const struct stacks_file *file)
{
	struct __attribute__((packed)) {
		struct stacks_context context;
		uint64_t base, size;
		char path[4096];
	} info = { .base = file->base, .size = file->size };
	struct __attribute__((packed)) {
		struct stacks_context context;
		uint64_t base;
		uint8_t id[sizeof(file->build_id)];
	} build = { .base = file->base };
	const struct stacks_thread main = { .pid = file->pid, .tid = file->pid },
				   *thread = stacks_find(stacks, file->pid);
	const size_t length = strnlen(file->path, sizeof(info.path) - 1);

	put_context(thread ? thread : &main, &info.context);
	build.context = info.context;
	memcpy(info.path, file->path, length);
	put(stacks, cpu, STACKS_BIN_INFO, ns, &info, offsetof(__typeof__(info), path) + length + 1);
	if (!file->has_id)
		return;
	memcpy(build.id, file->build_id, sizeof(build.id));
	put(stacks, cpu, STACKS_BUILD_ID, ns, &build, sizeof(build));
}

/* With the context of the sample that follows. */
static void put_function(struct stacks *stacks, unsigned cpu, uint64_t ns, uint64_t address)
{
	struct __attribute__((packed)) {
		struct stacks_context context;
		uint64_t address, size;
		char name[512];
	} function = { .context = stacks->sample.context };
	uint64_t size;
	struct stacks_symbol *symbol = stacks_files_symbol(&stacks->files, address, &size);
	size_t length;

	if (!symbol || symbol->told)
		return;
	symbol->told = true;
	function.address = symbol->address;
	function.size = size;
	length = strnlen(stacks->files.names + symbol->name, sizeof(function.name) - 1);
	memcpy(function.name, stacks->files.names + symbol->name, length);
	put(stacks, cpu, STACKS_FUNCTION, ns, &function,
	    offsetof(__typeof__(function), name) + length + 1);
}

static void put_sample(struct stacks *stacks, unsigned cpu, enum stacks_event event, uint64_t ns,
		       const struct stacks_thread *thread)
{
	struct stacks_sample *sample = &stacks->sample;

	put_context(thread, &sample->context);
	for (unsigned i = 0; i < sample->kernel; i++)
		put_function(stacks, cpu, ns, sample->frame[i]);
	put(stacks, cpu, event, ns, sample,
	    offsetof(struct stacks_sample, frame) + sample->frames * sizeof(sample->frame[0]));
}

/* ---- records ---- */

/* The call chain, without the marks between its parts. Return: false: it makes no sense. */
static bool read_chain(struct stacks *stacks, const struct stacks_record *record)
{
	struct stacks_sample *sample = &stacks->sample;
	uint64_t count, address;
	bool is_user = stacks->rings.user_only;

	sample->kernel = 0;
	sample->frames = 0;
	if (record->size < sizeof(count))
		return false;
	memcpy(&count, record->body, sizeof(count));
	if (count > (record->size - sizeof(count)) / sizeof(address))
		return false;
	for (uint64_t i = 0; i < count && sample->frames < STACKS_FRAMES_MAX; i++) {
		memcpy(&address, record->body + (i + 1) * sizeof(address), sizeof(address));
		if (address >= MARKERS) {
			is_user = address == USER;
			continue;
		}
		/* A function without a frame pointer keeps something else in that register. */
		if (is_user && (address < USER_FIRST || address >> USER_BITS))
			break;
		if (address)
			sample->frame[sample->frames++] = address;
		sample->kernel += address && !is_user;
	}
	return true;
}

/* The thread that left: its stack is kept until it is back. */
static void on_leave(struct stacks *stacks, struct stacks_thread *thread, uint64_t ns)
{
	const struct stacks_sample *sample = &stacks->sample;

	free(thread->frame);
	thread->left_ns = ns;
	thread->kernel = sample->kernel;
	thread->frames = (uint32_t)sample->frames;
	thread->frame = malloc((sample->frames + 1) * sizeof(*thread->frame));
	if (thread->frame)
		memcpy(thread->frame, sample->frame, sample->frames * sizeof(*thread->frame));
	else
		thread->frames = thread->kernel = 0;
}

static void on_sample(struct stacks *stacks, unsigned cpu, const struct stacks_record *record)
{
	struct stacks_thread *thread = stacks_find(stacks, record->tid);
	enum stacks_kind kind;
	unsigned opened;

	if (!stacks_rings_find(&stacks->rings, record->id, &opened, &kind) ||
	    !read_chain(stacks, record))
		return;
	if (!thread || !thread->has_events) {
		if (!stacks_add(stacks, record->pid, record->tid, opened, 0))
			return;
		thread = stacks_find(stacks, record->tid);
	}
	/* A record from before its own events were opened is of those that it has inherited. */
	if (thread->opened != opened && record->ns >= thread->since_ns)
		return;
	thread->pid = record->pid;
	if (kind == STACKS_LEAVES) {
		on_leave(stacks, thread, record->ns);
		return;
	}
	stacks->sample.ns = 1000000000 / stacks->rings.hz;
	stacks->stats.samples++;
	put_sample(stacks, cpu, STACKS_SAMPLE, record->ns, thread);
}

/* Back on a CPU. */
static void on_switch(struct stacks *stacks, unsigned cpu, const struct stacks_record *record)
{
	struct stacks_thread *thread = stacks_find(stacks, record->tid);
	struct stacks_sample *sample = &stacks->sample;

	if (record->misc & PERF_RECORD_MISC_SWITCH_OUT || !thread || !thread->left_ns)
		return;
	sample->ns = (int64_t)(record->ns - thread->left_ns);
	sample->kernel = thread->kernel;
	sample->frames = thread->frames;
	if (thread->frames)
		memcpy(sample->frame, thread->frame, thread->frames * sizeof(*thread->frame));
	thread->left_ns = 0;
	stacks->stats.waits++;
	put_sample(stacks, cpu, STACKS_OFF_CPU, record->ns, thread);
}

static void on_mapping(struct stacks *stacks, unsigned cpu, const struct stacks_record *record)
{
	struct __attribute__((packed)) {
		uint32_t pid, tid;
		uint64_t address, length, offset, device, inode, generation;
		uint32_t protection, flags;
	} map;
	const struct stacks_file *file;

	if (record->size <= sizeof(map) || record->body[record->size - 1])
		return;
	memcpy(&map, record->body, sizeof(map));
	file = stacks_files_mapped(&stacks->files, (int32_t)map.pid, map.address, map.length,
				   map.offset, (const char *)record->body + sizeof(map));
	if (file)
		stacks_put_file(stacks, cpu, record->ns, file);
}

static void on_name(struct stacks *stacks, const struct stacks_record *record)
{
	struct stacks_thread *thread;
	uint32_t id[2];

	if (record->size <= sizeof(id) || record->body[record->size - 1])
		return;
	memcpy(id, record->body, sizeof(id));
	thread = add_thread(stacks, (int32_t)id[0], (int32_t)id[1]);
	if (thread)
		(void)snprintf(thread->name, sizeof(thread->name), "%s",
			       (const char *)record->body + sizeof(id));
	if (record->misc & PERF_RECORD_MISC_COMM_EXEC)
		stacks_files_forget(&stacks->files, (int32_t)id[0]);
}

/* A process that does not execute another program has the files of its parent. */
static void copy_files(struct stacks *stacks, unsigned cpu, uint64_t ns, int32_t parent,
		       int32_t child)
{
	const unsigned count = stacks->files.count;
	struct stacks_file file;

	for (unsigned i = 0; i < count; i++) {
		if (stacks->files.file[i].pid != parent)
			continue;
		file = stacks->files.file[i];
		file.pid = child;
		if (ARRAY_ROOM(stacks->files.file, stacks->files.count, stacks->files.room))
			stacks->files.file[stacks->files.count++] = file;
		stacks_put_file(stacks, cpu, ns, &file);
	}
}

static void on_task(struct stacks *stacks, unsigned cpu, const struct stacks_record *record)
{
	uint32_t id[4]; /* pid, parent, tid, parent's tid */
	struct stacks_thread *thread, *parent;

	if (record->size < sizeof(id))
		return;
	memcpy(id, record->body, sizeof(id));
	thread = stacks_find(stacks, (int32_t)id[2]);
	if (record->type == PERF_RECORD_EXIT) {
		if (thread)
			end_thread(stacks, thread);
		if (id[0] == id[2])
			stacks_files_forget(&stacks->files, (int32_t)id[0]);
		return;
	}
	parent = stacks_find(stacks, (int32_t)id[3]);
	if (thread || !parent)
		return; /* reported twice, or opened before the record was read */
	thread = add_thread(stacks, (int32_t)id[0], (int32_t)id[2]);
	if (!thread)
		return;
	memcpy(thread->name, parent->name, sizeof(thread->name));
	if (parent->has_events)
		has_events(stacks, thread, parent->opened);
	if (id[0] != id[1])
		copy_files(stacks, cpu, record->ns, (int32_t)id[1], (int32_t)id[0]);
}

static void on_record(struct stacks *stacks, unsigned cpu, const struct stacks_record *record)
{
	uint64_t lost[2];

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		on_sample(stacks, cpu, record);
		break;
	case PERF_RECORD_SWITCH:
		on_switch(stacks, cpu, record);
		break;
	case PERF_RECORD_MMAP2:
		on_mapping(stacks, cpu, record);
		break;
	case PERF_RECORD_COMM:
		on_name(stacks, record);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		on_task(stacks, cpu, record);
		break;
	case PERF_RECORD_LOST:
		if (record->size < sizeof(lost))
			break;
		memcpy(lost, record->body, sizeof(lost));
		stacks->stats.lost += lost[1];
		if (stacks->place.stream)
			stacks->place.stream[cpu].lost += lost[1];
		break;
	}
}

void stacks_read(struct stacks *stacks, uint64_t to_ns)
{
	const struct stacks_record *record;
	unsigned cpu;

	stacks_rings_capture(&stacks->rings);
	while ((record = stacks_rings_next(&stacks->rings, to_ns, &cpu)))
		on_record(stacks, cpu, record);
	stacks_rings_release(&stacks->rings);
}
