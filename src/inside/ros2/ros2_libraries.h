/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks of the functions of abi/symbols.def: kymo runs code before and after such a function, and
 * finds the real function. */
#ifndef KYMO_HOOKS_LIBRARIES_H
#define KYMO_HOOKS_LIBRARIES_H

#include <stdbool.h>
#include <stdint.h>

/* A wrapped function. None of them has more than six words of arguments; surplus words just pass
 * through the registers. */
typedef uintptr_t kymo_function(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
				uintptr_t f);

/* A call of a hook. */
struct kymo_call {
	uintptr_t self, first, second,
		third; /* `this`, and the first arguments; in C, the first four arguments */
	const void *caller;		/* an address in the calling code */
	kymo_function *real;		/* the wrapped function */
	uintptr_t result;               /* after the function: what it returned */
	uintptr_t kept[2]; /* of kymo_<before>(), for kymo_<after>() of the same call */
};

/* Several rows may name the same function of kymo: then it is declared several times. */
#define SYMBOL(symbol, library, from, to, before, after, tells, text) \
	void kymo_##before(struct kymo_call *call);                   \
	void kymo_##after(struct kymo_call *call);
#include "abi/symbols.def"

/**
 * kymo_below() - the function @name that @caller would have called without kymo
 * @known: variable that keeps the address for later calls; NULL at first
 * @caller: an address in the code that called the hook
 * @self: the hook, which is never returned
 *
 * First the function is searched after libkymo-ros2 in the global scope (RTLD_NEXT), then in
 * @caller's library and the libraries that it was linked with. The second search is for libraries
 * in a scope of their own, which Python and plugin loaders create; RTLD_NEXT does not search there.
 * Last it is searched in all loaded libraries, since a tail call hides the caller.
 * In a process that kymo was attached to, the search begins with the function that the objects
 * called before (ros2_slots.h).
 *
 * Return: NULL: not found.
 * Context: any thread; acquires the loader's locks until the function is found, one load
 * afterwards.
 */
void *kymo_below(void **known, const char *name, const void *caller, const void *self);

/**
 * kymo_handle_of() - the rcl handle of the rclcpp object to which @smart_pointer points
 * @known: as for kymo_below()
 * @getter: mangled name of the member function of rclcpp that returns a shared_ptr to the handle
 *
 * Return: NULL: no object, or no such function.
 * Context: as kymo_below().
 */
const void *kymo_handle_of(void **known, const char *getter, uintptr_t smart_pointer,
			   const void *caller);

/*
 * The time at which a message is written. From version 8.0 on, tracetools reports the time in
 * rmw_publish. Before 8.0, kymo wraps functions of the middleware, which the same thread calls
 * next, and records the time there (ros2_dds.c):
 *
 *   ros_trace_rmw_publish(message)  ──▶  dds_write(writer, message)        CycloneDDS
 *                                        WriterHistory::set_fragments()    Fast DDS
 *   rmw_publish_serialized_message(message)  ──▶  dds_writecdr(writer, serialized)   CycloneDDS
 *   rmw_publish_loaned_message(message)  WriterHistory::set_fragments()    Fast DDS
 *
 * kymo_message_written is the message that the thread is about to write, if its rmw_publish was
 * recorded; NULL: none.
 */
extern __thread const void *kymo_message_written __attribute__((visibility("hidden")));

/**
 * kymo_written_at() - the message that this thread is about to write, if any, has this time
 * @ns: ns since the epoch
 *
 * Context: as kymo__reserve().
 */
void kymo_written_at(uint64_t ns);

/** kymo_bytes_written() - rmw_publish_serialized_message() or rmw_publish_loaned_message() is about
 * to write @message: what its tracepoint reports from Jazzy on. Context: as kymo__reserve(). */
void kymo_bytes_written(const void *message);

/* The tracepoint rmw_take was called in this thread. */
extern __thread bool kymo_take_told __attribute__((visibility("hidden")));

/* Of a CacheChange_t of Fast DDS. */
struct kymo_change {
	const uint8_t *writer;	/* the gid of the writer, 16 bytes */
	int64_t source_ns;	/* source timestamp, ns since the epoch */
};

/**
 * kymo_change_read() - what the hooks need of a CacheChange_t
 * @call: a call of a function of Fast DDS
 *
 * Return: false: it has no timestamp, or the layout of this version is not known.
 * Context: wait-free after the first call, which acquires the loader's locks.
 */
bool kymo_change_read(struct kymo_change *its, const struct kymo_call *call, const void *change);

#endif
