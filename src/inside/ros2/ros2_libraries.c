/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of abi/symbols.def. They are C++, and this is C: by the Itanium C++ ABI all of them take
 * words in registers, and return one or nothing.
 *
 * Context: as kymo__log_reserve() and kymo_reserve_sp(); the first call of each takes the loader's locks. An exception
 * goes through: what is done behind the call is not done then.
 */
#include "inside/ros2/ros2_libraries.h"

#include "inside/ros2/ros2_below.h"
#include "inside/tracer/tracer_ring.h"

void kymo_nothing(const struct kymo_call *call)
{
	(void)call;
}

#define SYMBOL(symbol, library, from, to, before, after, tells, text)			\
KYMO_EXPORT kymo_function symbol;							\
KYMO_EXPORT uintptr_t symbol(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e)	\
{											\
	static void *known;								\
	const void *caller = __builtin_return_address(0);				\
	kymo_function *real = (kymo_function *)kymo_below(&known, #symbol, caller, (void *)symbol);	\
	const struct kymo_call call = { a, b, caller, real };				\
	uintptr_t result;								\
											\
	if (!real)			/* who called us was linked with it */		\
		__builtin_trap();							\
	kymo_##before(&call);								\
	result = real(a, b, c, d, e);							\
	kymo_##after(&call);								\
	return result;									\
}
#include "abi/symbols.def"
