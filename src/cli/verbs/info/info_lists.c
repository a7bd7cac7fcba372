/* SPDX-License-Identifier: Apache-2.0 */
/* kymo info: one row each for traces, chunks, processes, threads, streams, losses and warnings. */
#include "base/text.h"
#include "cli/verbs/info/info_show.h"

#include <limits.h>

#include "base/array.h"

#define ROWS_MAX 20	/* of a section, in text without --all */

static unsigned limit(const struct info_show *s, unsigned count)
{
	if (s->options->format != TABLE_TEXT || s->options->all || count <= ROWS_MAX)
		return count;
	return ROWS_MAX;
}

static void note_more_rows(const struct info_show *s, unsigned count)
{
	if (limit(s, count) < count)
		table_note(s->table, "... and %u more; --all shows them", count - ROWS_MAX);
}

void info_show_traces(const struct info_show *s)
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

void info_show_chunks(const struct info_show *s)
{
	bool people = s->options->format == TABLE_TEXT;
	unsigned count = info_chunks(s->table, s->reader, people ? s->info->begin_ns : 0,
				     limit(s, UINT_MAX));

	if (count)
		note_more_rows(s, count);
}

void info_show_processes(const struct info_show *s)
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

void info_show_threads(const struct info_show *s)
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
static const char *stream_name(const struct info_show *s, const struct kymo_ctf_stream_info *stream)
{
	return s->options->format == TABLE_TEXT ? text_base_name(stream->path) : stream->path;
}

void info_show_streams(const struct info_show *s)
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

void info_show_losses(const struct info_show *s)
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

void info_show_warnings(const struct info_show *s, const char *problem)
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
