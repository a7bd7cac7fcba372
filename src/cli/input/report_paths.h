/* SPDX-License-Identifier: Apache-2.0 */
/* The paths that --architecture and --path name. */
#ifndef KYMO_CLI_REPORT_PATHS_H
#define KYMO_CLI_REPORT_PATHS_H

#include "caret/paths/caret_paths.h"
#include "base/opt.h"

struct report_paths {
	struct architecture *architecture;	/* NULL: nothing was named */
	const struct arch_path **chosen;
	struct caret_options caret;		/* paths 0: nothing was named */
};

/**
 * report_paths_read() - read what the options name
 * @file: --architecture, or NULL; @path: --path; none: all paths of the file
 *
 * Context: allocates; reads @file and blocks.
 * Return: 0, or -1 with @err filled. report_paths_free() is due in both cases.
 */
int report_paths_read(struct report_paths *paths, const char *file, const struct opt_list *path,
		      struct kymo_err *err);
void report_paths_free(struct report_paths *paths);

#endif
