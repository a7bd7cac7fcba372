/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is added to an incident after its snapshot: the finding, the page, the summary, and the
 * command of --on-incident.
 */
#ifndef KYMO_CLI_INCIDENTS_FINISH_H
#define KYMO_CLI_INCIDENTS_FINISH_H

#include <stdint.h>

#include "cli/common/common.h"

/** incidents_directory() - $KYMO_INCIDENTS, else "incidents" where traces are. Return: 0; -1 with @err. */
int incidents_directory(char path[CLI_PATH_MAX], struct kymo_err *err);

/**
 * incidents_finish() - complete all incidents in @directory that are "written"; one process at a time
 * @command: run by the shell for each; NULL: none. It is ended after @limit_ns.
 *
 * Return: 0; -1 with @err. Context: blocks; starts processes, and waits for them.
 */
int incidents_finish(const char *directory, const char *command, int64_t limit_ns,
		     struct kymo_err *err);

/**
 * incidents_finish_later() - the same in another process with low priority. It outlives this one.
 */
void incidents_finish_later(const char *directory, const char *command, int64_t limit_ns);

#endif
