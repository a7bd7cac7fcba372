/* SPDX-License-Identifier: Apache-2.0 */
/* The paths that --architecture and --path name; see report_paths.h. */
#include "cli/input/report_paths.h"

#include <stdlib.h>
#include <string.h>

static int know_path(struct architecture *architecture, const char *text, struct kymo_err *err)
{
	if (architecture_find_path(architecture, text))
		return 0;
	if (!strstr(text, "->"))
		return err_set(err, KYMO_EXIT_USAGE, "unknown path '%s'%s", text,
			       architecture->paths ?
				       "; the architecture file names other paths" :
				       "; write '/node -> /topic -> /node', or name a file with --architecture");
	return architecture_path(architecture, text, err);
}

int report_paths_read(struct report_paths *paths, const char *file, const struct opt_list *path,
		      struct kymo_err *err)
{
	unsigned count = path->count;

	if (!file && !count)
		return 0;
	if (file && architecture_read(&paths->architecture, file, err))
		return -1;
	if (!file)
		paths->architecture = architecture_new();
	if (!paths->architecture)
		return err_no_memory(err);
	for (unsigned i = 0; i < path->count; i++)
		if (know_path(paths->architecture, path->item[i], err))
			return -1;
	if (!count)
		count = paths->architecture->paths;
	if (!count)
		return err_set(err, KYMO_EXIT_USAGE, "%s names no path; name one with "
			       "--path '/node -> /topic -> /node'", file);
	paths->chosen = calloc(count, sizeof(*paths->chosen));
	if (!paths->chosen)
		return err_no_memory(err);
	/* All paths exist now, so their addresses stay the same. */
	for (unsigned i = 0; i < count; i++)
		paths->chosen[i] = path->count ? architecture_find_path(paths->architecture,
									path->item[i]) :
						 &paths->architecture->path[i];
	paths->caret = (struct caret_options){
		.architecture = paths->architecture,
		.path = paths->chosen,
		.paths = count,
		.begin_ns = INT64_MIN,
		.end_ns = INT64_MAX,
	};
	return 0;
}

void report_paths_free(struct report_paths *paths)
{
	architecture_free(paths->architecture);
	free(paths->chosen);
	*paths = (struct report_paths){ .architecture = NULL };
}
