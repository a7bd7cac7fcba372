/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo top`: what a robot does now, or did in a trace, as tables that one can sort, filter and
 * ask.
 *
 *   source.h    where the events come from          (taking.h, follow.h)
 *   board.h     what they say, in slices of time    (model, waits and chains of the analysis), and
 *               what stands out in them             (a summary, see summary/findings.h)
 *   view.h      which rows, in which order, and their cells as text
 *   screen.h    a terminal (ncurses), once.h a table
 */
#ifndef KYMO_TOP_TOP_H
#define KYMO_TOP_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/selection.h"
#include "base/table/table.h"
#include "relay/link/link.h"
#include "relay/wire/url.h"

/* Whether programs that nobody records only count, or record. */
enum top_count {
	TOP_COUNT_MANY, /* count if there are very many of them */
	TOP_COUNT_ALWAYS,
	TOP_COUNT_NEVER,
};

struct top_options {
	/* One of these three; none: all programs of the runtime directory. */
	int pid;
	const char *trace;
	const struct url *url;     /* a viewer's, with a session */
	struct tls_context *tls;   /* with url; NULL: none */
	const struct token *token; /* with url; NULL: none */

	const struct selection *selection;
	int count;           /* enum top_count */
	bool all;            /* also /rosout and /parameter_events */
	int64_t interval_ns; /* between two looks */
	int page;            /* enum board_page, the first one */
	const char *version; /* of kymo */
	FILE *out;           /* of top_once(); NULL: stdout */
	const char *hint;    /* programs that run without kymo: "3 ROS 2 programs run without kymo
				(driver, ...)"; "": none */
};

/* What top_once() found out. */
struct top_said {
	bool lost;     /* events were lost */
	bool is_whole; /* it read a complete trace, which will give the same again */
};

/**
 * top_once() - wait for one interval, or read a complete trace, and print
 * @format: text and CSV: of options.page; JSON: of all pages
 *
 * Return: an exit status: KYMO_EXIT_EMPTY when no program runs, or nothing happened; -1 with @err.
 * Context: blocks, forks.
 */
int top_once(const struct top_options *options, enum table_format format, struct top_said *said,
	     struct kymo_err *err);

/**
 * top_screen() - the same on the terminal, until the user ends it
 *
 * Return: 0; -1 with @err: also when this kymo was built without ncurses. Context: blocks, forks,
 * owns the terminal.
 */
int top_screen(const struct top_options *options, struct kymo_err *err);

#endif
