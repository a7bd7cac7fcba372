/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command is not traced: what `kymo record` reports at its end, and `kymo run` before it begins.
 */
#ifndef KYMO_CLI_NOTHING_TRACED_H
#define KYMO_CLI_NOTHING_TRACED_H

#include "recorder/record/record.h"

/**
 * nothing_traced() - report on stderr that there is no trace, the likely reason, and what to do
 *
 * The reason comes from processes seen while the command ran, from its words, and from the file of
 * its program. Return: the exit status: that of the command if it failed, else KYMO_EXIT_EMPTY.
 * Context: blocks: reads files.
 */
int nothing_traced(const struct record_result *result, const struct record_options *record);

/**
 * warn_foreign() - report on stderr if @command must run without LD_PRELOAD, see
 * launch_is_foreign()
 *
 * Return: whether it must. Context: blocks.
 */
bool warn_foreign(const char *verb, char *const *command);

/**
 * rclpy_check() - if KYMO_RCLPY=1 asks for the callbacks of rclpy: does the Python that runs
 * @command load the hook for them?
 * @environment: that of the command
 *
 * Return: 0: yes, or nobody asked, or no Python runs the command; -1 with @err. Context: blocks:
 * starts that Python for a moment.
 */
int rclpy_check(char *const *command, char *const *environment, struct kymo_err *err);

/**
 * warn_not_traceable() - report on stderr if the words of @command or its program's file show that
 * it cannot be traced. Context: blocks.
 */
void warn_not_traceable(char *const *command);

#endif
