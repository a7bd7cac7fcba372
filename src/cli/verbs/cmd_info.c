/* SPDX-License-Identifier: Apache-2.0 */
/* kymo info: what a trace is made of, and whether anything is missing. */
#include <limits.h>
#include <string.h>

#include "cli/common/common.h"
#include "cli/input/answer.h"
#include "cli/input/input_events.h"
#include "cli/verbs/info/info_collect.h"
#include "cli/verbs/info/info_recorders.h"
#include "cli/input/trace_time.h"
#include "report/report.h"
#include "base/array.h"

struct info_options {
	int format;
	struct selection selection;
	struct cli_times times;		/* without a clock */
	bool strict, all;
};

static const struct opt opts[] = {
	CLI_OPT_FORMAT(struct info_options),
	CLI_OPT_SCREEN(0),
	{ "all", 'a', OPT_FLAG, offsetof(struct info_options, all), NULL,
	  "show every thread, stream and loss; without it, tables for people stop after 20 rows",
	  NULL },
	CLI_OPT_SELECTION(struct info_options, 'n'),
	CLI_OPT_WINDOW(struct info_options, "what is"),
	CLI_OPT_MERGE(struct info_options),
	CLI_OPT_STRICT(struct info_options),
	CLI_OPT_END
};

#define ROWS_MAX 20	/* of a section, in text without --all */

struct show {
	struct table *table;
	const struct info_options *options;
	const struct info *info;
	const struct recorders *recorders;
	const struct accounts *accounts;	/* of all */
	const struct align *align;		/* NULL: there is one host */
	struct kymo_ctf_reader *reader;
	const char *path;
	bool limited;			/* to some of the events */
};

static unsigned limit(const struct show *s, unsigned count)
{
	if (s->options->format != TABLE_TEXT || s->options->all || count <= ROWS_MAX)
		return count;
	return ROWS_MAX;
}

static void note_more_rows(const struct show *s, unsigned count)
{
	if (limit(s, count) < count)
		table_note(s->table, "... and %u more; --all shows them", count - ROWS_MAX);
}

/* A point in time: for people as text, else nanoseconds since the epoch. */
static void fact_point(const struct show *s, const char *key, const char *title, int64_t ns)
{
	char text[CLI_TIME_MAX];

	if (s->options->format == TABLE_TEXT)
		table_value_text(s->table, key, title, cli_print_point(text, ns));
	else
		table_value_ns(s->table, key, title, ns);
}

static uint64_t total_lost(const struct show *s)
{
	uint64_t told = s->limited ? 0 : s->accounts->dropped + s->accounts->unwritten;

	/* The recorder also counted losses that no later packet reports. */
	return told > s->info->lost ? told : s->info->lost;
}

/* Why a snapshot was taken, and what it does not contain. */
static void show_snapshot(const struct show *s)
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
static void show_drift(const struct show *s)
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
static void show_clock_changes(const struct show *s)
{
	const struct accounts_clock_changes *changes = &s->accounts->clock_changes;

	if (changes->slept)
		table_value_ns(s->table, "slept_ns", "Machine slept", changes->slept_ns);
	if (changes->set)
		table_value_ns(s->table, "clock_set_ns", "Wall clock set by", changes->set_ns);
	show_drift(s);
}

/* What the recorder counted. */
static void show_accounts(const struct show *s)
{
	const struct accounts *a = s->accounts;
	struct table *table = s->table;

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
	if (a->root.left_alone)
		table_value_text(table, "left_alone", "Left alone", a->root.left_alone);
	table_value_text(table, "recorder", "Recorder", a->ended ? "ended in order" :
			 "did not end in order, or still records; losses are those that the files show");
	show_snapshot(s);
	show_clock_changes(s);
}

static void show_facts(const struct show *s)
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
	table_value_u64(s->table, "lost", "Lost events", total_lost(s));
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

static void show_traces(const struct show *s)
{
	static const struct table_column columns[] = {
		{ "trace", "#" }, { "host", "HOST" }, { "domain", "DOMAIN" }, { "tracer", "TRACER" },
		{ "clock_offset_ns", NULL }, { "path", "PATH" },
	};
	unsigned count = kymo_ctf_trace_count(s->reader);

	table_section(s->table, "traces", "Traces", columns, COUNT_OF(columns));
	for (unsigned i = 0; i < limit(s, count); i++) {
		const struct kymo_ctf_trace_info *trace = kymo_ctf_trace(s->reader, i);

		table_u64(s->table, i);
		table_text(s->table, trace->hostname);
		table_text(s->table, trace->domain);
		table_text(s->table, trace->tracer);
		table_ns(s->table, trace->clock_offset_ns);
		table_text(s->table, trace->path);
	}
	note_more_rows(s, count);
}

