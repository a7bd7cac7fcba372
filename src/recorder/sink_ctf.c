/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/sink_ctf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctf/writer.h"
#include "recorder/chunks.h"
#include "recorder/packer.h"
#include "recorder/process.h"
#include "recorder/promise.h"
#include "recorder/trace_dir.h"

struct ctf_sink {
	struct sink sink;
	char *path;			/* absolute */
	char version[32];		/* of kymo */
	struct ctf_trace_desc desc;	/* of all its traces */
	char *rules;			/* of desc */
	char boot_id[64], hostname[65];
	struct chunks chunks;		/* dir -1: one trace that grows */
	struct ctf_writer *shared;	/* the trace of the processes without events of their own */
	struct ctf_process *processes;	/* those that have not left */
	uint64_t bytes, disk;		/* of traces that are closed: packets; all, of this chunk */
	uint64_t known;			/* bytes of facts in this chunk that the one before has, too */
	uint64_t accounts;		/* bytes */
	bool news;			/* this chunk has more than those */
	bool existed;			/* the directory was there before */
};

/* Of one process. */
struct ctf_process {
	struct ctf_process *next, **link;
	struct sink_process *at;
	struct ctf_writer *own;		/* its own trace; NULL: it is in the shared one */
	bool known;			/* its stream of facts holds those that are known */
	struct {
		bool done;		/* its runtime events are in the metadata ... */
		unsigned version;	/* ... as this tracetools has them; 0: all */
	} declared[CTF_CLASS_COUNT];
};

static struct ctf_writer *writer_of(const struct ctf_sink *ctf, const struct sink_process *at)
{
	const struct ctf_process *mine = at->data;

	return mine->own ? mine->own : ctf->shared;
}

/* ---- what a killed recorder leaves ---- */

/* One write, or some for one thing. */
struct writing {
	struct process *process;
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

/* ---- traces ---- */

static void read_boot_id(char boot_id[64])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, boot_id, 63);

	boot_id[got > 0 ? got : 0] = 0;
	boot_id[strcspn(boot_id, "\n")] = 0;
	if (fd >= 0)
		(void)close(fd);
}

static void describe(struct ctf_sink *ctf, uint64_t monotonic, uint64_t realtime)
{
	const char *slash = strrchr(ctf->path, '/');

	ctf->desc = (struct ctf_trace_desc){
		.name = slash ? slash + 1 : ctf->path,
		.hostname = ctf->hostname, .boot_id = ctf->boot_id, .uid = geteuid(),
		.clock_offset_ns = (int64_t)(realtime - monotonic),
		.created_s = (int64_t)(realtime / 1000000000u),
	};
	read_boot_id(ctf->boot_id);
	(void)gethostname(ctf->hostname, sizeof ctf->hostname - 1);	/* then it stays empty */
	(void)sscanf(ctf->version, "%u.%u", &ctf->desc.version_major, &ctf->desc.version_minor);
}

/* The directory of trace @name in chunk @chunk, or in the one that everything is in. */
static void trace_path(char *path, const struct ctf_sink *ctf, const struct chunk *chunk, const char *name)
{
	bool whole = ctf->chunks.dir < 0;

	(void)snprintf(path, PATH_MAX + 64, "%s%s%s/%s", ctf->path, whole ? "" : "/archives/",
		       whole ? "" : chunk->name, name);
}

static int begin_trace(struct ctf_sink *ctf, const struct chunk *chunk, const char *name,
		       struct ctf_writer **writer, struct err *err)
{
	char path[PATH_MAX + 64];

	trace_path(path, ctf, chunk, name);
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return err_set(err, EXIT_FAILED, "cannot write to %s: %s; name another place with -o DIR",
			       path, strerror(errno));
	return ctf_writer_create(path, &ctf->desc, writer, err);
}

static int begin_chunks(struct ctf_sink *ctf, const struct sink_files *files, uint64_t monotonic,
			uint64_t realtime, struct err *err)
{
	struct chunk first;
	int rc = chunks_open(&ctf->chunks, ctf->path, files);

	if (rc == 0)
		rc = chunks_make(&ctf->chunks, monotonic, realtime, &first);
	if (rc < 0)
		return err_set(err, EXIT_FAILED, "cannot make a chunk in %s: %s; name another place with "
			       "-o DIR", ctf->path, strerror(-rc));
	ctf->chunks.now = first;
	return 0;
}

