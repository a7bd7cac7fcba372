/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the fates share: messages that were requested, and the evidence. */
#ifndef KYMO_ANALYSIS_WHY_FATE_INTERNAL_H
#define KYMO_ANALYSIS_WHY_FATE_INTERNAL_H

#include "analysis/why/why_fate.h"
#include "base/map.h"

/* Number of the latest losses that are kept. */
#define FATE_GAPS 1024u

struct fate_record {
	struct fate pub;
	struct fate_record *next; /* next open record of the same subscription */
	uint64_t published;       /* messages published on the topic before it */
	/*
	 * The subscription received a message that this publisher had published earlier, so the two
	 * knew each other.
	 */
	bool before;
	uint64_t backlog; /* messages since the next one, with it, at its take */
	enum model_lost lost;
	bool is_dropped;
};

/* Events of @process, or of an unknown process (NULL), were lost. */
struct fate_gap {
	const struct model_process *process;
	int64_t begin_ns, end_ns;
};

struct fates {
	struct model *model;
	struct map ids; /* requested id -> this struct */
	struct fate_record **record;
	unsigned records, room;
	struct map open; /* (subscription, 0) -> first open record */
	struct map took; /* (subscription, publisher) -> this struct */
	/* (subscription, 0) -> the receiving model_thread; several threads: this struct */
	struct map takers;
	struct map recent; /* (topic, 0) -> struct recent */
	/* (publisher, 0) -> id of its latest message, which may be reported twice */
	struct map last;
	struct map waits;               /* (thread, 0) -> struct waits */
	struct fate_gap gap[FATE_GAPS]; /* ring */
	uint64_t gaps;
	bool failed;
};

/** fate_is_timed() - can the clocks of the two hosts be compared at @ns? */
bool fate_is_timed(const struct model_publisher *publisher,
		   const struct model_subscription *subscription, int64_t ns);

/** fate_reason() - at the end of the trace: why @record is what it is; sets what belongs to it. */
enum fate_why fate_reason(const struct fates *fates, struct fate_record *record);

#endif
