/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo record --flight`: its options, and what it prints for each snapshot.
 *
 * Context of all functions: the main thread, before or after the recording; flight_prepare()
 * allocates, and creates directories; the others block as the terminal or the disk does.
 */
#ifndef KYMO_CLI_RECORD_FLIGHT_H
#define KYMO_CLI_RECORD_FLIGHT_H

#include "base/opt.h"
#include "cli/verbs/record/record_incident.h"
#include "recorder/record/record.h"

/* Filled by the command line, after FLIGHT_NO_WISHES. */
struct flight_wishes {
	int64_t window, post;		/* -1: not given */
	uint64_t memory, snapshots;
	struct opt_list triggers;
	struct incident_wishes incident;
};

#define FLIGHT_NO_WISHES { .window = -1, .post = -1, .incident = INCIDENT_NO_WISHES }

/* Rows for the table of options; @type has a member `struct flight_wishes @member`. */
#define FLIGHT_OPTS(type, member)								\
	{ "flight", 0, OPT_TIME, offsetof(type, member.window), "TIME",				\
	  "keep only the last TIME in memory, and write it when a trigger or a user asks for it", NULL },	\
	{ "trigger", 0, OPT_LIST, offsetof(type, member.triggers), "EXPR",			\
	  "write a snapshot when this happens; may be repeated; \"help\" lists all triggers", NULL },		\
	{ "post", 0, OPT_TIME, offsetof(type, member.post), "TIME",				\
	  "record for TIME after a trigger before its snapshot is written (default 1s)", NULL },	\
	{ "flight-memory", 0, OPT_SIZE, offsetof(type, member.memory), "SIZE",			\
	  "memory for --flight (default 256M)", NULL },						\
	{ "snapshots", 0, OPT_U64, offsetof(type, member.snapshots), "N",			\
	  "end after N snapshots; a command receives SIGINT then", NULL },			\
	INCIDENT_OPTS(type, member.incident)

/* While it runs. */
struct flight_show {
	struct flight_options options;
	const char *output;		/* -o; NULL: a session of its own for each */
	int format;			/* enum table_format */
	bool terminal;			/* a progress line may be on stderr */
	bool made;			/* output is a directory of our making */
	unsigned written, failed;
	uint64_t dropped;		/* in snapshots */
	const struct incident_wishes *incident;	/* NULL: snapshots become no incidents */
	char directory[4096];		/* of incidents */
};

/**
 * flight_prepare() - options of the recorder
 * Return: 0, with @record changed if --flight was given; -1 with @err.
 */
int flight_prepare(const struct flight_wishes *wishes, struct flight_show *show,
		   struct record_options *record, struct kymo_err *err);

/** flight_help() - was "--trigger help" given? Then the list of triggers is printed. */
bool flight_help(const struct flight_wishes *wishes);

/** flight_tidy() - remove the directory that was created for snapshots, if there are none. */
void flight_tidy(const struct flight_show *show);

/**
 * flight_summary() - print the result on stderr. Return: exit status, if the command did not fail.
 */
int flight_summary(const struct flight_show *show, const struct record_result *result, bool strict,
		   bool quiet);

#endif
