/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtracetools.so as distributions build it without LTTng: every function is there and does
 * nothing. STUB_MAJOR and STUB_MINOR choose the tracetools version, and with it the exported
 * symbols. Never traces anything itself.
 */
#include "tracetools/tracetools.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/*
 * The preprocessor cannot compare the versions of a row with ours, the assembler can: every row
 * becomes a local function, and only the rows of this version get their public name.
 */
#define KYMO_V(major, minor) ((major) * 256 + (minor))
#define KYMO_V_LAST 65535
#define STUB_STR_(...) #__VA_ARGS__
#define STUB_STR(...) STUB_STR_(__VA_ARGS__)
#define STUB_VERSION KYMO_V(STUB_MAJOR, STUB_MINOR)
#define STUB_SINCE_ENABLED KYMO_V(5, 1)

/* Rows of other providers are not of tracetools. */
#define STUB_HAS_ros2		1
#define STUB_HAS_ros2_caret	0
#define STUB_HAS_ros2_kymo 0
#define STUB_HAS_agnocast	0
#define STUB_HAS_lttng_ust_libc	0
#define STUB_HAS_kymo_libc 0
#define STUB_HAS_lttng_ust_cyg_profile 0
#define STUB_HAS_lttng_ust_statedump 0
#define STUB_HAS_lttng_ust_pthread 0

#define STUB_EXPORT(symbol, function, provider, from, to)					\
	__asm__(".if (" STUB_STR(STUB_HAS_##provider) ") && ("					\
		STUB_STR(STUB_VERSION) " >= " STUB_STR(from) ") && ("				\
		STUB_STR(STUB_VERSION) " <= " STUB_STR(to) ")\n"				\
		"\t.globl " symbol "\n"								\
		"\t.type " symbol ", %function\n"						\
		"\t.set " symbol ", " function "\n"						\
		".endif\n");

#define POINT(provider, id, name, phase, hook, from, to, text, ...)				\
	__attribute__((used)) static void stub_##id(STUB_PARAMS(__VA_ARGS__)) {}		\
	STUB_EXPORT("ros_trace_" #name, "stub_" #id, provider, from, to)
#include "abi/tracepoints.def"
#undef POINT

/* The enabled and do families came with 5.1.0; they have no other lower bound than their row's. */
#define POINT(provider, id, name, phase, hook, from, to, text, ...)				\
	__attribute__((used)) static bool stub_enabled_##id(void) { return false; }		\
	__attribute__((used)) static void stub_do_##id(STUB_PARAMS(__VA_ARGS__)) {}		\
	__asm__(".if " STUB_STR(STUB_VERSION) " >= " STUB_STR(STUB_SINCE_ENABLED) "\n");	\
	STUB_EXPORT("ros_trace_enabled_" #name, "stub_enabled_" #id, provider, from, to)			\
	STUB_EXPORT("ros_trace_do_" #name, "stub_do_" #id, provider, from, to)				\
	__asm__(".endif\n");
#include "abi/tracepoints.def"
#undef POINT

bool ros_trace_compile_status(void)
{
	return false;
}

__attribute__((used)) static bool stub_runtime_status(void)
{
	return false;
}
STUB_EXPORT("ros_trace_runtime_status", "stub_runtime_status", ros2, KYMO_V(8, 9), KYMO_V_LAST)

/*
 * C++ functions that rclcpp's headers call for a callback's name. On Humble nobody frees the
 * result; from Iron on the caller frees it, so it must be malloc'ed or NULL.
 */
#if STUB_MAJOR < 5
#define SYMBOL_OF_FUNCTION _ZN10tracetools6detail18get_symbol_funcptrEPv
#define DISABLED(name) (char *)"DISABLED__" name
#else
#define SYMBOL_OF_FUNCTION _ZN10tracetools6detail18get_symbol_funcptrEPKv
#define DISABLED(name) NULL
#endif
#define DEMANGLE _ZN10tracetools6detail15demangle_symbolEPKc

char *DEMANGLE(const char *mangled);
char *SYMBOL_OF_FUNCTION(const void *function);

char *DEMANGLE(const char *mangled)
{
	return DISABLED("demangle_symbol");
}

char *SYMBOL_OF_FUNCTION(const void *function)
{
	return DISABLED("get_symbol_funcptr");
}