static uint64_t realtime_now(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);	/* there is one */
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- a process ---- */

static int ctf_join(struct sink *sink, struct sink_process *at)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	struct ctf_process *mine = calloc(1, sizeof *mine);

	if (!mine)
		return -ENOMEM;
	mine->next = ctf->processes;
	mine->link = &ctf->processes;
	if (mine->next)
		mine->next->link = &mine->next;
	ctf->processes = mine;
	mine->at = at;
	at->data = mine;
	return 0;
}

/* Its next packets begin new streams. */
static void end_streams(struct sink_process *at)
{
	for (unsigned i = 0; i < at->ring_count; i++) {
		struct sink_ring *ring = &at->ring[i];

		if (!ring->stream)
			continue;
		ctf_out_close(ring->stream);
		ring->stream = NULL;
		ring->stream_base = ring->discarded;
	}
	if (at->merged.stream)
		ctf_out_close(at->merged.stream);
	at->merged.stream = NULL;
	at->merged.stream_base = at->merged.discarded;
	if (!at->init.stream)
		return;
	ctf_out_close(at->init.stream);
	at->init.stream = NULL;
	at->init.stream_base = at->init.discarded;
}

/* Beside ust/, as LTTng's per-process buffers have it. What it wrote into the shared trace stays there. */
static int leave_shared(struct ctf_sink *ctf, struct sink_process *at)
{
	struct ctf_process *mine = at->data;
	char name[64];

	(void)snprintf(name, sizeof name, "%u-%u", at->process->region.pid, at->process->ordinal);
	if (begin_trace(ctf, &ctf->chunks.now, name, &mine->own, NULL) < 0)
		return -EIO;
	end_streams(at);
	memset(mine->declared, 0, sizeof mine->declared);	/* the table's runtime events, in the new metadata */
	return 0;
}

static int ctf_declare(struct sink *sink, struct sink_process *at, enum ctf_class class, unsigned id)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	const struct ctf_process *mine = at->data;
	struct writing writing = { at->process, KYMO_PROMISE_NOTHING };
	struct ctf_writer *writer;
	int rc = 0;

	if (id >= KYMO_POINTS_TABLE && !mine->own)
		rc = leave_shared(ctf, at);
	if (rc < 0)
		return rc;
	writer = writer_of(ctf, at);
	ctf_writer_watch(writer, before_write, &writing);
	if (id < KYMO_POINTS_TABLE)
		rc = ctf_writer_declare(writer, id);
	else
		rc = ctf_writer_declare_own(writer, class, id, classes_get(&at->process->classes, id));
	if (rc == 0 && id >= KYMO_POINTS_TABLE && at->merged.stream)
		rc = ctf_writer_declare_own(writer, CTF_CLASS_MERGED, id, classes_get(&at->process->classes, id));
	return ended(writer, &writing, rc);
}

/* Its runtime events are declared once it has some: its version is known by then. */
static int declare_runtime(struct ctf_sink *ctf, struct sink_process *at, enum ctf_class class)
{
	struct writing writing = { at->process, KYMO_PROMISE_NOTHING };
	struct ctf_writer *writer = writer_of(ctf, at);
	struct ctf_process *mine = at->data;
	unsigned version = at->process->tracetools;
	int rc;

	if (mine->declared[class].done && mine->declared[class].version == version)
		return 0;
	if (mine->own && !version)
		return 0;		/* events of its own only: no hook has met tracetools */
	ctf_writer_watch(writer, before_write, &writing);
	rc = ended(writer, &writing, ctf_writer_declare_version(writer, class, version));
	mine->declared[class].done = rc == 0;
	mine->declared[class].version = version;
	return rc;
}

/* ---- packets ---- */

/*
 * Readers count lost events from one packet to the next, so a stream that begins with a loss gets
 * an empty packet at the sink's, or chunk's, start in front.
 */
