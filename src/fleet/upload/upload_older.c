/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Incidents from before a webhook was set. Whoever sets one wants to know what happens from now on,
 * not of the fifty incidents that the robot keeps.
 *
 * What is complete when kymo serve sees a webhook first gets a mark that it is older. Then the
 * directory of all incidents gets the mark of the webhook itself: an incident that is complete and
 * has no mark when kymo serve starts again is one that happened meanwhile. Times are not compared,
 * as a robot's clock may be set.
 */
#include <stdio.h>
#include <unistd.h>

#include "fleet/upload/upload_internal.h"

#define MARK_MAX (UPLOAD_PLACE_MAX + 16)

static const char *older_than(char mark[MARK_MAX], const char *webhook)
{
	(void)snprintf(mark, MARK_MAX, "older than %s", webhook);
	return mark;
}

bool upload_is_older(const char *path, const char *webhook)
{
	char mark[MARK_MAX];

	return incident_is_uploaded(path, older_than(mark, webhook));
}

/* Earlier versions of kymo posted all incidents, and marked no directory. */
static bool has_posted(const struct incidents *incidents, const char *webhook)
{
	for (unsigned i = 0; i < incidents->count; i++)
		if (incident_is_uploaded(incidents->item[i].path, webhook))
			return true;
	return false;
}

static int mark_all(struct upload_older *older, const char *webhook,
		    const struct incidents *incidents, struct kymo_err *err)
{
	char mark[MARK_MAX];

	for (unsigned i = 0; i < incidents->count; i++) {
		const struct incident *incident = &incidents->item[i];

		if (!incident_is_ready(incident))
			continue;
		if (!upload_is_older(incident->path, webhook) &&
		    incident_set_uploaded(incident->path, older_than(mark, webhook), err))
			return -1;
		older->count++;
	}
	return 0;
}

int upload_leave_out_older(struct upload_older *older, const char *directory, const char *webhook,
			   const struct incidents *incidents, struct kymo_err *err)
{
	if (older->known)
		return 0;
	if (access(directory, F_OK) < 0) {
		older->is_new = true;
		return 0;
	}
	older->count = 0;
	if (!incident_is_uploaded(directory, webhook)) {
		if (!older->is_new && !has_posted(incidents, webhook) &&
		    mark_all(older, webhook, incidents, err))
			return -1;
		if (incident_set_uploaded(directory, webhook, err))
			return -1;
	}
	older->known = true;
	return 0;
}
