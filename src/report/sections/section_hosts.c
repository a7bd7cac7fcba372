/* SPDX-License-Identifier: Apache-2.0 */
/* How the clocks of the hosts compare, and how far that can be trusted. */
#include "report/report_internal.h"
#include "base/array.h"

static const struct table_column columns[] = {
	{ "host", "Host" },
	{ "compared_by", "Compared by" },
	{ "compared_with", "with" },
	{ "messages_in", "Messages in" },
	{ "messages_out", "out" },
	{ "ahead_ns", "Clock ahead" },
	{ "rate_ppm", "by ppm" },
	{ "error_ns", "Error up to" },
	{ "error_least_ns", NULL },
	{ "wander_ppm", NULL },
	{ "ahead_at_least_ns", NULL },
	{ "ahead_at_most_ns", NULL },
	{ "hosts_between", NULL },
};

static void row(struct table *t, const struct align *align, const struct align_host *host)
{
	bool compared = host->how == ALIGN_MESSAGES || host->how == ALIGN_SAME_CLOCK;

	table_text(t, *host->name ? host->name : "?");
	table_text(t, align_how_name(host->how));
	table_text(t, host->how == ALIGN_REFERENCE ? NULL : align_host(align, host->to)->name);
	table_u64(t, host->messages_in);
	table_u64(t, host->messages_out);
	table_ns(t, host->ahead_ns);
	CELL_IF(t, compared, table_f64(t, host->rate * 1e6));
	CELL_IF(t, compared, table_ns(t, host->error_max_ns));
	CELL_IF(t, compared, table_ns(t, host->error_min_ns));
	CELL_IF(t, compared, table_f64(t, host->wander * 1e6));
	CELL_IF(t, host->is_least, table_ns(t, host->bound_ns));
	CELL_IF(t, host->is_most, table_ns(t, host->bound_ns));
	table_u64(t, host->between);
}

void report_print_hosts(struct table *table, const struct align *align)
{
	char remark[ALIGN_REMARK_MAX];
	bool compared = false;

	if (!align)
		return;
	table_section(table, "hosts", "Hosts; times are those of the first host's clock", columns,
		      COUNT_OF(columns));
	for (unsigned i = 0; i < align_count(align); i++) {
		row(table, align, align_host(align, i));
		compared = compared || align_host(align, i)->how == ALIGN_MESSAGES;
	}
	for (unsigned i = 0; i < align_count(align); i++)
		if (align_remark(align, i, remark, sizeof(remark)))
			table_note(table, "%s", remark);
	if (compared)
		table_note(table, "The quickest messages between hosts bound the error of their clocks. A time that is not "
			   "longer than the error is printed as <error.");
}

void report_hosts(struct report *report)
{
	report_print_hosts(report->table, report->options->align);
	report->rows += report->options->sections && report->options->align;
}
