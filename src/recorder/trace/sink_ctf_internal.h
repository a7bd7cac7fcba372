/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the trace directory share. Not for others. */
#ifndef KYMO_RECORDER_SINK_CTF_INTERNAL_H
#define KYMO_RECORDER_SINK_CTF_INTERNAL_H

#include "ctf/write/writer.h"
#include "recorder/trace/chunks.h"
#include "recorder/drain/sink.h"
#include "recorder/trace/traces.h"

/* What was taken away of a sink while it was written. */
enum ctf_loss {
	CTF_LOSS_NOTHING,
	CTF_LOSS_TRACES,		/* some traces of the present place */
	CTF_LOSS_CHUNK,			/* the present chunk; the complete ones are there */
	CTF_LOSS_ALL,			/* the directory */
};

#define CTF_POINT_NS 100000000ull	/* between synchronisation points, with few streams */

struct ctf_sink {
	struct sink sink;
	char *path;			/* absolute */
	int dir;			/* it, open, so that one of the same name is told from it; -1: not yet */
	char version[32];		/* of kymo */
	struct ctf_trace_desc desc;	/* of all its traces */
	char *rules;			/* of desc */
	struct chunks chunks;		/* dir -1: one trace that grows */
	struct traces traces;		/* of the present chunk */
	uint64_t accounts, earlier;	/* bytes of kymo.json, and of the list beside it */
	bool existed;			/* the directory was there before */
	enum ctf_loss loss;		/* ALL: its directory was made again, and what is in it not yet */
	bool occupied;			/* that directory was not empty, for all one knows */
	uint64_t point_at;		/* when the next synchronisation point is due */
	const struct sink_beside *beside;	/* NULL: there is none */
	unsigned again;			/* traces were begun anew so often beside what is left of others */
};

/* ---- sink_ctf_places.c ---- */

/**
 * ctf_begin_trace() - make trace @name in chunk @chunk, or in the directory that everything is in
 * Return: 0 and *@writer; -1 with @err and errno. Context: allocates, blocks.
 */
int ctf_begin_trace(struct ctf_sink *ctf, const struct chunk *chunk, const char *name, struct ctf_writer **writer,
		    struct kymo_err *err);

/**
 * ctf_begin_place() - the directory is there: its first chunk, if it is in chunks, and the shared trace
 * Return: 0; -1 with @err. Context: allocates, blocks.
 */
int ctf_begin_place(struct ctf_sink *ctf, const struct sink_files *files, uint64_t monotonic, uint64_t realtime,
		    struct kymo_err *err);

/** ctf_complete_chunk() - all streams of the present chunk end; what it was is in its accounts. */
void ctf_complete_chunk(struct ctf_sink *ctf, uint64_t end_ns);

/** ctf_follow() - what is beside goes to where chunk @chunk is, or the directory that everything is in. */
void ctf_follow(struct ctf_sink *ctf, const struct chunk *chunk);

/** ctf_beside_events() - that are beside in the present place. */
uint64_t ctf_beside_events(const struct ctf_sink *ctf);

/* Functions of struct sink_ops and struct sink_place_ops. */
void ctf_beside(struct sink *sink, const struct sink_beside *beside);
void ctf_round(struct sink *sink, uint64_t now_ns);
void ctf_horizon(struct sink *sink, uint64_t ns);
bool ctf_due(const struct sink *sink, uint64_t now_ns);
bool ctf_gone(struct sink *sink, bool all);
int ctf_turn(struct sink *sink, uint64_t begin_ns, uint64_t now_ns);

#endif
