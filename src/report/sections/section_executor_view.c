/* SPDX-License-Identifier: Apache-2.0 */
/* Sections about executors and callback groups, and what held them: executor-view, blocked-by. */
#include "report/report_internal.h"
#include "base/array.h"

#include <stdio.h>
#include <string.h>

/* ---- executor-view ---- */

static const struct table_column view_columns[] = {
	{ "what", "What" }, { "name", "Name" }, { "process", "Process" }, { "callbacks", "Callbacks" }, { "runs", "Runs" },
	{ "running_ns", "Running" }, { "wait_for_work_ns", "Waiting for work" }, { "blocked", "Waits" },
	{ "behind_thread_ns", "for a busy thread" }, { "behind_group_ns", "for its group" }, { "worst_ns", "Worst" },
	{ "blocked_by", "Mostly blocked by" }, { "blocked_by_group", NULL }, { "blocked_by_ns", NULL }, { "pid", NULL },
};

/* One row: an executor, or a callback group in it. */
struct sum {
	unsigned executor;
	const struct model_callback_group *group;	/* NULL: all of the executor */
	unsigned callbacks;
	struct view_callback of;
	const struct view_pair *worst;	/* the pair with the most time */
};

static bool is_of(const struct report *report, const struct sum *sum,
		  const struct model_callback *callback)
{
	return view_executor_of_callback(report->view, callback->index) == (int)sum->executor &&
	       (!sum->group || model_callback_group_of(callback) == sum->group);
}

/* The callbacks of the row: the first one, or the one after @callback. */
static const struct model_callback *next_of(const struct report *report, const struct sum *sum,
					    const struct model_callback *callback)
{
	int i = callback ? view_next_callback(report->view, (int)callback->index)
			 : view_first_callback(report->view, sum->executor);

	for (; i >= 0; i = view_next_callback(report->view, i)) {
		callback = model_callback(report->model, (unsigned)i);
		if (!sum->group || model_callback_group_of(callback) == sum->group)
			return callback;
	}
	return NULL;
}

static void add_up(const struct report *report, struct sum *sum)
{
	const struct view_pair *pair;

	for (const struct model_callback *callback = next_of(report, sum, NULL); callback;
	     callback = next_of(report, sum, callback)) {
		const struct view_callback *of = view_callback(report->view, callback->index);

		if (!of->runs)
			continue;
		sum->callbacks++;
		sum->of.runs += of->runs;
		sum->of.running_ns += of->running_ns;
		sum->of.blocked += of->blocked;
		sum->of.thread_ns += of->thread_ns;
		sum->of.group_ns += of->group_ns;
		if (of->worst_ns > sum->of.worst_ns)
			sum->of.worst_ns = of->worst_ns;
	}
	for (unsigned i = 0; (pair = view_pair(report->view, i)); i++)
		if (is_of(report, sum, pair->callback) &&
		    (!sum->worst || pair->ns > sum->worst->ns))
			sum->worst = pair;
}

/* "mutually_exclusive 0x55..."; NULL: not in the trace. */
static const char *group_text(const struct model_callback_group *group, char *buffer, size_t size)
{
	if (!group)
		return NULL;
	snprintf(buffer, size, "%s 0x%llx", *group->type ? group->type : "group", (unsigned long long)group->address);
	return buffer;
}

/* Several executors may take turns on one thread. */
static void executor_text(const struct report *report, unsigned executor, char *buffer, size_t size)
{
	int64_t tid[VIEW_TIDS_MAX];
	const char *type = "";
	unsigned threads = 0;

	for (int i = view_first_callback(report->view, executor); i >= 0;
	     i = view_next_callback(report->view, i)) {
		const struct model_callback_group *group =
			model_callback_group_of(model_callback(report->model, (unsigned)i));

		if (group && group->executor)
			type = executor_type(type, group->executor->type);
	}
	for (int i = (int)executor; i >= 0; i = view_next_thread(report->view, i))
		if (view_thread(report->view, (unsigned)i)->thread && threads++ < VIEW_TIDS_MAX)
			tid[threads - 1] = model_thread(report->model, (unsigned)i)->tid;
	executor_name(type, tid, threads, buffer, size);
}

static void cell_wait_for_work(struct report *report, const struct sum *sum)
{
	int64_t ns = 0;
	bool told = false;

	for (int i = sum->group ? -1 : (int)sum->executor; i >= 0;
	     i = view_next_thread(report->view, i)) {
		const struct view_thread *thread = view_thread(report->view, (unsigned)i);

		if (!thread->thread)
			continue;
		told |= thread->has_states;
		ns += thread->wait_for_work_ns;
	}
	CELL_IF(report->table, told, table_ns(report->table, ns));
}

