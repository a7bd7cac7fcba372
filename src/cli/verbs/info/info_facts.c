/* SPDX-License-Identifier: Apache-2.0 */
/* kymo info: what holds for all of the trace: times, sums, clocks, and what the recorder said. */
#include "cli/verbs/info/info_show.h"

#include "cli/common/common.h"

/* A point in time: for people as text, else nanoseconds since the epoch. */
static void fact_point(const struct info_show *s, const char *key, const char *title, int64_t ns)
{
	char text[CLI_TIME_MAX];

	if (s->options->format == TABLE_TEXT)
		table_value_text(s->table, key, title, cli_print_point(text, ns));
	else
		table_value_ns(s->table, key, title, ns);
}

uint64_t info_total_lost(const struct info_show *s)
{
	uint64_t told = s->limited ? 0 : s->accounts->dropped + s->accounts->unwritten;

	/* The recorder also counted losses that no later packet reports. */
	return told > s->info->lost ? told : s->info->lost;
}

/* Why a snapshot was taken, and what it does not contain. */
static void show_snapshot(const struct info_show *s)
{
	const struct accounts *a = s->accounts;

	if (a->totals.overwritten)
		table_value_u64(s->table, "overwritten", "Overwritten before", a->totals.overwritten);
	if (a->totals.outside)
		table_value_u64(s->table, "outside", "Before the window", a->totals.outside);
	if (!*a->snapshot_text)
		return;
	table_value_text(s->table, "snapshot", "Snapshot", a->snapshot_text);
	table_value_ns(s->table, "snapshot_at_ns", "Asked for after", a->snapshot_at_ns);
	if (a->snapshot.suppressed)
		table_value_u64(s->table, "suppressed", "Fired meanwhile", a->snapshot.suppressed);
}

#define DRIFT_LEAST_NS 10000000000	/* over less than 10 s readings say nothing about ppm */

/* Ticks of the CPU's counter in a ns, from reading @from to reading @to; 0: not known. */
static double counter_rate(const struct accounts *a, unsigned from, unsigned to)
{
	const double ticks = (double)(a->clock[to].counter - a->clock[from].counter);
	const double ns = (double)(a->clock[to].monotonic_ns - a->clock[from].monotonic_ns);

	return a->clock[from].counter && ticks > 0 && ns >= DRIFT_LEAST_NS ? ticks / ns : 0;
}

/*
 * How the other clocks ran against CLOCK_MONOTONIC, without steps. The counter's rate itself says
 * nothing: it is compared between the first and the second half of the recording, and the
 * difference is what NTP slewed meanwhile.
 */
static void show_drift(const struct info_show *s)
{
	const struct accounts *a = s->accounts;
	const unsigned last = a->clock_count ? a->clock_count - 1 : 0, middle = last / 2;
	double ns, ahead, before, after;

	if (!last)
		return;
	ns = (double)(a->clock[last].monotonic_ns - a->clock[0].monotonic_ns);
	ahead = (double)(a->clock[last].realtime_ns - a->clock[0].realtime_ns) - ns -
		(double)a->clock_changes.set_ns - (double)a->clock_changes.slept_ns;
	if (ns < DRIFT_LEAST_NS)
		return;
	table_value_f64(s->table, "wall_drift_ppm", "Wall clock runs ahead", ahead / ns * 1e6, "ppm");
	before = counter_rate(a, 0, middle);
	after = counter_rate(a, middle, last);
	if (before > 0 && after > 0 && !a->clock_changes.slept)
		table_value_f64(s->table, "counter_drift_ppm", "CPU counter, second half against the first",
				(after / before - 1) * 1e6, "ppm");
}

/* How clocks changed during the recording: times of day in the trace do not show it. */
static void show_clock_changes(const struct info_show *s)
{
	const struct accounts_clock_changes *changes = &s->accounts->clock_changes;

	if (changes->slept)
		table_value_ns(s->table, "slept_ns", "Machine slept", changes->slept_ns);
	if (changes->set)
		table_value_ns(s->table, "clock_set_ns", "Wall clock set by", changes->set_ns);
	show_drift(s);
}

