/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of callbacks, where the distribution's tracetools has none.
 *
 * rclcpp calls C++ functions of libtracetools to get a callback's name. In a library without LTTng,
 * these functions return "DISABLED__..."; then the hooks return the name instead. A library with
 * LTTng knows only exported functions; the hooks return the name of a static function, too. The
 * returned memory comes from malloc(), as that of the original functions: the caller frees it on
 * Iron and later, and never frees it on Humble.
 */
#include "inside/ros2/ros2_symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/points.h"
#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_static.h"
#include "inside/ros2/ros2_tracetools.h"
#include "inside/tracer/tracer_ring.h"

#define DEMANGLE _ZN10tracetools6detail15demangle_symbolEPKc
#define FUNCTION_NAME_HUMBLE _ZN10tracetools6detail18get_symbol_funcptrEPv
#define FUNCTION_NAME _ZN10tracetools6detail18get_symbol_funcptrEPKv

KYMO_EXPORT char *DEMANGLE(const char *mangled);
KYMO_EXPORT char *FUNCTION_NAME_HUMBLE(void *function);
KYMO_EXPORT char *FUNCTION_NAME(const void *function);

/* The original function; NULL: it would return DISABLED__. */
static void *original(const char *name)
{
	kymo_tracetools_known();
	return kymo_tracetools.has_lttng ? kymo_tracetools_symbol(name) : NULL;
}

/*
 * Demangle with the process's own C++ runtime. Return: memory from malloc(); NULL only if out of
 * memory.
 */
static char *demangle(const char *mangled)
{
	char *(*cxa_demangle)(const char *, char *, size_t *, int *) =
		(char *(*)(const char *, char *, size_t *, int *))dlsym(RTLD_DEFAULT, "__cxa_demangle");
	char *name = NULL;
	int status = -1;

	if (cxa_demangle)
		name = cxa_demangle(mangled, NULL, NULL, &status);
	if (status == 0 && name)
		return name;
	return strdup(mangled);
}

/*
 * Record where the code of @symbol is: from its file a reader finds file and line of the source.
 * The address of a lambda is not known here. Its caller, a template of rclcpp or tracetools, is in
 * the same file.
 */
void kymo_tell_code(const char *symbol, const void *code, bool is_function)
{
	struct kymo_code found;

	if (symbol && kymo_code_of(code, &found))
		kymo_emit_callback_code(symbol, found.file, is_function ? found.address : 0,
					found.build_id);
}

static char *with_code(char *symbol, const void *code, bool is_function)
{
	kymo_tell_code(symbol, code, is_function);
	return symbol;
}

/* A lambda has no name: "Ul", its parameters, "E", a number and "_". */
static bool is_lambda(const char *mangled)
{
	return mangled && strstr(mangled, "Ul") && strstr(mangled, "E");
}

static char *type_name(const char *mangled)
{
	char *(*real)(const char *) =
		(char *(*)(const char *))original("_ZN10tracetools6detail15demangle_symbolEPKc");

	if (real)
		return real(mangled);
	if (mangled)
		return demangle(mangled);
	return kymo_tracetools.version < KYMO_V(5, 1) ? strdup("UNKNOWN_demangling_failed") : NULL;
}

KYMO_EXPORT char *DEMANGLE(const char *mangled)
{
	char *name = type_name(mangled);

	return is_lambda(mangled) ? with_code(name, __builtin_return_address(0), false) : name;
}

/* Names of templates are long; a longer one is cut. */
#define STATIC_NAME_MAX 4096

/*
 * The symbol of @function, whose exported symbol is @info. A function that is not exported gets its
 * name from the symbol table of its file; if the file is stripped, "library+0xoffset", so that the
 * user can still look the function up.
 */
static char *function_name(const void *function, const Dl_info *info)
{
	const char *base;
	char *text;

	if (info->dli_sname)
		return demangle(info->dli_sname);
	text = malloc(STATIC_NAME_MAX);
	if (text && kymo_static_name(function, text, STATIC_NAME_MAX)) {
		char *readable = demangle(text);

		free(text);
		return readable;
	}
	free(text);
	base = info->dli_fname ? strrchr(info->dli_fname, '/') : NULL;
	base = base ? base + 1 : info->dli_fname;
	if (asprintf(&text, "%s+0x%zx", base ? base : "?",
		     (size_t)((const char *)function - (const char *)info->dli_fbase)) < 0)
		return NULL;
	return text;
}

char *kymo_function_name(const void *function)
{
	Dl_info info;

	return dladdr(function, &info) ? function_name(function, &info) : NULL;
}

static char *unknown_function(void)
{
	return kymo_tracetools.version < KYMO_V(5, 1) ? strdup("UNKNOWN") : NULL;
}

KYMO_EXPORT char *FUNCTION_NAME(const void *function)
{
	char *(*real)(const void *) =
		(char *(*)(const void *))original("_ZN10tracetools6detail18get_symbol_funcptrEPKv");
	Dl_info info;

	if (!dladdr(function, &info))
		return real ? real(function) : unknown_function();
	return with_code(real && info.dli_sname ? real(function) : function_name(function, &info),
			 function, true);
}

KYMO_EXPORT char *FUNCTION_NAME_HUMBLE(void *function)
{
	char *(*real)(void *) =
		(char *(*)(void *))original("_ZN10tracetools6detail18get_symbol_funcptrEPv");
	Dl_info info;

	if (!dladdr(function, &info))
		return real ? real(function) : unknown_function();
	return with_code(real && info.dli_sname ? real(function) : function_name(function, &info),
			 function, true);
}
