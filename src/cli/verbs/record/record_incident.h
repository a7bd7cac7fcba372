/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo record --flight --incidents`: each snapshot becomes an incident, which is completed in the
 * background.
 * Context of all functions: allocate; block as the disk does. */
#ifndef KYMO_CLI_RECORD_INCIDENT_H
#define KYMO_CLI_RECORD_INCIDENT_H

#include "base/opt.h"
#include "recorder/flight/flight.h"

struct incident_wishes {
	bool on;
	const char *command;
	int64_t limit_ns, rest_ns;
	uint64_t count, bytes;
};

#define INCIDENT_NO_WISHES \
	{ .limit_ns = INT64_C(60000000000), .rest_ns = INT64_C(10000000000), .count = 100, .bytes = UINT64_C(1) << 30 }

/* Rows for the table of options; @type has a member `struct incident_wishes @member`. */
#define INCIDENT_OPTS(type, member)								\
	{ "incidents", 0, OPT_FLAG, offsetof(type, member.on), NULL,				\
	  "with --flight: each snapshot becomes an incident with its cause and page (kymo incidents), in -o DIR", NULL }, \
	{ "on-incident", 0, OPT_TEXT, offsetof(type, member.command), "CMD",			\
	  "a shell command for each incident; its input is incident.json; implies --incidents", NULL },	\
	{ "command-limit", 0, OPT_TIME, offsetof(type, member.limit_ns), "TIME",		\
	  "after this time the command of --on-incident is ended (default 60s)", NULL },	\
	{ "incident-rest", 0, OPT_TIME, offsetof(type, member.rest_ns), "TIME",			\
	  "after an incident, triggers are only counted for TIME (default 10s)", NULL },	\
	{ "incident-count", 0, OPT_U64, offsetof(type, member.count), "N",			\
	  "keep N incidents, the oldest goes first (default 100)", NULL },			\
	{ "incident-size", 0, OPT_SIZE, offsetof(type, member.bytes), "SIZE",			\
	  "keep at most SIZE of incidents; the newest stays (default 1G)", NULL }

/** incident_wished() - are incidents asked for? */
static inline bool incident_wished(const struct incident_wishes *wishes)
{
	return wishes->on || wishes->command;
}

/**
 * record_incident_prepare() - create the directory, and complete what an earlier recorder left
 * @output: -o DIR; NULL: the usual place. @directory: receives the path
 * Return: 0; -1 with @err.
 */
int record_incident_prepare(const struct incident_wishes *wishes, const char *output,
			    char directory[4096], struct kymo_err *err);

/** record_incident_name() - a new incident, and the path of its trace. Return: 0; -1 with @err. */
int record_incident_name(const char *directory, char *path, unsigned size, struct kymo_err *err);

/** record_incident_written() - its trace is complete. @cause: what fired, in a sentence */
void record_incident_written(const struct incident_wishes *wishes, const char *directory,
			     const struct flight_report *report, const char *cause);

/** record_incident_failed() - the trace could not be written: remove what there is. */
void record_incident_failed(const struct flight_report *report);

#endif
