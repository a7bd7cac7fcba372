/* SPDX-License-Identifier: Apache-2.0 */
/* What of a trace's page is read before any script runs, and plain tables for browsers without
 * scripts; page_file.h writes the file around it. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "page/page_file.h"
#include "report/page/page_internal.h"
#include "report/sections/expect.h"
#include "summary/findings.h"

/* Made by the build. */
extern const unsigned char report_page_script[];
extern const unsigned long report_page_script_size;

#define NAME_SIZE 256u
#define PLAIN_ROWS 200u /* of a table without scripts */

/* ---- what is read before any script runs ---- */

static void put_fired(FILE *out, const struct report_fired *fired)
{
	if (!fired)
		return;
	page_put_element(out, "<p>It was ", fired->name, ": ");
	page_put_element(out, "", fired->why, ".</p>\n");
}

static void put_findings(FILE *out, const struct page *page)
{
	char text[2400];

	fputs("<ol class=plain>\n", out);
	for (unsigned i = 0; i < page->findings && i < 10; i++)
		page_put_element(
			out, "<li>",
			summary_finding_text(page->summary, &page->finding[i], text, sizeof(text)),
			"</li>\n");
	fputs("</ol>\n", out);
	if (!page->findings)
		fputs("<p>Nothing stands out.</p>\n", out);
}

static void put_lead(FILE *out, const struct page *page)
{
	const struct summary *summary = page->summary;
	char text[512], name[NAME_SIZE], time[TEXT_QUANTITY_MAX];

	page_put_element(out, "<header class=bar><h1>",
			 text_trace_name(name, sizeof(name), page->report->path), "</h1><p>");
	fprintf(out, "%s",
		text_ns(time, summary->end_ns > summary->begin_ns
				      ? summary->end_ns - summary->begin_ns
				      : 0));
	fprintf(out, " · %s events", summary_number(text, summary->events));
	fputs(*first_incomplete(summary, text, sizeof(text))
		      ? "</p></header>\n<main>\n"
		      : " · none lost</p></header>\n<main>\n",
	      out);
	if (*text) {
		page_put_element(out, "<div class=banner role=alert><strong>", text, "</strong> ");
		page_put_element(out, "", first_doubt(summary, &page->first, text, sizeof(text)),
				 "</div>\n");
	}
	if (page->report->options->told_snapshot)
		page_put_element(out, "<p>The flight recorder fired: ", page->report->options->told_snapshot, "</p>\n");
	put_fired(out, page->report->options->told_fired);
	put_findings(out, page);
}

static void put_cell(FILE *out, const struct histogram *h, uint64_t value)
{
	char time[TEXT_QUANTITY_MAX];

	fprintf(out, "<td class=n>%s</td>", h->count ? text_ns(time, (int64_t)value) : "");
}

static void put_plain_table(FILE *out, const struct page *page, enum summary_kind kind,
			    const char *title, enum summary_distribution by)
{
	unsigned rows = 0;

	for (unsigned i = 0; i < page->shown_count && rows < PLAIN_ROWS; i++) {
		const struct summary_entity *entity = page->shown[i];
		const struct histogram *h = &entity->histogram[by];

		if (entity->kind != kind || entity->is_startup)
			continue;
		if (!rows++)
			fprintf(out,
				"<table><caption>%s</caption><tr><th>name</th><th>count</th>"
				"<th>usually</th><th>p99</th><th>worst</th></tr>\n",
				title);
		page_put_element(out, "<tr><td>", entity->label, "</td>");
		fprintf(out, "<td class=n>%" PRIu64 "</td>", h->count);
		put_cell(out, h, histogram_quantile(h, 0.5));
		put_cell(out, h, histogram_quantile(h, 0.99));
		put_cell(out, h, h->max);
		fputs("</tr>\n", out);
	}
	if (rows)
		fputs("</table>\n", out);
}

static void put_expectations(FILE *out, const struct expectations *all)
{
	const struct expect_verdict *verdict;

	for (unsigned i = 0; all && (verdict = expectations_verdict(all, i)); i++) {
		if (!i)
			fputs("<table><caption>Expectations</caption><tr><th>verdict</th>"
			      "<th>of</th><th>what</th><th>values</th><th>mean</th></tr>\n",
			      out);
		fprintf(out, "<tr><td>%s</td>",
			verdict->is_kept       ? "held"
			: verdict->is_measured ? "broken"
					       : "could not be judged");
		page_put_element(out, "<td>", verdict->object, "</td>");
		fprintf(out, "<td>%s</td><td class=n>%" PRIu64 "</td><td class=n>", verdict->what,
			verdict->count);
		if (verdict->is_measured)
			fprintf(out, "%.4g %s", verdict->mean, verdict->unit);
		fputs("</td></tr>\n", out);
	}
	if (all && expectations_verdict(all, 0))
		fputs("</table>\n", out);
}

static void put_budgets(FILE *out, const struct report_judge *judge)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = judge ? open_memstream(&text, &size) : NULL;

	if (!stream)
		return;
	judge->put_text(judge->context, stream);
	if (fclose(stream) == 0)
		page_put_element(out, "<pre>", text, "</pre>\n");
	free(text);
}

static void put_plain(FILE *out, const struct page *page)
{
	fputs("<noscript>\n<p>This browser runs no scripts: here are plain tables. They count "
	      "start-up, which findings leave out.</p>\n",
	      out);
	put_expectations(out, page->report->options->expect);
	put_budgets(out, page->report->options->judge);
	put_plain_table(out, page, SUMMARY_CHAIN, "Chains: latency", SUMMARY_LATENCY);
	put_plain_table(out, page, SUMMARY_CALLBACK, "Callbacks: duration", SUMMARY_DURATION);
	put_plain_table(out, page, SUMMARY_TOPIC, "Topics: latency", SUMMARY_LATENCY);
	put_plain_table(out, page, SUMMARY_TIMER, "Timers: how late they began", SUMMARY_WAIT);
	put_plain_table(out, page, SUMMARY_LOOP, "Loops: how late they woke", SUMMARY_LATENCY);
	put_plain_table(out, page, SUMMARY_SPAN, "Spans: duration", SUMMARY_DURATION);
	fputs("</noscript>\n</main>\n", out);
}

static void put_all(FILE *out, const void *context)
{
	const struct page *page = context;

	put_lead(out, page);
	put_plain(out, page);
}

int page_write(struct page *page)
{
	char name[NAME_SIZE];
	const struct page_file file = { .title = text_trace_name(name, sizeof(name),
								 page->report->path),
					.data = &page->json,
					.script = report_page_script,
					.script_size = report_page_script_size,
					.put_lead = put_all,
					.context = page };

	return page_file_write(&file, page->report->options->page,
			       page->report->options->page_stream, page->report->err);
}
