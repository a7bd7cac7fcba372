/* SPDX-License-Identifier: Apache-2.0 */
/* The section realtime: what callbacks and spans did that real-time ones avoid. */
#include <stdio.h>
#include <string.h>

#include "analysis/costs/costs.h"
#include "base/text.h"
#include "report/internal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))
#define LABEL_MAX 512

static const struct table_column columns[] = {
	{ "what", "What" },	  { "callback", "Callback or span" }, { "kind", NULL }, { "node", NULL },
	{ "process", "Process" }, { "tid", "Thread" },	  { "runs", "Runs" },
	{ "in_runs", "in" },	  { "times", "Times" },	  { "most", "Most in one" },
	{ "bytes", "Bytes" },	  { "peak_bytes", "Peak" }, { "growth_bytes", "Growth" },
	{ "lock_ns", "Waited" }, { "holder", "Held by" }, { "holder_tid", NULL },
	{ "major_faults", "From disk" }, { "first_at", "First at" },
	{ "first_ns", NULL },
};

static const char *const what[COSTS_KINDS] = {
	[COSTS_ALLOCATION] = "allocation", [COSTS_FREE] = "free", [COSTS_LOCK] = "lock", [COSTS_FAULT] = "page_fault",
};

/* What may have been named as real-time: a callback, or a span. */
struct subject {
	const struct model_callback *callback;	/* NULL: a span */
	const struct costs_span *span;
	const struct costs_sum *its;
};

/* By number: callbacks of the model, then spans. Return: false behind the last one; subject->its NULL: it did not run. */
static bool subject_at(const struct model *model, const struct costs *costs, unsigned i, struct subject *subject)
{
	unsigned callbacks = model_count(model, MODEL_CALLBACK);

	*subject = (struct subject){ 0 };
	if (i < callbacks) {
		subject->callback = model_callback(model, i);
		subject->its = costs_callback(costs, i);
		return true;
	}
	subject->span = costs_span(costs, i - callbacks);
	subject->its = subject->span ? &subject->span->sum : NULL;
	return subject->span;
}

static const struct model_node *node_of(const struct subject *subject)
{
	return subject->callback ? model_callback_node(subject->callback) : NULL;
}

static const struct model_process *process_of(const struct subject *subject)
{
	return subject->callback ? subject->callback->process : subject->span->process;
}

static const char *label_of(const struct subject *subject, char *label, unsigned size)
{
	if (subject->callback)
		return model_callback_label(subject->callback, label, size);
	snprintf(label, size, "%s:%s", subject->span->name->category, subject->span->name->name);
	return label;
}

/* ---- which are asked for ---- */

/* A name, of the command line or, if it has none, of a program about itself. */
struct named {
	const char *glob;
	bool leaves_out;
	const struct model_process *process;	/* NULL: any */
};

/* Return: false behind the last one. */
static bool named_at(const struct report *report, const struct costs *costs, unsigned i, struct named *named)
{
	const struct report_options *options = report->options;
	const struct spans_realtime *own = options->realtimes ? NULL : costs_realtime(costs, i);

	if (!own && i >= options->realtimes)
		return false;
	named->glob = own ? own->name : options->realtime[i];
	named->process = own ? own->process : NULL;
	named->leaves_out = *named->glob == '!';
	named->glob += named->leaves_out;
	return true;
}

static bool is_named(const struct named *named, const struct subject *subject)
{
	const struct model_node *node = node_of(subject);
	char label[LABEL_MAX];

	if (named->process && named->process != process_of(subject))
		return false;
	return (node && text_ros_glob(named->glob, node->full_name)) ||
	       (subject->callback && text_ros_glob(named->glob, subject->callback->symbol)) ||
	       text_ros_glob(named->glob, label_of(subject, label, sizeof(label)));
}

static bool is_asked(const struct report *report, const struct costs *costs, const struct subject *subject)
{
	bool asked = false, all = true;
	struct named named;

	if (subject->callback ? !report_wants_callback(report, subject->callback) :
				!report_wants_process(report, subject->span->process))
		return false;
	for (unsigned i = 0; named_at(report, costs, i, &named); i++) {
		all &= named.leaves_out;
		if (!is_named(&named, subject))
			continue;
		if (named.leaves_out)
			return false;
		asked = true;
	}
	return asked || all;
}

/* Did one that ran bear this name? */
static bool has_run(const struct model *model, const struct costs *costs, const struct named *named)
{
	struct subject subject;

	for (unsigned i = 0; subject_at(model, costs, i, &subject); i++)
		if (subject.its && subject.its->runs && is_named(named, &subject))
			return true;
	return false;
}

/* ---- rows ---- */

static void cell_if(struct table *t, bool is_there, int64_t value, void (*put)(struct table *, int64_t))
{
	if (is_there)
		put(t, value);
	else
		table_none(t);
}

static void put_bytes(struct table *t, int64_t bytes)
{
	if (bytes >= 0)
		table_bytes(t, (uint64_t)bytes);
	else
		table_i64(t, bytes);
}

static void put_ns(struct table *t, int64_t ns)
{
	table_ns(t, ns);
}

static void put_count(struct table *t, int64_t count)
{
	table_i64(t, count);
}

