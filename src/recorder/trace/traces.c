/* SPDX-License-Identifier: Apache-2.0 */
/* The traces of a sink: which process is in which of them, from begin to end; traces_packets.c
 * writes into them. */
#include "recorder/trace/traces_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ctf_writer *traces_writer(const struct traces *traces, const struct sink_process *at)
{
	const struct traces_process *mine = at->data;

	return mine->own ? mine->own : traces->shared;
}

/* ---- promises (promise.h) ---- */

void traces_before_write(void *context, const struct ctf_place *place)
{
	const struct traces_write *writing = context;

	promise_write(writing->process, place, writing->moves);
}

int traces_wrote(struct ctf_writer *writer, const struct traces_write *writing, int rc)
{
	ctf_writer_watch(writer, NULL, NULL);
	promise_written(writing->process, rc == 0);
	return rc;
}

/* ---- what all have in common ---- */

/* How far CLOCK_MONOTONIC is ahead of the machine's own, in a time namespace. */
static int64_t clock_ahead(void)
{
	FILE *file = fopen("/proc/self/timens_offsets", "re");
	long long seconds = 0, ns = 0;

	if (file) {
		if (fscanf(file, "monotonic %lld %lld", &seconds, &ns) != 2)
			seconds = ns = 0;
		(void)fclose(file);
	}
	return (int64_t)((uint64_t)seconds * 1000000000u + (uint64_t)ns);
}

/* The UUID of the clock: that of the boot, as LTTng uses it. A time namespace has another clock, so
 * its last digits differ. */
static void read_boot_id(char boot_id[64])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, boot_id, 63);
	uint64_t ahead = (uint64_t)clock_ahead() & 0xffffffffffffu, own;

	boot_id[got > 0 ? got : 0] = 0;
	boot_id[strcspn(boot_id, "\n")] = 0;
	if (fd >= 0)
		(void)close(fd);
	if (ahead && strlen(boot_id) == 36 && sscanf(boot_id + 24, "%12" SCNx64, &own) == 1)
		(void)snprintf(boot_id + 24, 13, "%012" PRIx64, own ^ ahead);
}

void traces_describe(struct traces *traces, struct ctf_trace_desc *desc, const char *name,
		     const char *version, uint64_t monotonic, uint64_t realtime)
{
	*desc = (struct ctf_trace_desc){
		.name = name,
		.hostname = traces->hostname, .boot_id = traces->boot_id, .uid = geteuid(),
		.clock_offset_ns = (int64_t)(realtime - monotonic),
		.created_s = (int64_t)(realtime / 1000000000u),
	};
	read_boot_id(traces->boot_id);
	(void)gethostname(traces->hostname, sizeof traces->hostname - 1); /* then it stays empty */
	(void)sscanf(version, "%u.%u", &desc->version_major, &desc->version_minor);
}

/* ---- a process ---- */

int traces_join(struct traces *traces, struct sink_process *at)
{
	struct traces_process *mine = calloc(1, sizeof *mine);

	if (!mine)
		return -ENOMEM;
	mine->next = traces->processes;
	mine->link = &traces->processes;
	if (mine->next)
		mine->next->link = &mine->next;
	traces->processes = mine;
	mine->at = at;
	at->data = mine;
	return 0;
}

static void end_stream(void **stream, uint64_t *base, uint64_t discarded)
{
	if (!*stream)
		return;
	ctf_out_close(*stream);
	*stream = NULL;
	*base = discarded;
}

/* The next packets of the process begin new streams. */
static void end_streams(struct sink_process *at)
{
	for (unsigned i = 0; i < at->ring_count; i++)
		end_stream(&at->ring[i].stream, &at->ring[i].stream_base, at->ring[i].discarded);
	end_stream(&at->merged.stream, &at->merged.stream_base, at->merged.discarded);
	end_stream(&at->init.stream, &at->init.stream_base, at->init.discarded);
}

/* The process gets a trace beside ust/, as with LTTng's per-process buffers. What is in the shared
 * trace stays there. */
static int leave_shared(struct traces *traces, struct sink_process *at)
{
	struct traces_process *mine = at->data;
	char name[64];

	(void)snprintf(name, sizeof name, "%u-%u", at->process->region.pid, at->process->ordinal);
	if (traces->begin(traces->context, name, &mine->own, NULL) < 0)
		return errno ? -errno : -EIO;
	end_streams(at);
	memset(mine->declared, 0, sizeof mine->declared); /* the table's runtime events are declared
							     again, in the new metadata */
	return 0;
}

