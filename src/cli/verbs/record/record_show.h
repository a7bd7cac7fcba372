/* SPDX-License-Identifier: Apache-2.0 */
/* What `kymo record` prints on standard error while it records. */
#ifndef KYMO_CLI_RECORD_SHOW_H
#define KYMO_CLI_RECORD_SHOW_H

#include "cli/common/detach.h"
#include "recorder/record/record.h"

struct record_show {
	bool terminal;		/* a progress line may be on it */
	unsigned lines;		/* of progress, beside a command */
	bool told_nothing;
	const struct record_options *record;
	const struct record_result *result;
	struct detach detach;
	const char *verb;
};

/** record_say() - a message of the recorder. @context: struct record_show */
void record_say(void *context, const char *text);

/**
 * record_progress() - the line that changes, and once a hint if nothing is recorded. @context:
 * struct record_show
 */
void record_progress(void *context, const struct session_stats *stats);

#endif
