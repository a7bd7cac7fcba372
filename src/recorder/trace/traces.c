/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/trace/traces.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/drain/drained_process.h"
#include "recorder/drain/promise.h"

/* Of one process. */
struct traces_process {
	struct traces_process *next, **link;
	struct sink_process *at;
	struct ctf_writer *own;		/* its own trace; NULL: it is in the shared one */
	uint64_t own_events;		/* in it */
	bool known;			/* its stream of facts holds those that are known */
	struct {
		bool done;		/* its runtime events are declared in the metadata ... */
		unsigned version;	/* ... as this version of tracetools has them; 0: all */
	} declared[CTF_CLASS_COUNT];
};

static struct ctf_writer *writer_of(const struct traces *traces, const struct sink_process *at)
{
	const struct traces_process *mine = at->data;

	return mine->own ? mine->own : traces->shared;
}

/* ---- promises (promise.h) ---- */

/* One write, or several that belong together. */
struct writing {
	struct drained_process *process;
	enum kymo_promise_moves moves;	/* what is taken from it for good with that */
};

static void before_write(void *context, const struct ctf_place *place)
{
	const struct writing *writing = context;

	promise_write(writing->process, place, writing->moves);
}

static int ended(struct ctf_writer *writer, const struct writing *writing, int rc)
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

/* The UUID of the clock: that of the boot, as LTTng uses it. A time namespace has another clock, so its last digits differ. */
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