static void show_chunks(const struct show *s)
{
	bool people = s->options->format == TABLE_TEXT;
	unsigned count = info_chunks(s->table, s->reader, people ? s->info->begin_ns : 0,
				     limit(s, UINT_MAX));

	if (count)
		note_more_rows(s, count);
}

static void show_processes(const struct show *s)
{
	static const struct table_column columns[] = {
		{ "host", "HOST" }, { "pid", "PID" }, { "name", "NAME" }, { "threads", "THREADS" },
		{ "events", "EVENTS" }, { "dropped", "DROPPED" }, { "state", "END" },
	};
	unsigned count = s->info->process_count;

	table_section(s->table, "processes", "Processes", columns, COUNT_OF(columns));
	for (unsigned i = 0; i < limit(s, count); i++) {
		const struct info_process *p = s->info->process[i];
		const struct account_process *account =
			recorders_process(s->recorders, p->trace, p->vpid);
		bool ended;

		table_text(s->table, p->host);
		table_i64(s->table, p->vpid);
		table_text(s->table, p->name);
		table_u64(s->table, p->threads);
		table_u64(s->table, p->events);
		ended = account && recorders_ended(s->recorders, p->trace);
		cli_cell(s->table, ended, ended ? account->is.dropped + account->is.unwritten : 0);
		if (account)
			table_text(s->table, account->is.state);
		else
			table_none(s->table);
	}
	note_more_rows(s, count);
}

static void show_threads(const struct show *s)
{
#define THREAD_COLUMNS(host) { \
		{ "host", host }, { "pid", "PID" }, { "tid", "TID" }, { "name", "NAME" }, { "events", "EVENTS" }, \
		{ "first_ns", "FIRST" }, { "last_ns", "LAST" }, { "dropped", "DROPPED" }, \
	}
	static const struct table_column columns[] = THREAD_COLUMNS(NULL), several[] = THREAD_COLUMNS("HOST");
	unsigned count = s->info->thread_count;

	table_section(s->table, "threads", "Threads; times since the trace's beginning",
		      s->align ? several : columns, COUNT_OF(columns));
	for (unsigned i = 0; i < limit(s, count); i++) {
		const struct info_thread *t = s->info->thread[i];
		const struct info_process *p = t->process;
		const struct accounts_thread *account =
			recorders_thread(s->recorders, p->trace, p->vpid, t->vtid);
		bool ended;

		table_text(s->table, p->host);
		table_i64(s->table, t->process->vpid);
		table_i64(s->table, t->vtid);
		table_text(s->table, t->name);
		table_u64(s->table, t->events);
		table_ns(s->table, t->first_ns - s->info->begin_ns);
		table_ns(s->table, t->last_ns - s->info->begin_ns);
		ended = account && recorders_ended(s->recorders, p->trace);
		cli_cell(s->table, ended, ended ? account->dropped : 0);
	}
	note_more_rows(s, count);
}

/* Paths of streams are below those of their traces. */
static const char *stream_name(const struct show *s, const struct kymo_ctf_stream_info *stream)
{
	const char *slash = strrchr(stream->path, '/');

	return s->options->format == TABLE_TEXT && slash ? slash + 1 : stream->path;
}

static void show_streams(const struct show *s)
{
	static const struct table_column columns[] = {
		{ "stream", "#" }, { "trace", "TRACE" }, { "path", "STREAM" }, { "packets", "PACKETS" },
		{ "bytes", "BYTES" }, { "begin_ns", NULL }, { "end_ns", NULL },
		{ "lost", "LOST" }, { "lost_packets", "MISSING PACKETS" },
	};
	unsigned count = kymo_ctf_stream_count(s->reader);

	table_section(s->table, "streams", "Streams", columns, COUNT_OF(columns));
	for (unsigned i = 0; i < limit(s, count); i++) {
		const struct kymo_ctf_stream_info *stream = kymo_ctf_stream(s->reader, i);

		table_u64(s->table, i);
		table_u64(s->table, stream->trace);
		table_text(s->table, stream_name(s, stream));
		table_u64(s->table, stream->packets);
		table_bytes(s->table, stream->bytes);
		table_ns(s->table, kymo_ctf_time_of(s->reader, stream->trace, stream->begin_ns));
		table_ns(s->table, kymo_ctf_time_of(s->reader, stream->trace, stream->end_ns));
		table_u64(s->table, stream->lost);
		table_u64(s->table, stream->lost_packets);
	}
	note_more_rows(s, count);
}

/* A stream that several processes or threads share does not say which one lost events. */
static void cell_id(struct table *table, int32_t id)
{
	if (id)
		table_i64(table, id);
	else
		table_none(table);
}

