/* SPDX-License-Identifier: Apache-2.0 */
/* What is done before and behind the functions of abi/symbols.def. */
#ifndef KYMO_HOOKS_LIBRARIES_H
#define KYMO_HOOKS_LIBRARIES_H

#include <stdint.h>

/* As many words as any of them takes; those that are not used hold what the registers held. */
typedef uintptr_t kymo_function(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e);

/* What a hook was called with. */
struct kymo_call {
	uintptr_t self, first;		/* `this`, and the first argument */
	const void *caller;		/* an address in the code that called */
	kymo_function *real;		/* what it called */
};

/* Some are named by several rows. */
#define SYMBOL(symbol, library, from, to, before, after, tells, text)	\
	void kymo_##before(const struct kymo_call *call);			\
	void kymo_##after(const struct kymo_call *call);
#include "abi/symbols.def"

#endif
