#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Use that cannot be right: too many kinds of events, names that are too long or too many, events too
early and too late, ends without begins. Each is bounded, and what is not recorded is counted."""
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_checks
from lib_test import BUILD, SOURCE, accounts, private, record, report, run, sanitized

LIB = os.path.join(BUILD, "lib")
KINDS = 4300		# more than there are ids
NAMES = int(os.environ.get("KYMO_TEST_NAMES", 10000 if sanitized() else 100000))

MISUSE = r"""
#include <kymo/kymo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void preinit(void) { KYMO_INSTANT("early", "preinit"); kymo_instant_named("early", "preinit named"); }
__attribute__((section(".preinit_array"), used)) static void (*const preinit_entry)(void) = preinit;
__attribute__((constructor(101))) static void constructor(void) { KYMO_INSTANT("early", "constructor"); }
__attribute__((destructor(101))) static void destructor(void) { KYMO_INSTANT("late", "destructor"); }
static void at_exit(void) { KYMO_INSTANT("late", "atexit"); }
int main(int argc, char **argv)
{
	char text[1001];

	(void)argv;
	atexit(at_exit);
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = 0;
	kymo_instant_named("long", text);
	KYMO_INSTANT("long", "field", ("text", (const char *)text));
	text[255] = 0;
	kymo_instant_named("fits", text);
	KYMO_END("ends", "without begin");
	kymo_end_named();
	KYMO_BEGIN("ends", "never");
	if (fork() == 0) {
		KYMO_END("ends", "of the parent");
		kymo_instant_named("fork", "child");
		_exit(0);
	}
	wait(NULL);
	if (argc > 1 && vfork() == 0) {
		kymo_instant_named("fork", "vfork");
		_exit(0);
	}
	return 0;
}
"""
# Loaded before libkymo and without knowing it, so its destructor comes after libkymo's.
LATER = r"""
void kymo_instant_named(const char *, const char *);
__attribute__((destructor)) static void last(void) { kymo_instant_named("late", "after the library"); }
"""
NAMED = r"""
#include <kymo/kymo.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	char name[32];

	(void)argc;
	for (int i = 0; i < atoi(argv[1]); i++) {
		snprintf(name, sizeof name, "name %d", i);
		kymo_instant_named("names", name);
	}
	return 0;
}
"""


ARRAYS = r"""
struct robot { char name[8]; int number; };
__attribute__((noinline)) void emit(char first, int number);
void emit(char first, int number)
{
	char small[8] = "abc";
	struct robot robot = { "r2d2", number };

	small[0] = first;
	KYMO_INSTANT("arrays", "of char", ("small", small), ("member", robot.name), ("rest", (const char *)(small + 1)),
		     ("literal", "literal"));
}
int main(int argc, char **argv)
{
	emit(argv[0][0], argc);
	return 0;
}
"""


def build(scratch, name, text, *options, language="c"):
    source, out = os.path.join(scratch, f"{name}.{language}"), os.path.join(scratch, name)
    with open(source, "w") as file:
        file.write(text)
    compiler = (os.environ.get("CXX", "c++"), "-std=c++17") if language == "cpp" else (
        os.environ.get("CC", "cc"), "-std=gnu11")
    return out, run(*compiler, "-Wall", "-Werror", "-o", out, source, "-I" + os.path.join(SOURCE, "include"),
                    *(options or ("-L" + LIB, "-lkymo", "-Wl,-rpath," + LIB)), status=None)


def recorded(scratch, name, *command):
    path = os.path.join(scratch, "trace-" + name)
    record(path, "-q", "--ring-size", "4M", "--", *command)
    text = run("babeltrace2", path, status=None)
    return path, accounts(path)["processes"], text.stdout, text.stderr


def too_many_kinds(check, scratch):
    lines = "".join(f'\tKYMO_INSTANT("many", "kind {i}");\n' for i in range(KINDS))
    # Twice: in the parent, and in a child that has the same places.
    program, _ = build(scratch, "kinds", "#include <kymo/kymo.h>\n#include <unistd.h>\n#include <sys/wait.h>\n"
                       "static void all(void)\n{\n" + lines +
                       "}\nint main(void) { all(); if (!fork()) { all(); _exit(0); } wait(0); return 0; }\n")
    _, processes, text, warnings = recorded(scratch, "kinds", program)
    for process in processes:
        ids = 4092 - KINDS + process["dropped_no_ring"]	# those of the table are not for programs
        check.equal("kinds: recorded + dropped", process["recorded"] + process["dropped"], KINDS)
        check.ok("kinds: as many as there are ids", 50 < ids < 150, process)
    check.equal("kinds: both processes", len(processes), 2)
    check.equal("kinds: in the trace", len(re.findall("many:kind ", text)), sum(p["recorded"] for p in processes))
    check.ok("kinds: babeltrace2 knows what was lost", "discarded" in warnings, warnings)


def names(check, scratch):
    program, _ = build(scratch, "named", NAMED)
    path, (process,), text, _ = recorded(scratch, "names", program, str(NAMES))
    check.equal("names: recorded + dropped", process["recorded"] + process["dropped"], NAMES)
    check.equal("names: one kind of event, no declarations", process["init_events"], 0)
    check.equal("names: all there", len(set(re.findall(r'name = "(name \d+)"', text))), process["recorded"])
    check.ok("names: the report has them", report(path)["instants"])
    for language, header in ("c", "kymo.h"), ("cpp", "kymo.hpp"):
        for length in 255, 256:
            _, done = build(scratch, "literal", f'#include <kymo/{header}>\n'
                            f'int main() {{ KYMO_INSTANT("c", "{"x" * length}"); return 0; }}\n', language=language)
            check.ok(f"names: a literal of {length} bytes in {language}", (done.returncode == 0) == (length == 255) and
                     (length == 255 or "at most KYMO_TEXT_MAX" in done.stderr), done.stderr)


def moments(check, scratch):
    later, done = build(scratch, "liblater.so", LATER, "-shared", "-fPIC")
    check.ok("moments: library", done.returncode == 0, done.stderr)
    program, done = build(scratch, "misuse", MISUSE, "-L" + LIB, "-lkymo", "-Wl,--no-as-needed", later,
                          "-Wl,-rpath," + LIB)
    check.ok("moments: program", done.returncode == 0, done.stderr)
    path, processes, text, _ = recorded(scratch, "moments", program, "vfork")
    parent = next(p for p in processes if p["recorded"] > 3)
    child = next(p for p in processes if p is not parent)
    count = lambda pattern: len(re.findall(pattern, text))
    check.equal("moments: before the library is ready: counted, not recorded",
                (count("preinit"), parent["dropped_no_ring"]), (0, 2))
    for name in "early:constructor", "late:destructor", "late:atexit", "after the library", '"vfork"', '"child"':
        check.equal("moments: " + name, count(name), 1)
    check.equal("moments: ends without begins", (count("without begin_end"), count("kymo:begin_end"),
                                                 count("of the parent_end")), (1, 1, 1))
    check.equal("moments: long texts are cut and counted", (count('"x{255}"'), count("x{256}"), parent["texts_cut"]),
                (3, 0, 2))
    check.equal("moments: the child has its own account", (child["recorded"], child["texts_cut"]), (2, 0))
    spans = [(s["name"], s["count"], s["unfinished"]) for s in report(path)["spans"]]
    check.equal("moments: the report has one span, which does not end", spans, [("never", 0, 1)])
    # Switched off altogether, too early or not.
    record(path + "off", "-q", "--", program, env=private(scratch, KYMO_DISABLE="1"), status=6)


def arrays(check, scratch):
    """Texts in arrays that are smaller than the longest one: also when it optimizes, the compiler warns of nothing."""
    for language, header in ("c", "kymo.h"), ("cpp", "kymo.hpp"):
        program, done = build(scratch, "arrays_" + language, f"#include <kymo/{header}>\n{ARRAYS}", "-O2", "-Wextra", "-L" + LIB, "-lkymo",
                              "-Wl,-rpath," + LIB, language=language)
        check.ok(f"arrays: {language} without a warning", done.returncode == 0, done.stderr)
        _, _, text, _ = recorded(scratch, "arrays_" + language, program)
        check.ok(f"arrays: {language}", 'small = "/bc", member = "r2d2", rest = "bc", literal = "literal"' in text, text)


with_checks(too_many_kinds, names, moments, arrays)