void traces_describe(struct traces *traces, struct ctf_trace_desc *desc, const char *name, const char *version,
		     uint64_t monotonic, uint64_t realtime)
{
	*desc = (struct ctf_trace_desc){
		.name = name,
		.hostname = traces->hostname, .boot_id = traces->boot_id, .uid = geteuid(),
		.clock_offset_ns = (int64_t)(realtime - monotonic),
		.created_s = (int64_t)(realtime / 1000000000u),
	};
	read_boot_id(traces->boot_id);
	(void)gethostname(traces->hostname, sizeof traces->hostname - 1);	/* then it stays empty */
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

/* The process gets a trace beside ust/, as with LTTng's per-process buffers. What is in the shared trace stays there. */
static int leave_shared(struct traces *traces, struct sink_process *at)
{
	struct traces_process *mine = at->data;
	char name[64];

	(void)snprintf(name, sizeof name, "%u-%u", at->process->region.pid, at->process->ordinal);
	if (traces->begin(traces->context, name, &mine->own, NULL) < 0)
		return errno ? -errno : -EIO;
	end_streams(at);
	memset(mine->declared, 0, sizeof mine->declared);	/* the table's runtime events are declared again, in the new metadata */
	return 0;
}

int traces_declare(struct traces *traces, struct sink_process *at, enum ctf_class class, unsigned id)
{
	const struct traces_process *mine = at->data;
	struct writing writing = { at->process, KYMO_PROMISE_NOTHING };
	struct ctf_writer *writer;
	int rc = 0;

	if (id >= KYMO_POINTS_TABLE && !mine->own)
		rc = leave_shared(traces, at);
	if (rc < 0)
		return rc;
	writer = writer_of(traces, at);
	ctf_writer_watch(writer, before_write, &writing);
	if (id < KYMO_POINTS_TABLE)
		rc = ctf_writer_declare(writer, id);
	else
		rc = ctf_writer_declare_own(writer, class, id, classes_get(&at->process->classes, id));
	if (rc == 0 && id >= KYMO_POINTS_TABLE && at->merged.stream)
		rc = ctf_writer_declare_own(writer, CTF_CLASS_MERGED, id, classes_get(&at->process->classes, id));
	return ended(writer, &writing, rc);
}

/* Runtime events are declared when the first ones come: the version of tracetools is known by then. */
static int declare_runtime(struct traces *traces, struct sink_process *at, enum ctf_class class)
{
	struct writing writing = { at->process, KYMO_PROMISE_NOTHING };
	struct ctf_writer *writer = writer_of(traces, at);
	struct traces_process *mine = at->data;
	unsigned version = at->process->tracetools;
	int rc;

	if (mine->own && !version)
		version = CTF_NO_TRACETOOLS;	/* no hook was called: it has events of its own, and of malloc() and the like */
	if (mine->declared[class].done && mine->declared[class].version == version)
		return 0;
	ctf_writer_watch(writer, before_write, &writing);
	rc = ended(writer, &writing, ctf_writer_declare_version(writer, class, version));
	mine->declared[class].done = rc == 0;
	mine->declared[class].version = version;
	return rc;
}

/* ---- packets ---- */

/* A stream whose name ends with @what. */
static struct ctf_out *new_stream(struct traces *traces, const struct sink_process *at,
				  enum ctf_class class, const char *what)
{
	char name[64];

	(void)snprintf(name, sizeof name, "%u-%u_%s", at->process->region.pid, at->process->ordinal,
		       what);
	return ctf_out_create(writer_of(traces, at), class, name);
}

/*
 * Readers count lost events from one packet to the next, so a stream that begins with a loss gets
 * an empty packet before it, at front_ns.
 */
static int write_front(const struct traces *traces, struct ctf_out *out, const struct ctf_packet *packet)
{
	struct ctf_packet none = *packet;

	none.begin = traces->front_ns < packet->begin ? traces->front_ns : packet->begin;
	none.end = none.begin;
	none.discarded = 0;
	none.size = none.count = 0;
	return ctf_out_packet(out, &none);
}

/* Times before the horizon are moved to it: readers have read on to there. */
static uint64_t not_before(const struct traces *traces, uint64_t ns)
{
	return ns > traces->horizon_ns ? ns : traces->horizon_ns;
}

static int write_packet(const struct traces *traces, const struct sink_process *at,
			struct ctf_out *out, struct ctf_packet *packet,
			enum kymo_promise_moves moves)
{
	struct writing front = { at->process, KYMO_PROMISE_NOTHING }, writing = { at->process, moves };
	struct ctf_writer *writer = writer_of(traces, at);
	int rc = 0;

	if (!out)
		return -ENOMEM;
	if (!packet->size) {
		packet->begin = not_before(traces, packet->begin);
		packet->end = packet->end > packet->begin ? packet->end : packet->begin;
	}
	if ((packet->discarded || traces->fronts) && !ctf_out_packets(out)) {
		ctf_writer_watch(writer, before_write, &front);
		rc = ended(writer, &front, write_front(traces, out, packet));
	}
	if (rc < 0)
		return rc;
	ctf_writer_watch(writer, before_write, &writing);
	return ended(writer, &writing, ctf_out_packet(out, packet));
}

static void count_events(struct traces *traces, const struct sink_process *at, uint32_t records)
{
	struct traces_process *mine = at->data;

	*(mine->own ? &mine->own_events : &traces->shared_events) += records;
	traces->events += records;
	traces->news = true;
}

int traces_packet(struct traces *traces, struct sink_process *at, const struct sink_packet *from)
{
	const struct drained_process *process = at->process;
	struct sink_ring *ring = &at->ring[from->ring];
	struct ctf_packet packet = {
		.begin = from->begin,
		.end = from->end,
		.discarded = from->discarded - ring->stream_base,
		.cpu = from->cpu,
		.vpid = (int32_t)process->region.pid,
		.events = from->bytes,
		.size = from->size,
		.count = from->records,
	};
	int rc = from->size ? declare_runtime(traces, at, CTF_CLASS_RUN) : 0;
	char number[16];

	if (rc < 0)
		return rc;
	if (from->account) {
		packet.vtid = from->account->tid;
		memcpy(packet.procname, from->account->name, sizeof packet.procname);
	}
	if (!ring->stream) {
		(void)snprintf(number, sizeof number, "%u", from->ring);
		ring->stream = new_stream(traces, at, CTF_CLASS_RUN, number);
	}
	rc = write_packet(traces, at, ring->stream, &packet,
			  from->promised ? KYMO_PROMISE_RINGS : KYMO_PROMISE_NOTHING);
	if (rc < 0)
		return rc;
	count_events(traces, at, from->records);
	return 0;
}

/* Facts that the previous chunk has, too, go to a stream of their own: a reader of both chunks skips it. */
static void choose_facts(struct traces *traces, struct sink_process *at, bool known)
{
	struct traces_process *mine = at->data;

	if (at->init.stream && mine->known != known) {
		ctf_out_close(at->init.stream);
		at->init.stream = NULL;
	}
	mine->known = known;
	if (!at->init.stream)
		at->init.stream = new_stream(traces, at, CTF_CLASS_INIT, known ? "known" : "init");
}

/* The events that the process declared before are only in the metadata of streams of one thread: declare them here, too. */
static int declare_own_merged(struct ctf_writer *writer, const struct drained_process *process)
{
	struct writing writing = { (struct drained_process *)process, KYMO_PROMISE_NOTHING };
	int rc = 0;

	ctf_writer_watch(writer, before_write, &writing);
	for (unsigned id = KYMO_POINTS_TABLE; rc == 0 && id < KYMO_POINTS_TABLE + process->classes.room; id++) {
		const struct kymo_point *point = classes_get(&process->classes, id);

		rc = point ? ctf_writer_declare_own(writer, CTF_CLASS_MERGED, id, point) : 0;
	}
	return ended(writer, &writing, rc);
}

static int make_merged(struct traces *traces, struct sink_process *at)
{
	const struct traces_process *mine = at->data;
	int rc = mine->own ? declare_own_merged(mine->own, at->process) : 0;

	if (rc < 0)
		return rc;
	at->merged.stream = new_stream(traces, at, CTF_CLASS_MERGED, "threads");
	return at->merged.stream ? 0 : -ENOMEM;
}

int traces_batch(struct traces *traces, struct sink_process *at, const struct sink_batch *batch)
{
	struct ctf_packet packet = {
		.begin = batch->begin,
		.end = batch->end,
		.discarded = batch->discarded - at->merged.stream_base,
		.cpu = batch->cpu,
		.vpid = (int32_t)at->process->region.pid,
		.events = batch->bytes,
		.size = batch->size,
		.count = batch->records,
	};
	int rc = batch->size ? declare_runtime(traces, at, CTF_CLASS_MERGED) : 0;

	if (rc == 0 && !at->merged.stream)
		rc = make_merged(traces, at);
	if (rc == 0)
		rc = write_packet(traces, at, at->merged.stream, &packet, KYMO_PROMISE_RINGS);
	if (rc < 0)
		return rc;
	count_events(traces, at, batch->records);
	return 0;
}

/* Facts that come late get a later time; the true time is in init_timestamp. */
static int move_facts(struct traces *traces, const struct sink_facts *facts, struct ctf_packet *packet)
{
	if (facts->size > traces->moved_room) {
		uint8_t *grown = realloc(traces->moved, facts->size);

		if (!grown)
			return -ENOMEM;
		traces->moved = grown;
		traces->moved_room = facts->size;
	}
	if (facts->size)
		memcpy(traces->moved, facts->bytes, facts->size);
	packet->begin = not_before(traces, packet->begin);
	packet->end = not_before(traces, packet->end);
	for (uint32_t i = 0; i < facts->count; i++) {
		struct sink_fact fact;

		memcpy(&fact, traces->moved + facts->at[i], sizeof fact);
		fact.ns = not_before(traces, fact.ns);
		memcpy(traces->moved + facts->at[i], &fact, sizeof fact);
	}
	packet->events = traces->moved;
	return 0;
}

int traces_facts(struct traces *traces, struct sink_process *at, const struct sink_facts *facts)
{
	struct ctf_packet packet = {
		.begin = facts->begin,
		.end = facts->end,
		.discarded = facts->known ? 0 : facts->discarded - at->init.stream_base,
		.events = facts->bytes,
		.size = facts->size,
		.count = facts->count,
	};
	/* Known facts are at the begin of a chunk, and readers do not take them for new. */
	int rc = !facts->known && facts->begin < traces->horizon_ns ? move_facts(traces, facts, &packet) : 0;

	if (rc < 0)
		return rc;
	choose_facts(traces, at, facts->known);
	rc = write_packet(traces, at, at->init.stream, &packet,
			  facts->promised && !facts->known ? KYMO_PROMISE_NO_RING : KYMO_PROMISE_NOTHING);
	if (rc < 0)
		return rc;
	if (facts->known)
		traces->known += facts->size;
	traces->news |= !facts->known;
	return 0;
}

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

static uint64_t sum_open(const struct traces *traces, uint64_t (*bytes)(const struct ctf_writer *writer))
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
