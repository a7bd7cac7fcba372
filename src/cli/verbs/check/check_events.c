/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/check/check_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/common/progress.h"
#include "cli/input/input_traces.h"
#include "report/report.h"
#include "report/sections/expect.h"
#include "summary/summary_file.h"

/* ---- the list ---- */

bool check_events_is_list(const char *path)
{
	FILE *file = file_stream(path);
	char line[512] = "";
	bool is_list;

	while (file && fgets(line, sizeof(line), file) &&
	       (line[strspn(line, " \t\r\n")] == '#' || !line[strspn(line, " \t\r\n")]))
		line[0] = '\0';
	if (file)
		(void)fclose(file);
	/* Values with commas between them; in YAML, a key comes first. */
	is_list = line[strcspn(line, ",:{[")] == ',';
	return is_list;
}

int check_events_read_list(struct check_events *events, struct budgets *budgets, const char *path,
			   const char *architecture, const struct opt_list *path_list,
			   struct kymo_err *err)
{
	const char *text;
	char name[256];
	unsigned line;

	budgets_empty(budgets, path);
	if (report_paths_read(&events->paths, architecture, path_list, err) ||
	    expectations_read(&events->expect, path, err))
		return -1;
	for (unsigned i = 0; (line = expectations_line(events->expect, i, &text)); i++) {
		if (!text)
			continue;
		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ","), text);
		if (budgets_add_told(budgets, BUDGET_EXPECTED, name, text, line))
			return err_no_memory(err);
	}
	return budgets->count ? 0
			      : err_set(err, KYMO_EXIT_INPUT,
					"%s expects nothing: no line has a value", path);
}

/* ---- what the report found ---- */

static struct check_told *add(struct check_events *events, const struct budget *budget,
			      unsigned run)
{
	struct check_told *told;

	if (!ARRAY_ROOM(events->told, events->tolds, events->tolds_size))
		return NULL;
	told = &events->told[events->tolds++];
	*told = (struct check_told){ .budget = budget, .run = run, .verdict = CHECK_KEPT };
	return told;
}

static const struct budget *budget_of_line(const struct budgets *budgets, unsigned line)
{
	for (unsigned i = 0; i < budgets->count; i++)
		if (budgets->budget[i].line == line)
			return &budgets->budget[i];
	return NULL;
}

static int take_expected(struct check_events *events, const struct budgets *budgets, unsigned run)
{
	const struct expect_verdict *verdict;
	char mean[TEXT_QUANTITY_MAX];

	for (unsigned i = 0; (verdict = expectations_verdict(events->expect, i)); i++) {
		const struct budget *budget = budget_of_line(budgets, verdict->line);
		struct check_told *told = budget ? add(events, budget, run) : NULL;

		if (!told && budget)
			return -1;
		if (!told)
			continue;
		told->verdict = verdict->is_kept ? CHECK_KEPT : CHECK_VIOLATED;
		told->count = verdict->count;
		if (verdict->is_measured)
			(void)snprintf(told->why, sizeof(told->why),
				       "%s: mean %s %s, %.0f %% of %" PRIu64 " outside; %.60s",
				       verdict->what, text_f64(mean, verdict->mean), verdict->unit,
				       100 * verdict->outside, verdict->count, verdict->object);
		else
			(void)snprintf(told->why, sizeof(told->why), "%s: nothing was measured",
				       verdict->what);
	}
	return 0;
}

static void say_realtime(struct check_told *told, const struct report_realtime *found)
{
	told->count = found->runs;
	if (!found->runs) {
		told->verdict = CHECK_VIOLATED;
		(void)snprintf(told->why, sizeof(told->why),
			       "no callback or span of this name ran");
	} else if (found->times) {
		told->verdict = CHECK_VIOLATED;
		(void)snprintf(told->why, sizeof(told->why),
			       "%s in %" PRIu64 " runs of %.80s; in all %" PRIu64 " times",
			       found->what, found->in_runs, found->who, found->times);
	} else if (!strcmp(found->looked_at, "nothing")) {
		told->verdict = CHECK_UNKNOWN;
		(void)snprintf(told->why, sizeof(told->why),
			       "nothing was looked at: record with --malloc");
	} else {
		(void)snprintf(told->why, sizeof(told->why), "looked at: %s", found->looked_at);
	}
}

