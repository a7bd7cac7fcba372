/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the trace directory share. Not for others. */
#ifndef KYMO_RECORDER_SINK_CTF_INTERNAL_H
#define KYMO_RECORDER_SINK_CTF_INTERNAL_H

#include "ctf/write/writer.h"
#include "recorder/trace/chunks.h"
#include "recorder/drain/sink.h"
#include "recorder/trace/traces.h"

/* What somebody removed of a trace directory while it was written. */
enum ctf_loss {
	CTF_LOSS_NOTHING,
	CTF_LOSS_TRACES,		/* some traces of the present place */
	CTF_LOSS_CHUNK,			/* the present chunk; the complete ones still exist */
	CTF_LOSS_ALL,			/* the directory */
};

#define CTF_BESIDES 2 /* kernel/ and stacks/ */
#define CTF_POINT_NS 100000000ull	/* between synchronisation points, with few streams */

struct ctf_sink {
	struct sink sink;
	char *path; /* absolute */
	int dir; /* the open directory, to notice when another one gets its name; -1: not open
		  * yet */
	char version[32];           /* of kymo */
	struct ctf_trace_desc desc; /* of all its traces */
	char *rules;                /* of desc */
	struct chunks chunks;       /* dir -1: one trace that grows */
	struct traces traces;       /* of the present chunk */
	uint64_t accounts, earlier; /* bytes of kymo.json, and of the list beside it */
	bool existed;               /* the directory existed before */
	bool unreserved;            /* its file system cannot reserve blocks */
	enum ctf_loss loss; /* CTF_LOSS_ALL: the directory was created again, its traces not yet */
	bool occupied;      /* that directory may not be empty */
	uint64_t point_at;  /* when the next synchronisation point is due */
	const struct sink_beside *beside[CTF_BESIDES]; /* NULL: no more */
	unsigned again; /* how often traces were begun anew beside the remains of earlier ones */
};

/* ---- sink_ctf_places.c ---- */

/**
 * ctf_begin_trace() - create trace @name in chunk @chunk, or in the directory if it is not in
 * chunks
 * Return: 0 and *@writer; -1 with @err and errno. Context: allocates, blocks.
 */
int ctf_begin_trace(struct ctf_sink *ctf, const struct chunk *chunk, const char *name,
		    struct ctf_writer **writer, struct kymo_err *err);

/**
 * ctf_begin_place() - in an existing directory, create the first chunk, if it is in chunks, and the
 * shared trace
 * Return: 0; -1 with @err. Context: allocates, blocks.
 */
int ctf_begin_place(struct ctf_sink *ctf, const struct sink_files *files, uint64_t monotonic,
		    uint64_t realtime, struct kymo_err *err);

/** ctf_complete_chunk() - end all streams of the present chunk and write its accounts. */
void ctf_complete_chunk(struct ctf_sink *ctf, uint64_t end_ns);

/** ctf_beside_events() - events of the trace beside this one, in the present place. */
uint64_t ctf_beside_events(const struct ctf_sink *ctf);

/* Functions of struct sink_ops and struct sink_place_ops. */
void ctf_beside(struct sink *sink, const struct sink_beside *beside);
void ctf_round(struct sink *sink, uint64_t now_ns);
void ctf_horizon(struct sink *sink, uint64_t ns);
bool ctf_due(const struct sink *sink, uint64_t now_ns);
bool ctf_gone(struct sink *sink, bool all);
int ctf_turn(struct sink *sink, uint64_t begin_ns, uint64_t now_ns);

#endif
