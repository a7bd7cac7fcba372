/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of a process that were seen since kymo was attached, by address. */
#ifndef KYMO_HOOKS_LATE_SEEN_H
#define KYMO_HOOKS_LATE_SEEN_H

#include <stdbool.h>
#include <stdint.h>

enum kymo_seen_kind {
	SEEN_NODE = 1,
	SEEN_PUBLISHER,
	SEEN_SUBSCRIPTION,
	SEEN_TIMER,
	SEEN_SERVICE,
	SEEN_CLIENT,
	SEEN_GROUP,
	SEEN_CALLBACK,
	SEEN_EXECUTOR,
	SEEN_WITHIN, /* what gets messages within the process, for a subscription */
	SEEN_TIMER_OBJECT, /* rclcpp's object of a timer */
	SEEN_ACTION, /* rclcpp's object of the server of an action */
	SEEN_BUFFER, /* ring buffer of messages within the process */
};

/* What was reported about an object. */
enum kymo_seen_mark {
	SEEN_KNOWN = 1,    /* its facts */
	SEEN_IN_GROUP = 2, /* its callback group */
	SEEN_LOOKED = 4,   /* a group: all its members */
	SEEN_GID = 8,      /* a client: its gid */
};

struct kymo_seen {
	uintptr_t address;  /* 0: free */
	uint32_t state;     /* kind << 8 | enum kymo_seen_mark */
	int64_t since;      /* CLOCK_MONOTONIC, ns, when it was first seen */
	const void *node;   /* rcl_node_t to which it belongs; NULL: not known; of SEEN_BUFFER: when
			     * its owner was searched */
	/*
	 * rclcpp's object; of SEEN_WITHIN: its subscription; of SEEN_BUFFER: its SEEN_WITHIN; of
	 * SEEN_TIMER_OBJECT: rcl_timer_t; of SEEN_EXECUTOR: when it was looked at (is_time());
	 * NULL: not known
	 */
	const void *object;
};

/** kymo_seen_find() - the entry of @address; NULL: never seen. Context: wait-free. */
struct kymo_seen *kymo_seen_find(uintptr_t address);

/** kymo_seen_add() - the entry of @address as a @kind; new if it was never seen, or was an object
 * of another kind. Return: NULL: no room. Context: lock-free. */
struct kymo_seen *kymo_seen_add(uintptr_t address, enum kymo_seen_kind kind);

/** kymo_seen_known() - are its facts known? Context: wait-free. */
static inline bool kymo_seen_known(const struct kymo_seen *seen)
{
	return __atomic_load_n(&seen->state, __ATOMIC_ACQUIRE) & SEEN_KNOWN;
}

static inline enum kymo_seen_kind kymo_seen_kind(const struct kymo_seen *seen)
{
	return (enum kymo_seen_kind)(__atomic_load_n(&seen->state, __ATOMIC_ACQUIRE) >> 8);
}

/** kymo_seen_mark() - may the caller report this about it? Only the first caller may. Context:
 * wait-free. */
bool kymo_seen_mark(struct kymo_seen *seen, enum kymo_seen_mark mark);

static inline bool kymo_seen_take(struct kymo_seen *seen)
{
	return kymo_seen_mark(seen, SEEN_KNOWN);
}

/** kymo_seen_each() - call @visit for each object of a kind. Context: as @visit. */
void kymo_seen_each(enum kymo_seen_kind kind,
		    void (*visit)(struct kymo_seen *seen, void *context), void *context);

/** kymo_seen_gone() - the object at @address ends. Context: wait-free. */
void kymo_seen_gone(uintptr_t address);

/** kymo_seen_forget() - forget all; entries that other threads have keep their addresses. Context:
 * lock-free. */
void kymo_seen_forget(void);

#endif
