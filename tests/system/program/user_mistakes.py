#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Mistakes in the macros of kymo.h do not compile, and each causes one error, which says what to write."""
import os
import re
import shutil
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_checks
from lib_test import SOURCE, run, skip

PAIR, LITERAL, MANY = "a field is a pair in parentheses", "category and name are string literals", "at most KYMO_EVENT_FIELDS_MAX"
ROOM, NUMBER, VALUE = "at most KYMO_TEXT_MAX", "the value of a counter is a number", "the value of a field is a number"
FEW, COUNT, LOOP = "an event has a category and a name", "a counter has a category, a name and a value", "a loop has a pointer"
FIELD = "the name of a field is a string literal"
FIELDS = [f'("f{i}", {i})' for i in range(9)]
MISTAKES = [
    ('KYMO_SPAN("a", "b", "step", 3);', PAIR),
    ('KYMO_SPAN("a", "b", ("step", 3), number);', PAIR),
    ('KYMO_BEGIN("a", "b", ("step"));', PAIR),
    ('KYMO_END("a", "b", ("step", 1, 2));', PAIR),
    ('KYMO_TRACEPOINT("a", "b", "c");', PAIR),
    ('KYMO_FUNCTION("a", "step", 3);', PAIR),
    ('KYMO_COUNTER("a", "b", 3, 4);', PAIR),
    (f'KYMO_SPAN("a", "b", {", ".join(FIELDS)});', MANY),
    (f'KYMO_INSTANT("a", "b", {", ".join(FIELDS)}, {", ".join(FIELDS[:3])});', MANY),
    (f'KYMO_COUNTER("a", "b", 1, {", ".join(FIELDS[:8])});', MANY),
    ('KYMO_SPAN("a", text);', LITERAL),
    ('KYMO_SPAN(text, "b");', LITERAL),
    ('KYMO_SPAN("a", bytes);', LITERAL),
    ('KYMO_INSTANT("a", 3);', LITERAL),
    (f'KYMO_SPAN("a", "{"x" * 256}");', ROOM),
    ('KYMO_COUNTER("a", "b", "text");', NUMBER),
    ('KYMO_COUNTER("a", "b", &number);', NUMBER),
    ('KYMO_SPAN("a");', FEW),
    ('KYMO_SPAN();', FEW),
    ('if (number) KYMO_INSTANT("a");', FEW),
    ('KYMO_BEGIN("a"); KYMO_END("a", "b");', FEW),
    ('KYMO_TRACEPOINT(text);', FEW),
    ('KYMO_COUNTER("a", "b");', COUNT),
    ('KYMO_COUNTER();', COUNT),
    ('KYMO_FUNCTION(text);', LITERAL),
    ('KYMO_FUNCTION(number, ("step", 3));', LITERAL),
    ('KYMO_INSTANT("a", "b", (text, 3));', FIELD),
    ('KYMO_SPAN("a", "b", ("step", 3), (number, 4));', FIELD),
    ('KYMO_LOOP_INIT(&loop, "a", "b");', LOOP),
    ('KYMO_LOOP_INIT(&loop, "a", "b", 1, 0, 0);', LOOP),
    ('KYMO_LOOP_INIT(&loop, "a", text, 1, 0);', LITERAL),
    ('KYMO_LOOP_INIT(&loop, text, "b", 1, 0);', LITERAL),
    (f'KYMO_LOOP_INIT(&loop, "a", "{"x" * 245}", 1, 0);', ROOM),
]
MISTAKES_C = MISTAKES + [
    ('KYMO_INSTANT("a", "b", ("n", loop));', VALUE),
    ('KYMO_INSTANT("a", "b", ("n", 1.0L));', VALUE),
    ('KYMO_LOOP_INIT(&loop, "a", __func__, 1, 0);', LITERAL),
]
MISTAKES_CPP = MISTAKES + [
    ('KYMO_SPAN("a", std::string("b"));', LITERAL),
    ('KYMO_INSTANT("a", "b", ("n", none()));', VALUE),
    ('KYMO_INSTANT("a", "b", ("n", std::vector<int>()));', VALUE),
]
RIGHT = [
    'KYMO_SPAN("a", "b"); KYMO_SPAN("a", "c", ("step", 3)); KYMO_FUNCTION("a");',
    f'KYMO_SPAN("a", "b", {", ".join(FIELDS[:8])});',
    f'KYMO_COUNTER("a", "b", (double)number, {", ".join(FIELDS[:7])});',
    'KYMO_SPAN("a", __func__, ("text", text), ("bytes", bytes), ("none", (void *)0));',
    'KYMO_INSTANT("a" "b", NAME);',
    'KYMO_FUNCTION(); { KYMO_FUNCTION("a" "b", ("text", text)); }',
    'KYMO_INSTANT("a", "b", (NAME, number), ("x" "y", bytes), (__func__, &loop));',
    f'KYMO_LOOP_INIT(&loop, "a" "b", NAME, 1, 0); KYMO_LOOP_INIT(&loop, "a", "{"x" * 244}", 1, 0);',
]
C = '#include <kymo/loop.h>\n'
CPP = '#include <string>\n#include <vector>\n#include <kymo/loop.h>\nstruct none {};\n'


def compiled(scratch, compiler, standard, functions):
    """The errors of a program with a function for each of the statements."""
    cpp = "++" in standard
    path = os.path.join(scratch, "program." + ("cpp" if cpp else "c"))
    with open(path, "w") as file:
        file.write((CPP if cpp else C) + '#define NAME "name"\n' + "".join(
            f"void f{i}(int number, const char *text)\n{{\n\tchar bytes[8] = {{ 0 }};\n\tstruct kymo_loop loop;\n\t(void)number, (void)text, (void)bytes, (void)&loop;\n"
            f"\t{line}\n}}\n" for i, line in enumerate(functions)))
    done = run(compiler, "-std=" + standard, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-ferror-limit=0"
               if "clang" in compiler else "-fmax-errors=0", "-I" + os.path.join(SOURCE, "include"), path, status=None)
    return [line for line in done.stderr.splitlines() if re.search(r"\b(error|warning):", line)]


def one_error_each(check, scratch):
    tried = 0
    for compiler, standards in (("gcc", ("gnu11",)), ("clang", ("gnu11",)), ("g++", ("c++17", "c++20")), ("clang++", ("c++17", "c++20"))):
        if not shutil.which(compiler):
            continue
        for standard in standards:
            mistakes = MISTAKES_CPP if "++" in standard else MISTAKES_C
            name = f"{compiler} {standard}: "
            errors = compiled(scratch, compiler, standard, [line for line, _ in mistakes])
            for text in sorted({text for _, text in mistakes}):
                check.equal(name + text, sum(text in error for error in errors), sum(text == of for _, of in mistakes))
            check.equal(name + "no other errors", [e for e in errors if not any(text in e for _, text in mistakes)], [])
            check.equal(name + "what is right compiles", compiled(scratch, compiler, standard, RIGHT), [])
            tried += 1
    if not tried:
        skip("there is no compiler")


with_checks(one_error_each)
