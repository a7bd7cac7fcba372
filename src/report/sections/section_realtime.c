/* SPDX-License-Identifier: Apache-2.0 */
/* The section realtime: what callbacks and spans did that real-time ones avoid. */
#include <stdio.h>
#include <string.h>

#include "analysis/costs/costs.h"
#include "base/array.h"
#include "base/text.h"
#include "report/report_internal.h"

#define LABEL_MAX 512

static const struct table_column columns[] = {
	{ "what", "What" },	  { "call", "Call" },
	{ "callback", "Callback or span" }, { "kind", NULL }, { "node", NULL },
	{ "process", "Process" }, { "tid", "Thread" },	  { "runs", "Runs" },
	{ "in_runs", "in" },	  { "times", "Times" },	  { "most", "Most in one" },
	{ "bytes", "Bytes" },	  { "peak_bytes", "Peak" }, { "growth_bytes", "Growth" },
	{ "lock_ns", "Lock wait" }, { "holder", "Held by" }, { "holder_tid", NULL },
	{ "major_faults", "From disk" }, { "call_ns", "In calls" }, { "longest_ns", "Longest" },
	{ "first_at", "First at" }, { "first_ns", NULL },
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

/* By number: callbacks of the model, then spans. Return: false behind the last one; subject->its
 * NULL: it did not run. */
static bool subject_at(const struct model *model, const struct costs *costs, unsigned i,
		       struct subject *subject)
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
static bool named_at(const struct report *report, const struct costs *costs, unsigned i,
		     struct named *named)
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

static bool is_asked(const struct report *report, const struct costs *costs,
		     const struct subject *subject)
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

static void cell_if(struct table *t, bool is_there, int64_t value,
		    void (*put)(struct table *, int64_t))
{
	if (is_there)
		put(t, value);
	else
		table_none(t);
}

/* "name (tid) in what", of the thread that had the mutex that was waited for longest. */
static const char *holder_of(const struct model *model, const struct costs_holder *holder,
			     char *text, unsigned size)
{
	char label[LABEL_MAX] = "", thread[64];

	if (!holder->tid)
		return NULL;
	if (*holder->name)
		snprintf(thread, sizeof(thread), "%s (%d)", holder->name, holder->tid);
	else
		snprintf(thread, sizeof(thread), "thread %d", holder->tid);
	if (holder->callback)
		(void)model_callback_label(model_callback(model, holder->callback - 1), label,
					   sizeof(label));
	else if (holder->span)
		snprintf(label, sizeof(label), "%s:%s", holder->span->category, holder->span->name);
	snprintf(text, size, "%s%s%s", thread, *label ? " in " : "", label);
	return text;
}

/* A row: what the runs of one subject did of one kind, or system calls of one name. */
struct finding {
	enum costs_kind kind;
	const struct costs_call *call;	/* NULL: of all other kinds */
	const struct model_thread *thread;
	uint64_t in_runs, times, most;
	int64_t first_ns;
};

static void cells_of_kind(struct table *t, const struct model *model, const struct costs_sum *its,
			  const struct finding *found)
{
	const bool is_allocation = found->kind == COSTS_ALLOCATION,
		   is_lock = found->kind == COSTS_LOCK;
	const struct costs_holder *holder = &its->sum.holder;
	char text[LABEL_MAX];

	cell_if(t, is_allocation, (int64_t)its->sum.bytes, table_bytes_i64);
	cell_if(t, is_allocation, its->sum.peak, table_bytes_i64);
	cell_if(t, is_allocation, its->sum.growth, table_bytes_i64);
	cell_if(t, is_lock, its->sum.lock_ns, table_ns);
	table_text(t, is_lock ? holder_of(model, holder, text, sizeof(text)) : NULL);
	cell_if(t, is_lock && holder->tid, holder->tid, table_i64);
	cell_if(t, found->kind == COSTS_FAULT, (int64_t)its->sum.count[COSTS_MAJOR], table_i64);
	cell_if(t, found->call, found->call ? found->call->ns : 0, table_ns);
	cell_if(t, found->call, found->call ? found->call->longest_ns : 0, table_ns);
}

static void put_finding(struct report *report, const struct model *model,
			const struct subject *subject, const struct finding *found)
{
	const struct model_node *node = node_of(subject);
	struct table *t = report->table;
	char text[LABEL_MAX];

	table_text(t, found->call ? "system_call" : what[found->kind]);
	table_text(t, found->call ? found->call->name : NULL);
	table_text(t, label_of(subject, text, sizeof(text)));
	table_text(t, subject->span ? "span" : "callback");
	table_text(t, node ? node->full_name : NULL);
	table_text(t, found->thread->process->name);
	table_i64(t, found->thread->tid);
	table_u64(t, subject->its->runs);
	table_u64(t, found->in_runs);
	table_u64(t, found->times);
	table_u64(t, found->most);
	cells_of_kind(t, model, subject->its, found);
	table_text(t, report_offset(report, found->first_ns, text, sizeof(text)));
	table_time(t, found->first_ns);
	report->rows++;
}

/* Return: did it do any of it? */
static bool put_findings(struct report *report, const struct model *model,
			 const struct subject *subject)
{
	const struct costs_sum *its = subject->its;
	bool any = false;

	for (enum costs_kind kind = 0; kind < COSTS_KINDS; kind++) {
		if (!what[kind] || !its->with[kind])
			continue;
		put_finding(report, model, subject,
			    &(struct finding){
				    .kind = kind,
				    .thread = its->thread[kind],
				    .in_runs = its->with[kind],
				    .times = its->sum.count[kind],
				    .most = its->most[kind],
				    .first_ns = its->first_ns[kind],
			    });
		any = true;
	}
	for (uint32_t i = 0; i < its->calls.count; i++) {
		const struct costs_call *call = &its->calls.call[i];

		put_finding(report, model, subject,
			    &(struct finding){
				    .kind = COSTS_CALL,
				    .call = call,
				    .thread = call->thread,
				    .in_runs = call->with,
				    .times = call->count,
				    .most = call->most,
				    .first_ns = call->first_ns,
			    });
	}
	return any || its->calls.count;
}

static bool print(struct report *report, const struct model *model, const struct costs *costs)
{
	struct subject subject;
	bool any = false;

	for (unsigned i = 0; subject_at(model, costs, i, &subject); i++)
		if (subject.its && is_asked(report, costs, &subject))
			any |= put_findings(report, model, &subject);
	return any;
}

/* Return: @text. */
static const char *looked_at(const struct costs *costs, char *text, size_t size)
{
	const bool libc = costs_seen(costs, COSTS_ALLOCATION),
		   faults = costs_seen(costs, COSTS_FAULT);
	const bool calls = costs_seen(costs, COSTS_CALL);

	snprintf(text, size, "%s%s%s%s%s", libc ? "allocations, mutexes" : "",
		 libc && faults ? ", " : "", faults ? "page faults" : "",
		 (libc || faults) && calls ? ", " : "",
		 calls            ? "system calls"
		 : libc || faults ? ""
				  : "nothing");
	return text;
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
static void print_notes(struct report *report, const struct model *model, const struct costs *costs,
			bool any)
{
	bool missing = false;
	struct named named;

	for (unsigned i = 0; named_at(report, costs, i, &named); i++) {
		if (named.leaves_out ||
		    (named.process && !report_wants_process(report, named.process)) ||
		    has_run(model, costs, &named))
			continue;
		table_note(report->table, "No callback or span that matches '%s' ran.", named.glob);
		missing = true;
	}
	missing |= report_costs_missing(report, costs);
	if (report->options->not_realtime && is_question(report, costs))
		*report->options->not_realtime = any || missing;
}

static void tell_one(struct report_realtime *told, uint64_t *most, const char *kind, uint64_t times,
		     uint64_t in_runs, const struct subject *subject)
{
	told->times += times;
	if (!times || times < *most)
		return;
	*most = times;
	told->what = kind;
	told->in_runs = in_runs;
	(void)label_of(subject, told->who, sizeof(told->who));
}

static void tell_subject(struct report_realtime *told, uint64_t *most,
			 const struct subject *subject)
{
	const struct costs_sum *its = subject->its;

	told->runs += its->runs;
	for (enum costs_kind kind = 0; kind < COSTS_KINDS; kind++)
		if (what[kind] && its->with[kind])
			tell_one(told, most, what[kind], its->sum.count[kind], its->with[kind],
				 subject);
	for (uint32_t i = 0; i < its->calls.count; i++)
		tell_one(told, most, "system call", its->calls.call[i].count,
			 its->calls.call[i].with, subject);
}

/* For report_options.told_realtime. */
static void tell(struct report *report, const struct model *model, const struct costs *costs)
{
	for (unsigned i = 0; i < report->options->realtimes; i++) {
		struct report_realtime *told = &report->options->told_realtime[i];
		struct subject subject;
		struct named named;
		uint64_t most = 0;

		*told = (struct report_realtime){ 0 };
		(void)looked_at(costs, told->looked_at, sizeof(told->looked_at));
		(void)named_at(report, costs, i, &named);
		for (unsigned j = 0; subject_at(model, costs, j, &subject); j++)
			if (subject.its && subject.its->runs && is_named(&named, &subject))
				tell_subject(told, &most, &subject);
	}
}

/* What programs named themselves, each name once. */
static void print_own_names(struct report *report, const struct costs *costs)
{
	const struct spans_realtime *own, *before;
	char text[LABEL_MAX] = "";
	unsigned j;

	for (unsigned i = 0; (own = costs_realtime(costs, i)); i++) {
		size_t used = strlen(text);

		for (j = 0; j < i && (before = costs_realtime(costs, j)) &&
			    strcmp(before->name, own->name) != 0;
		     j++)
			;
		if (j == i)
			snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "", own->name);
	}
	if (*text && !report->options->realtimes)
		table_value_text(report->table, "named_realtime", "Declared real-time by the program", text);
}

void report_realtime(struct report *report)
{
	const struct model *model = report->model;
	const struct costs *costs = report->costs;
	char text[LABEL_MAX];

	print_own_names(report, costs);
	table_value_text(report->table, "looked_at", "Looked at",
			 looked_at(costs, text, sizeof(text)));
	table_section(report->table, "realtime", "Real-time: what callbacks and spans did that real-time code avoids", columns, COUNT_OF(columns));
	print_notes(report, model, costs, print(report, model, costs));
	if (report->options->told_realtime)
		tell(report, model, costs);
}
