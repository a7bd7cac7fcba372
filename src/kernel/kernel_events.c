/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the table's events are recorded: the usual ones, or those that the user names. */
#include <stdio.h>
#include <string.h>

#include "base/selection.h"
#include "kernel/kernel.h"
#include "kernel/kernel_format.h"

/* Many, of the whole machine, and not needed for anything else. */
static bool must_be_named(unsigned event)
{
	const char *system = kevents[event].system;

	return system && (strcmp(system, "block") == 0 || strcmp(system, "net") == 0);
}

static bool names_any(const struct opt_list *globs)
{
	for (unsigned i = 0; globs && i < globs->count; i++)
		if (*globs->item[i] != '!')
			return true;
	return false;
}

bool events_wanted(unsigned event, const struct opt_list *globs)
{
	if (!names_any(globs) && must_be_named(event))
		return false;
	return !globs || selection_matches(globs, kevents[event].name);
}

bool events_select(unsigned event)
{
	switch (event) {
	case KEVENT_ID_sched_switch:
	case KEVENT_ID_sched_waking:
	case KEVENT_ID_sched_wakeup_new:
	case KEVENT_ID_sched_migrate_task:
	case KEVENT_ID_sched_process_fork:
		return true;
	default:
		return false;
	}
}

static bool is_choice(unsigned event)
{
	return !calls_is_one(event) && !kevents[event].counts;
}

int kernel_events_check(const struct opt_list *globs, struct kymo_err *err)
{
	char names[1024] = "";
	size_t used = 0;
	unsigned e;

	for (unsigned i = 0; i < globs->count; i++) {
		const char *glob = globs->item[i] + (*globs->item[i] == '!');
		const struct opt_list one = { .item = { glob }, .count = 1 };

		for (e = 0; e < kevent_count &&
			    !(is_choice(e) && selection_matches(&one, kevents[e].name));
		     e++)
			;
		if (e < kevent_count)
			continue;
		for (e = 0; e < kevent_count && used < sizeof(names) - KEVENT_STRING_MAX; e++)
			if (is_choice(e))
				used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
							 used ? ", " : "", kevents[e].name);
		return err_set(err, KYMO_EXIT_USAGE,
			       "--kernel-event: no event of the kernel that kymo records is named "
			       "'%.100s'; they are: %s",
			       glob, names);
	}
	return 0;
}
