/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the Perfetto writer share; everyone else includes pft.h. */
#ifndef KYMO_EXPORT_PFT_INTERNAL_H
#define KYMO_EXPORT_PFT_INTERNAL_H

#include <stdio.h>
#include <zlib.h>

#include "base/map.h"
#include "export/pft/pb.h"
#include "export/pft/pft.h"

/*
 * Bytes of packets in a block, before deflate. Larger blocks hardly shrink the file (1 % at 500
 * KB); a reader refuses blocks of 512 KB, and a packet may overshoot.
 */
#define PFT_BLOCK_BYTES (128u << 10)

/*
 * Bytes of packets, before deflate, after which all descriptions are repeated: some 35 000 events.
 * If there is much to describe (some 250 bytes for each track), repetitions are at most a share of
 * the file.
 */
#define PFT_RESTART_BYTES (512u << 10)
#define PFT_RESTART_SHARE 16

/* Clock ids. 64 and above belong to one sequence. */
enum {
	PFT_CLOCK_REALTIME = 1,
	PFT_CLOCK_MONOTONIC = 3,
	PFT_CLOCK_MONOTONIC_RAW = 5,
	PFT_CLOCK_BOOTTIME = 6,
	PFT_CLOCK_DELTA = 64
};

/* Field numbers of the format, by message. */
enum {
	/* Trace */
	F_PACKET = 1,
	/* TracePacket */
	F_FTRACE = 1,
	F_CLOCK_SNAPSHOT = 6,
	F_TIMESTAMP = 8,
	F_SEQUENCE = 10,
	F_TRACK_EVENT = 11,
	F_INTERNED = 12,
	F_SEQUENCE_FLAGS = 13,
	F_SYNCHRONIZATION_MARKER = 36,
	F_PREVIOUS_DROPPED = 42,
	F_SYSTEM_INFO = 45,
	F_COMPRESSED = 50,
	F_DEFAULTS = 59,
	F_TRACK = 60,
	F_FIRST_ON_SEQUENCE = 87,
	F_TRACE_UUID = 89,
	F_MACHINE = 98,
	F_ATTRIBUTES = 126,
};

/* Of F_SEQUENCE_FLAGS: the reader forgets what came before; or it needs what came before. */
enum { PFT_STARTS = 1, PFT_NEEDS_START = 2 };

/* The sequence of packets about the whole trace; track n has sequence n + 1. */
#define PFT_SEQUENCE_TRACE 1

struct pft_string {
	char *text;
	uint32_t size;
};

struct pft {
	int fd, level;
	int error;		/* errno of the first failure */
	const char *doing;	/* what failed */
	bool clocks_sent;
	bool clocks_due;		/* the next block begins with them */
	struct pft_clocks clocks;	/* the latest that were sent */
	uint32_t generation;		/* descriptions of another generation do not count */
	uint64_t since_restart;		/* bytes of packets that were written; of these, */
	uint64_t said;			/* descriptions, which the next generation repeats */
	uint64_t part_begin;		/* of totals.bytes */
	uint64_t uuid[2];
	struct pb block;	/* packets not written yet */
	struct pb fresh;	/* interned data of the packet being written */
	struct pft_job *job;	/* of the present block, without threads */
	struct pft_blocks *blocks; /* NULL: no threads */
	bool may_thread;	/* pft_threads(), and not tried yet */
	z_stream zlib;
	struct pft_string *string;	/* by number - 1 */
	uint32_t string_count, string_room;
	struct map string_numbers; /* (hash, how many before it have the same) -> number */
	struct pft_track *tracks, *last_track;	/* in order of creation: parents first */
	uint64_t track_count;
	uint32_t text_lost, text_lost_events, text_lost_packets, text_gap;
	struct pft_totals totals;
	/* For Chrome's JSON; json is NULL otherwise. */
	FILE *json;
	uint64_t lines;
	struct pb facts;		/* written at the end */
	uint64_t *seen;			/* flows, by hash: 4096 */
};

#define PFT_SEEN 4096

/* Kinds of interned strings, each with numbers of its own. */
enum pft_interned { PFT_CATEGORY, PFT_NAME, PFT_ARG_NAME, PFT_ARG_TEXT, PFT_INTERNED_KINDS };

#define PFT_RECENT 32u /* a power of two */

struct pft_open {
	uint32_t name, category;
};

enum pft_track_kind { PFT_PROCESS, PFT_THREAD, PFT_SLICES, PFT_COUNTER };

