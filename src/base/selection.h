/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes, topics and processes are asked for: lists of globs, as --node, --topic and --process
 * have them. Here is the only place that knows their rule:
 *
 *   A glob is what fnmatch() takes ('*' also matches '/'); a full name may be written without its
 *   first slash. '!GLOB' leaves out. A name is selected when one of the globs matches it, or there
 *   are only such that leave out; and none of those that leave out matches it.
 *
 * What has no name (the node of a callback whose init events are not in the trace) is selected
 * unless one is asked for.
 */
#ifndef KYMO_BASE_SELECTION_H
#define KYMO_BASE_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"

struct selection {
	struct opt_list node, topic, process;
};

/** selection_matches() - does @name pass @globs? @name: NULL or "" when there is none. */
bool selection_matches(const struct opt_list *globs, const char *name);

/** selection_leaves_out() - does one of the '!GLOB' of @globs match @name? */
bool selection_leaves_out(const struct opt_list *globs, const char *name);

/* Of a selection, which may be NULL: all. A process goes by its name, or by its pid in digits. */
bool selection_node(const struct selection *selection, const char *name);
bool selection_topic(const struct selection *selection, const char *name);
bool selection_process(const struct selection *selection, const char *name, int32_t pid);

/** selection_any() - is anything left out at all? */
bool selection_any(const struct selection *selection);

/** selection_objects() - are nodes or topics? */
bool selection_objects(const struct selection *selection);

#endif
