#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""export --format caret: what caret_analyze must find is there, and nothing else than in the trace it was made of.

CARET's own traces come out so that all golden numbers hold; LTTng's and kymo's so that callbacks are the same."""
import os
import re
import sys
from collections import Counter

import caret_golden

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import SHARED, existing, in_directory, kymo, record_robot, run

DATA = os.path.join(SHARED, "data")
EVENT = re.compile(r"^\[[^]]*\] \([^)]*\) \S* ?(\w+:\w+): \{ cpu_id = \d+ \}, "
                   r"\{ init_timestamp = \d+, vpid = (\d+), vtid = \d+, procname = \"[^\"]*\" \}, \{ (?:(.*) )?\}$")


def export(trace, to):
    kymo("export", "-q", "--format", "caret", "-o", to, trace)
    # caret_analyze keeps what it read in a file there, and reads the trace again another time.
    with open(f"{to}/caret_converted", "wb") as cache:
        cache.write(b"not a packet of CTF " * 100)
    run("babeltrace2", "-o", "dummy", to)
    return to


def callbacks(trace):
    """The report's table, without the lines that name the trace and count its events."""
    text = kymo("report", trace, "--format", "csv", "--section", "callbacks")
    return [line for line in text.splitlines() if not line.startswith(("# trace,", "# events,"))]


def check_shape(trace, distribution):
    """As babeltrace2 reads it: contexts beside each event, one caret_init a process, true times in init events."""
    first, inits, names = {}, Counter(), Counter()
    for line in run("babeltrace2", "--clock-gmt", trace).stdout.splitlines():
        match = EVENT.match(line)
        if not match:
            sys.exit(f"caret_export.py: {trace}: an event of another shape: {line[:300]}")
        name, pid, fields = match.groups(default="")
        names[name] += 1
        first.setdefault(pid, name)
        if name == "ros2_caret:caret_init":
            inits[pid] += 1
            if f'distribution = "{distribution}"' not in fields:
                sys.exit(f"caret_export.py: {trace}: {fields}")
        elif name.endswith("_init") and "init_timestamp = " not in fields:
            sys.exit(f"caret_export.py: {trace}: {name} has no time of its own: {fields}")
        if name.startswith("ros2:") and name.endswith(("_init", "_added", "_register")) or name == "ros2:rmw_publish":
            sys.exit(f"caret_export.py: {trace}: {name} is none of CARET's")
    if inits != Counter(list(first)):
        sys.exit(f"caret_export.py: {trace}: caret_init of {inits}, processes {list(first)}")
    return names


def check_same(trace, to):
    wanted, seen = callbacks(trace), callbacks(export(trace, to))
    if wanted != seen:
        sys.exit(f"caret_export.py: {trace}: callbacks differ:\n" +
                 "\n".join(f"-{a}\n+{b}" for a, b in zip(wanted, seen) if a != b))
    written = Counter(re.findall(r" (ros2:rmw_publish): .*timestamp = [1-9]", kymo("dump", trace)))
    names = check_shape(to, "jazzy")
    if names["ros2_caret:dds_bind_addr_to_stamp"] != written["ros2:rmw_publish"] or not written:
        sys.exit(f"caret_export.py: {trace}: {names['ros2_caret:dds_bind_addr_to_stamp']} stamps of {written}")


def main(work):
    trace = f"{work}/recorded"
    record_robot(trace, 2, "-q")
    check_same(trace, f"{work}/own")
    for name in ("pair_basic_st", "pair_intra", "pair_lifecycle", "pair_components"):
        check_same(f"{DATA}/ros2-traces/{name}", f"{work}/{name}")
    for folder, architecture in caret_golden.TRACES:
        if not existing(folder):
            continue
        to = export(f"{folder}/ctf", f"{work}/{os.path.basename(folder)}")
        if caret_golden.check_all(to, folder, architecture):
            sys.exit(f"caret_export.py: {folder}: what its golden numbers say is not there any more")
    check_shape(f"{work}/caret-demo", "humble")
    print("one recording, four traces of LTTng, two of CARET")


in_directory(main)
