/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alignment: comparing the clocks of several hosts by the messages between them.
 *
 * The events of each host have times of its own CLOCK_MONOTONIC and one reading of its wall clock.
 * A message cannot be received before it is sent, whatever the clocks show. So with d = (clock of
 * B) - (clock of A):
 *
 *     A -> B    d <= received at B - sent at A        B -> A    d >= sent at B - received at A
 *
 * The quickest messages of the two directions leave an interval for d at each time. The alignment
 * takes the middle of the interval, and shifts each host onto the clock of the first host. Half the
 * width of the interval is the bound of the error, and kymo reports it. An aligned host then serves
 * as a reference for the hosts that it exchanges messages with. Between messages, d is assumed to
 * change at one rate that fits all messages, plus or minus ALIGN_WANDER. If messages contradict
 * this, the allowed deviation from the rate is doubled until no message contradicts it, and then
 * doubled once more.
 *
 *   align_find(&align, reader, NULL, NULL, &err);	reads all of it; NULL: a trace of one host
 *   align_apply(align, reader, &err);			also for other readers of the same traces
 *
 * Context of all functions: not thread-safe; allocate and block. Memory does not grow with the
 * trace.
 */
#ifndef KYMO_ANALYSIS_ALIGN_H
#define KYMO_ANALYSIS_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ctf/read/reader.h"

#define ALIGN_WANDER 20e-6

enum align_how {
	ALIGN_REFERENCE,	/* the first host: the other hosts are compared with it */
	ALIGN_MESSAGES,		/* by messages in both directions, possibly through other hosts */
	/* Messages in one direction only: by the wall clock, or by the bound from the messages. */
	ALIGN_ONE_WAY,
	/* Messages in both directions that no two clocks can explain: by the wall clock. */
	ALIGN_CONTRADICTION,
	ALIGN_WALL_CLOCK,	/* no messages with known send times */
	/* The same clock as another host, for example in a container; no comparison needed. */
	ALIGN_SAME_CLOCK,
};

struct align_host {
	const char *name;		/* "" when not in the trace */
	enum align_how how;
	/*
	 * The host that it was compared with; if there were several, the one with the most
	 * messages.
	 */
	unsigned to;
	/* Number of hosts on the shortest path of messages there and back; 0: none. */
	unsigned between;
	uint64_t messages_in, messages_out; /* from and to all hosts that it was compared with */
	/* How far its clock is ahead of the first host's, at the start of the trace. */
	int64_t ahead_ns;
	double rate;			/* how much faster its clock runs: 1e-6 is 1 ppm */
	double wander;			/* allowed deviation from the rate, in either direction */
	int64_t error_min_ns, error_max_ns;	/* KYMO_CTF_ERROR_UNKNOWN when not ALIGN_MESSAGES */
	bool is_most, is_least;		/* ALIGN_ONE_WAY: ahead by at most or at least @bound_ns */
	int64_t bound_ns;
};

struct align;

/**
 * align_find() - compare the hosts of @reader's traces; reads the traces once, and rewinds the
 * reader
 * @align: set to NULL when all traces are of one host
 * @progress: called from time to time with the position, and with 0 events at the end; may be NULL
 *
 * Return: 0, or -1 with @err filled.
 */
int align_find(struct align **align, struct kymo_ctf_reader *reader,
	       void (*progress)(void *context, uint64_t events, uint64_t clock_ns), void *context,
	       struct kymo_err *err);

/** align_apply() - shift the times of @reader, of the same traces; @align may be NULL. Return: 0,
 * or -1 with @err. */
int align_apply(const struct align *align, struct kymo_ctf_reader *reader, struct kymo_err *err);

/**
 * align_apply_from() - the same for a reader of only some of the traces: those from number @first
 * on.
 */
int align_apply_from(const struct align *align, unsigned first, struct kymo_ctf_reader *reader,
		     struct kymo_err *err);

/**
 * align_count() - the number of hosts; 0 for NULL. Hosts have the same numbers as
 * model_process.host.
 */
unsigned align_count(const struct align *align);
const struct align_host *align_host(const struct align *align, unsigned host);

/** align_shift() - how much later than on the clock of @host the time @ns of that clock is. */
int64_t align_shift(const struct align *align, unsigned host, int64_t ns);

/** align_how_name() - "reference", "messages", "one way", "contradiction", "wall clock", "same
 * clock". */
const char *align_how_name(enum align_how how);

/** align_host_name() - "?" when the name is not in the trace. */
const char *align_host_name(const struct align *align, unsigned host);

#define ALIGN_REMARK_MAX 1024u

/**
 * align_remark() - for a host that could not be compared: the reason, the meaning of its times, and
 * the remedy, in sentences
 * @buffer: ALIGN_REMARK_MAX bytes
 *
 * Return: whether there is a remark.
 */
bool align_remark(const struct align *align, unsigned host, char *buffer, unsigned size);

void align_destroy(struct align *align);

#endif
