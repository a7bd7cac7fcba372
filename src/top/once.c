/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo top --once`: the board as tables. See top.h. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/now.h"
#include "top/executor_threads.h"
#include "top/source.h"
#include "top/view.h"

#define COUNTED_NS 1000000000 /* for the first event of a program of ROS 2 */
#define NOTHING_NS \
	((int64_t)5000000000) /* a robot that says nothing for so long is waited for no more */

struct once {
	const struct top_options *options;
	struct source *source;
	int64_t begin_ns; /* CLOCK_MONOTONIC of the first events; 0: none yet */
	int64_t start_ns;
};

static int step(void *context, struct kymo_err *err)
{
	struct once *once = context;
	struct board *board = source_board(once->source);
	struct board_totals totals;
	int64_t until = source_until(once->source);

	if (source_kind(once->source) == SOURCE_COMPLETE)
		return source_is_over(once->source);
	board_totals(board, &totals);
	/* Programs of kymo.h that only count are not known before they have counted. */
	if (!once->begin_ns &&
	    (totals.processes ||
	     (board_only_counts(board) && now_ns() - once->start_ns > COUNTED_NS))) {
		/* What came until now is only part of an interval. CPU times are differences. */
		once->begin_ns = now_ns();
		return board_tick(board, until, err) < 0 ? -1 : 0;
	}
	if (source_is_over(once->source) ||
	    (!once->begin_ns &&
	     now_ns() - once->start_ns > NOTHING_NS + once->options->interval_ns))
		return once->begin_ns && board_tick(board, until, err) < 0 ? -1 : 1;
	if (!once->begin_ns || now_ns() - once->begin_ns < once->options->interval_ns)
		return 0;
	return board_tick(board, until, err) < 0 ? -1 : 1;
}

/* ---- tables ---- */

enum cell {
	NAME,
	WHAT,
	RATE,
	RECEIVED,
	USUALLY,
	WORST,
	WAITED,
	BEHIND,
	BUSY,
	CPU,
	PROCESS,
	PID,
	TID,
	COUNT
};

struct column {
	struct table_column of;
	enum cell cell;
};

static const struct column callback_columns[] = {
	{ { "callback", "Callback" }, NAME },  { { "source", "Topic/period/service" }, WHAT },
	{ { "rate_hz", "Hz" }, RATE },         { { "usual_ns", "Usually" }, USUALLY },
	{ { "worst_ns", "Worst" }, WORST },    { { "waited_ns", "Waited" }, WAITED },
	{ { "behind", "Behind" }, BEHIND },    { { "busy", "Busy" }, BUSY },
	{ { "process", "Process" }, PROCESS }, { { "pid", NULL }, PID },
	{ { "count", NULL }, COUNT },
};
static const struct column topic_columns[] = {
	{ { "topic", "Topic" }, NAME },
	{ { "rate_hz", "Hz" }, RATE },
	{ { "received_hz", "Received Hz" }, RECEIVED },
	{ { "usual_ns", "Usually" }, USUALLY },
	{ { "worst_ns", "Worst" }, WORST },
	{ { "count", NULL }, COUNT },
};
static const struct column chain_columns[] = {
	{ { "chain", "Chain" }, NAME },         { { "rate_hz", "Hz" }, RATE },
	{ { "usual_ns", "Usually" }, USUALLY }, { { "worst_ns", "Worst" }, WORST },
	{ { "count", NULL }, COUNT },
};
static const struct column executor_columns[] = {
	{ { "process", "Process" }, PROCESS },
	{ { "executor", "Executor" }, WHAT },
	{ { "rate_hz", "Hz" }, RATE },
	{ { "usual_ns", "Usually" }, USUALLY },
	{ { "worst_ns", "Worst" }, WORST },
	{ { "waited_ns", "Waited" }, WAITED },
	{ { "behind", "Behind" }, BEHIND },
	{ { "busy", "Busy" }, BUSY },
	{ { "pid", "Pid" }, PID },
	{ { "count", NULL }, COUNT },
};
static const struct column thread_columns[] = {
	{ { "thread", "Thread" }, NAME },   { { "cpu", "CPU" }, CPU },
	{ { "busy", "Busy" }, BUSY },       { { "rate_hz", "Hz" }, RATE },
	{ { "worst_ns", "Worst" }, WORST }, { { "process", "Process" }, PROCESS },
	{ { "pid", "Pid" }, PID },          { { "tid", "Tid" }, TID },
	{ { "count", NULL }, COUNT },
};
static const struct column span_columns[] = {
	{ { "span", "Span" }, NAME },          { { "category", "Category" }, WHAT },
	{ { "rate_hz", "Hz" }, RATE },         { { "usual_ns", "Usually" }, USUALLY },
	{ { "worst_ns", "Worst" }, WORST },    { { "busy", "Busy" }, BUSY },
	{ { "process", "Process" }, PROCESS }, { { "pid", "Pid" }, PID },
	{ { "count", NULL }, COUNT },
};
#define COLUMNS_MAX 11u

static void cell_text(struct table *table, const char *text)
{
	if (text && *text)
		table_text(table, text);
	else
		table_none(table);
}

static void cell_number(struct table *table, double value)
{
	if (value >= 0)
		table_f64(table, value);
	else
		table_none(table);
}

static void cell_ns(struct table *table, int64_t ns)
{
	if (ns >= 0)
		table_ns(table, ns);
	else
		table_none(table);
}

static void cell_behind(struct table *table, const struct board_values *values)
{
	char label[400];

	if (values->behind)
		(void)snprintf(label, sizeof(label), "%s%s%s", values->behind->name,
			       *values->behind->what ? " " : "", values->behind->what);
	cell_text(table, values->behind ? label : NULL);
}

static void put_cell(struct table *table, enum cell cell, const struct view_row *row)
{
	const struct board_values *values = &row->values;
	char name[VIEW_NAME_MAX];

	switch (cell) {
	case NAME:
		cell_text(table, view_name(row, name));
		break;
	case WHAT:
		cell_text(table, row->row->what);
		break;
	case RATE:
		cell_number(table, values->rate_hz);
		break;
	case RECEIVED:
		cell_number(table, values->more_hz);
		break;
	case USUALLY:
		cell_ns(table, values->usual_ns);
		break;
	case WORST:
		cell_ns(table, values->worst_ns);
		break;
	case WAITED:
		cell_ns(table, values->wait_ns);
		break;
	case BEHIND:
		cell_behind(table, values);
		break;
	case BUSY:
		cell_number(table, values->busy);
		break;
	case CPU:
		cell_number(table, values->cpu);
		break;
	case PROCESS:
		cell_text(table, row->row->process);
		break;
	case PID:
		table_i64(table, row->row->pid);
		break;
	case TID:
		table_i64(table, row->row->tid);
		break;
	case COUNT:
		table_u64(table, values->count);
		break;
	}
}

static int put_page(struct table *table, const struct board *board, enum board_page page,
		    bool folds)
{
	static const struct {
		const char *title;
		const struct column *column;
		unsigned columns;
	} of[BOARD_PAGES] = {
		{ "Callbacks, longest run first", callback_columns, COUNT_OF(callback_columns) },
		{ "Topics, longest latency first", topic_columns, COUNT_OF(topic_columns) },
		{ "Chains, longest first", chain_columns, COUNT_OF(chain_columns) },
		{ "Executors, longest wait first", executor_columns, COUNT_OF(executor_columns) },
		{ "Threads, most CPU first", thread_columns, COUNT_OF(thread_columns) },
		{ "Spans, longest first", span_columns, COUNT_OF(span_columns) },
	};
	struct table_column heading[COLUMNS_MAX];
	struct view_row *rows;
	struct view view;
	int count;

	view_begin(&view, page);
	view.folds = folds;
	count = view_rows(board, &view, &rows);
	if (count < 0)
		return -1;
	for (unsigned k = 0; k < of[page].columns; k++)
		heading[k] = of[page].column[k].of;
	table_section(table, view_page[page].name, of[page].title, heading, of[page].columns);
	for (int i = 0; i < count; i++)
		for (unsigned k = 0; k < of[page].columns; k++)
			put_cell(table, of[page].column[k].cell, &rows[i]);
	free(rows);
	return 0;
}

static const struct table_column finding_columns[] = {
	{ "finding", "Finding" }, { "kind", NULL },  { "ask", NULL },
	{ "ns", NULL },           { "at_ns", NULL }, { "culprit", NULL },
};

/* Return: whether nothing stands out. That a trace is incomplete says nothing about the robot. */
static bool put_nothing(const struct once *once, struct table *table,
			const struct summary_finding *of, unsigned count)
{
	const struct board *board = source_board(once->source);
	const struct selection *selection = once->options->selection;
	char text[1400] = "Nothing stands out.";

	if ((count && of->kind != SUMMARY_FINDING_TRUST) || !board_summary(board))
		return false;
	if (!selection || !selection_any(selection))
		summary_nothing_text(board_summary(board), text, sizeof(text));
	table_value_text(table, "nothing", "Finding", text);
	return true;
}

static void put_findings(const struct once *once, struct table *table, enum table_format format)
{
	struct board *board = source_board(once->source);
	const struct summary_finding *of;
	const unsigned count = board_findings(board, &of);
	const bool nothing = put_nothing(once, table, of, count);
	char text[2200];

	if (nothing && !count && format == TABLE_TEXT)
		return;
	table_section(table, "findings", nothing ? "What limits the numbers" : "What stands out",
		      finding_columns, COUNT_OF(finding_columns));
	for (unsigned i = 0; i < count; i++) {
		const struct summary_part *cause = &of[i].cause;

		table_text(table,
			   summary_finding_text(board_summary(board), &of[i], text, sizeof(text)));
		table_text(table, summary_finding_kind_name(of[i].kind));
		cell_text(table, summary_finding_ask(&of[i]));
		cell_ns(table, of[i].worst_ns ? of[i].worst_ns : -1);
		if (of[i].at_ns)
			table_time(table, of[i].at_ns);
		else
			table_none(table);
		cell_text(table, !cause->who ? NULL : *cause->by ? cause->by : cause->who);
	}
}

static const char *state(const struct source *source)
{
	static const char *const text[] = { "watching",  "counting only",  "recording",
					    "recording", "complete trace", "live" };

	return text[source_kind(source)];
}

static int put(const struct once *once, struct table *table, enum table_format format)
{
	struct board *board = source_board(once->source);
	struct board_totals totals;
	int rc = 0;

	board_totals(board, &totals);
	table_value_text(table, "source", "Source",
			 *source_name(once->source) ? source_name(once->source)
						    : "running programs");
	table_value_text(table, "state", "State", state(once->source));
	table_value_u64(table, "processes", "Processes", totals.processes);
	table_value_u64(table, "nodes", "Nodes", totals.nodes);
	table_value_u64(table, "events", "Events", totals.events);
	table_value_ns(table, "span_ns", "In", totals.end_ns - totals.begin_ns);
	table_value_u64(table, "lost", "Lost", totals.lost);
	if (*source_note(once->source))
		table_value_text(table, "note", "Note", source_note(once->source));
	if (format != TABLE_CSV)
		put_findings(once, table, format);
	for (unsigned page = 0; page < BOARD_PAGES; page++)
		if (format == TABLE_JSON || (int)page == once->options->page)
			rc |= put_page(table, board, (enum board_page)page,
				       format == TABLE_TEXT && !once->options->all);
	if (format == TABLE_JSON)
		(void)executor_threads(table, board, NULL);
	return rc;
}

static int print(const struct once *once, enum table_format format, struct kymo_err *err)
{
	struct winsize size = { 0 };
	struct table *table;
	int rc;

	if (table_open(&table, once->options->out ? once->options->out : stdout, format) < 0)
		return err_no_memory(err);
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		table_fit(table, size.ws_col);
	rc = put(once, table, format) < 0 ? err_no_memory(err) : 0;
	if (table_close(table) < 0 && rc == 0)
		rc = err_set(err, KYMO_EXIT_FAILED, "cannot write the output");
	return rc;
}

int top_once(const struct top_options *options, enum table_format format, struct top_said *said,
	     struct kymo_err *err)
{
	struct once once = { .options = options, .start_ns = now_ns() };
	struct board_totals totals;
	int rc;

	if (source_open(&once.source, options, err) < 0)
		return -1;
	board_threads_wanted(source_board(once.source),
			     format == TABLE_JSON || options->page == BOARD_THREADS);
	rc = source_run(once.source, step, &once, err);
	board_totals(source_board(once.source), &totals);
	said->lost = totals.lost > 0;
	said->is_whole = source_kind(once.source) == SOURCE_COMPLETE;
	if (rc == 0 && !totals.processes && options->trace)
		rc = err_set(err, KYMO_EXIT_EMPTY,
			     "%s: nothing to show: no events of ROS 2 nor of kymo.h; \"kymo info\" "
			     "lists what it contains",
			     options->trace);
	else if (rc == 0 && !totals.processes)
		rc = options->hint && *options->hint
			     ? err_set(err, KYMO_EXIT_EMPTY,
				       "nothing to show: %s: \"kymo top --attach\" shows them",
				       options->hint)
			     : err_set(err, KYMO_EXIT_EMPTY,
				       "nothing to show: no program that was started with \"kymo "
				       "run\" or is "
				       "being "
				       "recorded did anything; \"kymo top TRACE\" shows a trace");
	else if (rc == 0)
		rc = print(&once, format, err);
	source_close(once.source);
	return rc < 0 ? -1 : KYMO_EXIT_OK;
}
