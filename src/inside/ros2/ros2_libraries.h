/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of abi/symbols.def: what is done before and after them, and where they are. */
#ifndef KYMO_HOOKS_LIBRARIES_H
#define KYMO_HOOKS_LIBRARIES_H

#include <stdint.h>

/* As many words as any of them takes; unused words contain what the registers contained. */
typedef uintptr_t kymo_function(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e);

/* What a hook was called with. */
struct kymo_call {
	uintptr_t self, first;		/* `this`, and the first argument */
	const void *caller;		/* an address in the code that called */
	kymo_function *real;		/* what it called */
};

/* Some functions are named by several rows. */
#define SYMBOL(symbol, library, from, to, before, after, tells, text)	\
	void kymo_##before(const struct kymo_call *call);			\
	void kymo_##after(const struct kymo_call *call);
#include "abi/symbols.def"

/**
 * kymo_below() - the function @name that @caller would have called without us
 * @known: where the address is kept, NULL at first
 * @caller: an address in the code that called the hook
 * @self: the hook, which is never the answer
 *
 * The function comes after ours in the global scope. Or @caller's library brought the function along, loaded into a scope of its
 * own, as Python and plugin loaders do: RTLD_NEXT does not look there.
 *
 * Return: NULL: nowhere.
 * Context: any thread; takes the loader's locks the first time, one load afterwards.
 */
void *kymo_below(void **known, const char *name, const void *caller, const void *self);

/*
 * When was a message written? From 8.0 on tracetools reports that, in rmw_publish. Before 8.0, functions of the middleware do, which
 * the same thread calls next (ros2_dds.c):
 *
 *   ros_trace_rmw_publish(message)  ──▶  dds_write(writer, message)        CycloneDDS
 *                                        WriterHistory::set_fragments()    Fast DDS
 *
 * This is the message that the thread is about to write, if its rmw_publish was recorded; NULL: none.
 */
extern __thread const void *kymo_message_written __attribute__((visibility("hidden")));

#endif
