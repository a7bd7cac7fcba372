/* SPDX-License-Identifier: Apache-2.0 */
/* Options that say what is recorded, the same in each verb that takes them. */
#ifndef KYMO_CLI_FILTER_OPTIONS_H
#define KYMO_CLI_FILTER_OPTIONS_H

#include "base/opt.h"
#include "recorder/filter/filter_rules.h"

struct filter_wishes {
	struct opt_list kind[FILTER_KINDS];
	struct opt_list files;
};

/* Rows for the table of options; @type has a member `struct filter_wishes @member`. */
#define FILTER_OPTS(type, member)								\
	{ "node", 'n', OPT_LIST, offsetof(type, member.kind[FILTER_NODE]), "GLOB",		\
	  "record only events of nodes that match, '!GLOB': only of others; may be given several times", NULL },	\
	{ "topic", 't', OPT_LIST, offsetof(type, member.kind[FILTER_TOPIC]), "GLOB",		\
	  "only of topics and services that match, likewise", NULL },				\
	{ "process", 0, OPT_LIST, offsetof(type, member.kind[FILTER_PROCESS]), "GLOB",		\
	  "only of processes whose name, program or pid matches, likewise", NULL },		\
	{ "event", 'e', OPT_LIST, offsetof(type, member.kind[FILTER_EVENT]), "GLOB",		\
	  "only events whose name matches, likewise", NULL },					\
	{ "category", 'c', OPT_LIST, offsetof(type, member.kind[FILTER_CATEGORY]), "GLOB",	\
	  "only events of categories (ros2, or those of kymo.h) that match, likewise", NULL },	\
	{ "filter-file", 0, OPT_LIST, offsetof(type, member.files), "FILE",			\
	  "further rules, one a line: topic !/rosout", NULL }

/** filter_wish() - the rules that were asked for, added to @rules. Return: 0; -1 with @err. */
int filter_wish(const struct filter_wishes *wishes, struct filter_rules *rules, struct kymo_err *err);

#endif