static int write_front(const struct ctf_sink *ctf, struct ctf_out *out, const struct ctf_packet *packet)
{
	const uint64_t start_ns = ctf->chunks.now.number > 1 ? ctf->chunks.now.begin_ns : ctf->sink.start_ns;
	struct ctf_packet none = *packet;

	none.begin = start_ns < packet->begin ? start_ns : packet->begin;
	none.end = none.begin;
	none.discarded = 0;
	none.size = 0;
	return ctf_out_packet(out, &none);
}

static int write_packet(const struct ctf_sink *ctf, const struct sink_process *at, struct ctf_out *out,
			const struct ctf_packet *packet, enum kymo_promise_moves moves)
{
	struct writing front = { at->process, KYMO_PROMISE_NOTHING }, writing = { at->process, moves };
	struct ctf_writer *writer = writer_of(ctf, at);
	int rc = 0;

	if (!out)
		return -ENOMEM;
	if (packet->discarded && !ctf_out_packets(out)) {
		ctf_writer_watch(writer, before_write, &front);
		rc = ended(writer, &front, write_front(ctf, out, packet));
	}
	if (rc < 0)
		return rc;
	ctf_writer_watch(writer, before_write, &writing);
	return ended(writer, &writing, ctf_out_packet(out, packet));
}

static int ctf_packet(struct sink *sink, struct sink_process *at, const struct sink_packet *from)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	const struct process *process = at->process;
	struct sink_ring *ring = &at->ring[from->ring];
	struct ctf_packet packet = {
		.begin = from->begin,
		.end = from->end,
		.discarded = from->discarded - ring->stream_base,
		.cpu = from->cpu,
		.vpid = (int32_t)process->region.pid,
		.events = from->bytes,
		.size = from->size,
	};
	int rc = from->size ? declare_runtime(ctf, at, CTF_CLASS_RUN) : 0;
	char name[64];

	if (rc < 0)
		return rc;
	if (from->account) {
		packet.vtid = from->account->tid;
		memcpy(packet.procname, from->account->name, sizeof packet.procname);
	}
	if (!ring->stream) {
		(void)snprintf(name, sizeof name, "%u-%u_%u", process->region.pid, process->ordinal,
			       from->ring);
		ring->stream = ctf_out_create(writer_of(ctf, at), CTF_CLASS_RUN, name);
	}
	rc = write_packet(ctf, at, ring->stream, &packet,
			  from->promised ? KYMO_PROMISE_RINGS : KYMO_PROMISE_NOTHING);
	if (rc < 0)
		return rc;
	ctf->chunks.now.events += from->records;
	ctf->news = true;
	return 0;
}

/* What the chunk before holds, too, has a stream of its own: who reads both needs it once. */
static void choose_facts(struct ctf_sink *ctf, struct sink_process *at, bool known)
{
	struct ctf_process *mine = at->data;
	char name[64];

	if (at->init.stream && mine->known != known) {
		ctf_out_close(at->init.stream);
		at->init.stream = NULL;
	}
	mine->known = known;
	if (at->init.stream)
		return;
	(void)snprintf(name, sizeof name, "%u-%u_%s", at->process->region.pid, at->process->ordinal,
		       known ? "known" : "init");
	at->init.stream = ctf_out_create(writer_of(ctf, at), CTF_CLASS_INIT, name);
}

/* What the process declared until now is in the metadata for streams of one thread. */
static int declare_own_merged(struct ctf_writer *writer, const struct process *process)
{
	struct writing writing = { (struct process *)process, KYMO_PROMISE_NOTHING };
	int rc = 0;

	ctf_writer_watch(writer, before_write, &writing);
	for (unsigned id = KYMO_POINTS_TABLE; rc == 0 && id < KYMO_POINTS_TABLE + process->classes.room; id++) {
		const struct kymo_point *point = classes_get(&process->classes, id);

		rc = point ? ctf_writer_declare_own(writer, CTF_CLASS_MERGED, id, point) : 0;
	}
	return ended(writer, &writing, rc);
}

static int make_merged(struct ctf_sink *ctf, struct sink_process *at)
{
	const struct process *process = at->process;
	const struct ctf_process *mine = at->data;
	int rc = mine->own ? declare_own_merged(mine->own, process) : 0;
	char name[64];

	if (rc < 0)
		return rc;
	(void)snprintf(name, sizeof name, "%u-%u_threads", process->region.pid, process->ordinal);
	at->merged.stream = ctf_out_create(writer_of(ctf, at), CTF_CLASS_MERGED, name);
	return at->merged.stream ? 0 : -ENOMEM;
}

