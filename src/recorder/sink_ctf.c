/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/sink_ctf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/writer.h"
#include "recorder/process.h"

struct ctf_sink {
	struct sink sink;
	char *path;			/* absolute */
	struct ctf_trace_desc desc;	/* of all its traces */
	char boot_id[64], hostname[65];
	struct ctf_writer *shared;	/* the trace of the processes without events of their own */
	struct ctf_process *processes;	/* those that have not left */
	uint64_t bytes;			/* of traces that are closed */
	bool existed;			/* the directory was there before */
};

/* Of one process. */
struct ctf_process {
	struct ctf_process *next, **link;
	struct ctf_writer *own;		/* its own trace; NULL: it is in the shared one */
	bool declared;			/* its runtime events are in the metadata ... */
	unsigned version;		/* ... as this tracetools has them; 0: all */
};

static struct ctf_writer *writer_of(const struct ctf_sink *ctf, const struct sink_process *at)
{
	const struct ctf_process *mine = at->data;

	return mine->own ? mine->own : ctf->shared;
}

/* ---- the directory ---- */

static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = true;

	if (!dir)
		return false;
	while (empty && (entry = readdir(dir)))
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	(void)closedir(dir);
	return empty;
}

static int make_directory(struct ctf_sink *ctf, const char *path, struct err *err)
{
	char ust[PATH_MAX];

	if (strlen(path) > PATH_MAX - 64)
		return err_set(err, EXIT_FAILED, "the path of the trace is too long");
	if (mkdir(path, 0755) < 0) {
		ctf->existed = true;
		if (errno == EEXIST && !is_empty(path))
			return err_set(err, EXIT_FAILED, "%s exists already and is no empty directory; "
				       "name another place with -o DIR", path);
		if (errno != EEXIST)
			return err_set(err, EXIT_FAILED, "cannot make the trace directory %s: %s; name "
				       "another place with -o DIR", path, strerror(errno));
	}
	ctf->path = realpath(path, NULL);
	(void)snprintf(ust, sizeof ust, "%s/ust", path);
	if (!ctf->path || mkdir(ust, 0755) < 0)
		return err_set(err, EXIT_FAILED, "cannot write to %s: %s; name another place with "
			       "-o DIR", path, strerror(errno));
	return 0;
}

/* Takes away a trace without any packet: metadata and index. */
static void remove_trace(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)unlinkat(fd, "metadata", 0);
	(void)unlinkat(fd, "index", AT_REMOVEDIR);
	(void)close(fd);
	(void)unlinkat(dir, name, AT_REMOVEDIR);
}

/* What else lies there stays, and so does the directory then. */
static void remove_directory(const struct ctf_sink *ctf)
{
	DIR *dir = ctf->path ? opendir(ctf->path) : NULL;
	struct dirent *entry;

	if (!dir)
		return;
	(void)unlinkat(dirfd(dir), "kymo.json", 0);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			remove_trace(dirfd(dir), entry->d_name);
	(void)closedir(dir);
	if (!ctf->existed)
		(void)rmdir(ctf->path);
}

static void read_boot_id(char boot_id[64])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, boot_id, 63);

	boot_id[got > 0 ? got : 0] = 0;
	boot_id[strcspn(boot_id, "\n")] = 0;
	if (fd >= 0)
		(void)close(fd);
}

static int begin_trace(struct ctf_sink *ctf, const char *version, uint64_t monotonic,
		       uint64_t realtime, struct err *err)
{
	const char *slash = strrchr(ctf->path, '/');
	char dir[PATH_MAX + 8];

	ctf->desc = (struct ctf_trace_desc){
		.name = slash ? slash + 1 : ctf->path,
		.hostname = ctf->hostname, .boot_id = ctf->boot_id, .uid = geteuid(),
		.clock_offset_ns = (int64_t)(realtime - monotonic),
		.created_s = (int64_t)(realtime / 1000000000u),
	};
	read_boot_id(ctf->boot_id);
	(void)gethostname(ctf->hostname, sizeof ctf->hostname - 1);	/* then it stays empty */
	(void)sscanf(version, "%u.%u", &ctf->desc.version_major, &ctf->desc.version_minor);
	(void)snprintf(dir, sizeof dir, "%s/ust", ctf->path);
	return ctf_writer_create(dir, &ctf->desc, &ctf->shared, err);
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
	at->data = mine;
	return 0;
}

/* Beside ust/, as LTTng's per-process buffers have it. What it wrote into the shared trace stays there. */
static int leave_shared(struct ctf_sink *ctf, struct sink_process *at)
{
	struct ctf_process *mine = at->data;
	char dir[PATH_MAX + 32];

	(void)snprintf(dir, sizeof dir, "%s/%u-%u", ctf->path, at->process->region.pid,
		       at->process->ordinal);
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return -errno;
	if (ctf_writer_create(dir, &ctf->desc, &mine->own, NULL) < 0)
		return -EIO;
	if (at->init.stream)
		ctf_out_close(at->init.stream);
	at->init.stream = NULL;
	for (unsigned i = 0; i < at->ring_count; i++) {
		struct sink_ring *ring = &at->ring[i];

		if (!ring->stream)
			continue;
		ctf_out_close(ring->stream);
		ring->stream = NULL;
		ring->stream_base = ring->discarded;
	}
	mine->declared = false;		/* the table's runtime events, in the new metadata */
	return 0;
}

