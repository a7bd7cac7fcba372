/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same events in kymo's Perfetto encoding and in that of cactus_rt: absolute times, and track
 * and flags in each packet, names interned. Written here from the description of its files; its
 * queue and libprotobuf are left out, so its CPU time is less than the real one's.
 *
 * A 1 kHz loop with three nested children, 8 events a cycle, each time with some 10 us of jitter.
 * Each run is a process of its own that writes to /dev/null; the least CPU time of three rounds
 * counts.
 *
 *   usage: bench_perfetto EVENTS
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "export/pft/pb.h"
#include "export/pft/pft.h"

#define T0 INT64_C(1000000000000)
#define ROUNDS 3
#define BLOCK_BYTES (128u << 10)	/* of the peer: as many as kymo gathers */
#define PEER_TRACK 2			/* the thread's; 1 is the process */

static const char *const names[] = { "Loop", "Sense", "Plan", "Act" };

struct writer {
	void (*begin)(struct writer *writer, int64_t ns, unsigned name);
	void (*end)(struct writer *writer, int64_t ns);
	/* kymo */
	struct pft *pft;
	struct pft_track *thread;
	struct pft_event event[4];
	/* the peer */
	struct pb block;
	bool interned[4];
	z_stream zlib;
	int level, fd;
	uint64_t bytes;
};

struct result {
	double cpu_s;
	uint64_t bytes;
	long peak_kib;
};

static void run_loop(struct writer *writer, uint64_t events)
{
	uint64_t state = 88172645463325252u;

#define JITTER \
	((int64_t)((state = state * 6364136223846793005u + 1442695040888963407u) >> 33) % 10000)
	for (uint64_t cycle = 0; cycle < events / 8; cycle++) {
		int64_t at = T0 + (int64_t)cycle * 1000000 + JITTER;

		writer->begin(writer, at, 0);
		for (unsigned child = 1; child < 4; child++) {
			at += 2000 + JITTER;
			writer->begin(writer, at, child);
			at += 200000 + JITTER;
			writer->end(writer, at);
		}
		writer->end(writer, at + 2000 + JITTER);
	}
#undef JITTER
}

/* ---- kymo ---- */

static void own_begin(struct writer *writer, int64_t ns, unsigned name)
{
	pft_begin(writer->thread, ns, &writer->event[name]);
}

static void own_end(struct writer *writer, int64_t ns)
{
	pft_end(writer->thread, ns);
}

static void own(struct writer *writer, uint64_t events)
{
	struct pft_totals totals;

	if (pft_open(&writer->pft, writer->fd, writer->level, NULL))
		exit(EXIT_FAILURE);
	pft_clocks(writer->pft,
		   &(struct pft_clocks){ .monotonic_ns = T0, .realtime_ns = 1700000000000000000 });
	writer->thread = pft_thread(writer->pft, pft_process(writer->pft, 0, 4242, "robot"), 4243, "rt_loop");
	for (unsigned i = 0; i < 4; i++)
		writer->event[i].name = pft_string(writer->pft, names[i]);
	writer->begin = own_begin;
	writer->end = own_end;
	run_loop(writer, events);
	pft_flush(writer->pft);
	pft_totals(writer->pft, &totals);
	writer->bytes = totals.bytes;
	if (pft_close(writer->pft, NULL))
		exit(EXIT_FAILURE);
}

/* ---- the peer ---- */

static void peer_write(struct writer *writer, bool last)
{
	static uint8_t out[2 * BLOCK_BYTES];
	size_t size = writer->block.size;
	const uint8_t *data = writer->block.data;

	if (writer->level) {	/* all of the file as one stream, as gzip would */
		writer->zlib.next_in = writer->block.data;
		writer->zlib.avail_in = (uInt)size;
		writer->zlib.next_out = out;
		writer->zlib.avail_out = sizeof(out);
		(void)deflate(&writer->zlib, last ? Z_FINISH : Z_NO_FLUSH);
		data = out;
		size = sizeof(out) - writer->zlib.avail_out;
	}
	if (write(writer->fd, data, size) != (ssize_t)size)
		exit(EXIT_FAILURE);
	writer->bytes += size;
	writer->block.size = 0;
}

