/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as a Perfetto file, for the verbs that write one. */
#ifndef KYMO_CLI_EXPORT_PERFETTO_H
#define KYMO_CLI_EXPORT_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/selection.h"
#include "cli/common.h"

/* The place of a trace in an archive of several. */
struct export_member {
	int fd;				/* of the archive; stays the caller's */
	uint32_t machine;		/* the number of the trace's first host */
	int64_t offset_ns;		/* epoch minus the clock of all */
};

struct export_perfetto {
	const char *verb;		/* whose messages these are */
	const char *trace;
	char *const *further;		/* traces that go into the same file */
	unsigned further_count;
	const char *output;		/* "-": standard output */
	const char *name;		/* of the trace, for people */
	bool chrome;			/* Chrome's JSON */
	bool executors;			/* also what executors did */
	int level;			/* of compression */
	const struct selection *selection;	/* NULL: all */
	const char *begin, *end;	/* as on the command line; NULL: all */
	int clock;			/* enum cli_clock; but CLI_CLOCK_SYSTEM for one trace only */
	uint64_t split;			/* bytes of a part, about; 0: one file */
	const struct export_member *member;	/* NULL: a file of its own */
	bool follow;			/* go on with what is being recorded */
	int until_closed;		/* with follow: a descriptor that is closed when it is over; -1: signals */
	bool force, quiet;
};

/**
 * export_perfetto() - write it, and tell about it on standard error unless quiet
 * @lost: set when the trace tells of lost events
 *
 * Return: 0; -1 with @err. Context: allocates, blocks; with follow, until it is over.
 */
int export_perfetto(const struct export_perfetto *request, bool *lost, struct kymo_err *err);

/**
 * export_open() - the file @path, "-" for standard output
 * @made: set: it was not there before
 *
 * Return: a descriptor, or -1 with @err. Context: blocks.
 */
int export_open(const char *path, bool force, bool *made, struct kymo_err *err);

/** export_name() - the last part of @trace as the user would name it: "." has a name too. */
int export_name(const char *trace, char name[CLI_PATH_MAX], struct kymo_err *err);

#endif
