/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readable C++ symbols of callbacks, and from an address in an executable or shared library to file
 * and line of its source, by the line tables of DWARF 2 to 5 (the section .debug_line, which gcc
 * and clang write with -g). Every number in the file is input, and checked.
 */
#ifndef KYMO_ANALYSIS_SYMBOL_H
#define KYMO_ANALYSIS_SYMBOL_H

#include <stddef.h>

#include "base/elf.h"

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
 * symbol_demangled() - a mangled name ("_Z...") in C++
 * Return: the text, to be freed; NULL: it is not mangled, or this machine has no libstdc++.
 * Context: allocates; the first one loads libstdc++.
 */
char *symbol_demangled(const char *text);

/**
 * symbol_short() - the same for a narrow column: argument lists shrink to "(...)"
 * Return: @buffer, always terminated; a cut text ends with "...".
 */
char *symbol_short(const char *pretty, char *buffer, size_t size);

struct code_line {
	char file[1024]; /* with its directory, if the table has it */
	unsigned line;
};

/* The line tables of a file, in memory: sections of it. Only .debug_line must be there. */
struct code_lines {
	uint8_t *lines;
	uint64_t size;
	struct code_texts {
		char *at; /* a NUL follows */
		uint64_t size;
	} line_str, str;
};

/** code_lines_open() - of @elf. None, if it has none. Context: allocates,
 * blocks. */
void code_lines_open(struct code_lines *tables, const struct elf *elf);
void code_lines_close(struct code_lines *tables);

/**
 * code_line() - the source of the first code in [@address, @end)
 * @end: 0: only of the code at @address
 *
 * With @end, code of the headers of the system, of C++ and of ROS 2 is passed over: it was inlined.
 *
 * Return: true; false: there is no line for it, or the tables are damaged. Context: allocates.
 */
bool code_line(const struct code_lines *tables, uint64_t address, uint64_t end,
	       struct code_line *found);

#endif
