/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison as a page for browsers: one file that needs no network.
 *
 * Context of all functions: not thread-safe; they allocate, and block as the file does.
 */
#ifndef KYMO_COMPARE_COMPARE_PAGE_H
#define KYMO_COMPARE_COMPARE_PAGE_H

#include "base/err.h"
#include "compare/compare_print.h"

struct compare_page_side {
	const struct summary *const *run; /* that was judged; [bases] or [news] of the design */
	char *const *path;                /* [paths] of all its runs */
	unsigned paths;
};

struct compare_page {
	const struct compare_print *print;
	struct compare_page_side base, new;
	const char *version, *command; /* what made it; NULL: nothing to say */
};

/**
 * compare_page_write() - write the page of @comparison to the file @path; "-": to @stream
 *
 * Its numbers are those of compare_print_table() and compare_print_plot(). Return: 0, or -1 with
 * @err.
 */
int compare_page_write(const struct compare_page *page, const struct comparison *comparison,
		       const char *path, FILE *stream, struct kymo_err *err);

#endif
