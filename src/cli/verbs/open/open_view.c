/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the worst instance needs the summary of the trace. Its tracks are those of the nodes and
 * topics that are named by the finding and by the parts of the instance, and the threads of their
 * processes: all names are words that begin with a slash.
 */
#include "cli/verbs/open/open_view.h"

#include <string.h>

#include "base/array.h"
#include "cli/common/progress.h"
#include "cli/input/input_traces.h"
#include "cli/input/trace_time.h"
#include "export/perfetto/perfetto.h"
#include "summary/findings.h"
#include "summary/summary_collect.h"

#define AROUND_NS 50000000	/* before and behind a point in time */
#define NAMES_MAX 16		/* of each kind, in a pattern */
#define NAME_MAX_BYTES 256

struct names {
	unsigned count;
	char name[NAMES_MAX][NAME_MAX_BYTES];
};

static void add_name(struct names *names, const char *name, size_t size)
{
	if (!size || size >= NAME_MAX_BYTES || names->count == NAMES_MAX)
		return;
	for (unsigned i = 0; i < names->count; i++)
		if (strlen(names->name[i]) == size && !memcmp(names->name[i], name, size))
			return;
	memcpy(names->name[names->count], name, size);
	names->name[names->count++][size] = 0;
}

/* The nodes and topics in "/lidar timer 25 ms -> /scan -> /planner". */
static void add_words(struct names *names, const char *text)
{
	while (text && *text) {
		size_t size = strcspn(text, " ,:");

		if (*text == '/')
			add_name(names, text, size);
		text += size;
		text += strspn(text, " ,:");
	}
}

static bool has_word(const struct names *names, const char *text)
{
	const size_t size = strcspn(text, " ,:");

	for (unsigned i = 0; i < names->count; i++)
		if (strlen(names->name[i]) == size && !memcmp(names->name[i], text, size))
			return true;
	return false;
}

/* ---- patterns ---- */

struct pattern {
	char *text;
	size_t size;
	bool full;
};

static void put(struct pattern *pattern, const char *text)
{
	const size_t size = strlen(text);

	if (pattern->size + size >= OPEN_PIN_MAX) {
		pattern->full = true;
		return;
	}
	memcpy(pattern->text + pattern->size, text, size + 1);
	pattern->size += size;
}

/* @names as alternatives that mean nothing but themselves. */
static void put_names(struct pattern *pattern, const struct names *names)
{
	put(pattern, "(");
	for (unsigned i = 0; i < names->count; i++) {
		if (i)
			put(pattern, "|");
		for (const char *at = names->name[i]; *at; at++) {
			const char one[] = { *at, 0 };

			if (strchr("\\^$.|?*+()[]{}", *at))
				put(pattern, "\\");
			put(pattern, one);
		}
	}
	put(pattern, ")");
}

static void add_pin(struct open_view *view, const char *before, const struct names *left,
		    const char *between, const struct names *right, const char *after)
{
	struct pattern pattern = { .text = view->pin[view->pins] };

	if (!left->count || (right && !right->count))
		return;
	put(&pattern, before);
	put_names(&pattern, left);
	put(&pattern, between);
	if (right)
		put_names(&pattern, right);
	put(&pattern, after);
	view->pins += !pattern.full;
}

/* Threads first: what ran. Then what came and went. */
static void set_pins(struct open_view *view, const struct names *words,
		     const struct names *processes)
{
	add_pin(view, "^", processes, " \\d+$", NULL, "");
	add_pin(view, "^", words, " timer ", NULL, "");
	add_pin(view, "^", words, " (publisher|subscription|callback|service|client) ", words, "$");
	add_pin(view, "^", words, " latency to ", words, "$");
}

/* ---- the worst instance ---- */

/* The processes whose callbacks the finding names. */
static void add_processes(struct names *processes, const struct summary *summary,
			  const struct names *words)
{
	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *entity = summary->entity[i];
		const char *source = strchr(entity->name, ' ');

		if (entity->kind == SUMMARY_CALLBACK && source && has_word(words, entity->name) &&
		    (source[1] != '/' || has_word(words, source + 1)))
			add_name(processes, entity->of, strlen(entity->of));
	}
}

static void use_finding(struct open_view *view, const struct summary *summary,
			const struct summary_finding *finding, int64_t offset_ns)
{
	const struct summary_instance *instance = finding->instance;
	const struct summary_entity *entity = finding->entity;
	struct names words = { 0 }, processes = { 0 };
	const int64_t at_ns = instance ? instance->begin_ns : finding->at_ns;
	const int64_t margin_ns = instance ? instance->value_ns / 4 + 1000000 : AROUND_NS;

	if (!entity || !at_ns)
		return;
	view->has_window = true;
	view->begin_ns = at_ns - offset_ns - margin_ns;
	view->end_ns = at_ns - offset_ns + (instance ? instance->value_ns : 0) + margin_ns;
	add_words(&words, entity->name);
	for (unsigned i = 0; instance && i < instance->parts; i++) {
		add_words(&words, instance->part[i].who);
		add_words(&words, instance->part[i].by);
	}
	if (entity->kind == SUMMARY_PROCESS)
		add_name(&processes, entity->name, strlen(entity->name));
	else if (entity->kind == SUMMARY_LOOP || entity->kind == SUMMARY_SPAN)
		add_name(&processes, entity->name, strcspn(entity->name, ":"));
	add_processes(&processes, summary, &words);
	set_pins(view, &words, &processes);
	(void)summary_finding_text(summary, finding, view->what, sizeof(view->what));
}

static int find_worst(struct open_view *view, struct kymo_ctf_reader *reader, bool quiet,
		      struct kymo_err *err)
{
	const int64_t offset_ns = perfetto_offset(reader);
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	struct summary *summary = summary_new();
	struct progress progress;
	const struct pass_options options = { .progress = progress_trace, .context = &progress };
	unsigned count, i = 0;
	int status;

	if (!summary)
		return err_no_memory(err);
	progress_begin(&progress, quiet);
	progress_extent(&progress, reader);
	status = summary_of_trace(summary, reader, INT64_MIN, INT64_MAX, &options, err);
	progress_clear(&progress);
	if (!status) {
		count = summary_findings(summary, finding, COUNT_OF(finding));
		while (i < count && !finding[i].instance && !finding[i].at_ns)
			i++;
		if (i < count || (!count && summary_slowest(summary, finding)))
			use_finding(view, summary, &finding[i], offset_ns);
	}
	summary_free(summary);
	return status;
}

static int find_point(struct open_view *view, const char *at, struct kymo_ctf_reader *reader,
		      struct kymo_err *err)
{
	int64_t first_ns, at_ns;

	if (cli_first_time(reader, &first_ns, err) || cli_read_point("--at", at, first_ns, NULL, &at_ns, err))
		return -1;
	at_ns -= perfetto_offset(reader);
	view->has_window = true;
	view->begin_ns = at_ns - AROUND_NS;
	view->end_ns = at_ns + AROUND_NS;
	return 0;
}

int open_view(const char *trace, const char *at, bool quiet, struct open_view *view,
	      struct kymo_err *err)
{
	struct kymo_ctf_reader *reader;
	struct cli_traces traces;
	struct align *align;
	int status;

	*view = (struct open_view){ 0 };
	cli_traces_one(&traces, trace);
	if (cli_traces_open(&traces, "open", &reader, &align, err))
		return -1;
	status = at ? find_point(view, at, reader, err) : find_worst(view, reader, quiet, err);
	if (view->begin_ns < 1)
		view->begin_ns = 1;
	align_destroy(align);
	kymo_ctf_close(reader);
	return status;
}
