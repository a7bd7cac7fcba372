/* SPDX-License-Identifier: Apache-2.0 */
/* What became of one process's events: its entry in kymo.json, and what it adds to the sums. */
#include <stdlib.h>

#include "accounts/accounts.h"
#include "recorder/drain/sink_list.h"
#include "recorder/filter/filter.h"
#include "recorder/session/session_internal.h"

/* What a sink has of a thread. Return: false: nothing, because the thread had ended before the sink
 * was added. */
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
		struct accounts_thread account = { .tid = thread->tid, .name = thread->name };
		struct sink_without counts;

		if (!has_thread(at, i, &counts))
			continue;
		account.recorded = counts.recorded;
		account.dropped = counts.dropped;
		account.filtered = counts.filtered;
		account.bytes = counts.bytes;
		json_text_open(json, NULL, '{');
		accounts_text(json, ACCOUNTS_THREAD, &account);
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}

const char *session_end_name(const struct drained_process *process)
{
	static const char *const name[] = {
		[PROCESS_RUNS] = "running", [PROCESS_EXITED] = "exited",
		[PROCESS_KILLED] = "killed", [PROCESS_REPLACED] = "replaced",
	};

	return name[process->end];
}

void session_account_process(struct json_text *json, const struct sink_process *at)
{
	const struct drained_process *process = at->process;
	const uint64_t domain = process->region.ros_domain;
	char *own = filter_own_rules(process->filter);
	struct sink_counts counts;

	sink_counts(at, &counts);
	json_text_open(json, NULL, '{');
	accounts_text(json, ACCOUNTS_PROCESS,
		      &(struct accounts_process){
			      .pid = process->region.pid,
			      .host_pid = (uint64_t)process->host_pid,
			      .uid = process->region.uid,
			      .procname = process->region.procname,
			      .exe = process->region.exe,
			      .ros_domain = domain >= 1 && domain <= KYMO_ROS_DOMAIN_MAX + 1
						    ? domain - 1
						    : ACCOUNTS_UNKNOWN,
			      .start_ns = (int64_t)process->region.birth_ns,
			      .state = session_end_name(process),
			      .tracetools = process->tracetools_version,
			      .rmw = *process->rmw ? process->rmw : NULL,
			      .recorded = counts.recorded,
			      .dropped = counts.dropped + counts.dropped_no_ring,
			      .dropped_no_ring = counts.dropped_no_ring,
			      .filtered = counts.filtered,
			      .unwritten = counts.unwritten,
			      .before = counts.before,
			      .init_events = counts.init_events,
			      .init_dropped = counts.init_dropped,
			      .texts_cut = process->texts_cut,
			      .waits = process->waits,
			      .waited_ns = (int64_t)process->waited_ns,
			      .corrupt_bytes = process->lost_bytes,
			      .overwritten = process->overwritten,
			      .outside = process->outside,
			      .bytes = counts.bytes,
			      .filter = own,
			      .wanted = filter_wants_process(process->filter),
		      });
	free(own);
	put_threads(json, at);
	json_text_close(json, '}');
}

/* ---- statistics ---- */

void session_add_account(struct session_stats *stats, const struct sink_process *at)
{
	const struct drained_process *process = at->process;
	struct sink_without thread;
	struct sink_counts counts;

	sink_counts(at, &counts);
	stats->processes++;
	stats->unwanted += !filter_wants_process(process->filter);
	stats->recorded += counts.recorded;
	stats->dropped += counts.dropped + counts.dropped_no_ring;
	stats->dropped_no_ring += counts.dropped_no_ring;
	if (counts.dropped_no_ring && process->no_ring_why)
		stats->no_ring_why = process->no_ring_why;
	stats->init_events += counts.init_events;
	stats->init_dropped += counts.init_dropped;
	stats->filtered += counts.filtered;
	stats->unwritten += counts.unwritten;
	stats->before += counts.before;
	stats->lost_bytes += process->lost_bytes;
	stats->overwritten += process->overwritten;
	stats->outside += process->outside;
	stats->waits += process->waits;
	stats->waited_ns += process->waited_ns;
	for (unsigned i = 0; i < process->thread_count; i++)
		stats->threads += has_thread(at, i, &thread);
	stats->alive += !process->finished || process->end == PROCESS_RUNS;
	loud_tell(process, stats);
}

void session_sink_stats(const struct session *session, const struct sink *sink,
			struct session_stats *stats)
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
			session_add_account(stats, at);
	}
}
