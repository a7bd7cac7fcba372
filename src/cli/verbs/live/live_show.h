/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `kymo live` does with a growing trace directory: opens it when it has a trace, follows it,
 * prints.
 */
#ifndef KYMO_CLI_LIVE_SHOW_H
#define KYMO_CLI_LIVE_SHOW_H

#include "base/table/table.h"
#include "cli/input/event_print.h"
#include "report/running/running.h"

struct live_show {
	const struct selection *selection;
	struct event_print print;	/* filled but for its events */
	bool from_now;			/* events that exist at the start are not shown */
	bool tables;			/* running tables in place of events, */
	bool all;                       /* with what nodes do when they start, */
	enum table_format format;	/* written like that */

	/* Its own. */
	struct kymo_ctf_reader *reader;	/* NULL: nothing could be opened yet */
	struct events events;
	int64_t until;
	struct kymo_err why;			/* it could not be opened */
	struct running *running;	/* of tables */
	bool shown;                     /* tables were printed */
};

/**
 * live_show_refresh() - there may be new data
 * @path: the directory
 * @news: its files changed
 *
 * Opens @show->reader if the trace can be read. Return: 1: there is new data; 0; -1 with @err
 * filled.
 */
int live_show_refresh(struct live_show *show, const char *path, bool news, struct kymo_err *err);

/**
 * live_show_block() - print the tables of what happened since the last time. Return: as
 * live_show_until().
 */
int live_show_block(struct live_show *show, struct kymo_err *err);

/**
 * live_show_until() - print events up to @until. Return: 1: enough was printed; 0; -1 with @err
 * filled.
 */
int live_show_until(struct live_show *show, int64_t until, struct kymo_err *err);

/** live_show_end() - print the reader's warnings, close it. */
void live_show_end(struct live_show *show);

/**
 * live_dir() - show new events in @path, until the writer has gone, enough was printed, or a signal
 * arrived
 * @period_ns: between blocks of tables
 * @quiet: do not report that it waits for a trace
 *
 * Return: 0, or -1 with @err filled. Context: blocks; takes SIGINT and SIGTERM.
 */
int live_dir(const char *path, struct live_show *show, int64_t period_ns, bool quiet,
	     struct kymo_err *err);

#endif
