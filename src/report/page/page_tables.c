/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of the report that a page shows, exactly as `kymo report --format json` prints them. */
#include <stdlib.h>

#include "base/array.h"
#include "report/page/page_internal.h"

static void put_all(struct report *report)
{
	static void (*const sections[])(struct report * report) = {
		report_callbacks,     report_topics,     report_hosts,
		report_waits,         report_executors,  report_executor_view,
		report_instants,      report_counters,   report_loss,
		report_calls,         report_lifecycles, report_utilisation,
		report_communications,
	};

	for (unsigned i = 0; i < COUNT_OF(sections); i++)
		sections[i](report);
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

void page_put_tables(struct page *page)
{
	struct report *report = page->report;
	struct table *before = report->table;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream || table_open(&report->table, stream, TABLE_JSON)) {
		page->failed = true;
	} else {
		put_all(report);
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
