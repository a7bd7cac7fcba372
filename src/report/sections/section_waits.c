/* SPDX-License-Identifier: Apache-2.0 */
/* The sections about who waited for whom, and what was lost. */
#include "report/report_internal.h"

#include <stdlib.h>

#include "base/array.h"

/* ---- waits ---- */

static const struct table_column wait_columns[] = {
	{ "victim", "Waiting callback" },
	{ "wait_ns", "Worst wait" },
	{ "blocked_ns", "blocked" },
	{ "culprit_ns", "mostly for" },
	{ "culprit", "Blocked by" },
	{ "culprit_tid", "on thread" },
	{ "at", "At" },
	{ "since_ns", NULL },
	{ "waits", "Waits" },
	{ "total_blocked_ns", "Blocked in total" },
	{ "victim_callback", NULL },
	{ "culprit_callback", NULL },
	{ "pid", NULL },
};

static void wait_row(struct report *report, const struct report_row *row)
{
	const struct model_callback *victim = row->of;
	const struct stats_callback *s = stats_callback(report->stats, victim->index);
	const struct stats_wait *w = &s->worst;
	struct table *t = report->table;
	char label[512];

	table_text(t, model_callback_label(victim, label, sizeof(label)));
	table_ns(t, w->wait_ns);
	table_ns(t, w->blocked_ns);
	table_ns(t, w->culprit_ns);
	table_text(t, w->culprit == victim ? "itself (its previous run)" :
			      model_callback_label(w->culprit, label, sizeof(label)));
	table_i64(t, w->culprit_thread->tid);
	table_text(t, report_offset(report, w->since_ns, label, sizeof(label)));
	table_time(t, w->since_ns);
	table_u64(t, s->waits);
	table_ns(t, s->blocked_ns);
	table_hex(t, victim->address);
	table_hex(t, w->culprit->address);
	table_i64(t, victim->process->pid);
}

void report_waits(struct report *report)
{
	struct report_rows rows = { 0 };

	table_section(report->table, "waits",
		      "Waits: callbacks that could not start because another one kept their executor busy",
		      wait_columns, COUNT_OF(wait_columns));
	for (unsigned i = 0; i < model_count(report->model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(report->model, i);
		const struct stats_wait *worst = &stats_callback(report->stats, i)->worst;

		if (worst->blocked_ns && report_shows_callback(report, callback))
			REPORT_ROW(&rows, .index = i, .of = callback,
				   .key = (double)worst->wait_ns);
	}
	report_more(report, report_rows_show(report, &rows, wait_row), rows.count);
	if (!rows.count)
		table_note(report->table, "No message or timer had to wait for another callback.");
	free(rows.row);
}

/* ---- loss ---- */

static const struct table_column loss_columns[] = {
	{ "process", "Process" },
	{ "tid", "Thread" },
	{ "events", "Events" },
	{ "packets", "Packets" },
	{ "from", "From" },
	{ "to", "To" },
	{ "begin_ns", NULL },
	{ "end_ns", NULL },
	{ "pid", NULL },
	{ "stream", NULL },
};

static void loss_row(struct report *report, const struct stats_loss *loss,
		     const struct stats_range *range)
{
	const struct model_thread *thread = loss->thread;
	struct table *t = report->table;
	char text[128];

	table_text(t, thread ? report_process(report, thread->process, text, sizeof(text))
			     : "several threads");
	CELL_IF(t, thread, table_i64(t, thread->tid));
	table_u64(t, range->events);
	table_u64(t, range->packets);
	table_text(t, report_offset(report, range->begin_ns, text, sizeof(text)));
	table_text(t, report_offset(report, range->end_ns, text, sizeof(text)));
	table_time(t, range->begin_ns);
	table_time(t, range->end_ns);
	CELL_IF(t, thread, table_i64(t, thread->process->pid));
	table_text(t, kymo_ctf_stream(report->reader, loss->stream)->path);
}

void report_loss(struct report *report)
{
	unsigned i, j, all = 0, shown = 0;

	/* As text, no loss needs no table: the facts say so. */
	if (report->options->format == TABLE_TEXT && !stats_loss_count(report->stats) &&
	    !report->options->sections)
		return;
	table_section(report->table, "loss", "Lost events, by thread", loss_columns,
		      COUNT_OF(loss_columns));
	for (i = 0; i < stats_loss_count(report->stats); i++) {
		const struct stats_loss *loss = stats_loss(report->stats, i);

		for (j = 0; j < loss->ranges; j++, all++)
			if (shown < report_limit(report)) {
				loss_row(report, loss, &loss->range[j]);
				shown++;
			}
	}
	report_more(report, shown, all);
	if (!all)
		table_note(report->table, "No packet of the trace reports lost events.");
}
