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

/* What a hook does; @result: calls the real function. */
#define HOOK_BODY(symbol, before, after, result_of_real)                                       \
	static void *known;                                                                    \
	const void *caller = __builtin_return_address(0);                                      \
	kymo_function *real =                                                                  \
		(kymo_function *)kymo_below(&known, #symbol, caller, (void *)symbol);          \
	struct kymo_call call = {                                                              \
		.self = a, .first = b, .second = c, .third = d, .caller = caller, .real = real \
	};                                                                                     \
                                                                                               \
	if (!real) /* impossible: somebody defines it */                                       \
		__builtin_trap();                                                              \
	kymo_##before(&call);                                                                  \
	call.result = result_of_real;                                                          \
	kymo_##after(&call);                                                                   \
	return call.result;

#define SYMBOL(symbol, library, from, to, before, after, tells, text)                    \
	KYMO_EXPORT kymo_function symbol;                                                \
	KYMO_EXPORT uintptr_t symbol(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, \
				     uintptr_t e, uintptr_t f)                           \
	{                                                                                \
		HOOK_BODY(symbol, before, after, real(a, b, c, d, e, f))                 \
	}

/*
 * A result in memory. On x86-64, its address is the first argument and is returned: a hook like the
 * others passes both on. On aarch64, its address is in register x8, which C does not know. There
 * the exported hook copies it to where the seventh argument is, and hook_<symbol>() calls the real
 * function by way of kymo__call_with_x8().
 */
#ifdef __aarch64__
uintptr_t kymo__call_with_x8(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t x8,
			     kymo_function *real) __attribute__((visibility("hidden")));
/* A function that begins with "bti c" may be jumped to with x16. */
__asm__(".pushsection .text\n"
	".global kymo__call_with_x8\n"
	".hidden kymo__call_with_x8\n"
	".type kymo__call_with_x8, %function\n"
	"kymo__call_with_x8:\n"
	"\thint #34\n" /* bti c */
	"\tmov x8, x4\n"
	"\tmov x16, x5\n"
	"\tbr x16\n"
	".size kymo__call_with_x8, . - kymo__call_with_x8\n"
	".popsection\n");

#define SYMBOL_WITH_MEMORY(symbol, library, from, to, before, after, tells, text)                \
	KYMO_EXPORT kymo_function symbol;                                                        \
	uintptr_t hook_##symbol(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, \
				uintptr_t f, uintptr_t x8)                                       \
		__attribute__((used, visibility("hidden")));                                     \
	uintptr_t hook_##symbol(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, \
				uintptr_t f, uintptr_t x8)                                       \
	{                                                                                        \
		(void)e, (void)f;                                                                \
		HOOK_BODY(symbol, before, after, kymo__call_with_x8(a, b, c, d, x8, real))       \
	}                                                                                        \
	__asm__(".pushsection .text\n"                                                           \
		".global " #symbol "\n"                                                          \
		".type " #symbol ", %function\n" #symbol ":\n"                                   \
		"\thint #34\n"                                                                   \
		"\tmov x6, x8\n"                                                                 \
		"\tb hook_" #symbol "\n"                                                         \
		".size " #symbol ", . - " #symbol "\n"                                           \
		".popsection\n");
#endif
#include "abi/symbols.def"
