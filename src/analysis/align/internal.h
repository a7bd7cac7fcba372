/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the alignment:
 *     messages.c  which messages went from one host to another, and when
 *     bounds.c    what that says of two clocks
 *     align.c     which host is compared with which, and what comes out for each trace
 */
#ifndef KYMO_ANALYSIS_ALIGN_INTERNAL_H
#define KYMO_ANALYSIS_ALIGN_INTERNAL_H

#include "analysis/align/align.h"
#include "analysis/align/bounds.h"
#include "analysis/model/model.h"
#include "base/map.h"

#define HOSTS_MAX 64u		/* more are left as their wall clocks say */

struct host {
	struct align_host pub;
	int64_t first_ns, last_ns;	/* of its events, by its own clock; first > last: none */
	struct ctf_shift *shift;
	unsigned shifts;
	bool done;
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

extern const struct model_listener messages_listener;

/** messages_init() - Return: 0, or -ENOMEM. */
int messages_init(struct messages *messages, unsigned hosts);
void messages_free(struct messages *messages);

#endif
