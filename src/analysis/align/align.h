/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks of several hosts, compared by the messages between them.
 *
 * Each host's times are its own CLOCK_MONOTONIC and one reading of its wall clock. A message cannot be
 * taken before it is sent, whatever the clocks say, so with d = (clock of B) - (clock of A)
 *
 *     A -> B    d <= taken at B - sent at A        B -> A    d >= sent at B - taken at A
 *
 * and the quickest messages of both directions leave an interval for d at each time. Hosts are
 * shifted by its middle, onto the clock of the first host; half its width is the bound of the error,
 * which is stated. A host that is done serves for those that it talks with. Between messages d is
 * taken to change by a rate that fits all of them, give or take ALIGN_WANDER; where messages
 * contradict that, by twice the least that they do not contradict.
 *
 *   align_find(&align, reader, NULL, NULL, &err);	reads the whole trace; NULL when it is of one host
 *   align_apply(align, reader, &err);			also other readers of the same traces
 *
 * Context of all functions: not thread-safe; allocate and block. Memory does not grow with the trace.
 */
#ifndef KYMO_ANALYSIS_ALIGN_H
#define KYMO_ANALYSIS_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ctf/read/reader.h"

#define ALIGN_WANDER 20e-6

enum align_how {
	ALIGN_REFERENCE,	/* the first host: the others are compared with it */
	ALIGN_MESSAGES,		/* by messages in both directions, also through other hosts */
	ALIGN_ONE_WAY,		/* messages in one direction only: by the wall clock, or the bound that they leave */
	ALIGN_CONTRADICTION,	/* messages both ways that no two clocks can explain: by the wall clock */
	ALIGN_WALL_CLOCK,	/* no messages that tell when they were sent */
	ALIGN_SAME_CLOCK,	/* its clock is that of the other one: a container, say; nothing to compare */
};

struct align_host {
	const char *name;		/* "" when the trace does not say */
	enum align_how how;
	unsigned to;			/* the host it was compared with, of several the one with most messages */
	unsigned between;		/* hosts on the ways of the messages from there and back; 0: none */
	uint64_t messages_in, messages_out;	/* from all that it was compared with, and to them */
	int64_t ahead_ns;		/* of the first host's clock, at the trace's begin, by what both say */
	double rate;			/* by which it goes faster: 1e-6 is 1 ppm */
	double wander;			/* what the rate was given, either way */
	int64_t error_min_ns, error_max_ns;	/* KYMO_CTF_ERROR_UNKNOWN when not ALIGN_MESSAGES */
	bool is_most, is_least;		/* ALIGN_ONE_WAY: ahead by at most, at least @bound_ns */
	int64_t bound_ns;
};

struct align;

/**
 * align_find() - compare the hosts of @reader's traces; reads them once, and leaves the reader rewound
 * @align: NULL when all are of one host
 * @progress: called now and then with how far that is, with 0 events at the end; may be NULL
 *
 * Return: 0, or -1 with @err filled.
 */
int align_find(struct align **align, struct kymo_ctf_reader *reader,
	       void (*progress)(void *context, uint64_t events, uint64_t clock_ns), void *context,
	       struct kymo_err *err);

/** align_apply() - shift the times of @reader, of the same traces; @align may be NULL. Return: 0, or -1 with @err. */
int align_apply(const struct align *align, struct kymo_ctf_reader *reader, struct kymo_err *err);

/** align_apply_from() - the same for a reader of some of the traces: those from number @first on. */
int align_apply_from(const struct align *align, unsigned first, struct kymo_ctf_reader *reader, struct kymo_err *err);

/** align_count() - how many hosts; 0 for NULL. They are numbered as model_process.host. */
unsigned align_count(const struct align *align);
const struct align_host *align_host(const struct align *align, unsigned host);

/** align_how_name() - "reference", "messages", "one way", "contradiction", "wall clock", "same clock". */
const char *align_how_name(enum align_how how);

/** align_host_name() - "?" when the trace does not say. */
const char *align_host_name(const struct align *align, unsigned host);

#define ALIGN_REMARK_MAX 1024u

/**
 * align_remark() - where @host could not be compared: why, what its times are, and what to do, in sentences
 * @buffer: ALIGN_REMARK_MAX bytes
 *
 * Return: whether there is something to say.
 */
bool align_remark(const struct align *align, unsigned host, char *buffer, unsigned size);

void align_destroy(struct align *align);

#endif