/* 0A len | 40 time | 50 sequence | 68 flags | 5A len { 48 type | 58 track | 50 name } */
static void peer_event(struct writer *writer, int64_t ns, unsigned type, unsigned name)
{
	struct pb *pb = &writer->block;

	pb_open(pb, 1);
	pb_uint(pb, 8, (uint64_t)ns);
	pb_uint(pb, 10, PEER_TRACK);
	pb_uint(pb, 13, 2);
	pb_open(pb, 11);
	pb_uint(pb, 9, type);
	pb_uint(pb, 11, PEER_TRACK);
	if (name)
		pb_uint(pb, 10, name);
	pb_close(pb);
	if (name && !writer->interned[name - 1]) {
		pb_open(pb, 12);
		pb_open(pb, 2);
		pb_uint(pb, 1, name);
		pb_text(pb, 2, names[name - 1]);
		pb_close(pb);
		pb_close(pb);
		writer->interned[name - 1] = true;
	}
	pb_close(pb);
	if (pb->size >= BLOCK_BYTES)
		peer_write(writer, false);
}

static void peer_begin(struct writer *writer, int64_t ns, unsigned name)
{
	peer_event(writer, ns, 1, name + 1);
}

static void peer_end(struct writer *writer, int64_t ns)
{
	peer_event(writer, ns, 2, 0);
}

static void peer_track(struct pb *pb, uint64_t uuid, uint64_t parent, uint32_t kind,
		       const char *name)
{
	pb_open(pb, 1);
	pb_uint(pb, 10, PEER_TRACK);
	pb_open(pb, 60);
	pb_uint(pb, 1, uuid);
	if (parent)
		pb_uint(pb, 5, parent);
	pb_open(pb, kind);
	pb_uint(pb, 1, 4242);
	if (kind == 4)
		pb_uint(pb, 2, 4243);
	pb_text(pb, kind == 4 ? 5 : 6, name);
	pb_close(pb);
	pb_close(pb);
	pb_close(pb);
}

static void peer(struct writer *writer, uint64_t events)
{
	if (writer->level && deflateInit(&writer->zlib, writer->level) != Z_OK)
		exit(EXIT_FAILURE);
	peer_track(&writer->block, 1, 0, 3, "robot");
	peer_track(&writer->block, PEER_TRACK, 1, 4, "rt_loop");
	writer->begin = peer_begin;
	writer->end = peer_end;
	run_loop(writer, events);
	peer_write(writer, true);
	pb_free(&writer->block);
	if (writer->level)
		(void)deflateEnd(&writer->zlib);
}

/* ---- runs ---- */

static void measure(void (*encode)(struct writer *, uint64_t), int level, uint64_t events, int to)
{
	struct writer writer = { .level = level, .fd = open("/dev/null", O_WRONLY) };
	struct result result = { 0 };
	struct rusage usage;

	encode(&writer, events);
	getrusage(RUSAGE_SELF, &usage);
	result.cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	result.bytes = writer.bytes;
	result.peak_kib = usage.ru_maxrss;
	_exit(write(to, &result, sizeof(result)) != sizeof(result));
}

static struct result run(void (*encode)(struct writer *, uint64_t), int level, uint64_t events)
{
	struct result result = { 0 };
	int ends[2], status;
	pid_t child;

	if (pipe(ends) || (child = fork()) < 0)
		exit(EXIT_FAILURE);
	if (!child)
		measure(encode, level, events, ends[1]);
	if (waitpid(child, &status, 0) < 0 || status ||
	    read(ends[0], &result, sizeof(result)) != sizeof(result))
		exit(EXIT_FAILURE);
	close(ends[0]);
	close(ends[1]);
	return result;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*encode)(struct writer *, uint64_t);
		int level;
	} kind[] = { { "kymo", own, 0 }, { "cactus_rt", peer, 0 }, { "kymo, level 1", own, 1 },
		     { "kymo, level 6", own, 6 }, { "cactus_rt, gzip 6", peer, 6 } };
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) / 8 * 8 : 1000000;
	enum { KINDS = sizeof(kind) / sizeof(*kind) };
	struct result best[KINDS] = { { 0 } };

	if (!events)
		return KYMO_EXIT_USAGE;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < KINDS; i++) {
			struct result result = run(kind[i].encode, kind[i].level, events);

			if (!round || result.cpu_s < best[i].cpu_s)
				best[i] = result;
		}
	}
	for (unsigned i = 0; i < KINDS; i++)
		printf("%-18s %10llu events  %6.2f bytes/event  %6.2f M events/s  peak %5.1f MiB\n", kind[i].name,
		       (unsigned long long)events, (double)best[i].bytes / (double)events,
		       (double)events / best[i].cpu_s / 1e6, (double)best[i].peak_kib / 1024);
	return 0;
}