static int ctf_declare(struct sink *sink, struct sink_process *at, enum ctf_class class, unsigned id)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	struct ctf_process *mine = at->data;
	int rc = 0;

	if (id < KYMO_POINTS_TABLE)
		return ctf_writer_declare(writer_of(ctf, at), id);
	if (!mine->own)
		rc = leave_shared(ctf, at);
	if (rc < 0)
		return rc;
	return ctf_writer_declare_own(mine->own, class, id, classes_get(&at->process->classes, id));
}

/* Its runtime events are declared once it has some: its version is known by then. */
static int declare_runtime(struct ctf_sink *ctf, struct sink_process *at)
{
	struct ctf_process *mine = at->data;
	unsigned version = at->process->tracetools;
	int rc;

	if (mine->declared && mine->version == version)
		return 0;
	if (mine->own && !version)
		return 0;		/* events of its own only: no hook has met tracetools */
	rc = ctf_writer_declare_version(writer_of(ctf, at), version);
	mine->declared = rc == 0;
	mine->version = version;
	return rc;
}

/* ---- packets ---- */

/*
 * Readers count lost events from one packet to the next, so a stream that begins with a loss gets
 * an empty packet at the sink's start in front.
 */
static int write_packet(const struct sink *sink, struct ctf_out *out, const struct ctf_packet *packet)
{
	struct ctf_packet none = *packet;
	int rc = 0;

	if (!out)
		return -ENOMEM;
	if (packet->discarded && !ctf_out_packets(out)) {
		none.begin = sink->start_ns < packet->begin ? sink->start_ns : packet->begin;
		none.end = none.begin;
		none.discarded = 0;
		none.size = 0;
		rc = ctf_out_packet(out, &none);
	}
	return rc < 0 ? rc : ctf_out_packet(out, packet);
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
	int rc = from->size ? declare_runtime(ctf, at) : 0;
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
	return write_packet(sink, ring->stream, &packet);
}

static int ctf_facts(struct sink *sink, struct sink_process *at, const struct sink_facts *facts)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	const struct ctf_packet packet = {
		.begin = facts->begin,
		.end = facts->end,
		.discarded = facts->discarded,
		.events = facts->bytes,
		.size = facts->size,
	};
	char name[64];

	if (!at->init.stream) {
		(void)snprintf(name, sizeof name, "%u-%u_init", at->process->region.pid,
			       at->process->ordinal);
		at->init.stream = ctf_out_create(writer_of(ctf, at), CTF_CLASS_INIT, name);
	}
	return write_packet(sink, at->init.stream, &packet);
}

static void ctf_leave(struct sink *sink, struct sink_process *at)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	struct ctf_process *mine = at->data;

	for (unsigned i = 0; i < at->ring_count; i++)
		if (at->ring[i].stream) {
			ctf_out_close(at->ring[i].stream);
			at->ring[i].stream = NULL;
		}
	if (at->init.stream)
		ctf_out_close(at->init.stream);
	at->init.stream = NULL;
	if (mine->own)
		ctf->bytes += ctf_writer_bytes(mine->own);
	ctf_writer_close(mine->own);
	*mine->link = mine->next;
	if (mine->next)
		mine->next->link = mine->link;
	free(mine);
	at->data = NULL;
}

/* ---- accounts and end ---- */

static int write_file(const char *path, const char *text, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), rc = 0;

	if (fd < 0)
		return -errno;
	while (size && rc == 0) {
		ssize_t done = write(fd, text, size);

		if (done > 0) {
			text += done;
			size -= (size_t)done;
		} else if (done == 0 || errno != EINTR) {
			rc = done < 0 ? -errno : -ENOSPC;
		}
	}
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

static int ctf_accounts(struct sink *sink, const char *json)
{
	const struct ctf_sink *ctf = (const struct ctf_sink *)sink;
	char part[PATH_MAX + 32], final[PATH_MAX + 32];
	int rc;

	(void)snprintf(part, sizeof part, "%s/kymo.json.part", ctf->path);
	(void)snprintf(final, sizeof final, "%s/kymo.json", ctf->path);
	rc = write_file(part, json, strlen(json));
	if (rc == 0 && rename(part, final) < 0)
		rc = -errno;
	if (rc < 0)
		(void)unlink(part);	/* the last good one stays */
	return rc;
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

	ctf_writer_close(ctf->shared);
	if (empty)
		remove_directory(ctf);
	free(ctf->path);
	free(ctf);
}

static const struct sink_ops ctf_ops = {
	.kind = "ctf",
	.join = ctf_join,
	.declare = ctf_declare,
	.facts = ctf_facts,
	.packet = ctf_packet,
	.leave = ctf_leave,
	.accounts = ctf_accounts,
	.bytes = ctf_bytes,
	.close = ctf_close,
};

int sink_ctf_create(const char *path, const char *version, uint64_t monotonic, uint64_t realtime,
		    struct sink **sink, struct err *err)
{
	struct ctf_sink *ctf = calloc(1, sizeof *ctf);

	if (!ctf)
		return err_set(err, EXIT_FAILED, "out of memory");
	ctf->sink.ops = &ctf_ops;
	if (make_directory(ctf, path, err) < 0 ||
	    begin_trace(ctf, version, monotonic, realtime, err) < 0) {
		ctf_close(&ctf->sink);
		return -1;
	}
	ctf->sink.name = ctf->path;
	*sink = &ctf->sink;
	return 0;
}