static void view_row(struct report *report, const struct sum *sum)
{
	const struct model_process *process = model_thread(report->model, sum->executor)->process;
	struct table *t = report->table;
	char text[512];

	table_text(t, sum->group ? "group" : "executor");
	if (sum->group)
		group_text(sum->group, text, sizeof(text));
	else
		executor_text(report, sum->executor, text, sizeof(text));
	table_text(t, text);
	table_text(t, report_process(report, process, text, sizeof(text)));
	table_u64(t, sum->callbacks);
	table_u64(t, sum->of.runs);
	table_ns(t, sum->of.running_ns);
	cell_wait_for_work(report, sum);
	table_u64(t, sum->of.blocked);
	table_ns(t, sum->of.thread_ns);
	table_ns(t, sum->of.group_ns);
	table_ns(t, sum->of.worst_ns);
	table_text(t, sum->worst ? model_callback_label(sum->worst->by, text, sizeof(text)) : NULL);
	table_text(t, sum->worst ? group_text(model_callback_group_of(sum->worst->by), text,
					      sizeof(text))
				 : NULL);
	CELL_IF(t, sum->worst, table_ns(t, sum->worst->ns));
	table_i64(t, process->pid);
}

static bool wants(const struct report *report, const struct sum *sum)
{
	for (const struct model_callback *callback = next_of(report, sum, NULL); callback;
	     callback = next_of(report, sum, callback))
		if (report_wants_callback(report, callback))
			return true;
	return false;
}

static void try_row(struct report *report, struct sum sum, unsigned *shown, unsigned *all)
{
	if (!wants(report, &sum) || (*all)++ >= report_limit(report))
		return;
	(*shown)++;
	add_up(report, &sum);
	view_row(report, &sum);
}

void report_executor_view(struct report *report)
{
	unsigned shown = 0, all = 0;

	table_section(report->table, "executor-view", "Executors and their callback groups: running, waiting for work, waiting for other callbacks",
		      view_columns, COUNT_OF(view_columns));
	for (unsigned i = 0; i < model_count(report->model, MODEL_THREAD); i++) {
		if (!view_thread(report->view, i)->thread || view_executor_of(report->view, i) != i)
			continue;
		try_row(report, (struct sum){ .executor = i }, &shown, &all);
		for (unsigned k = 0; k < model_count(report->model, MODEL_CALLBACK_GROUP); k++) {
			const struct model_callback_group *group =
				model_callback_group(report->model, k);

			if (group->process == model_thread(report->model, i)->process)
				try_row(report, (struct sum){ .executor = i, .group = group },
					&shown, &all);
		}
	}
	report_more(report, shown, all);
	report->rows += all;
}

/* ---- blocked-by ---- */

static const struct table_column blocked_columns[] = {
	{ "victim", "Waiting callback" }, { "culprit", "Blocked by" }, { "held", "which held" }, { "ns", "Time" },
	{ "count", "Waits" }, { "worst_ns", "Worst" }, { "group", NULL }, { "culprit_group", NULL }, { "assumed", NULL },
	{ "pid", NULL }, { "victim_callback", NULL }, { "culprit_callback", NULL },
};

static void blocked_row(struct report *report, const struct report_row *row)
{
	const struct view_pair *pair = row->of;
	struct table *t = report->table;
	char text[512];

	table_text(t, model_callback_label(pair->callback, text, sizeof(text)));
	table_text(t, pair->by == pair->callback ? "itself (its previous run)" : model_callback_label(pair->by, text, sizeof(text)));
	table_text(t, !pair->is_group ? "its thread" : pair->is_assumed ? "probably its callback group" : "its callback group");
	table_ns(t, pair->ns);
	table_u64(t, pair->count);
	table_ns(t, pair->worst_ns);
	table_text(t, group_text(model_callback_group_of(pair->callback), text, sizeof(text)));
	table_text(t, group_text(model_callback_group_of(pair->by), text, sizeof(text)));
	table_u64(t, pair->is_assumed);
	table_i64(t, pair->callback->process->pid);
	table_hex(t, pair->callback->address);
	table_hex(t, pair->by->address);
}

void report_blocked_by(struct report *report)
{
	const struct view_pair *pair;
	struct report_rows rows = { 0 };

	table_section(report->table, "blocked-by", "Blocked by: callbacks that were ready, and the callbacks that kept them waiting", blocked_columns,
		      COUNT_OF(blocked_columns));
	for (unsigned i = 0; (pair = view_pair(report->view, i)); i++)
		if (report_wants_callback(report, pair->callback) &&
		    report_shows_row(report, pair->callback, NULL))
			REPORT_ROW(&rows, .index = i, .of = pair, .key = (double)pair->ns);
	report_rows_print(report, &rows, blocked_row);
}
