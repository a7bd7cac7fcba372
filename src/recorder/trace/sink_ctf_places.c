/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the traces of a trace directory are: in it, or in one chunk after the other. And what
 * happens when somebody removes the directory, or a part of it, while it is written: the events in
 * it are lost and counted, and the sink begins anew at the same path, as it does with the next
 * chunk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "recorder/trace/sink_ctf_internal.h"

#define POINT_MARGIN_NS	20000000ull
#define STREAMS_PER_POINT 100		/* more of them, less often */

static uint64_t realtime_now(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);	/* there is one */
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- traces ---- */

/* Remains of a trace of the same name stay untouched: the new one gets a suffix. */
static void trace_path(char *path, const struct ctf_sink *ctf, const struct chunk *chunk,
		       const char *name)
{
	bool whole = ctf->chunks.dir < 0;
	int length = snprintf(path, PATH_MAX + 64, "%s%s%s/%s", ctf->path, whole ? "" : "/archives/",
			      whole ? "" : chunk->name, name);

	if (ctf->again && length > 0 && length < PATH_MAX + 64)
		(void)snprintf(path + length, (size_t)(PATH_MAX + 64 - length), "-again%u", ctf->again);
}

int ctf_begin_trace(struct ctf_sink *ctf, const struct chunk *chunk, const char *name,
		    struct ctf_writer **writer, struct kymo_err *err)
{
	char path[PATH_MAX + 64];

	trace_path(path, ctf, chunk, name);
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return err_set(err, KYMO_EXIT_FAILED, "cannot write to %s: %s; choose another place with -o DIR",
			       path, strerror(errno));
	if (ctf_writer_create(path, &ctf->desc, writer, err) < 0)
		return -1;
	ctf_writer_share(*writer);
	return 0;
}

static int begin_chunks(struct ctf_sink *ctf, const struct sink_files *files, uint64_t monotonic,
			uint64_t realtime, struct kymo_err *err)
{
	struct chunk first;
	int rc = chunks_open(&ctf->chunks, ctf->path, files);

	if (rc == 0)
		rc = chunks_make(&ctf->chunks, monotonic, realtime, &first);
	if (rc < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create a chunk in %s: %s; choose another place with "
			       "-o DIR", ctf->path, strerror(-rc));
	ctf->chunks.now = first;
	return 0;
}

int ctf_begin_place(struct ctf_sink *ctf, const struct sink_files *files, uint64_t monotonic,
		    uint64_t realtime, struct kymo_err *err)
{
	ctf->dir = open(ctf->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ctf->dir < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot open %s: %s", ctf->path, strerror(errno));
	if (files && sink_files_have_chunks(files) &&
	    begin_chunks(ctf, files, monotonic, realtime, err) < 0)
		return -1;
	return ctf_begin_trace(ctf, &ctf->chunks.now, "ust", &ctf->traces.shared, err);
}

/*
 * Facts that belong to events taken a moment ago may still come, since they are read in a round of
 * their own. The margin lets them keep their times.
 */
void ctf_horizon(struct sink *sink, uint64_t ns)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;

	const uint64_t point = ns_before(ns, POINT_MARGIN_NS);

	if (ns < ctf->point_at || point <= ctf->traces.horizon_ns)
		return;
	ctf->point_at =
		ns + CTF_POINT_NS * (1 + traces_point(&ctf->traces, point) / STREAMS_PER_POINT);
}

/* ---- chunks ---- */

/* Bytes of files in the present chunk, and of the accounts. */
static uint64_t disk_bytes(const struct ctf_sink *ctf)
{
	uint64_t beside = 0;

	for (unsigned i = 0; i < CTF_BESIDES && ctf->beside[i]; i++)
		beside += ctf->beside[i]->bytes(ctf->beside[i]->context);
	return ctf->accounts + ctf->earlier + traces_disk(&ctf->traces) + beside;
}

uint64_t ctf_beside_events(const struct ctf_sink *ctf)
{
	uint64_t events = 0;

	for (unsigned i = 0; i < CTF_BESIDES && ctf->beside[i]; i++)
		events += ctf->beside[i]->events(ctf->beside[i]->context);
	return events;
}

/* The trace @beside this one continues in chunk @chunk, or in the directory if it is not in
 * chunks. */
