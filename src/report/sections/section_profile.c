/* SPDX-License-Identifier: Apache-2.0 */
/* The section "profile": call trees of functions, from their entries and exits or from samples. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbol/symbol.h"
#include "base/array.h"
#include "report/report_internal.h"
#include "report/sections/profile_names.h"
#include "report/sections/section_system.h"

/* ---- the tree ---- */

static const struct table_column profile_columns[] = {
	{ "tid", "Thread" },      { "thread", "Name" },       { "pid", NULL },
	{ "depth", NULL },        { "function", "Function" }, { "file", "File" },
	{ "address", NULL },      { "parent", NULL },         { "calls", "Calls" },
	{ "samples", "Samples" }, { "total_ns", "Total" },    { "own_ns", "Own" },
	{ "cpu_ns", "On CPU" },   { "off_cpu_ns", NULL },     { "mean_ns", "Mean" },
	{ "max_ns", "Max" },      { "unfinished", NULL },
};

struct profile_print {
	struct report *report;
	struct profile *profile;
	const struct profile_thread *thread;
	unsigned shown, all;
};

static void cells_cpu(const struct profile *profile, struct table *t,
		      const struct profile_call *call)
{
	if (profile->sampled) {
		table_ns(t, call->cpu_ns);
		CELL_IF(t, profile->waits, table_ns(t, call->off_ns));
		cells_none(t, 2);
		return;
	}
	CELL_IF(t, profile->switches, table_ns(t, call->cpu_ns));
	CELL_IF(t, profile->switches, table_ns(t, call->total_ns - call->cpu_ns));
	CELL_IF(t, call->calls, table_ns(t, call->total_ns / (int64_t)call->calls));
	table_ns(t, call->most_ns);
}

static void call_row(struct profile_print *print, const struct profile_call *call, unsigned depth)
{
	bool text = print->report->options->format == TABLE_TEXT;
	unsigned indent = text ? depth * 2 : 0;
	struct table *t = print->report->table;
	char name[512], label[256], shorter[96];
	const char *file, *function = profile_name(print->report, print->profile, print->thread,
						   call, &file, label, sizeof(label));

	section_cells_thread(t, &print->thread->os);
	table_u64(t, depth);
	if (function && text && !call->is_callback)
		function = symbol_short(function, shorter, sizeof(shorter));
	if (function)
		snprintf(name, sizeof(name), "%*s%s", indent < 80 ? (int)indent : 80, "", function);
	else
		snprintf(name, sizeof(name), "%*s0x%llx", indent < 80 ? (int)indent : 80, "",
			 (unsigned long long)call->address);
	table_text(t, name);
	table_text(t, file);
	table_hex(t, call->address);
	CELL_IF(t, depth, table_hex(t, call->parent->address));
	CELL_IF(t, !print->profile->sampled || call->is_callback,
		table_u64(t, call->calls));
	CELL_IF(t, print->profile->sampled, table_u64(t, call->samples));
	table_ns(t, call->total_ns);
	table_ns(t, call->own_ns);
	cells_cpu(print->profile, t, call);
	table_u64(t, call->unfinished);
}

static int by_total(const void *a, const void *b)
{
	const struct profile_call *x = *(const struct profile_call *const *)a;
	const struct profile_call *y = *(const struct profile_call *const *)b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return x->index < y->index ? -1 : 1;
}

/* Callers before what they call, the longest first. What is around a callback has no row. */
static void print_calls(struct profile_print *print, const struct profile_call *parent,
			unsigned depth)
{
	const struct profile_call **list, *call;
	unsigned count = 0, i = 0;

	for (call = parent->child; call; call = call->sibling)
		count++;
	list = count ? malloc(count * sizeof(*list)) : NULL;
	for (call = parent->child; call && list; call = call->sibling)
		list[i++] = call;
	if (list)
		qsort(list, count, sizeof(*list), by_total);
	for (i = 0; list && i < count; i++) {
		if (!list[i]->is_around && print->all++ < report_limit(print->report)) {
			call_row(print, list[i], depth);
			print->shown++;
		}
		print_calls(print, list[i], depth + !list[i]->is_around);
	}
	free(list);
}

int section_read_profile(struct report *report, struct profile *profile, bool samples_first)
{
	const bool has_samples = profile_has(report->reader, true);
	int status = 0;

	for (unsigned i = 0; i < 2 && !status; i++) {
		const bool sampled = samples_first == !i;

		if (i)
			profile_free(profile);
		profile_init(profile, report->reader, report->options->begin_ns,
			     report->options->end_ns);
		profile->sampled = sampled;
		if (!sampled || has_samples)
			status = section_read_again(report, &profile_pass, profile);
		if (profile->events)
			break;
	}
	return status;
}

#define COLUMNS_MAX 32u

void section_begin_without(struct report *report, const char *key, const char *title,
			   const struct table_column *columns, unsigned count,
			   const char *const empty[])
{
	struct table_column shown[COLUMNS_MAX];

	for (unsigned i = 0; i < count && i < COLUMNS_MAX; i++) {
		shown[i] = columns[i];
		for (unsigned k = 0; empty[k]; k++)
			if (strcmp(columns[i].key, empty[k]) == 0)
				shown[i].title = NULL;
	}
	table_section(report->table, key, title, shown, count);
}

#define NO_FUNCTIONS                                                                                                \
	"The trace has no functions: record call stacks with kymo record --stacks, or entries "                     \
	"and exits (func_entry) of programs built with -finstrument-functions or -pg with kymo record --functions " \
	"(or preload liblttng-ust-cyg-profile-fast.so)."

void section_profile_notes(struct report *report, const struct profile *profile)
{
	if (!profile->events)
		section_tell_missing(report, NO_FUNCTIONS);
	if (profile->events && profile->sampled)
		table_note(report->table,
			   "By samples of call stacks: times on the CPU are estimates.");
	if (profile->events && !profile->modules.count)
		table_note(
			report->table,
			"Functions have no names: the trace does not say what was "
			"loaded where. Record lttng_ust_statedump:*, too (lttng enable-event -u).");
	if (profile->modules.changed)
		table_note(
			report->table,
			"Files on this machine whose build id differs from the one that ran: %u. "
			"Their functions have no names.",
			profile->modules.changed);
	if (profile->modules.missing)
		table_note(report->table,
			   "Files that are not on this machine: %u. Their functions have no "
			   "names.",
			   profile->modules.missing);
	if (profile->exits_without_entry && !profile->sampled)
		table_note(report->table, "Exits whose entry is not in the trace, ignored: %llu.",
			   (unsigned long long)profile->exits_without_entry);
}

int report_profile(struct report *report)
{
	static const char *const of_calls[] = { "samples", NULL },
				 *const of_samples[] = { "mean_ns", "max_ns", NULL };
	struct profile profile;
	struct profile_print print = { .report = report, .profile = &profile };
	const int status = section_read_profile(report, &profile, false);

	section_begin_without(report, "profile", "Call trees by thread", profile_columns,
			      COUNT_OF(profile_columns), profile.sampled ? of_samples : of_calls);
	table_rank(report->table, "function total_ns own_ns calls file");
	for (unsigned i = 0; (print.thread = profile_thread(&profile, i)); i++)
		if (print.thread->has_functions &&
		    section_wants_thread(report, &profile.threads, &print.thread->os))
			print_calls(&print, print.thread->root, 0);
	report_more(report, print.shown, print.all);
	report->rows += print.all;
	section_profile_notes(report, &profile);
	profile_free(&profile);
	return status;
}