/* "name (tid) in what", of the thread that had the mutex that was waited for longest. */
static const char *holder_of(const struct model *model, const struct costs_holder *holder, char *text, unsigned size)
{
	char label[LABEL_MAX] = "", thread[64];

	if (!holder->tid)
		return NULL;
	if (*holder->name)
		snprintf(thread, sizeof(thread), "%s (%d)", holder->name, holder->tid);
	else
		snprintf(thread, sizeof(thread), "thread %d", holder->tid);
	if (holder->callback)
		(void)model_callback_label(model_callback(model, holder->callback - 1), label, sizeof(label));
	else if (holder->span)
		snprintf(label, sizeof(label), "%s:%s", holder->span->category, holder->span->name);
	snprintf(text, size, "%s%s%s", thread, *label ? " in " : "", label);
	return text;
}

static void finding(struct report *report, const struct model *model, const struct subject *subject, enum costs_kind kind)
{
	const struct costs_sum *its = subject->its;
	const struct model_node *node = node_of(subject);
	bool is_allocation = kind == COSTS_ALLOCATION;
	struct table *t = report->table;
	char text[LABEL_MAX];

	table_text(t, what[kind]);
	table_text(t, label_of(subject, text, sizeof(text)));
	table_text(t, subject->span ? "span" : "callback");
	table_text(t, node ? node->full_name : NULL);
	table_text(t, its->thread[kind]->process->name);
	table_i64(t, its->thread[kind]->tid);
	table_u64(t, its->runs);
	table_u64(t, its->with[kind]);
	table_u64(t, its->sum.count[kind]);
	table_u64(t, its->most[kind]);
	cell_if(t, is_allocation, (int64_t)its->sum.bytes, put_bytes);
	cell_if(t, is_allocation, its->sum.peak, put_bytes);
	cell_if(t, is_allocation, its->sum.growth, put_bytes);
	cell_if(t, kind == COSTS_LOCK, its->sum.lock_ns, put_ns);
	if (kind == COSTS_LOCK) {
		table_text(t, holder_of(model, &its->sum.holder, text, sizeof(text)));
		cell_if(t, its->sum.holder.tid, its->sum.holder.tid, put_count);
	} else {
		table_none(t);
		table_none(t);
	}
	cell_if(t, kind == COSTS_FAULT, (int64_t)its->sum.count[COSTS_MAJOR], put_count);
	table_text(t, report_offset(report, its->first_ns[kind], text, sizeof(text)));
	table_time(t, its->first_ns[kind]);
	report->rows++;
}

static bool print(struct report *report, const struct model *model, const struct costs *costs)
{
	struct subject subject;
	bool any = false;

	for (unsigned i = 0; subject_at(model, costs, i, &subject); i++) {
		if (!subject.its || !is_asked(report, costs, &subject))
			continue;
		for (enum costs_kind kind = 0; kind < COSTS_KINDS; kind++)
			if (what[kind] && subject.its->with[kind]) {
				finding(report, model, &subject, kind);
				any = true;
			}
	}
	return any;
}

static const char *looked_at(const struct costs *costs)
{
	if (costs_seen(costs, COSTS_FAULT))
		return costs_seen(costs, COSTS_ALLOCATION) ? "allocations, mutexes, page faults" : "page faults";
	return costs_seen(costs, COSTS_ALLOCATION) ? "allocations, mutexes" : "nothing";
}

/* ---- the section ---- */

/* Is it asked about at all, so that the exit status answers? */
static bool is_question(const struct report *report, const struct costs *costs)
{
	const struct report_options *options = report->options;

	for (unsigned i = 0; i < options->sections; i++)
		if (strcmp(options->section[i], "realtime") == 0 && costs_realtime(costs, 0))
			return true;
	return options->realtimes;
}

/* What could not be looked at is no all-clear. */
static void print_notes(struct report *report, const struct model *model, const struct costs *costs, bool any)
{
	bool missing = false;
	struct named named;

	for (unsigned i = 0; named_at(report, costs, i, &named); i++) {
		if (named.leaves_out || (named.process && !report_wants_process(report, named.process)) ||
		    has_run(model, costs, &named))
			continue;
		table_note(report->table, "No callback or span of '%s' ran.", named.glob);
		missing = true;
	}
	missing |= report_costs_missing(report, costs);
	table_note(report->table, "Not looked at: system calls.");
	if (report->options->not_realtime && is_question(report, costs))
		*report->options->not_realtime = any || missing;
}

/* What programs named themselves, each name once. */
static void print_own_names(struct report *report, const struct costs *costs)
{
	const struct spans_realtime *own, *before;
	char text[LABEL_MAX] = "";
	unsigned j;

	for (unsigned i = 0; (own = costs_realtime(costs, i)); i++) {
		size_t used = strlen(text);

		for (j = 0; j < i && (before = costs_realtime(costs, j)) && strcmp(before->name, own->name) != 0; j++)
			;
		if (j == i)
			snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "", own->name);
	}
	if (*text && !report->options->realtimes)
		table_value_text(report->table, "named_realtime", "Real-time by the program's own word", text);
}

void report_realtime(struct report *report)
{
	const struct model *model = report->model;
	const struct costs *costs = report->costs;

	print_own_names(report, costs);
	table_value_text(report->table, "looked_at", "Looked at", looked_at(costs));
	table_section(report->table, "realtime", "What real-time callbacks avoid", columns, COUNT_OF(columns));
	print_notes(report, model, costs, print(report, model, costs));
}
