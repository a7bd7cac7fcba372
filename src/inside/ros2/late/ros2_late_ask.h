/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about objects that existed before kymo was attached: what the program's libraries say. */
#ifndef KYMO_HOOKS_LATE_ASK_H
#define KYMO_HOOKS_LATE_ASK_H

#include <stdbool.h>

#include "inside/ros2/late/ros2_late_seen.h"

/* A function of the program's libraries that is looked up once. */
struct kymo_late_symbol {
	const char *name;
	void *known;
	bool looked;
};

/** kymo_late_symbol() - its address; NULL: no such function. @caller: an address in a library that
 * may use it. Context: the first call acquires the dynamic linker's locks. */
void *kymo_late_symbol(struct kymo_late_symbol *symbol, const void *caller);

/**
 * kymo_late_ask() - report the facts of an object of rcl, once
 * @seen: its entry; of every kind but SEEN_GROUP and SEEN_CALLBACK
 * @how: from what seen->node was inferred
 *
 * Context: within a call that has the object as its argument, so that the object is alive; as
 * kymo__log_reserve(). Allocates nothing.
 */
void kymo_late_ask(struct kymo_seen *seen, const char *how, const void *caller);

/** kymo_late_won() - say that @fact about the object at @address was asked, or inferred; @how:
 * NULL: asked. Context: as kymo__log_reserve(). */
void kymo_late_won(uintptr_t address, const char *fact, const char *how);

/** kymo_late_gid() - report that the client has this gid. @rmw: rmw_client_t. Context: as
 * kymo__log_reserve(). */
void kymo_late_gid(const struct kymo_seen *client, const void *rmw, const uint8_t gid[16]);

/** kymo_late_topic() - the topic of the subscription @handle; NULL: not known. Context: as
 * kymo_late_ask(). */
const char *kymo_late_topic(const void *handle, const void *caller);

#define KYMO_BY_EXECUTOR "the executor runs it for this node"
#define KYMO_BY_GROUP "its callback group has objects of this node"
#define KYMO_BY_CALLBACK "a callback of this node used it"
#define KYMO_BY_ORDER "it began after the executor took from its owner"
#define KYMO_BY_PLACE "other objects of this kind have their callback at this place"
#define KYMO_BY_CLASS "it points to an object of this class"
#define KYMO_BY_BUFFER "the ring buffer is in its object"
#define KYMO_BY_TYPE "the type of its function object"

#endif
