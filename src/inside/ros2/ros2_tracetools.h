/* SPDX-License-Identifier: Apache-2.0 */
/* The real libtracetools, whose functions libkymo-ros2 wraps: its version and its functions. */
#ifndef KYMO_HOOKS_TRACETOOLS_H
#define KYMO_HOOKS_TRACETOOLS_H

#include <stdbool.h>
#include <stdint.h>

struct kymo_tracetools {
	uint32_t version;		/* KYMO_V(major, minor); 0: not determined yet; release */
	uint32_t gid_bytes;		/* bytes to which a gid argument really points */
	bool publish_has_handle;	/* ros_trace_rmw_publish has three arguments, not one */
	bool has_lttng;			/* built with LTTng: its symbol helpers work */
	char text[28];			/* "8.2.2" */
};
extern struct kymo_tracetools kymo_tracetools;

/* KYMO_FORWARD=1: call the wrapped function too, for a user's own LTTng session. */
extern bool kymo_forward;

/**
 * kymo_tracetools_probe() - determine the version, once, and store it in the region
 *
 * Context: blocks (dynamic loader, reads package.xml). Called by a process's first event.
 */
void kymo_tracetools_probe(void);

/**
 * kymo_tracetools_late() - the library was loaded into the running process
 *
 * Its tracetools may have sessions of LTTng already, so its functions are called, too.
 * Context: as dlopen(); before kymo_tracetools_probe().
 */
void kymo_tracetools_late(void);

/**
 * kymo_tracetools_symbol() - the function or variable @name of the real libtracetools; NULL: it has
 * none.
 */
void *kymo_tracetools_symbol(const char *name);

static inline void kymo_tracetools_known(void)
{
	if (__builtin_expect(!__atomic_load_n(&kymo_tracetools.version, __ATOMIC_ACQUIRE), 0))
		kymo_tracetools_probe();
}

#endif
