#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Executors, callback groups and what is in them, told by hooks in front of rclcpp's own functions, in both
generations; linked as programs are, and loaded into a scope of their own as plugins are. The recorder comes
late, when thousands of executors and groups have come and gone, and is told of those that are there."""
import os
import re
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import COMPILE, COMPILER, dump, require
from lib_test import BUILD, KYMO, SOURCE, in_directory, private, query, record, run

EVENT = re.compile(r"ros2_caret:(\w+): .*?\{ ([^{}]*) \}$")


def compiled(work, generation, *defines):
    """librclcpp.so, a program and a plugin."""
    library, jazzy = f"{work}/{generation}{len(defines)}", ["-DJAZZY", *defines] if generation == "jazzy" else []
    os.mkdir(library)
    compile_ = [*COMPILE, *jazzy]
    folder = f"{SOURCE}/tests/rclcpp"
    tracetools = f"{BUILD}/stub/{generation}/lib"
    linked = [f"-L{library}", "-lrclcpp", f"-L{tracetools}", "-ltracetools",
              f"-Wl,-rpath,{library}", f"-Wl,-rpath,{tracetools}"]
    run(*compile_, "-shared", "-o", f"{library}/librclcpp.so", f"{folder}/rclcpp.cpp", f"{folder}/collectors.cpp", *linked[2:4])
    run(*compile_, "-c", "-o", f"{library}/groups.o", f"{folder}/groups.cpp")
    run(COMPILER, "-o", f"{library}/groups", f"{library}/groups.o", *linked)
    run(COMPILER, "-shared", "-o", f"{library}/libgroups.so", f"{library}/groups.o", *linked)
    return library


def told(trace):
    """The facts of the trace, as the program prints them."""
    for line in dump(trace):
        found = EVENT.search(line)
        if found:
            yield " ".join([found[1], *(re.sub(r'(\w+) = "?([^"]*)"?', r"\1=\2", part)
                                        for part in found[2].split(", "))]).lower()


def check(work, generation, how, command):
    environment = private(work, LD_PRELOAD=f"{BUILD}/lib/libkymo-ros2.so")
    program = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        wanted = []
        for line in program.stdout:
            if line == "ready\n":
                break
            wanted.append(line.strip().lower())
        else:
            sys.exit(f"executors.py: {generation} {how}: the program ended with {program.wait()}")
        trace = f"{work}/{generation}-{how}"
        record(trace, "-q", "--all", "--", "true")
    finally:
        program.stdin.close()
        program.wait()
    seen = sorted(told(trace))
    if seen != sorted(wanted):
        sys.exit(f"executors.py: {generation} {how}: missing {sorted(set(wanted) - set(seen))}, "
                 f"too much {sorted(set(seen) - set(wanted))[:20]} of {len(seen)}")
    return trace, len(wanted)


def check_model(trace, *more):
    """The report knows which executor has which groups, and what is in them."""
    rows = query(trace, "SELECT e.type AS executor, g.type AS kind, count(*) AS n FROM callback_groups g "
                        "JOIN executors e ON e.id = g.executor_id GROUP BY 1, 2 ORDER BY 1, 2")
    wanted = [{"executor": f"{executor}_executor", "kind": kind, "n": 1}
              for executor in (*more, "multi_threaded", "single_threaded", "static_single_threaded")
              for kind in ("mutually_exclusive", "reentrant")]
    if rows != wanted:
        sys.exit(f"executors.py: the model says {rows}")


def check_silent(trace):
    """Of some executors there are no events: the report says so."""
    said = " ".join(run(KYMO, "report", trace, "--section", "executors", status=6).stdout.split())
    for name in "events_executor", "events_cbg_executor":
        if f"1 {name}: rclcpp reports nothing of what its threads do" not in said:
            sys.exit(f"executors.py: the report says nothing of {name}: {said}")


def check_doctor(program, *texts):
    said = run(KYMO, "doctor", program, status=None).stdout
    for text in texts:
        if text not in said:
            sys.exit(f"executors.py: doctor does not say '{text}': {said}")


def main(work):
    require()
    for generation in ("humble", "jazzy"):
        library = compiled(work, generation)
        trace, count = check(work, generation, "program", [f"{library}/groups", "3000"])
        check_model(trace, *(["events_cbg", "events"] if generation == "jazzy" else []))
        if generation == "jazzy":
            check_silent(trace)
        plugin = f"import ctypes; ctypes.CDLL('{library}/libgroups.so').main(1, (ctypes.c_char_p * 2)(b'groups'))"
        check(work, generation, "plugin", ["/usr/bin/python3", "-c", plugin])
        check_doctor(f"{library}/groups", {"humble": "16 of 16 functions", "jazzy": "14 of 14 functions"}[generation])
        print(f"{generation}: {count} facts, as a program and as a plugin")
    # What a library calls otherwise is not told, and no harm is done.
    library = compiled(work, "jazzy", "-Dadd_timer=add_alarm")
    check_doctor(f"{library}/groups", "13 of 14 functions", "has no CallbackGroup::add_timer(timer)")
    run(f"{library}/groups", stdin=subprocess.DEVNULL, env=private(work, LD_PRELOAD=f"{BUILD}/lib/libkymo-ros2.so"))


in_directory(main)