struct pft_track {
	struct pft *pft;
	struct pft_track *next;
	enum pft_track_kind kind;
	uint64_t uuid;
	uint32_t machine;
	int32_t pid, tid;	/* of a process track and of its threads */
	struct pft_track *parent;
	uint32_t name;		/* pft_string() */
	struct pft_look look;	/* its name is not kept */
	uint32_t depth;		/* slices open by pft_begin() */
	struct pft_open *open;	/* what they are, outermost first */
	uint32_t open_room;
	bool started;
	uint32_t generation, described;	/* of the latest start packet, of the latest description */
	int64_t start_ns;	/* time of the latest start packet */
	int64_t last_ns;	/* time of the delta clock */
	/* Fields of each packet: sequence (and machine), behind start_prefix_size the flags of
	 * events. */
	uint8_t prefix[3 * (2 + PB_VARINT_MAX)];
	uint8_t prefix_size, start_prefix_size;
	struct map sent; /* (string, kind) that this sequence has sent -> its short number */
	struct pft_sent {
		uint32_t what; /* string and kind; 0: free */
		uint32_t iid;
	} recent[PFT_RECENT]; /* of sent, by the low bits of what */
	uint32_t next_iid[PFT_INTERNED_KINDS];
};

/** pft_fail() - remember the first failure. */
void pft_fail(struct pft *pft, int error, const char *doing);

/** pft_open_slice() - where to note the slice that is about to begin. Return: NULL: out of
 * memory. */
struct pft_open *pft_open_slice(struct pft_track *track);

/** pft_put_begin(), pft_put_end() - write the packets without counting them. */
void pft_put_begin(struct pft_track *track, int64_t ns, const struct pft_event *event);
void pft_put_end(struct pft_track *track, int64_t ns);

/** pft_put_uuid() - the first packet of a file. */
void pft_put_uuid(struct pft *pft);

/** pft_put_marker() - a place in the middle of a file from which it can be read; a block of its
 * own. */
void pft_put_marker(struct pft *pft);

/** pft_block_end() - the packets so far are a block, to be written soon. */
void pft_block_end(struct pft *pft);

/** pft_write() - @size bytes into the file. */
void pft_write(struct pft *pft, const uint8_t *data, size_t size);

/* pft_chrome.c: what is written if pft->json is set. */
int pft_chrome_open(struct pft *pft);
void pft_chrome_flush(struct pft *pft);
void pft_chrome_close(struct pft *pft);
/** pft_chrome_fact() - @text, or @value if @text is NULL. */
void pft_chrome_fact(struct pft *pft, const char *key, const char *text, uint64_t value);
void pft_chrome_describe(const struct pft_track *track);
/** pft_chrome_event() - @phase: "B", "E", "i", or "X" of @duration_ns; @event may be NULL. */
void pft_chrome_event(struct pft_track *track, const char *phase, int64_t ns, int64_t duration_ns,
		      const struct pft_event *event);
void pft_chrome_counter(struct pft_track *track, int64_t ns, const char *value);

/** pft_packet_begin(), pft_packet_end() - around the fields of a TracePacket in pft->block. */
void pft_packet_begin(struct pft *pft);
void pft_packet_end(struct pft *pft);

/** pft_packet_of() - begin a packet about the whole trace, or about @machine; 0: none. */
void pft_packet_of(struct pft *pft, uint32_t machine);

/** pft_clock() - one clock of an open ClockSnapshot. */
void pft_clock(struct pb *pb, unsigned clock, int64_t ns, bool incremental);

/** pft_strings_free() */
void pft_strings_free(struct pft *pft);

/** pft_describe_again() - write the packets that describe @track and its parents, unless done in
 * this generation. */
void pft_describe_again(struct pft_track *track);

/** pft_describe_anew() - write the packet that describes @track, also if it was written in this
 * generation. */
void pft_describe_anew(struct pft_track *track);

/** pft_tracks_free() */
void pft_tracks_free(struct pft *pft);

/**
 * pft_intern() - the short number of @string on @track's sequence
 *
 * The first use adds its definition to pft->fresh, which must be written with the same packet.
 */
uint32_t pft_intern(struct pft_track *track, enum pft_interned kind, uint32_t string);

/** pft_intern_reset() - the sequence starts again: nothing was sent. */
void pft_intern_reset(struct pft_track *track);

#endif
