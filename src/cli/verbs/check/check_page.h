/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdicts of `kymo check` on a page: `kymo report --html --check FILE`.
 *
 *   check_page_open(&check, "budgets.yaml", &err);
 *   ... check.judge goes to the page ...
 *   check_page_close(&check);
 */
#ifndef KYMO_CLI_CHECK_PAGE_H
#define KYMO_CLI_CHECK_PAGE_H

#include "cli/verbs/check/check_events.h"
#include "report/report.h"

struct check_page {
	struct budgets budgets;
	struct diff_runs base;
	struct check_events events;
	struct check check;
	struct report_judge judge;
};

/**
 * check_page_open() - read the file of budgets @path, and its base line
 * @page: empty; to be closed, also after an error
 *
 * Context: blocks. Return: 0, or -1 with @err.
 */
int check_page_open(struct check_page *page, const char *path, struct kymo_err *err);

/** check_page_violated() - how many budgets are violated, when the page was written. */
unsigned check_page_violated(const struct check_page *page);
void check_page_close(struct check_page *page);

#endif
