/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts, watches and ends recordings on all hosts of a ROS domain through CARET's topics:
 *
 *   LOOKING ── all hosts are found, Start ──▶ WATCHING ── Ctrl-C, or the time is over, End ──▶ ENDING ──▶ DONE
 *
 * Nothing is recorded here. A host that appears during WATCHING also gets a Start.
 */
#ifndef KYMO_CARET_REMOTE_H
#define KYMO_CARET_REMOTE_H

#include <stdint.h>

#include "base/err.h"
#include "caret/agent/hosts.h"

enum remote_phase { REMOTE_LOOKING, REMOTE_WATCHING, REMOTE_ENDING, REMOTE_DONE };

struct remote_options {
	uint32_t domain;     /* ROS_DOMAIN_ID */
	uint32_t frequency;  /* Start's recording_frequency: init events a second, of processes that
				CARET traces */
	unsigned expect;     /* begin when so many hosts are found; 0: when no more appear */
	int64_t duration_ns; /* 0: until a signal */
	bool humble;         /* the older form of ros_discovery_info */
	/* Something has changed. */
	void (*changed)(void *context, enum remote_phase phase, const struct hosts *hosts);
	/* A message about a problem, without a full stop. */
	void (*say)(void *context, const char *text);
	void *context;
};

/**
 * remote_run() - until SIGINT, SIGTERM or SIGHUP; a second signal does not wait for the answers to
 * End
 * @hosts: after hosts_init(); has what is known at the end
 *
 * Return: 0; -1 with @err: the domain cannot be joined, or there is no host (KYMO_EXIT_EMPTY).
 * Context: blocks; one call at a time; catches signals.
 */
int remote_run(const struct remote_options *options, struct hosts *hosts, struct kymo_err *err);

#endif