static void follow_one(struct ctf_sink *ctf, const struct chunk *chunk,
		       const struct sink_beside *beside)
{
	char path[PATH_MAX + CHUNK_NAME_MAX + 16];
	const bool whole = ctf->chunks.dir < 0;

	(void)snprintf(path, sizeof path, "%s%s%s", ctf->path, whole ? "" : "/archives/", whole ? "" : chunk->name);
	beside->place(beside->context, path);
}

static void follow(struct ctf_sink *ctf, const struct chunk *chunk)
{
	for (unsigned i = 0; i < CTF_BESIDES && ctf->beside[i]; i++)
		follow_one(ctf, chunk, ctf->beside[i]);
}

void ctf_beside(struct sink *sink, const struct sink_beside *beside)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;

	for (unsigned i = 0; i < CTF_BESIDES; i++) {
		if (ctf->beside[i])
			continue;
		ctf->beside[i] = beside;
		follow_one(ctf, &ctf->chunks.now, beside);
		return;
	}
}

void ctf_round(struct sink *sink, uint64_t now_ns)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;

	(void)now_ns;
	if (ctf->chunks.dir < 0)
		return;
	ctf->chunks.now.beside = ctf_beside_events(ctf);
	chunks_packed(&ctf->chunks);
	chunks_bound(&ctf->chunks, disk_bytes(ctf));
}

bool ctf_due(const struct sink *sink, uint64_t now_ns)
{
	const struct ctf_sink *ctf = (const struct ctf_sink *)sink;

	return ctf->chunks.dir >= 0 && (ctf->traces.news || ctf->chunks.now.beside) &&
	       chunks_due(&ctf->chunks, disk_bytes(ctf) - ctf->traces.known, now_ns);
}

void ctf_complete_chunk(struct ctf_sink *ctf, uint64_t end_ns)
{
	char *beside = NULL;

	/* One of them has accounts. */
	for (unsigned i = 0; i < CTF_BESIDES && ctf->beside[i] && !beside; i++)
		if (ctf->beside[i]->tell)
			beside = ctf->beside[i]->tell(ctf->beside[i]->context);
	traces_complete(&ctf->traces);
	chunks_complete(&ctf->chunks, ctf->path, &(struct chunk_account){ ctf->version, beside },
			end_ns, realtime_now());
	free(beside);
}

/* ---- what was taken away ---- */

static bool is_missing(int error)
{
	return error == ENOENT || error == ENOTDIR;
}

/* Another directory of the same name is not ours. If stat() fails for another reason, the directory
 * may still exist. */
static bool is_directory_gone(const struct ctf_sink *ctf)
{
	struct stat there, mine;

	if (stat(ctf->path, &there) < 0)
		return is_missing(errno);
	return fstat(ctf->dir, &mine) == 0 &&
	       (there.st_ino != mine.st_ino || there.st_dev != mine.st_dev);
}

static bool is_chunk_gone(const struct ctf_sink *ctf)
{
	char path[PATH_MAX + CHUNK_NAME_MAX + 16];
	struct stat st;

	if (ctf->chunks.dir < 0)
		return false;
	(void)snprintf(path, sizeof path, "%s/archives/%s", ctf->path, ctf->chunks.now.name);
	return stat(path, &st) < 0 && is_missing(errno);
}

static enum ctf_loss find_loss(struct ctf_sink *ctf, bool all)
{
	bool gone;

	if (ctf->loss == CTF_LOSS_ALL || is_directory_gone(ctf))
		return CTF_LOSS_ALL;
	if (is_chunk_gone(ctf))
		return CTF_LOSS_CHUNK;
	gone = all ? traces_gone(&ctf->traces, NULL) : traces_look(&ctf->traces);
	return gone ? CTF_LOSS_TRACES : CTF_LOSS_NOTHING;
}

bool ctf_gone(struct sink *sink, bool all)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;

	if (find_loss(ctf, all) != CTF_LOSS_NOTHING)
		return true;
	if (chunks_look(&ctf->chunks, &sink->removed.events))
		sink->removed.times++;
	return false;
}

static uint64_t lost_events(const struct ctf_sink *ctf, enum ctf_loss loss)
{
	uint64_t events = 0;

	if (loss == CTF_LOSS_ALL)
		return chunks_events(&ctf->chunks) + ctf->chunks.now.events;
	if (loss == CTF_LOSS_CHUNK)
		return ctf->chunks.now.events;
	(void)traces_gone(&ctf->traces, &events);
	return events;
}

