/* SPDX-License-Identifier: Apache-2.0 */
/* See selection.h. */
#include "base/selection.h"

#include <stdio.h>

#include "base/text.h"

/* Does any of the globs of one kind, those that leave out or the others, match? */
static bool any(const struct opt_list *globs, bool leave_out, const char *name)
{
	for (unsigned i = 0; i < globs->count; i++) {
		const char *glob = globs->item[i];

		if ((*glob == '!') == leave_out && text_ros_glob(glob + leave_out, name))
			return true;
	}
	return false;
}

static bool only_leaves_out(const struct opt_list *globs)
{
	for (unsigned i = 0; i < globs->count; i++)
		if (*globs->item[i] != '!')
			return false;
	return true;
}

bool selection_matches(const struct opt_list *globs, const char *name)
{
	if (!globs->count)
		return true;
	if (!name || !*name)
		return only_leaves_out(globs);
	return (only_leaves_out(globs) || any(globs, false, name)) && !any(globs, true, name);
}

bool selection_leaves_out(const struct opt_list *globs, const char *name)
{
	return name && any(globs, true, name);
}

bool selection_node(const struct selection *selection, const char *name)
{
	return !selection || selection_matches(&selection->node, name);
}

bool selection_topic(const struct selection *selection, const char *name)
{
	return !selection || selection_matches(&selection->topic, name);
}

bool selection_process(const struct selection *selection, const char *name, int32_t pid)
{
	const struct opt_list *globs = selection ? &selection->process : NULL;
	char digits[16];

	if (!globs || !globs->count)
		return true;
	(void)snprintf(digits, sizeof(digits), "%d", pid);
	return (only_leaves_out(globs) || any(globs, false, name) || any(globs, false, digits)) &&
	       !any(globs, true, name) && !any(globs, true, digits);
}

bool selection_any(const struct selection *selection)
{
	return selection && (selection_objects(selection) || selection->process.count);
}

bool selection_objects(const struct selection *selection)
{
	return selection && (selection->node.count || selection->topic.count);
}
