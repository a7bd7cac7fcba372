/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/report/report_wishes.h"

#include "report/sections/expect.h"

/* The names of --realtime and of the files of --realtime-file. */
static int read_realtime(struct realtime_names *names, const struct report_wishes *wishes,
			 struct kymo_err *err)
{
	for (unsigned i = 0; i < wishes->realtime.count; i++)
		if (realtime_names_add(names, wishes->realtime.item[i], err))
			return err_wrap(err, "--realtime");
	for (unsigned i = 0; i < wishes->realtime_file.count; i++)
		if (realtime_names_file(names, wishes->realtime_file.item[i], err))
			return -1;
	return 0;
}

int report_wishes_read(const struct report_wishes *wishes, struct report_options *report,
			struct realtime_names *realtime, struct report_paths *paths,
			struct kymo_err *err)
{
	if (read_realtime(realtime, wishes, err) ||
	    report_paths_read(paths, wishes->architecture, &wishes->path, err))
		return -1;
	report->realtime = (const char *const *)realtime->name;
	report->realtimes = realtime->count;
	if (paths->caret.paths) {
		paths->caret.first_callback = wishes->first_callback;
		paths->caret.last_callback = wishes->last_callback;
		report->paths = &paths->caret;
	}
	for (unsigned i = 0; i < wishes->expect.count; i++)
		if (expectations_read(&report->expect, wishes->expect.item[i], err))
			return -1;
	return report_check(report, err);
}
