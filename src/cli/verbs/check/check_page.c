/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/check/check_page.h"

#include "check/check_print.h"
#include "cli/verbs/check/check_base.h"

/* Budgets about events need the trace once more. A page of several traces, of a part of one or of
 * summaries has no verdict of them. */
static int judge_events(struct check_page *page, const struct report_options *options,
			struct kymo_err *err)
{
	const bool is_whole = options->begin_ns == INT64_MIN && options->end_ns == INT64_MAX;
	const struct diff_runs run = { .path = { (char *)options->trace[0] }, .count = 1 };

	if (!is_whole || options->traces != 1)
		return 0;
	return check_events_judge(&page->events, &page->budgets, &run, err);
}

static int judge(void *context, const struct summary *summary, const struct report_options *options,
		 struct kymo_err *err)
{
	struct check_page *page = context;
	const struct summary *const *base = (const struct summary *const *)page->base.summary;
	struct diff_runs run = { .summary = { (struct summary *)summary }, .read = 1 };
	struct check_options how = { 0 };

	if (judge_events(page, options, err) ||
	    (page->base.count && diff_runs_alike(&page->base, &run, err)))
		return -1;
	how.told = page->events.told;
	how.tolds = page->events.tolds;
	return check_judge(&page->check, &page->budgets, &summary, 1, base,
			   diff_runs_judged(&page->base), &how, err);
}

static void put_table(void *context, struct table *table)
{
	const struct check_page *page = context;

	check_print_table(table, &page->check, &page->budgets);
}

static void put_text(void *context, FILE *out)
{
	const struct check_page *page = context;

	check_print_text(out, &page->check, &page->budgets, true);
}

int check_page_open(struct check_page *page, const char *path, struct kymo_err *err)
{
	*page = (struct check_page){ .judge = { judge, put_table, put_text, page } };
	if (check_events_is_list(path))
		return err_set(err, KYMO_EXIT_USAGE,
			       "%s is a list of expectations; on a page, it belongs to --expect",
			       path);
	if (budgets_read(&page->budgets, path, err))
		return -1;
	return check_base_read(&page->base, &page->budgets, NULL, false, err) < 0 ? -1 : 0;
}

unsigned check_page_violated(const struct check_page *page)
{
	return page->check.count[CHECK_VIOLATED];
}

void check_page_close(struct check_page *page)
{
	check_free(&page->check);
	check_events_free(&page->events);
	diff_runs_free(&page->base);
	budgets_free(&page->budgets);
}
