/* SPDX-License-Identifier: Apache-2.0 */
/* What `kymo live` does with a trace directory that grows: opens it when there is something, follows it, prints. */
#ifndef KYMO_CLI_LIVE_SHOW_H
#define KYMO_CLI_LIVE_SHOW_H

#include "base/table.h"
#include "cli/input/event_print.h"
#include "report/running/running.h"

struct live_show {
	const struct selection *selection;
	struct event_print print;	/* filled but for its events */
	bool from_now;			/* what is there at first is not shown */
	bool tables;			/* running tables in place of events, */
	enum table_format format;	/* written like that */

	/* Its own. */
	struct kymo_ctf_reader *reader;	/* NULL: nothing could be opened yet */
	struct events events;
	int64_t until;
	struct kymo_err why;			/* it could not be opened */
	struct running *running;	/* of tables */
};

/**
 * live_show_look() - there may be more
 * @path: the directory
 * @news: of its files
 *
 * Afterwards @show->reader is there, if it can be. Return: 1: there is; 0; or -1 with @err filled.
 */
int live_show_look(struct live_show *show, const char *path, bool news, struct kymo_err *err);

/** live_show_block() - of tables: print what came since the last time. Return: as live_show_until(). */
int live_show_block(struct live_show *show, struct kymo_err *err);

/** live_show_until() - print what is there up to @until. Return: 1: it is enough; 0; or -1 with @err filled. */
int live_show_until(struct live_show *show, int64_t until, struct kymo_err *err);

/** live_show_end() - say what was forgiven, close it. */
void live_show_end(struct live_show *show);

#endif