/*
 * Creates the directory again, but only on the file system that it was on: if that is not mounted
 * at the moment, nothing may be written below its mount point.
 */
static int remake_directory(struct ctf_sink *ctf)
{
	const bool made = mkdir(ctf->path, 0755) == 0;
	struct stat there, before;
	int fd, rc = 0;

	if (!made && errno != EEXIST)
		return -errno;
	fd = open(ctf->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &there) < 0 || fstat(ctf->dir, &before) < 0)
		rc = -errno;
	else if (there.st_dev != before.st_dev)
		rc = -EXDEV;
	if (rc < 0) {
		if (fd >= 0)
			(void)close(fd);
		if (made)
			(void)rmdir(ctf->path);
		return rc;
	}
	(void)close(ctf->dir);
	ctf->dir = fd;
	ctf->loss = CTF_LOSS_ALL;
	ctf->again = 0;
	ctf->occupied = !made;
	return 0;
}

/* Makes sure that the next place can be created. */
static int prepare_place(struct ctf_sink *ctf, enum ctf_loss loss)
{
	int rc = loss == CTF_LOSS_ALL && is_directory_gone(ctf) ? remake_directory(ctf) : 0;

	if (rc == 0 && loss != CTF_LOSS_NOTHING && ctf->chunks.dir >= 0)
		rc = chunks_again(&ctf->chunks, ctf->path);
	return rc;
}

/* ---- beginning anew ---- */

/* Creates the shared trace of the next place. Until that succeeds, the present one is not
 * changed. */
static int make_place(struct ctf_sink *ctf, enum ctf_loss loss, uint64_t begin_ns,
		      struct chunk *next, struct ctf_writer **writer)
{
	const bool chunked = ctf->chunks.dir >= 0;
	int rc = chunked ? chunks_make(&ctf->chunks, begin_ns, realtime_now(), next) : 0;

	if (rc < 0)
		return rc;
	if (!chunked && (loss == CTF_LOSS_TRACES || ctf->occupied))
		ctf->again++;
	if (ctf_begin_trace(ctf, next, "ust", writer, NULL) == 0)
		return 0;
	rc = -errno;
	if (chunked)
		chunks_unmake(&ctf->chunks, next);
	return rc;
}

/* Counts the events that are gone with what was removed. */
static void count_loss(struct ctf_sink *ctf, enum ctf_loss loss, uint64_t now_ns)
{
	uint64_t events = lost_events(ctf, loss);

	ctf->chunks.now.events -= loss == CTF_LOSS_TRACES ? events : ctf->chunks.now.events;
	if (loss == CTF_LOSS_ALL)
		chunks_forget(&ctf->chunks);
	else
		(void)chunks_look(&ctf->chunks, &events);
	ctf->sink.removed.times++;
	ctf->sink.removed.events += events;
	ctf->sink.removed.until_ns = now_ns;
	ctf->sink.removed.last = events;
}

int ctf_turn(struct sink *sink, uint64_t begin_ns, uint64_t now_ns)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	const enum ctf_loss loss = find_loss(ctf, true);
	struct chunk next = ctf->chunks.now;
	struct ctf_writer *writer;
	int rc = prepare_place(ctf, loss);

	if (rc == 0)
		rc = make_place(ctf, loss, begin_ns, &next, &writer);
	if (rc < 0)
		return rc;
	if (loss != CTF_LOSS_NOTHING)
		count_loss(ctf, loss, now_ns);
	if (ctf->chunks.dir >= 0 || loss == CTF_LOSS_ALL)
		follow(ctf, &next);
	if (ctf->chunks.dir >= 0 && loss != CTF_LOSS_ALL && loss != CTF_LOSS_CHUNK) {
		ctf_complete_chunk(ctf, now_ns);
	} else {
		traces_complete(&ctf->traces);
		next.events = ctf->chunks.dir >= 0 ? 0 : ctf->chunks.now.events;
	}
	ctf->chunks.now = next;
	ctf->traces.shared = writer;
	ctf->traces.disk = ctf->traces.known = 0;
	ctf->traces.events = next.events;
	ctf->traces.news = ctf->occupied = false;
	ctf->loss = CTF_LOSS_NOTHING;
	return 0;
}
