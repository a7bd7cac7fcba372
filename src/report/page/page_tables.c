/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of the report that a page shows, exactly as `kymo report --format json` prints them; and
 * what of two large ones the entities of the summary do not have. */
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "report/page/page_internal.h"

static void put_budgets(struct report *report)
{
	const struct report_judge *judge = report->options->judge;

	if (judge)
		judge->put_table(judge->context, report->table);
}

static void put_all(struct report *report)
{
	static void (*const sections[])(struct report * report) = {
		report_hosts,         report_waits,         report_executors,  report_executor_view,
		report_instants,      report_counters,   report_loss,
		report_calls,         report_lifecycles, report_utilisation,
		report_communications,
	};

	for (unsigned i = 0; i < COUNT_OF(sections); i++)
		sections[i](report);
	if (report->options->expect)
		report_validation(report);
	put_budgets(report);
	if (report->totals) {
		report_callback_cpu(report);
		report_node_cpu(report);
		report_process_cpu(report);
		report_preemptions(report);
	}
	if (report->costs) {
		report_realtime(report);
		report_node_costs(report);
		report_process_costs(report);
	}
}

/* Each: [entity, symbol] */
static void put_symbols(struct page *page)
{
	const struct model *model = page->report->model;
	bool *known = calloc(page->shown_count + 1, sizeof(*known));

	page->failed |= !known;
	json_text_open(&page->json, "symbols", '[');
	for (unsigned i = 0; known && i < model_count(model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(model, i);
		const int number = page_callback_number(page, callback);

		if (!*callback->symbol || number < 0 || known[number])
			continue;
		known[number] = true;
		json_text_open(&page->json, NULL, '[');
		json_text_i64(&page->json, NULL, number);
		json_text_string(&page->json, NULL, callback->symbol);
		json_text_close(&page->json, ']');
	}
	json_text_close(&page->json, ']');
	free(known);
}

/* Each: [entity, rate, error of the clocks] */
static void put_topics(struct page *page)
{
	const struct report *report = page->report;

	json_text_open(&page->json, "topics", '[');
	for (unsigned i = 0; i < model_count(report->model, MODEL_TOPIC); i++) {
		const struct stats_topic *s = stats_topic(report->stats, i);
		const int number =
			page_number(page, SUMMARY_TOPIC, model_topic(report->model, i)->name);
		const double rate_hz = report_rate(report, s->published, s->first_ns, s->last_ns);
		char text[TEXT_QUANTITY_MAX];

		if (number < 0)
			continue;
		json_text_open(&page->json, NULL, '[');
		json_text_i64(&page->json, NULL, number);
		json_text_plain(&page->json, NULL,
				rate_hz > 0 ? text_f64_exact(text, rate_hz) : "0");
		json_text_some_i64(&page->json, NULL, s->latency_error_ns);
		json_text_close(&page->json, ']');
	}
	json_text_close(&page->json, ']');
}

/* The sections that @put prints, as one object. */
static void put_sections(struct page *page, void (*put)(struct report *report))
{
	struct report *report = page->report;
	struct table *before = report->table;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream || table_open(&report->table, stream, TABLE_JSON)) {
		page->failed = true;
	} else {
		put(report);
		page->failed |= table_close(report->table) != 0;
	}
	report->table = before;
	if (stream)
		page->failed |= fclose(stream) != 0;
	if (!page->failed) {
		/* The key of a member whose value is already text. */
		json_text_open(&page->json, "tables", '[');
		json_text_raw(&page->json, text, size);
		page->json.inside = true;
		json_text_close(&page->json, ']');
	}
	free(text);
}

void page_put_tables(struct page *page)
{
	put_sections(page, page->is_file ? put_budgets : put_all);
	if (page->is_file)
		return;
	put_symbols(page);
	put_topics(page);
}