int traces_declare(struct traces *traces, struct sink_process *at, enum ctf_class class,
		   unsigned id)
{
	const struct traces_process *mine = at->data;
	struct traces_write writing = { at->process, KYMO_PROMISE_NOTHING };
	struct ctf_writer *writer;
	int rc = 0;

	if (id >= KYMO_POINTS_TABLE && !mine->own)
		rc = leave_shared(traces, at);
	if (rc < 0)
		return rc;
	writer = traces_writer(traces, at);
	ctf_writer_watch(writer, traces_before_write, &writing);
	if (id < KYMO_POINTS_TABLE)
		rc = ctf_writer_declare(writer, id);
	else
		rc = ctf_writer_declare_own(writer, class, id,
					    classes_get(&at->process->classes, id));
	if (rc == 0 && id >= KYMO_POINTS_TABLE && at->merged.stream)
		rc = ctf_writer_declare_own(writer, CTF_CLASS_MERGED, id,
					    classes_get(&at->process->classes, id));
	return traces_wrote(writer, &writing, rc);
}

int traces_declare_runtime(struct traces *traces, struct sink_process *at, enum ctf_class class)
{
	struct traces_write writing = { at->process, KYMO_PROMISE_NOTHING };
	struct ctf_writer *writer = traces_writer(traces, at);
	struct traces_process *mine = at->data;
	unsigned version = at->process->tracetools;
	int rc;

	if (mine->own && !version)
		version = CTF_NO_TRACETOOLS; /* no hook was called: it has events of its own, and of
						malloc() and the like */
	if (mine->declared[class].done && mine->declared[class].version == version)
		return 0;
	ctf_writer_watch(writer, traces_before_write, &writing);
	rc = traces_wrote(writer, &writing, ctf_writer_declare_version(writer, class, version));
	mine->declared[class].done = rc == 0;
	mine->declared[class].version = version;
	return rc;
}

/* ---- the end ---- */

static void close_trace(struct traces *traces, struct ctf_writer *writer)
{
	if (!writer)
		return;
	traces->bytes += ctf_writer_bytes(writer);
	traces->disk += ctf_writer_disk(writer);
	ctf_writer_close(writer);
}

void traces_leave(struct traces *traces, struct sink_process *at)
{
	struct traces_process *mine = at->data;

	end_streams(at);
	close_trace(traces, mine->own);
	if (traces->look_at == mine)
		traces->look_at = mine->next;
	*mine->link = mine->next;
	if (mine->next)
		mine->next->link = mine->link;
	free(mine);
	at->data = NULL;
}

unsigned traces_point(struct traces *traces, uint64_t ns)
{
	unsigned calls = traces->shared ? 1 + ctf_writer_point(traces->shared, ns) : 0;

	traces->horizon_ns = ns;
	for (struct traces_process *mine = traces->processes; mine; mine = mine->next)
		if (mine->own)
			calls += 1 + ctf_writer_point(mine->own, ns);
	return calls;
}

void traces_free(struct traces *traces)
{
	free(traces->moved);
	traces->moved = NULL;
	traces->moved_room = 0;
}

void traces_complete(struct traces *traces)
{
	for (struct traces_process *mine = traces->processes; mine; mine = mine->next) {
		end_streams(mine->at);
		close_trace(traces, mine->own);
		mine->own = NULL;
		mine->own_events = 0;
		memset(mine->declared, 0, sizeof mine->declared);
	}
	close_trace(traces, traces->shared);
	traces->shared = NULL;
	traces->shared_events = 0;
}

bool traces_gone(const struct traces *traces, uint64_t *events)
{
	uint64_t lost = 0;
	bool gone = false;

	if (traces->shared && ctf_writer_is_gone(traces->shared)) {
		gone = true;
		lost = traces->shared_events;
	}
	for (const struct traces_process *mine = traces->processes; mine; mine = mine->next)
		if (mine->own && ctf_writer_is_gone(mine->own)) {
			gone = true;
			lost += mine->own_events;
		}
	if (events)
		*events += lost;
	return gone;
}

bool traces_look(struct traces *traces)
{
	struct traces_process *mine = traces->look_at ? traces->look_at : traces->processes;
	bool gone = traces->shared && ctf_writer_is_gone(traces->shared);

	for (unsigned i = 0; i < TRACES_PER_LOOK && mine && !gone; i++, mine = mine->next)
		gone = mine->own && ctf_writer_is_gone(mine->own);
	traces->look_at = mine;
	return gone;
}

static uint64_t sum_open(const struct traces *traces,
			 uint64_t (*bytes)(const struct ctf_writer *writer))
{
	uint64_t sum = traces->shared ? bytes(traces->shared) : 0;

	for (const struct traces_process *mine = traces->processes; mine; mine = mine->next)
		sum += mine->own ? bytes(mine->own) : 0;
	return sum;
}

uint64_t traces_bytes(const struct traces *traces)
{
	return traces->bytes + sum_open(traces, ctf_writer_bytes);
}

uint64_t traces_disk(const struct traces *traces)
{
	return traces->disk + sum_open(traces, ctf_writer_disk);
}
