/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the alignment:
 *     align_messages.c  which messages went from one host to another, and when
 *     align_bounds.c    what that says of two clocks
 *     align_ways.c      what follows for hosts that only others in between connect
 *     align_settle.c    which host is compared with which
 *     align.c     the pass over the traces, and what comes out for each of them
 */
#ifndef KYMO_ANALYSIS_ALIGN_INTERNAL_H
#define KYMO_ANALYSIS_ALIGN_INTERNAL_H

#include "analysis/align/align.h"
#include "analysis/align/align_bounds.h"
#include "analysis/model/model.h"
#include "base/map.h"
#include "base/pool.h"

#define ALIGN_MARGIN_NS 10000000ll	/* the extent is known that well before hosts are compared */
#define HOSTS_MAX 64u		/* more are left as their wall clocks say */

struct host {
	struct align_host pub;
	const char *clock_id;		/* "": not in the trace */
	int64_t offset_ns;		/* of the clock of its first trace */
	int64_t first_ns, last_ns;	/* of its events, by its own clock; first > last: none */
	struct kymo_ctf_shift *shift;
	unsigned shifts;
	bool done;
};

struct align {
	struct host *host;
	unsigned hosts;
	uint32_t *of_trace;		/* the host of each */
	unsigned traces;
	struct pool names;
};

struct pending;

/* What one pass over the traces gathers. */
struct messages {
	unsigned hosts;
	struct bounds *bounds;		/* [from * hosts + to]: of the clock of to less that of from, by from's */
	struct map sent, taken;		/* by (source timestamp, topic); taken: and host */
	struct pending *pending;	/* those in the maps, a ring */
	uint64_t pendings;
	bool failed;
};

/**
 * ways_extend() - bounds of further hosts, by ways over hosts that are not compared
 * @is_open: by host: it is not compared yet
 * @all: by host what is known; of messages to it (@in) its clock less the first host's, else the other way round.
 *       What goes over other hosts is added, also where something is known
 * @hosts_between: set to the least number of hosts on the way; 0: none, or there is no way
 *
 * Return: 0, or -1: no memory.
 */
int ways_extend(const struct messages *messages, const bool *is_open, struct bounds *all, unsigned *hosts_between, bool in);

extern const struct model_listener messages_listener;

/** messages_init() - Return: 0, or -ENOMEM. */
int messages_init(struct messages *messages, unsigned hosts);
void messages_free(struct messages *messages);

/** align_settle() - compare all hosts by what the pass gathered. Return: 0, or -1: no memory. */
int align_settle(struct align *align, struct messages *messages);

#endif
