/* SPDX-License-Identifier: Apache-2.0 */
#include "inside/ros2/ros2_below.h"

#include <dlfcn.h>
#include <stddef.h>

/* In the library that @caller is in, or in those that it was linked with. */
static void *of_caller(const char *name, const void *caller)
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
		(void)dlclose(library);		/* else it stays, with what we found in it */
	return function;
}

void *kymo_below(void **known, const char *name, const void *caller, const void *self)
{
	void *function = __atomic_load_n(known, __ATOMIC_ACQUIRE);

	if (__builtin_expect(function != NULL, 1))
		return function;
	function = dlsym(RTLD_NEXT, name);
	if (!function)
		function = of_caller(name, caller);
	if (function == self)
		return NULL;
	__atomic_store_n(known, function, __ATOMIC_RELEASE);
	return function;
}
