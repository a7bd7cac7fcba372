/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `kymo open` shows: a page, or a file for the Perfetto UI, which it writes from a trace if
 * necessary.
 */
#ifndef KYMO_CLI_OPEN_SHOWN_H
#define KYMO_CLI_OPEN_SHOWN_H

#include <limits.h>

#include "cli/common/common.h"
#include "cli/input/trace_time.h"
#include "cli/verbs/open/open_view.h"

/* Options of the verb. */
struct open_wishes {
	const char *output, *ui, *at;
	uint64_t port;
	int64_t wait_ns;
	bool is_ui_named; /* with --ui */
	bool perfetto, browser, no_browser, force, quiet;
	struct cli_times times; /* of it, only merge */
};

/* What the server gives to the browser. */
struct open_shown {
	char title[CLI_PATH_MAX]; /* of the trace, for people */
	char name[256];		  /* of the file, in its address */
	char file[PATH_MAX];
	int temporary;		/* a descriptor; -1: none */
	char folder[CLI_PATH_MAX]; /* temporary, with only the file; "": none */
	bool is_page;  /* for browsers, not for the UI */
	struct open_view view;
};

/**
 * open_shown_find() - what @path is, and write the file of a trace
 * @shown: zeroed, with a temporary of -1; end it with open_shown_remove(), also after an error
 *
 * A directory is a trace, anything else a page, or a file that the UI may load. Return: 0; -1 with
 * @err.
 * Context: allocates, blocks.
 */
int open_shown_find(const struct open_wishes *options, const char *path, struct open_shown *shown,
		    struct kymo_err *err);

/** open_shown_remove() - remove what is temporary. */
void open_shown_remove(struct open_shown *shown);

#endif
