/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing of a command is traced: what `kymo record` says at its end, and `kymo run` before. */
#ifndef KYMO_CLI_NOTHING_TRACED_H
#define KYMO_CLI_NOTHING_TRACED_H

#include "recorder/record/record.h"

/**
 * nothing_traced() - say on stderr that there is no trace, the likely reason, and what to do
 *
 * Looks at processes as they were seen while the command ran, at its words, and at the file of its program. Return: the exit status: that
 * of the command if it failed, else KYMO_EXIT_EMPTY. Context: blocks: reads files.
 */
int nothing_traced(const struct record_result *result, const struct record_options *record);

/** nothing_will_be() - say on stderr when @command cannot be traced, as far as its words and its program's file tell. Context: blocks. */
void nothing_will_be(char *const *command);

#endif
