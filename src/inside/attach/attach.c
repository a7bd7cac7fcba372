/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libkymo-attach.so: a library that is loaded only to run its constructor, and then unloaded.
 *
 * The dynamic linker holds its lock while a constructor runs, so no other thread is loading or
 * unloading a library then. That is what the changes of src/inside/ros2/ros2_slots.c need: an
 * object that is only half loaded would undo them, or be damaged by them. libc has no function that
 * acquires that lock and runs code of ours.
 *
 * libkymo-ros2.so has the code to run, in the function kymo__attach_locked().
 */
#include <dlfcn.h>
#include <stddef.h>

/* Of libkymo-ros2.so, which loads this library; found in the process, because this library is
 * linked with nothing of kymo. */
typedef void locked_function(void);

__attribute__((constructor)) static void run(void)
{
	void *library = dlopen("libkymo-ros2.so", RTLD_LAZY | RTLD_NOLOAD);
	locked_function *locked =
		library ? (locked_function *)dlsym(library, "kymo__attach_locked") : NULL;

	if (locked)
		locked();
	if (library)
		(void)dlclose(library);
}