static int take_realtime(struct check_events *events, const struct budgets *budgets, unsigned run,
			 const struct report_realtime *found)
{
	for (unsigned i = 0, at = 0; i < budgets->count && found; i++) {
		const struct budget *budget = &budgets->budget[i];
		struct check_told *told;

		if (!budget_is_told(budget))
			continue;
		told = add(events, budget, run);
		if (!told)
			return -1;
		say_realtime(told, &found[at++]);
	}
	return 0;
}

/* ---- one run ---- */

struct question {
	const char **name; /* [names] what must be real-time */
	unsigned names;
	struct report_realtime *found; /* [names]; NULL: a list was read */
};

/* The report, without its text. */
static int report_on(struct check_events *events, struct kymo_ctf_reader *reader,
		     struct align *align, const char *path, const struct question *question,
		     struct kymo_err *err)
{
	static const char *const validation[] = { "validation" }, *const realtime[] = {
		"realtime"
	};
	struct progress progress;
	bool not_realtime = false, behaviour_failed = false, lost = false;
	const struct report_options options = {
		.section = events->expect ? validation : realtime,
		.sections = 1,
		.begin_ns = INT64_MIN,
		.end_ns = INT64_MAX,
		.paths = events->paths.caret.paths ? &events->paths.caret : NULL,
		.realtime = question->name,
		.realtimes = question->names,
		.told_realtime = question->found,
		.not_realtime = &not_realtime,
		.behaviour_failed = &behaviour_failed,
		.expect = events->expect,
		.trace = &path,
		.traces = 1,
		.align = align,
		.operand = "",
		.progress = progress_trace,
		.progress_context = &progress,
	};
	FILE *nowhere = fopen("/dev/null", "we");
	struct table *table;
	int status;

	if (!nowhere || table_open(&table, nowhere, TABLE_TEXT)) {
		if (nowhere)
			(void)fclose(nowhere);
		return err_no_memory(err);
	}
	progress_begin(&progress, false);
	progress_extent(&progress, reader);
	status = report_run(reader, path, &options, table, &lost, err);
	progress_clear(&progress);
	(void)table_close(table);
	(void)fclose(nowhere);
	return status < 0 ? -1 : 0;
}

static int judge_run(struct check_events *events, const struct budgets *budgets, const char *path,
		     unsigned run, const struct question *question, struct kymo_err *err)
{
	struct kymo_ctf_reader *reader;
	struct cli_traces traces;
	struct align *align;
	int status;

	cli_traces_one(&traces, path);
	if (cli_traces_open(&traces, "check", &reader, &align, err))
		return -1;
	status = report_on(events, reader, align, path, question, err);
	align_destroy(align);
	kymo_ctf_close(reader);
	if (status)
		return err_wrap(err, "%s", path);
	if (events->expect)
		status = take_expected(events, budgets, run);
	else
		status = take_realtime(events, budgets, run, question->found);
	return status ? err_no_memory(err) : 0;
}

int check_events_judge(struct check_events *events, const struct budgets *budgets,
		       const struct diff_runs *runs, struct kymo_err *err)
{
	struct question question = { .name = calloc(budgets->count, sizeof(*question.name)) };
	int status = 0;

	for (unsigned i = 0; question.name && !events->expect && i < budgets->count; i++)
		if (budget_is_told(&budgets->budget[i]))
			question.name[question.names++] = budgets->budget[i].name;
	if (question.names)
		question.found = calloc(question.names, sizeof(*question.found));
	if (!question.name || (question.names && !question.found))
		status = err_no_memory(err);
	for (unsigned r = 0; r < runs->count && !status; r++)
		if ((question.names || events->expect) && !summary_is_file(runs->path[r]))
			status = judge_run(events, budgets, runs->path[r], r, &question, err);
	free(question.found);
	free(question.name);
	return status;
}

void check_events_free(struct check_events *events)
{
	report_paths_free(&events->paths);
	expectations_free(events->expect);
	free(events->told);
}
