/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traces that a verb reads: several are read as one. If they are of several hosts, the hosts'
 * clocks are compared first (analysis/align).
 *
 * Context: not thread-safe; allocates and blocks.
 */
#ifndef KYMO_CLI_INPUT_TRACES_H
#define KYMO_CLI_INPUT_TRACES_H

#include <stdbool.h>
#include <stdint.h>

#include "accounts/accounts.h"
#include "analysis/align/align.h"
#include "analysis/tables/tables.h"
#include "cli/common/common.h"
#include "ctf/read/reader.h"

#define CLI_TRACES_MAX 64u

struct cli_traces {
	const char *path[CLI_TRACES_MAX];
	unsigned count;
	char name[CLI_PATH_MAX];	/* the first one's path, or all of them with " + " between them */
	char newest[CLI_PATH_MAX];
};

/**
 * cli_traces() - the operands, or without one the newest trace, as cli_trace(). Return: 0, or -1
 * with @err.
 */
int cli_traces(struct cli_traces *traces, int argc, char **argv, struct kymo_err *err);

/** cli_traces_one() - the trace @path alone, which is lent. */
void cli_traces_one(struct cli_traces *traces, const char *path);

/**
 * cli_traces_distinct() - check that none of them is given twice. Return: 0, or -1 with @err
 * (KYMO_EXIT_USAGE).
 */
int cli_traces_distinct(const struct cli_traces *traces, struct kymo_err *err);

/** cli_operand() - the operands that are traces, as a shell takes them; "" if none was typed.
 * Return: @buffer. */
char *cli_operand(char *buffer, size_t size, int argc, char **argv);

/**
 * cli_traces_open() - open them as one, none of them twice, and compare their clocks: with several
 * hosts that reads everything once
 * @verb: NULL: show no progress
 * @align: set to NULL if all are of one host; to be freed with align_destroy()
 *
 * Return: 0, or -1 with @err filled.
 */
int cli_traces_open(const struct cli_traces *traces, const char *verb,
		    struct kymo_ctf_reader **reader, struct align **align, struct kymo_err *err);

/** cli_align() - the same for a @reader that is open. */
int cli_align(struct kymo_ctf_reader *reader, bool quiet, struct align **align,
	      struct kymo_err *err);

/**
 * cli_print_hosts() - print on stderr which clock the times are of, and by how much the times of
 * each other host may be wrong
 * @align: NULL: one host; nothing is printed
 */
void cli_print_hosts(const char *verb, const struct align *align);

/**
 * cli_tables_warn() - on stderr: what reading the traces of @tables could mend, and that events
 * were lost.
 */
void cli_tables_warn(const char *verb, const struct tables *tables);

/** cli_warn_unseen() - on stderr: what the kernel did not report to the recorder of @accounts. */
void cli_warn_unseen(const char *verb, const struct accounts *accounts);

/**
 * cli_traces_lost() - the sum of events that the recorders counted as lost; warns if accounts
 * cannot be read.
 */
uint64_t cli_traces_lost(const struct cli_traces *traces, const char *verb);

#endif
