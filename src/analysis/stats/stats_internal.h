/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of stats.c, shared with stats_wait.c. */
#ifndef KYMO_ANALYSIS_STATS_INTERNAL_H
#define KYMO_ANALYSIS_STATS_INTERNAL_H

#include "analysis/stats/stats.h"
#include "base/array.h"

/*
 * The latest runs of a thread, to find the runs that a callback waited for. If a wait spans more
 * runs than this, only the latest runs explain it.
 */
#define HISTORY_RUNS 128u	/* power of two */

struct stats_run {
	int64_t start_ns, end_ns;
	const struct model_callback *callback;
};

struct history {
	const struct model_thread *thread;
	struct stats_run run[HISTORY_RUNS];	/* ring, ordered by time, without overlaps */
	/* Total number; the newest is run[(count - 1) % HISTORY_RUNS]. */
	uint64_t count;
};

struct stats {
	struct model *model;
	int64_t begin_ns, end_ns;
	struct array callbacks;		/* of struct stats_callback, by callback index */
	struct array topics;		/* of struct stats_topic, by topic index */
	/* of uint64_t, by publisher index: its latest publish call */
	struct array last_ids;
	struct array histories;		/* of struct history *, by thread index */
	struct array losses;		/* of struct stats_loss *, by stream */
	unsigned loss_count;
	uint64_t lost_events, lost_packets;
	struct stats_lost lost_elsewhere;
	bool no_waits;			/* stats_without_waits() */
	bool failed;
};

struct stats_callback *stats_callback_at(struct stats *stats, uint32_t index);
struct history *stats_history_new(struct stats *stats, uint32_t index);
static inline struct history *stats_history_at(struct stats *stats, uint32_t index)
{
	struct history *const *known = stats->histories.item;

	if (__builtin_expect(index < stats->histories.count && known[index], 1))
		return known[index];
	return stats_history_new(stats, index);
}

/* stats_wait.c */
void stats_history_add(struct stats *stats, const struct model_instance *instance);
void stats_timer_wait(struct stats *stats, const struct model_instance *instance,
		      struct stats_callback *callback);
void stats_message_wait(struct stats *stats, const struct model_message *message);

#endif