/* What the recorder counted. */
static void show_accounts(const struct info_show *s)
{
	const struct accounts *a = s->accounts;
	struct table *table = s->table;
	char end[80];

	if (a->ended) {
		table_value_u64(table, "recorded", "Recorded", a->recorded);
		table_value_u64(table, "dropped", "Dropped", a->dropped);
		table_value_u64(table, "unwritten", "Not written", a->unwritten);
	}
	if (a->rules) {
		table_value_text(table, "rules", "Rules", a->rules);
		table_value_u64(table, "filtered", "Left out by rules", a->totals.filtered);
	}
	if (*a->kernel.source) {
		table_value_text(table, "kernel_source", "Kernel events through", a->kernel.source);
		table_value_u64(table, "kernel_recorded", "Kernel events recorded", a->kernel.recorded);
		table_value_u64(table, "kernel_lost", "Kernel events lost", a->kernel.lost);
		table_value_u64(table, "kernel_unseen_switches",
				"Switches not reported by the kernel", a->kernel.unseen_switches);
		table_value_u64(table, "kernel_unseen_calls", "Events of system calls not reported",
				a->kernel.unseen_calls);
		table_value_u64(table, "kernel_left_out", "Of other threads, left out", a->kernel.left_out);
	}
	if (a->stacks.hz) {
		table_value_u64(table, "stacks_samples", "Samples of call stacks",
				a->stacks.samples);
		table_value_u64(table, "stacks_hz", "Samples per second of CPU time", a->stacks.hz);
		if (!a->stacks.user_only)
			table_value_u64(table, "stacks_waits", "Waits with call stacks",
					a->stacks.waits);
		table_value_u64(table, "stacks_lost", "Call stacks lost", a->stacks.lost);
	}
	if (a->chunks.removed) {
		table_value_u64(table, "chunks_removed", "Chunks removed", a->chunks.removed);
		table_value_u64(table, "events_removed", "Events in them", a->chunks.removed_events);
	}
	if (a->removed.times) {
		table_value_u64(table, "removed", "Removed by others", a->removed.times);
		table_value_u64(table, "removed_events", "Events in that", a->removed.events);
	}
	if (a->root.pause_count) {
		table_value_u64(table, "pauses", "Pauses", a->root.pause_count);
		table_value_ns(table, "paused_ns", "Paused for", (int64_t)a->root.paused_ns);
	}
	if (a->root.left_alone && *a->root.left_alone)
		table_value_text(table, "left_alone", "Left alone", a->root.left_alone);
	(void)snprintf(end, sizeof(end), "%s%s", accounts_end_text(s->recorders->end_of_all),
		       s->recorders->end_of_all > ACCOUNTS_ENDED
			       ? "; losses are those that the files show"
			       : "");
	table_value_text(table, "recorder", "Recorder", end);
	show_snapshot(s);
	show_clock_changes(s);
}

void info_show_facts(const struct info_show *s)
{
	const struct info *info = s->info;
	uint64_t bytes = 0, packets = 0;

	for (unsigned i = 0; i < kymo_ctf_stream_count(s->reader); i++) {
		bytes += kymo_ctf_stream(s->reader, i)->bytes;
		packets += kymo_ctf_stream(s->reader, i)->packets;
	}
	table_value_text(s->table, "path", "Trace", s->path);
	if (info->events) {
		fact_point(s, "begin_ns", "Begin", info->begin_ns);
		fact_point(s, "end_ns", "End", info->end_ns);
		table_value_ns(s->table, "duration_ns", "Duration", info->end_ns - info->begin_ns);
	}
	table_value_u64(s->table, "events", "Events", info->events);
	if (!s->limited) {
		table_value_u64(s->table, "bytes", "Bytes", bytes);
		table_value_u64(s->table, "packets", "Packets", packets);
	}
	table_value_u64(s->table, "processes_count", "Processes", info->process_count);
	table_value_u64(s->table, "threads_count", "Threads", info->thread_count);
	table_value_u64(s->table, "lost", "Lost events", info_total_lost(s));
	table_value_u64(s->table, "lost_packets", "Missing packets", info->lost_packets);
	if (info->lost_in_packets || s->options->format != TABLE_TEXT)
		table_value_u64(s->table, "lost_in_packets", "Events in them",
				info->lost_in_packets);
	if (info->asked)
		table_value_u64(s->table, "facts_asked", "Facts asked after kymo attach",
				info->asked);
	if (info->inferred)
		table_value_u64(s->table, "facts_inferred", "Facts inferred after it",
				info->inferred);
	if (kymo_ctf_warning_count(s->reader))
		table_value_u64(s->table, "damaged", "Damaged places",
				kymo_ctf_warning_count(s->reader));
	if (s->accounts->present && !s->limited)
		show_accounts(s);
}
