/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks that only a process has to which kymo was attached (late/ros2_late.c). No library exports
 * them: a program that was started with kymo calls these functions directly.
 */
#ifndef KYMO_HOOKS_LATE_H
#define KYMO_HOOKS_LATE_H

#include <stdint.h>

/* All of them pass six words through; none of the functions has more. */
typedef uintptr_t kymo_late_function(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
				     uintptr_t e, uintptr_t f);

struct kymo_late_hook {
	const char *name;         /* of the function */
	kymo_late_function *ours; /* what the loaded objects call */
	uintptr_t *next; /* what `ours` calls: kymo's hook of that name, or else the function; set
			    before an object calls `ours` */
};

extern const struct kymo_late_hook kymo_late_hook[] __attribute__((visibility("hidden")));
extern const unsigned kymo_late_hooks __attribute__((visibility("hidden")));

/**
 * kymo_late_starts() - a callback is about to begin that the program does not report itself
 * @callback: its address in the trace
 *
 * Does nothing in a program that was started with kymo. Context: as kymo__log_reserve() when the
 * callback is seen for the first time.
 */
void kymo_late_starts(uintptr_t callback, const void *caller);
/** kymo_late_ends() - it ended. Context: wait-free. */
void kymo_late_ends(void);

/** kymo_late_uses() - what this thread publishes from now on is of this rcl_node_t, which exists;
 * NULL: no longer. Does nothing in a program that was started with kymo. Context: wait-free. */
void kymo_late_uses(const void *node);

/** kymo_late_forget() - forget all objects: the process did not report meanwhile which it
 * destroyed. Context: no thread calls the hooks. */
void kymo_late_forget(void);

/**
 * kymo_late_response() - the client whose response this thread takes, or whose request it sends,
 * has this gid, which only responses (Fast DDS: requests) say of a client that existed before
 * @rmw: rmw_client_t
 *
 * Context: within rcl_take_response() or rcl_send_request(); as kymo__log_reserve() the first time.
 */
void kymo_late_response(const void *rmw, const uint8_t gid[16]);

/** kymo_late_sends() - this thread sends a request of the rmw_client_t @rmw; NULL: it was sent.
 * Context: any thread; wait-free. */
void kymo_late_sends(const void *rmw);

#endif
