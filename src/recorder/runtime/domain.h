/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The domain page: which session, if any, is active in a runtime directory. The process that holds
 * the lock on its first byte (claim.h) is the recorder. The lock ends with that process, so the
 * next recorder takes over the page of a dead one.
 */
#ifndef KYMO_RECORDER_DOMAIN_H
#define KYMO_RECORDER_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/region.h"
#include "base/err.h"
#include "recorder/runtime/ros_domains.h"
#include "recorder/runtime/rundir.h"

struct domain {
	int fd;
	struct kymo_domain *page;
	uint32_t generation;		/* of our session; even */
	struct kymo_domain kept;        /* what the page contains, if nobody else changed it */
};

/* What `kymo status` reports of the active recorder. */
struct domain_info {
	bool active;     /* a living recorder holds the domain */
	uint32_t layout; /* its KYMO_ABI_VERSION; if it is not ours, all but pid may be wrong */
	int pid;         /* in its own pid namespace, ... */
	bool elsewhere;  /* ... which is not ours */
	uint32_t generation;
	uint32_t state;			/* enum kymo_state, or anything */
	uint64_t session_tag;
	uint64_t started_ns;
	bool armed;			/* waits for a Start (kymo agent) */
	struct ros_domains ros;		/* in RECORD: only processes of these record */
	char trace_path[1024];
};

/**
 * domain_claim() - become the recorder of @dir
 * @dir: stays open as long as @domain is in use
 *
 * Only the lock is taken, and what a dead recorder left is in WAIT: call domain_announce() to
 * begin.
 * Return: 0; -1 with @err (KYMO_EXIT_FAILED), which names the other recorder. Context: blocks.
 */
int domain_claim(struct domain *domain, const struct rundir *dir, struct kymo_err *err);

/**
 * domain_announce() - publish our session and enter @state
 * @armed: it is in PREPARE until a Start arrives
 * @tag: only processes with this session tag belong to it; 0: all
 * @started_ns: CLOCK_MONOTONIC
 * @trace_path: copied, and cut where the page has no room
 *
 * Context: wait-free, as the next two.
 */
void domain_announce(struct domain *domain, enum kymo_state state, bool armed, uint64_t tag,
		     uint64_t started_ns, const char *trace_path);

/** domain_switch() - the state of processes that start from now on. Without a page: nothing. */
void domain_switch(struct domain *domain, enum kymo_state state);

/** domain_limit() - in RECORD only those of @ros record, from now on. Without a page: nothing. */
void domain_limit(struct domain *domain, const struct ros_domains *ros);

/**
 * domain_mend() - write the page again if somebody has shortened the file
 * Return: 1: it was written again; 0: nothing was wrong; -1 with @err. Context: wait-free if
 * nothing was wrong; else blocks.
 */
int domain_mend(struct domain *domain, const struct rundir *dir, struct kymo_err *err);

/** domain_release() - give the lock back. Zeroed or released domains are fine. Context: blocks. */
void domain_release(struct domain *domain);

/** domain_inspect() - the recorder of @dir, if there is one. Return: 0; -1 with @err. Context:
 * blocks. */
int domain_inspect(const struct rundir *dir, struct domain_info *info, struct kymo_err *err);

#endif
