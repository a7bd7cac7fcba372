/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a trace: gather its data, and write it. See page_internal.h and docs/answers/page.md.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/page/page_internal.h"

void page_put_time(struct page *page, const char *key, int64_t ns)
{
	json_text_i64(&page->json, key, ns - page->summary->origin_ns);
}

void page_put_text(struct page *page, const char *key, const char *text)
{
	json_text_some_string(&page->json, key, text);
}

void page_put_segments(struct page *page, const struct histogram *part, const char *const *what,
		       unsigned parts)
{
	struct json_text *json = &page->json;

	json_text_open(json, "segments", '[');
	for (unsigned i = 0; i < parts; i++) {
		json_text_open(json, NULL, '{');
		json_text_string(json, "what", what[i]);
		json_text_u64(json, "p50", histogram_quantile(&part[i], 0.5));
		json_text_u64(json, "p99", histogram_quantile(&part[i], 0.99));
		json_text_u64(json, "max", part[i].max);
		json_text_u64(json, "sum", part[i].sum);
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}

const char *page_node_name(const struct model_service *of)
{
	return of && of->node ? of->node->full_name : "";
}

/* With the kernel's events, `kymo why` knows more of what held up the first finding. */
static void ask_cause(struct page *page)
{
	const struct report_options *options = page->report->options;
	const struct summary_finding *finding = page->finding;

	if (options->explain && page->findings && *summary_finding_ask(finding) &&
	    finding->instance &&
	    options->explain(options->explain_context, summary_finding_ask(finding), page->cause,
			     sizeof(page->cause), page->report->err))
		*page->cause = '\0';
	page->first.cause = page->cause;
}

int page_read(struct page *page, const struct passes *passes)
{
	struct report *report = page->report;
	int status;

	kymo_ctf_only_bound(report->reader, true);
	status = report_read(report, passes, report->err);
	kymo_ctf_only_bound(report->reader, false);
	return status;
}

/* What was asked for, since 1970, as texts: it is for SQL. */
static void put_window(struct page *page)
{
	const struct report_options *o = page->report->options;
	const int64_t ends[] = { o->begin_ns, o->end_ns };
	char text[32];

	if (o->begin_ns == INT64_MIN && o->end_ns == INT64_MAX)
		return;
	json_text_open(&page->json, "window", '[');
	for (unsigned i = 0; i < COUNT_OF(ends); i++) {
		snprintf(text, sizeof(text), "%" PRId64, ends[i]);
		json_text_string(&page->json, NULL, text);
	}
	json_text_close(&page->json, ']');
}

static void put_head(struct page *page)
{
	const struct summary *summary = page->summary;
	const struct summary_trust *trust = &summary->trust;
	char text[512];

	json_text_i64(&page->json, "kymo_page", 1);
	page_put_text(page, "trace", page->report->path);
	page_put_text(page, "name", text_trace_name(text, sizeof(text), page->report->path));
	page_put_text(page, "operand", page->first.operand);
	snprintf(text, sizeof(text), "%" PRId64, summary->events ? summary->origin_ns : 0);
	json_text_string(&page->json, "origin_ns", text);
	if (summary->events) {
		page_put_time(page, "begin", summary->begin_ns);
		page_put_time(page, "end", summary->end_ns);
	}
	put_window(page);
	json_text_u64(&page->json, "events", summary->events);
	json_text_u64(&page->json, "ros_events", summary->ros_events);
	json_text_u64(&page->json, "nodes", summary->nodes);
	json_text_u64(&page->json, "lost_events", trust->lost_events);
	json_text_u64(&page->json, "lost_packets", trust->lost_packets);
	json_text_u64(&page->json, "damaged", trust->damaged);
	json_text_u64(&page->json, "unnamed", trust->unnamed);
	json_text_u64(&page->json, "unended", trust->unended);
	if (trust->lost_begin_ns && trust->lost_end_ns) {
		page_put_time(page, "lost_begin", (int64_t)trust->lost_begin_ns);
		page_put_time(page, "lost_end", (int64_t)trust->lost_end_ns);
	}
	page_put_text(page, "incomplete", first_incomplete(summary, text, sizeof(text)));
	json_text_flag(&page->json, "is_summary", page->is_file);
	if (!first_has_rows(summary))
		page_put_text(page, "why_empty",
			      page->is_file ? "No callback ran, and no span ended."
					    : report_why_empty(page->report));
	page_put_text(page, "doubt", first_doubt(summary, &page->first, text, sizeof(text)));
}

/* What only the trace itself has; the page says that it is not here. */
static void put_nothing(struct page *page)
{
	static const char *const members[] = { "series",  "heat",      "chains", "calls", "instances",
					       "threads", "executors", "flames" };
	static const char *const of_graph[] = { "nodes", "publishers", "subscriptions" };

	for (unsigned i = 0; i < COUNT_OF(members); i++) {
		json_text_open(&page->json, members[i], '[');
		json_text_close(&page->json, ']');
	}
	json_text_open(&page->json, "columns", '{');
	json_text_close(&page->json, '}');
	json_text_open(&page->json, "graph", '{');
	for (unsigned i = 0; i < COUNT_OF(of_graph); i++) {
		json_text_open(&page->json, of_graph[i], '[');
		json_text_close(&page->json, ']');
	}
	json_text_close(&page->json, '}');
}

/* Return: 0, or -1 with report->err. */
static int put_trace(struct page *page)
{
	page_put_series(page);
	page_put_chains(page);
	page_put_calls(page);
	page_put_goals(page);
	page_put_graph(page);
	page_put_twins(page);
	if (page_put_flames(page))
		return -1;
	return page_put_instances(page);
}

static int gather(struct page *page)
{
	json_text_open(&page->json, NULL, '{');
	put_head(page);
	page_put_findings(page);
	page_put_entities(page);
	page_put_provenance(page);
	page_put_tables(page);
	if (page->is_file)
		put_nothing(page);
	else if (put_trace(page))
		return -1;
	json_text_close(&page->json, '}');
	return page->failed || page->json.failed ? err_no_memory(page->report->err) : 0;
}

static int write_page(struct report *report, bool is_file)
{
	/* Sections print all rows, as they do for programs. */
	const struct report_options *told = report->options;
	struct report_options options = *told;
	struct page page = {
		.report = report,
		.summary = report->summary,
		.is_file = is_file,
		.json = { .one_line = true },
		.first = { .name = report->path,
			   .operand = report->options->operand ? report->options->operand : "",
			   .clock = report->options->clock,
			   .is_file = is_file },
	};
	int status = page_number_all(&page) ? err_no_memory(report->err) : 0;

	options.format = TABLE_JSON;
	options.unlimited = true;
	report->options = &options;
	page.findings = summary_findings(page.summary, page.finding, SUMMARY_FINDINGS_MAX);
	ask_cause(&page);
	if (!status && options.judge)
		status = options.judge->judge(options.judge->context, page.summary, &options,
					      report->err);
	if (!status)
		status = gather(&page);
	if (!status)
		status = page_write(&page);
	report->options = told;
	page_numbers_free(&page);
	free(page.json.text);
	return status;
}

int report_page(struct report *report)
{
	return write_page(report, false);
}

int report_page_of_summary(struct summary *summary, const char *name,
			   const struct report_options *options, struct kymo_err *err)
{
	struct report report = { .options = options, .summary = summary, .path = name, .err = err };

	return write_page(&report, true);
}
