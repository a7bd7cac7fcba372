/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that several verbs share that record: what of which processes is recorded, and how a
 * trace directory is kept.
 *
 * Context: not thread-safe. filter_wish() reads the files of --filter-file and allocates;
 * select_processes() asks the system about each process.
 */
#ifndef KYMO_CLI_INPUT_RECORD_OPTIONS_H
#define KYMO_CLI_INPUT_RECORD_OPTIONS_H

#include "base/opt.h"
#include "cli/common/common.h"
#include "recorder/filter/filter_rules.h"
#include "recorder/session/session.h"

/* ---- rules ---- */

#define BLOCK_MAX_NS 1000000000 /* of --block: a program must not stand still for longer */

struct filter_wishes {
	struct opt_list kind[FILTER_KINDS];
	struct opt_list files;
};

/* Rows for the table of options; @type has a member `struct filter_wishes @member`. */
#define FILTER_OPTS(type, member)								\
	{ "node", 'n', OPT_LIST, offsetof(type, member.kind[FILTER_NODE]), "GLOB",		\
	  "record only events of nodes that match; '!GLOB' leaves out; may be repeated", NULL },	\
	{ "topic", 't', OPT_LIST, offsetof(type, member.kind[FILTER_TOPIC]), "GLOB",		\
	  "only of topics and services that match; likewise", NULL },				\
	{ "process", 0, OPT_LIST, offsetof(type, member.kind[FILTER_PROCESS]), "GLOB",		\
	  "only of processes whose name, program or pid matches; likewise", NULL },		\
	{ "event", 'e', OPT_LIST, offsetof(type, member.kind[FILTER_EVENT]), "GLOB",		\
	  "only events whose name matches; likewise", NULL },					\
	{ "category", 'c', OPT_LIST, offsetof(type, member.kind[FILTER_CATEGORY]), "GLOB",	\
	  "only events of categories (ros2, or those of kymo.h) that match; likewise", NULL },	\
	{ "filter-file", 0, OPT_LIST, offsetof(type, member.files), "FILE",			\
	  "more rules, one per line, such as: topic !/rosout", NULL }

/** filter_wish() - add the rules of the options to @rules. Return: 0; -1 with @err. */
int filter_wish(const struct filter_wishes *wishes, struct filter_rules *rules,
		struct kymo_err *err);

/* ---- trace directories ---- */

struct sink_wishes {
	uint64_t rotate_size, max_size;
	int64_t rotate_time;
	bool compress;
	int ctf;	/* 1: CTF 2 */
};

/* Rows; @member of the verb's options struct @type is a struct sink_wishes. */
#define SINK_FILES_OPTS(type, member) \
	{ "rotate-size", 0, OPT_SIZE, offsetof(type, member.rotate_size), "SIZE", \
	  "begin a new chunk in archives/ when the present chunk has SIZE bytes (64M, 1G)", NULL }, \
	{ "rotate-time", 0, OPT_TIME, offsetof(type, member.rotate_time), "TIME", \
	  "begin a new chunk when the present chunk is TIME old (10min, 1h)", NULL }, \
	{ "max-size", 0, OPT_SIZE, offsetof(type, member.max_size), "SIZE", \
	  "remove the oldest complete chunks to keep the whole below SIZE; without --rotate-*, a chunk is an eighth of SIZE", NULL }, \
	{ "compress", 0, OPT_FLAG, offsetof(type, member.compress), NULL, \
	  "compress chunks when they are complete; without chunks, the whole trace at the end", NULL }, \
	{ "ctf", 0, OPT_CHOICE, offsetof(type, member.ctf), NULL, \
	  "the version of CTF (default: 1.8, which all tools read)", "1.8|2" }

/**
 * sink_files_read() - from options to @files. Return: 0; -1 with @err: options that exclude each
 * other.
 */
int sink_files_read(const struct sink_wishes *wishes, struct sink_files *files,
		    struct kymo_err *err);

/** sink_files_any() - is any of the options given? */
bool sink_files_any(const struct sink_wishes *wishes);

/* ---- processes ---- */

/**
 * select_processes() - put the processes of -p into @session
 * @verb: for hints on standard error, if a process is not traced and perhaps never will be
 *
 * Numbers are processes, anything else is a glob of names. The texts in @list stay in use.
 * Return: 0; -1 with @err: not a number, no such process.
 */
int select_processes(const char *verb, const struct opt_list *list, struct session_options *session,
		     struct kymo_err *err);

#endif
