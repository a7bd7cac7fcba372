/* SPDX-License-Identifier: Apache-2.0 */
/* The incidents that a flight recorder on this machine kept, for kymo serve: as JSON, and how many.
 * Not for others. */
#ifndef KYMO_SERVE_INCIDENTS_H
#define KYMO_SERVE_INCIDENTS_H

#include <stdint.h>
#include <stdio.h>

#include "incident/incident.h"

struct serve_incidents {
	const char *directory;		/* NULL: none */
	char last[INCIDENT_NAME_MAX];	/* the newest so far */
	uint64_t total;			/* since serving began, with those that existed then */
	uint64_t kept, bytes;
};

/** serve_incidents_count() - what is there now. Context: allocates, blocks as the disk does. */
void serve_incidents_count(struct serve_incidents *incidents);

/** serve_incidents_put() - all that are kept as a JSON array, newest first, each with its name. */
void serve_incidents_put(const struct serve_incidents *incidents, FILE *out);

#endif
