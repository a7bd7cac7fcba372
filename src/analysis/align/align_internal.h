/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the alignment:
 *     align_messages.c  finds messages from one host to another, with their times
 *     align_bounds.c    computes the difference of two clocks from these times
 *     align_ways.c      finds bounds for hosts that are connected only through other hosts
 *     align_beside.c    compares one host with those that are aligned
 *     align_settle.c    decides which host is compared with which
 *     align_text.c      writes the remarks for the user
 *     align.c           reads the traces once, and applies the result to readers
 */
#ifndef KYMO_ANALYSIS_ALIGN_INTERNAL_H
#define KYMO_ANALYSIS_ALIGN_INTERNAL_H

#include "analysis/align/align.h"
#include "analysis/align/align_bounds.h"
#include "analysis/model/model.h"
#include "base/map.h"
#include "base/pool.h"

#define ALIGN_MARGIN_NS 10000000ll	/* margin around the first and the last event */
#define HOSTS_MAX 64u		/* further hosts keep the times of their wall clocks */

struct aligned_host {
	struct align_host pub;
	const char *clock_id;		/* "" when not in the trace */
	int64_t offset_ns;		/* of the clock of its first trace */
	/* First and last event, by its own clock; first > last: no events. */
	int64_t first_ns, last_ns;
	struct kymo_ctf_shift *shift;
	unsigned shifts;
	bool done;
};

struct align {
	struct aligned_host *host;
	unsigned hosts;
	uint32_t *of_trace;		/* host number, by trace */
	unsigned traces;
	struct pool names;
};

struct pending;

/* The messages and bounds that one pass over the traces collects. */
struct messages {
	unsigned hosts;
	/* [from * hosts + to]: the clock of `to` minus the clock of `from`, at times of `from` */
	struct bounds *bounds;
	struct map sent, taken;		/* key: (source timestamp, topic); in taken also the host */
	struct pending *pending;	/* ring of the entries in the two maps */
	uint64_t pendings;
	bool failed;
};

/**
 * ways_extend() - find bounds for more hosts, along paths of messages through hosts that are not
 * compared yet
 * @is_open: by host: true if it is not compared yet
 * @all: by host, the known bounds. With @in, of messages to the host: its clock minus the first
 *   host's; else the reverse. Bounds along paths are added, even if the host already has bounds
 * @hosts_between: set to the least number of hosts on such a path; 0: none, or no path exists
 *
 * Return: 0, or -1: out of memory.
 */
int ways_extend(const struct messages *messages, const bool *is_open, struct bounds *all,
		unsigned *hosts_between, bool in);

extern const struct model_listener messages_listener;

/** messages_init() - Return: 0, or -ENOMEM. */
int messages_init(struct messages *messages, unsigned hosts);
void messages_free(struct messages *messages);

/**
 * align_settle() - compare all hosts, based on the collected messages.
 *
 * Return: 0, or -1: out of memory.
 */
int align_settle(struct align *align, struct messages *messages);

/* ---- align_beside.c ---- */

/*
 * Bounds of a host's clock minus the first host's, at times of the first host, from all messages to
 * and from aligned hosts.
 */
struct align_beside {
	struct bounds most, least;	/* least: of the first host's clock minus this host's */
	unsigned to;			/* the host with the most messages */
	uint64_t in, out;
};

/* Return: 0; -1: out of memory. Free it in both cases. */
int align_beside_make(const struct align *align, const struct messages *messages, unsigned host,
		      struct align_beside *beside);
void align_beside_free(struct align_beside *beside);

/* Aligns @host; requires messages in both directions. Return: 0; -1: out of memory. */
int align_compare(struct align *align, struct aligned_host *host, struct align_beside *beside);

/* How many messages hosts @a and @b sent to each other. */
uint64_t messages_between(const struct messages *messages, unsigned a, unsigned b);

#endif
