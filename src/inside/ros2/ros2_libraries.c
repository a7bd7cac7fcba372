/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks of the functions of abi/symbols.def. Most functions are C++, the hooks are C: in the
 * Itanium C++ ABI, all these functions have words in registers as arguments, and return one word or
 * nothing. Each hook runs kymo_<before>(), the real function and kymo_<after>().
 *
 * Context: as kymo__log_reserve() and kymo__reserve(); the first call of each function acquires the
 * loader's locks. If the real function throws an exception, the exception passes through the hook,
 * and kymo_<after>() does not run.
 */
#include "inside/ros2/ros2_libraries.h"

#include <dlfcn.h>
#include <stddef.h>

#include "inside/ros2/ros2_attach.h"
#include "inside/ros2/ros2_slots.h"
#include "inside/tracer/tracer_ring.h"

/* The function @name in the library of @caller, or in the libraries that it was linked with. */
static void *function_of_caller(const char *name, const void *caller)
{
	void *library, *function;
	Dl_info info;

	if (!dladdr(caller, &info) || !info.dli_fname)
		return NULL;
	library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return NULL;
	function = dlsym(library, name);
	if (!function)
		(void)dlclose(library);	/* a library with the function must stay loaded */
	return function;
}

/*
 * A function that ends with a call (a tail call) leaves the address of its own caller, which may be
 * in a library that was not linked with the called one: rmw_publish() of CycloneDDS, by way of
 * librmw_dds_common. Then whoever defines the function was called.
 */
static void *function_of_any(const char *name)
{
	void *function = kymo_slots_definition(name);
	Dl_info info;

	if (function && dladdr(function, &info) && info.dli_fname)
		(void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);	/* it must stay loaded */
	return function;
}

/* In a running process this library is in no scope but its own, behind all others: RTLD_NEXT finds
 * nothing. */
static void *function_of_before(const char *name)
{
	void *function = kymo_slots_original(name), *program;

	if (function)
		return function;
	program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
	return program ? dlsym(program, name) : NULL;
}

void *kymo_below(void **known, const char *name, const void *caller, const void *self)
{
	void *function = __atomic_load_n(known, __ATOMIC_ACQUIRE);

	if (__builtin_expect(function != NULL, 1))
		return function;
	function = kymo_came_late() ? function_of_before(name) : dlsym(RTLD_NEXT, name);
	if (!function)
		function = function_of_caller(name, caller);
	if (!function || function == self)
		function = function_of_any(name);
	if (function == self)
		return NULL;
	__atomic_store_n(known, function, __ATOMIC_RELEASE);
	return function;
}

void kymo_nothing(struct kymo_call *call)
{
	(void)call;
}

#define SYMBOL(symbol, library, from, to, before, after, tells, text)                         \
	KYMO_EXPORT kymo_function symbol;                                                     \
	KYMO_EXPORT uintptr_t symbol(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,      \
				     uintptr_t e, uintptr_t f)                                \
	{                                                                                     \
		static void *known;                                                           \
		const void *caller = __builtin_return_address(0);                             \
		kymo_function *real =                                                         \
			(kymo_function *)kymo_below(&known, #symbol, caller, (void *)symbol); \
		struct kymo_call call = { .self = a,                                          \
					  .first = b,                                         \
					  .second = c,                                        \
					  .third = d,                                         \
					  .caller = caller,                                   \
					  .real = real };                                     \
                                                                                              \
		if (!real) /* impossible: somebody defines it */                    \
			__builtin_trap();                                                     \
		kymo_##before(&call);                                                         \
		call.result = real(a, b, c, d, e, f);                                         \
		kymo_##after(&call);                                                          \
		return call.result;                                                           \
	}
#include "abi/symbols.def"
