/* SPDX-License-Identifier: Apache-2.0 */
/* The page for browsers. See export.h. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/input/report_page.h"
#include "cli/verbs/export/export.h"

int export_page(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	char made[CLI_PATH_MAX + 16], command[4096], word[4 * CLI_PATH_MAX];
	const char *output = export_output(request, ".html", made);
	char *trace[CLI_TRACES_MAX];
	const struct report_page_request page = {
		.verb = "export",
		.command = command,
		.output = output,
		.overwrite = request->force,
		.quiet = request->quiet,
		.lost = lost,
		.times = &request->times,
	};
	size_t used;
	int status;

	snprintf(command, sizeof(command), "kymo export");
	for (unsigned i = 0; i < request->traces.count; i++) {
		trace[i] = (char *)request->traces.path[i];
		used = strlen(command);
		snprintf(command + used, sizeof(command) - used, " %s",
			 text_shell(word, sizeof(word), trace[i]));
	}
	used = strlen(command);
	snprintf(command + used, sizeof(command) - used, " -o %s",
		 text_shell(word, sizeof(word), output));
	status = report_page_write(&page, (int)request->traces.count, trace, err);
	return status < 0 ? -1 : 0;
}
