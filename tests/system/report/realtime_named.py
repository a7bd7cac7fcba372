#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: answers
"""What is real-time, named once: by the program itself (kymo_realtime()), or in a file (`kymo report --realtime-file`)."""
import json
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, in_directory, record, run

OWN = os.path.join(BUILD, "tests", "own_realtime")
STEP, QUIET = "control:step", "control:quiet"


def recorded(directory, name, command, *options):
    trace = os.path.join(directory, name)
    record(trace, *options, "--", *command)
    return trace


def report(trace, *options, status=0):
    done = run(KYMO, "report", trace, "--format", "json", *options, status=status)
    assert "warning" not in done.stderr, (options, done)
    return json.loads(done.stdout)


def found(told):
    """Return: {span: pids}, of its allocations."""
    rows = {}
    for row in told["realtime"]:
        if row["what"] == "allocation":
            assert (row["runs"], row["in_runs"], row["times"], row["bytes"]) == (5, 5, 5, 5000), row
            rows.setdefault(row["callback"], []).append(row["tid"])
    return rows


def refuses(trace, directory, text, *words):
    path = os.path.join(directory, "refused.txt")
    with open(path, "wb") as file:
        file.write(text)
    done = run(KYMO, "report", trace, "--realtime-file", path, status=3)
    assert not done.stdout and all(word in done.stderr for word in (path, *words)), (text, done)


def check_files(trace, directory, looked):
    """One name a line; what is wrong is said with its place. looked: the trace tells of allocations."""
    path = os.path.join(directory, "realtime.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# of the arm\n\n\t control:*  \n!{QUIET}\n  # the end")
    told = report(trace, "--realtime-file", path, "--section", "realtime", status=5)
    assert set(found(told)) == ({STEP} if looked else set()) and "named_realtime" not in told, told
    told = report(trace, "--realtime", f"!{STEP}", "--section", "realtime", status=0 if looked else 5)
    assert not told["realtime"], told
    with open(path, "w", encoding="utf-8") as file:
        file.write(QUIET)
    report(trace, "--realtime-file", path, status=0 if looked else 5)
    report(trace, "--realtime-file", path, "--realtime", STEP, status=5)
    report(trace, "--realtime-file", path, "--realtime", "/nobody", status=5)
    refuses(trace, directory, b"/x\n\"/arm\"\n", ":2: ", "without quotation marks: /arm")
    refuses(trace, directory, b"/x\n\n!\n", ":3: ", "control:step")
    refuses(trace, directory, b"--realtime /x", ":1: ", "only a name")
    refuses(trace, directory, b"/x\n/y\0z\n", ":2: ", "one name per line")
    refuses(trace, directory, b"# nothing\n\n", "no real-time names", "one name per line")
    refuses(trace, directory, b"x" * 600, ":1: ", "use *")
    refuses(trace, directory, b"/x\n" * 1025, ":1025: ", "use * to match several")
    gone = run(KYMO, "report", trace, "--realtime-file", path + ".gone", status=3)
    assert f"{path}.gone': No such file" in gone.stderr and "a text file" in gone.stderr, gone


def check_program(directory):
    """What a program names is of that program, and looked at unasked; the exit status answers when it is asked for."""
    trace = recorded(directory, "both", ["sh", "-c", f"{OWN} {STEP} '{QUIET}*' & {OWN}; wait"], "--malloc")
    told = report(trace)
    spans = found(told)
    assert set(spans) == {STEP} and len(spans[STEP]) == 1, told
    assert told["named_realtime"] == f"{STEP}, {QUIET}*" and told["looked_at"] == "allocations, mutexes", told
    assert found(report(trace, "--section", "realtime", status=5)) == spans
    pid, = spans[STEP]
    report(trace, "--section", "realtime", "--process", f"!{pid}")
    assert len(found(report(trace, "--realtime", STEP, status=5))[STEP]) == 2		# of anybody, as the command line says
    quiet = recorded(directory, "quiet", [OWN, "control:*", f"!{STEP}"], "--malloc")
    assert not report(quiet, "--section", "realtime")["realtime"]
    check_files(quiet, directory, looked=True)
    never = recorded(directory, "never", [OWN, "/never"], "--malloc")
    assert not report(never, "--section", "realtime", status=5)["realtime"]


def main(directory):
    plain = recorded(directory, "plain", [OWN, STEP])
    told = report(plain)
    assert told["named_realtime"] == STEP and told["looked_at"] == "nothing" and not told["realtime"], told
    report(plain, "--section", "realtime", status=5)
    check_files(plain, directory, looked=False)
    nobody = recorded(directory, "nobody", [OWN])
    assert "realtime" not in report(nobody) and "named_realtime" not in report(nobody, "--section", "realtime")
    if os.path.exists(os.path.join(BUILD, "lib", "libkymo-malloc.so")):
        check_program(directory)


in_directory(main)
