/* SPDX-License-Identifier: Apache-2.0 */
/* What became of one process's events: its entry in kymo.json, and what it adds to the sums. */
#include <stdlib.h>

#include "base/json_text.h"
#include "recorder/filter/filter.h"
#include "recorder/session/session_internal.h"

/* What a sink has of a thread. Return: false: nothing, since the thread was gone before it came. */
static bool has_thread(const struct sink_process *at, unsigned index, struct sink_without *counts)
{
	const struct thread_account *thread = &at->process->thread[index];

	sink_thread_counts(at, index, counts);
	return counts->recorded || counts->dropped || !(thread->recorded || thread->dropped);
}

static void put_threads(struct json_text *json, const struct sink_process *at)
{
	json_text_open(json, "threads", '[');
	for (unsigned i = 0; i < at->process->thread_count; i++) {
		const struct thread_account *thread = &at->process->thread[i];
		struct sink_without counts;

		if (!has_thread(at, i, &counts))
			continue;
		json_text_open(json, NULL, '{');
		json_text_i64(json, "tid", thread->tid);
		json_text_string(json, "name", thread->name);
		json_text_u64(json, "recorded", counts.recorded);
		json_text_u64(json, "dropped", counts.dropped);
		json_text_u64(json, "filtered", counts.filtered);
		json_text_u64(json, "bytes", counts.bytes);
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}

static const char *end_name(const struct process *process)
{
	static const char *const name[] = {
		[PROCESS_RUNS] = "running", [PROCESS_EXITED] = "exited",
		[PROCESS_KILLED] = "killed", [PROCESS_REPLACED] = "replaced",
	};

	return name[process->end];
}

static void put_counts(struct json_text *json, const struct sink_process *at)
{
	const struct process *process = at->process;
	struct sink_counts counts;

	sink_counts(at, &counts);
	json_text_u64(json, "recorded", counts.recorded);
	json_text_u64(json, "dropped", counts.dropped + counts.dropped_no_ring);
	json_text_u64(json, "dropped_no_ring", counts.dropped_no_ring);
	json_text_u64(json, "filtered", counts.filtered);
	json_text_u64(json, "unwritten", counts.unwritten);
	json_text_u64(json, "before", counts.before);
	json_text_u64(json, "init_events", counts.init_events);
	json_text_u64(json, "init_dropped", counts.init_dropped);
	json_text_u64(json, "texts_cut", process->texts_cut);
	json_text_u64(json, "corrupt_bytes", process->lost_bytes);
	json_text_u64(json, "overwritten", process->overwritten);
	json_text_u64(json, "outside", process->outside);
	json_text_u64(json, "bytes", counts.bytes);
}

void accounts_process(struct json_text *json, const struct sink_process *at)
{
	const struct process *process = at->process;
	char *own = filter_own_rules(process->filter);

	json_text_open(json, NULL, '{');
	json_text_u64(json, "pid", process->region.pid);
	json_text_u64(json, "host_pid", (uint64_t)process->host_pid);
	json_text_u64(json, "uid", process->region.uid);
	json_text_string(json, "procname", process->region.procname);
	json_text_string(json, "exe", process->region.exe);
	if (process->region.ros_domain >= 1 && process->region.ros_domain <= KYMO_ROS_DOMAIN_MAX + 1)
		json_text_u64(json, "ros_domain", process->region.ros_domain - 1);
	json_text_u64(json, "start_ns", process->region.birth_ns);
	json_text_string(json, "state", end_name(process));
	json_text_string(json, "tracetools", process->tracetools_version);
	put_counts(json, at);
	if (own)
		json_text_string(json, "filter", own);
	free(own);
	json_text_bool(json, "wanted", filter_wants_process(process->filter));
	put_threads(json, at);
	json_text_close(json, '}');
}

/* ---- statistics ---- */

void accounts_add(struct session_stats *stats, const struct sink_process *at)
{
	const struct process *process = at->process;
	struct sink_without thread;
	struct sink_counts counts;

	sink_counts(at, &counts);
	stats->processes++;
	stats->recorded += counts.recorded;
	stats->dropped += counts.dropped + counts.dropped_no_ring;
	stats->dropped_no_ring += counts.dropped_no_ring;
	stats->init_events += counts.init_events;
	stats->init_dropped += counts.init_dropped;
	stats->filtered += counts.filtered;
	stats->unwritten += counts.unwritten;
	stats->before += counts.before;
	stats->lost_bytes += process->lost_bytes;
	stats->overwritten += process->overwritten;
	stats->outside += process->outside;
	for (unsigned i = 0; i < process->thread_count; i++)
		stats->threads += has_thread(at, i, &thread);
	stats->alive += !process->finished || process->end == PROCESS_RUNS;
}

void session_sink_stats(const struct session *session, const struct sink *sink, struct session_stats *stats)
{
	uint64_t until = sink->end_ns ? sink->end_ns : session->drain.now_ns;

	*stats = sink->earlier;
	stats->refused = session->refused_count;
	stats->duration_ns = until - sink->added_ns;
	stats->bytes = sink->ops->bytes ? sink->ops->bytes(sink) : 0;
	stats->write_failed = sink->failed;
	for (unsigned i = 0; i < session->process_count; i++) {
		const struct sink_process *at = sink_at(&session->drain, sink, session->process[i]);

		if (at)
			accounts_add(stats, at);
	}
}
