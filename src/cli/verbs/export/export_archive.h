/* SPDX-License-Identifier: Apache-2.0 */
/* Several traces as one archive of Perfetto files, for kymo export. */
#ifndef KYMO_CLI_EXPORT_ARCHIVE_H
#define KYMO_CLI_EXPORT_ARCHIVE_H

#include <stdbool.h>

#include "base/err.h"
#include "cli/verbs/export/export_perfetto.h"

/**
 * export_archive() - write @count traces to @request->output, each by itself
 * @request: for all of them; its trace and name are not looked at
 * @trace: their paths; @count at least 1
 * @lost: set when a trace tells of lost events
 *
 * What fails leaves no archive that was not there before.
 * Return: 0; -1 with @err. Context: allocates, blocks.
 */
int export_archive(const struct export_perfetto *request, char *const *trace, unsigned count, bool *lost,
		   struct kymo_err *err);

#endif
