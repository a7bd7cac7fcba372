/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of kymo info. Context of all functions: print; not thread-safe. */
#ifndef KYMO_CLI_INFO_SHOW_H
#define KYMO_CLI_INFO_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/selection.h"
#include "cli/input/answer.h"
#include "cli/input/trace_time.h"
#include "cli/verbs/info/info_collect.h"
#include "cli/verbs/info/info_recorders.h"

struct info_options {
	int format;
	struct selection selection;
	struct cli_times times;		/* without a clock */
	bool strict, all;
};

struct info_show {
	struct table *table;
	const struct info_options *options;
	const struct info *info;
	const struct recorders *recorders;
	const struct accounts *accounts;	/* of all */
	const struct align *align;		/* NULL: there is one host */
	struct kymo_ctf_reader *reader;
	const char *path;
	bool limited;			/* to some of the events */
};

/** info_total_lost() - events that were lost, as the trace or its recorder says. */
uint64_t info_total_lost(const struct info_show *s);

void info_show_facts(const struct info_show *s);
void info_show_traces(const struct info_show *s);
void info_show_chunks(const struct info_show *s);
void info_show_processes(const struct info_show *s);
void info_show_threads(const struct info_show *s);
void info_show_streams(const struct info_show *s);
void info_show_losses(const struct info_show *s);

/** info_show_warnings() - what the reader warned of. @problem: of reading kymo.json; "": none */
void info_show_warnings(const struct info_show *s, const char *problem);

#endif
