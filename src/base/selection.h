/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selected nodes, topics and processes: the lists of globs of --node, --topic and --process.
 * Examples:
 *
 *   --node '/planner*'                    all nodes that begin with /planner
 *   --node '!rviz*'                       all nodes but those
 *   --node '/planner*' --node '!*_test'   those that the first matches and the second does not
 *
 * Only this file knows the rule: a glob is as in fnmatch(), and '*' also matches '/'. The first
 * slash of a full name may be left out. '!GLOB' leaves out what matches. A name is selected if no
 * '!GLOB' matches it, and a GLOB matches it or there are only '!GLOB's.
 *
 * An object without a name (the node of a callback whose init events are not in the trace) is
 * selected if there is no GLOB.
 *
 * Context of all functions: any thread; no system calls.
 */
#ifndef KYMO_BASE_SELECTION_H
#define KYMO_BASE_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"

struct selection {
	struct opt_list node, topic, process;
};

/** selection_matches() - whether @globs select @name, by the rule above. @name: NULL or "": it has
 * none. */
bool selection_matches(const struct opt_list *globs, const char *name);

/** selection_leaves_out() - whether one of the '!GLOB' of @globs matches @name. */
bool selection_leaves_out(const struct opt_list *globs, const char *name);

/* Whether @selection selects this object. NULL selects all. A process matches by its name or by its
 * pid in digits. */
bool selection_node(const struct selection *selection, const char *name);
bool selection_topic(const struct selection *selection, const char *name);
bool selection_process(const struct selection *selection, const char *name, int32_t pid);

/** selection_any() - whether there is any glob. */
bool selection_any(const struct selection *selection);

/** selection_objects() - whether there are globs of nodes or topics. */
bool selection_objects(const struct selection *selection);

#endif