static int ctf_batch(struct sink *sink, struct sink_process *at, const struct sink_batch *batch)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	const struct ctf_packet packet = {
		.begin = batch->begin,
		.end = batch->end,
		.discarded = batch->discarded - at->merged.stream_base,
		.cpu = batch->cpu,
		.vpid = (int32_t)at->process->region.pid,
		.events = batch->bytes,
		.size = batch->size,
	};
	int rc = batch->size ? declare_runtime(ctf, at, CTF_CLASS_MERGED) : 0;

	if (rc == 0 && !at->merged.stream)
		rc = make_merged(ctf, at);
	if (rc == 0)
		rc = write_packet(ctf, at, at->merged.stream, &packet, KYMO_PROMISE_RINGS);
	if (rc < 0)
		return rc;
	ctf->chunks.now.events += batch->records;
	ctf->news = true;
	return 0;
}

static int ctf_facts(struct sink *sink, struct sink_process *at, const struct sink_facts *facts)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	const struct ctf_packet packet = {
		.begin = facts->begin,
		.end = facts->end,
		.discarded = facts->known ? 0 : facts->discarded - at->init.stream_base,
		.events = facts->bytes,
		.size = facts->size,
	};
	int rc;

	choose_facts(ctf, at, facts->known);
	rc = write_packet(ctf, at, at->init.stream, &packet,
			  facts->promised && !facts->known ? KYMO_PROMISE_NO_RING : KYMO_PROMISE_NOTHING);
	if (rc < 0)
		return rc;
	if (facts->known)
		ctf->known += facts->size;
	ctf->news |= !facts->known;
	return 0;
}

static void close_trace(struct ctf_sink *ctf, struct ctf_writer *writer)
{
	if (!writer)
		return;
	ctf->bytes += ctf_writer_bytes(writer);
	ctf->disk += ctf_writer_disk(writer);
	ctf_writer_close(writer);
}

static void ctf_leave(struct sink *sink, struct sink_process *at)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	struct ctf_process *mine = at->data;

	end_streams(at);
	close_trace(ctf, mine->own);
	*mine->link = mine->next;
	if (mine->next)
		mine->next->link = mine->link;
	free(mine);
	at->data = NULL;
}

/* ---- chunks ---- */

/* Bytes of files in the present chunk, and of the accounts. */
static uint64_t disk_bytes(const struct ctf_sink *ctf)
{
	uint64_t bytes = ctf->disk + ctf->accounts + ctf_writer_disk(ctf->shared);

	for (const struct ctf_process *mine = ctf->processes; mine; mine = mine->next)
		if (mine->own)
			bytes += ctf_writer_disk(mine->own);
	return bytes;
}

static void ctf_round(struct sink *sink, uint64_t now_ns)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;

	(void)now_ns;
	if (ctf->chunks.dir < 0)
		return;
	chunks_packed(&ctf->chunks);
	chunks_bound(&ctf->chunks, disk_bytes(ctf));
}

static bool ctf_due(const struct sink *sink, uint64_t now_ns)
{
	const struct ctf_sink *ctf = (const struct ctf_sink *)sink;

	return ctf->chunks.dir >= 0 && ctf->news && chunks_due(&ctf->chunks, disk_bytes(ctf) - ctf->known, now_ns);
}

/* All streams of the present chunk end; what it was is in its accounts. */
static void complete_chunk(struct ctf_sink *ctf, uint64_t end_ns)
{
	for (struct ctf_process *mine = ctf->processes; mine; mine = mine->next) {
		end_streams(mine->at);
		close_trace(ctf, mine->own);
		mine->own = NULL;
		memset(mine->declared, 0, sizeof mine->declared);
	}
	close_trace(ctf, ctf->shared);
	ctf->shared = NULL;
	chunks_complete(&ctf->chunks, ctf->path, ctf->version, end_ns, realtime_now());
}

