/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo record --hosts`: begins, shows and ends the recordings of all hosts from one place. */
#ifndef KYMO_CLI_RECORD_HOSTS_H
#define KYMO_CLI_RECORD_HOSTS_H

#include "cli/common/common.h"

struct hosts_wishes {
	bool hosts;
	uint64_t expect, frequency;	/* 0: not given */
	const char *domain;
};

/* Rows; @member of the verb's options struct @type is a struct hosts_wishes. */
#define RECORD_HOSTS_OPTS(type, member) \
	{ "hosts", 0, OPT_FLAG, offsetof(type, member.hosts), NULL, \
	  "record nothing on this machine: begin, watch and end the recordings of all hosts where \"kymo agent\" runs", NULL }, \
	{ "expect", 0, OPT_U64, offsetof(type, member.expect), "N", \
	  "with --hosts: begin when N hosts have answered (default: when no more answer)", NULL }, \
	{ "domain", 0, OPT_TEXT, offsetof(type, member.domain), "N", \
	  "with --hosts: ROS domain (default $ROS_DOMAIN_ID, else 0)", NULL }, \
	{ "recording-frequency", 0, OPT_U64, offsetof(type, member.frequency), "N", \
	  "with --hosts: init events a second of processes that CARET itself traces (default 100)", NULL }

/** record_hosts_any() - is an option given that requires --hosts? */
bool record_hosts_any(const struct hosts_wishes *wishes);

/**
 * record_hosts() - until Ctrl-C or @duration_ns, 0: for ever
 * @format: enum table_format
 *
 * Return: exit status; -1 with @err. Context: blocks; only in the program that speaks DDS,
 * caret_enter().
 */
int record_hosts(const struct hosts_wishes *wishes, int64_t duration_ns, int format, bool quiet,
		 struct kymo_err *err);

#endif
