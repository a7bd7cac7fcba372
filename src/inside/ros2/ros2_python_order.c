/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo attach` and `kymo detach` in a Python program: the hook for rclpy is loaded into its
 * interpreter (ros2/kymo_site/rclpy_attach.py), or taken out of its way.
 *
 * Nothing here is linked with Python: its functions are found in the program. This thread waits for
 * the interpreter's lock as any thread of Python does, so the program's threads run meanwhile, by
 * turns with this one. The code runs in a namespace of its own and lets no exception out: Python
 * would print it, or end the program.
 */
#include "inside/ros2/ros2_python.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "inside/tracer/tracer_ring.h"

#define HOOK "python/kymo_rclpy_attach.py"

/*
 * With the names of files, and what to do. A thread of the program that waits for something gives
 * the lock away, and gets it back after the switch interval, 5 ms by default: so it is short
 * meanwhile.
 */
#define CODE                                                                              \
	"exec('import sys\\n"                                                             \
	"interval = sys.getswitchinterval()\\n"                                           \
	"try:\\n"                                                                         \
	" sys.setswitchinterval(2e-4)\\n"                                                 \
	" import importlib.util\\n"                                                       \
	" its = sys.modules.get(\"kymo_rclpy_attach\")\\n"                                \
	" if not its and on:\\n"                                                          \
	"  spec = importlib.util.spec_from_file_location(\"kymo_rclpy_attach\", hook)\\n" \
	"  its = importlib.util.module_from_spec(spec)\\n"                                \
	"  spec.loader.exec_module(its)\\n"                                               \
	"  sys.modules[\"kymo_rclpy_attach\"] = its\\n"                                   \
	" its and (its.attach(library) if on else its.detach())\\n"                       \
	"except BaseException:\\n"                                                        \
	" pass\\n"                                                                        \
	"finally:\\n"                                                                     \
	" sys.setswitchinterval(interval)', {'hook': '%s', 'library': '%s', 'on': %s})"

struct python {
	int (*is_initialized)(void), (*is_finalizing)(void);
	int (*ensure)(void);
	void (*release)(int state);
	int (*run)(const char *code, void *flags);
};

static bool hooked;
KYMO_EXPORT void kymo__python_hooked(void);

void kymo__python_hooked(void)
{
	hooked = true;
}

static bool find(struct python *python)
{
	void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
	const struct {
		const char *name;
		void *function;
	} wanted[] = {
		{ "Py_IsInitialized", &python->is_initialized },
		{ "PyGILState_Ensure", &python->ensure },
		{ "PyGILState_Release", &python->release },
		{ "PyRun_SimpleStringFlags", &python->run },
	};
	bool found = program;

	for (unsigned i = 0; found && i < sizeof wanted / sizeof *wanted; i++) {
		void *function = dlsym(program, wanted[i].name);

		memcpy(wanted[i].function, &function, sizeof function);
		found = function;
	}
	if (found) {
		void *function = dlsym(program, "Py_IsFinalizing"); /* Python 3.13 */

		if (!function)
			function = dlsym(program, "_Py_IsFinalizing");
		memcpy(&python->is_finalizing, &function, sizeof function);
	}
	if (program)
		(void)dlclose(program);
	return found;
}

/* The directory of this library with its slash, and its length; 0: it cannot be written into the
 * code. */
static int directory(const char **library)
{
	const char *slash;
	Dl_info info;

	if (!dladdr((const void *)kymo__python_hooked, &info) || !info.dli_fname ||
	    strpbrk(info.dli_fname, "'\"\\\n%"))
		return 0;
	*library = info.dli_fname;
	slash = strrchr(*library, '/');
	return slash ? (int)(slash + 1 - *library) : 0;
}

enum kymo_python kymo_python_order(bool on)
{
	/* One order at a time. The stack of this thread is short. */
	static char code[sizeof CODE + 2 * PATH_MAX], hook[PATH_MAX];
	const char *library = NULL;
	struct python python;
	int length, state;

	if (!find(&python) || !python.is_initialized() ||
	    (python.is_finalizing && python.is_finalizing()))
		return KYMO_PYTHON_NONE;
	length = directory(&library);
	if (!length || strlen(library) >= PATH_MAX - sizeof HOOK)
		return KYMO_PYTHON_FAILED;
	(void)snprintf(hook, sizeof hook, "%.*s%s", length, library, HOOK);
	(void)snprintf(code, sizeof code, CODE, hook, library, on ? "True" : "False");
	hooked = false;
	state = python.ensure();
	(void)python.run(code, NULL);
	python.release(state);
	return !on || hooked ? KYMO_PYTHON_HOOKED : KYMO_PYTHON_FAILED;
}