static int ctf_turn(struct sink *sink, uint64_t begin_ns, uint64_t now_ns)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	struct ctf_writer *writer;
	struct chunk next;
	int rc = chunks_make(&ctf->chunks, begin_ns, realtime_now(), &next);

	if (rc < 0)
		return rc;
	if (begin_trace(ctf, &next, "ust", &writer, NULL) < 0) {
		chunks_unmake(&ctf->chunks, &next);
		return -EIO;
	}
	complete_chunk(ctf, now_ns);
	ctf->chunks.now = next;
	ctf->shared = writer;
	ctf->disk = ctf->known = 0;
	ctf->news = false;
	return 0;
}

/* ---- accounts and end ---- */

static int ctf_accounts(struct sink *sink, const char *json)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;

	ctf->accounts = strlen(json);
	return trace_dir_write(ctf->path, "kymo.json", json, ctf->accounts);
}

static void ctf_tell(const struct sink *sink, struct json_object *root)
{
	const struct ctf_sink *ctf = (const struct ctf_sink *)sink;

	if (ctf->chunks.dir >= 0)
		chunks_tell(&ctf->chunks, root);
}

static uint64_t ctf_bytes(const struct sink *sink)
{
	const struct ctf_sink *ctf = (const struct ctf_sink *)sink;

	uint64_t bytes = ctf->bytes + ctf_writer_bytes(ctf->shared);

	for (const struct ctf_process *mine = ctf->processes; mine; mine = mine->next)
		if (mine->own)
			bytes += ctf_writer_bytes(mine->own);
	return bytes;
}

static void ctf_close(struct sink *sink)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	bool empty = !ctf->shared || !ctf_bytes(sink);

	if (ctf->chunks.dir >= 0 && !empty && (ctf->news || ctf->chunks.now.number == 1)) {
		complete_chunk(ctf, sink->end_ns);
	} else {
		ctf_writer_close(ctf->shared);
		if (ctf->chunks.dir >= 0 && !empty)
			chunks_unmake(&ctf->chunks, &ctf->chunks.now);	/* it tells nothing new */
	}
	if (empty && ctf->path)
		trace_dir_remove_empty(ctf->path, ctf->existed);
	else if (ctf->chunks.packer && ctf->chunks.dir < 0)
		packer_add(ctf->chunks.packer, ctf->path, 0);
	chunks_close(&ctf->chunks);
	free(ctf->path);
	free(ctf->rules);
	free(ctf);
}

static const struct sink_ops ctf_ops = {
	.kind = "ctf",
	.join = ctf_join,
	.declare = ctf_declare,
	.facts = ctf_facts,
	.packet = ctf_packet,
	.batch = ctf_batch,
	.leave = ctf_leave,
	.accounts = ctf_accounts,
	.tell = ctf_tell,
	.round = ctf_round,
	.due = ctf_due,
	.turn = ctf_turn,
	.bytes = ctf_bytes,
	.close = ctf_close,
};

int sink_ctf_create(const char *path, const char *version, uint64_t monotonic, uint64_t realtime,
		    const struct sink_files *files, struct sink **sink, struct err *err)
{
	struct ctf_sink *ctf = calloc(1, sizeof *ctf);
	int rc;

	if (!ctf)
		return err_set(err, EXIT_FAILED, "out of memory");
	ctf->sink.ops = &ctf_ops;
	ctf->chunks.dir = -1;
	(void)snprintf(ctf->version, sizeof ctf->version, "%s", version);
	rc = trace_dir_make(path, &ctf->existed, &ctf->path, err);
	if (rc == 0)
		describe(ctf, monotonic, realtime);
	if (files && files->rules && *files->rules)
		ctf->desc.rules = ctf->rules = strdup(files->rules);
	if (rc == 0 && files && files->compress) {
		ctf->chunks.packer = packer_start();
		if (!ctf->chunks.packer)
			rc = err_set(err, EXIT_FAILED, "cannot start a thread that compresses: %s", strerror(errno));
	}
	if (rc == 0 && files && chunks_wanted(files))
		rc = begin_chunks(ctf, files, monotonic, realtime, err);
	if (rc == 0)
		rc = begin_trace(ctf, &ctf->chunks.now, "ust", &ctf->shared, err);
	if (rc < 0) {
		ctf_close(&ctf->sink);
		return -1;
	}
	ctf->sink.name = ctf->path;
	*sink = &ctf->sink;
	return 0;
}
