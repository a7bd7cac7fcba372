/* SPDX-License-Identifier: Apache-2.0 */
/* Readable C++ symbols of callbacks. */
#ifndef KYMO_ANALYSIS_SYMBOL_H
#define KYMO_ANALYSIS_SYMBOL_H

#include <stddef.h>

/**
 * symbol_pretty() - demangle and simplify one symbol
 * @raw: as recorded; any bytes up to @length
 *
 * A mangled name ("_Z...") is demangled if this machine has libstdc++. Then message types lose
 * their allocator, smart pointers their deleter, and std::bind its wrapper: "std::_Bind<void
 * (Filter::*(Filter*))()>" becomes "void (Filter::?)()". NULL and unknown symbols ("(null)",
 * "UNKNOWN", which builds without tracing return) become "".
 *
 * Context: allocates; the first mangled symbol loads libstdc++.
 * Return: the text, to be freed; NULL: out of memory.
 */
char *symbol_pretty(const char *raw, size_t length);

/**
 * symbol_short() - the same for a narrow column: argument lists shrink to "(...)"
 * Return: @buffer, always terminated; a cut text ends with "...".
 */
char *symbol_short(const char *pretty, char *buffer, size_t size);

#endif