static void show_losses(const struct show *s)
{
	static const struct table_column columns[] = {
		{ "stream", "#" },
		{ "path", "STREAM" },
		{ "pid", "PID" },
		{ "tid", "TID" },
		{ "begin_ns", "FROM" },
		{ "end_ns", "TO" },
		{ "lost", "LOST" },
		{ "lost_packets", "MISSING PACKETS" },
		{ "lost_in_packets", "EVENTS IN THEM" },
	};
	bool people = s->options->format == TABLE_TEXT;
	unsigned count = s->info->loss_count;

	if (people && !count)
		return;
	table_section(s->table, "losses", "Losses; times since the trace's beginning", columns,
		      COUNT_OF(columns));
	for (unsigned i = 0; i < limit(s, count); i++) {
		const struct info_loss *loss = &s->info->loss[i];

		table_u64(s->table, loss->stream);
		table_text(s->table, stream_name(s, kymo_ctf_stream(s->reader, loss->stream)));
		cell_id(s->table, loss->vpid);
		cell_id(s->table, loss->vtid);
		table_ns(s->table, loss->begin_ns - (people ? s->info->begin_ns : 0));
		table_ns(s->table, loss->end_ns - (people ? s->info->begin_ns : 0));
		table_u64(s->table, loss->lost);
		table_u64(s->table, loss->lost_packets);
		table_u64(s->table, loss->lost_in_packets);
	}
	note_more_rows(s, count);
}

static void show_warnings(const struct show *s, const char *problem)
{
	static const struct table_column columns[] = { { "text", "WARNING" } };
	unsigned count = kymo_ctf_warning_count(s->reader);

	if (!count && !problem[0] && s->options->format == TABLE_TEXT)
		return;
	table_section(s->table, "warnings", "Warnings", columns, COUNT_OF(columns));
	for (unsigned i = 0; i < count; i++)
		table_text(s->table, kymo_ctf_warning(s->reader, i));
	if (problem[0])
		table_text(s->table, problem);
}

static void show_all(const struct show *s, const char *problem)
{
	show_facts(s);
	report_print_hosts(s->table, s->align);
	recorders_show(s->recorders, s->table);
	show_traces(s);
	show_chunks(s);
	show_processes(s);
	show_threads(s);
	if (!s->limited)
		show_streams(s);
	show_losses(s);
	show_warnings(s, problem);
}

static int info_run(int argc, char **argv, struct kymo_err *err)
{
	struct info_options options = { 0 };
	struct recorders recorders = { 0 };
	struct info info = { 0 };
	struct show show = { .options = &options,
			     .info = &info,
			     .recorders = &recorders,
			     .accounts = &recorders.all };
	struct events events = { .selection = &options.selection };
	struct answer answer;
	char problem[512];
	int status = -1;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) ||
	    answer_open(&answer, "info", argc, argv, &options.times, err))
		return -1;
	answer.warnings = 0; /* a section shows them */
	show.path = answer.traces.name;
	show.align = answer.align;
	show.reader = events.reader = answer.reader;
	events.begin_ns = answer.begin_ns;
	events.end_ns = answer.end_ns;
	show.limited = events_limited(&events);
	if (!recorders_read(&recorders, &answer.traces, show.reader, problem, err) &&
	    !events_open(&events, err) && info_collect(&info, &events, err) >= 0 &&
	    !answer_begin(&answer, options.format, err)) {
		show.table = answer.table;
		show_all(&show, problem);
		answer.lost = total_lost(&show) || info.lost_packets;
		status = KYMO_EXIT_OK;
	}
	events_close(&events);
	recorders_free(&recorders);
	info_free(&info);
	return answer_close(&answer, status, options.strict);
}

const struct verb verb_info = {
	.name = "info",
	.synopsis = "[TRACE...]",
	.summary = "show what a trace contains, and what is missing in it",
	.description = "Shows time span, hosts, processes and threads, streams, events, bytes and "
		       "packets of all CTF "
		       "traces below TRACE, and every loss with its place in time: events that the "
		       "tracer discarded, and "
		       "packets that are missing. Without TRACE: the newest trace.\n\n"
		       "If kymo recorded the trace, info also shows the recorder's own accounts "
		       "(kymo.json).\n\n"
		       "Traces of several hosts are read as one, by the first host's clock. The "
		       "section hosts shows how "
		       "well the other clocks compare to it, the section recorders what became of "
		       "each trace.\n\n"
		       "A loss before a stream's first packet counts if that packet is the first "
		       "of the stream (its "
		       "sequence number is 0 or missing).\n\n"
		       "With --begin, --end, --node, --topic or --process, everything is about "
		       "these events; what only "
		       "whole files have (bytes, packets, streams, the recorder's accounts) is "
		       "left out. `kymo dump "
		       "--help` explains which process, node and topic an event belongs "
		       "to.\n\n" CLI_TIME_HELP,
	.examples = "kymo info\n"
		    "kymo info my_session --strict\n"
		    "kymo info my_session --begin +10s --end +20s --process planner\n"
		    "kymo info left-robot right-robot\n"
		    "kymo info my_session --format json",
	.common = "begin end process strict format",
	.opts = opts,
	.run = info_run,
};
