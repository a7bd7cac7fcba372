#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""When messages were written, where tracetools does not tell (up to Iron): by CycloneDDS, and by the Fast DDS of
Humble and of Iron, before anybody can have taken it. What a middleware writes for itself is not told, nor by a Fast DDS
of unknown layout."""
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import COMPILE, dump, require
from lib_test import BUILD, SOURCE, in_directory, record, run

COUNT = 100
BIND = re.compile(r"ros2_caret:dds_bind_addr_to_stamp: .*\{ addr = (0x\w+), source_stamp = (\d+) \}$")
TAKE = re.compile(r"ros2:rmw_take: .*source_timestamp = (\d+), taken = 1 \}$")
LIBRARIES = {	# the library's file, how it is built, its program; whether its writes are told
    "cyclone": ("libddsc.so.0", ["-DCYCLONE"], ["-DCYCLONE_PROGRAM"], True),
    "humble": ("libfastrtps.so.2.6", ["-DSTAMP=100"], [], True),
    "iron": ("libfastrtps.so.2.10", ["-DSTAMP=108"], [], True),
    "unknown": ("libfastrtps.so.2.99", ["-DSTAMP=108"], [], False),
}


def built(work, name):
    file, library_defines, program_defines, _ = LIBRARIES[name]
    folder, tracetools = f"{work}/{name}", f"{BUILD}/stub/humble/lib"
    os.mkdir(folder)
    source = f"{SOURCE}/tests/rclcpp/dds.cpp"
    run(*COMPILE, *library_defines, "-shared", f"-Wl,-soname,{file}", "-o", f"{folder}/{file}", source)
    run(*COMPILE, *program_defines, "-o", f"{folder}/written", source, f"{folder}/{file}",
        f"-L{tracetools}", "-ltracetools", f"-Wl,-rpath,{folder}", f"-Wl,-rpath,{tracetools}")
    return f"{folder}/written"


def main(work):
    require()
    for name, (_, _, _, told) in LIBRARIES.items():
        trace = f"{work}/{name}-trace"
        said = record(trace, "-q", "--", built(work, name), str(COUNT)).stdout
        wanted = [tuple(line.lower().split()) for line in said.splitlines()]
        events = dump(trace)
        seen = [(m[1].lower(), m[2]) for m in map(BIND.search, events) if m]
        order = [(m.re is TAKE, m[m.lastindex]) for line in events if (m := BIND.search(line) or TAKE.search(line))]
        right = [(taken, stamp) for _, stamp in wanted for taken in ((False, True) if told else (True,))]
        if len(wanted) != COUNT or seen != (wanted if told else []):
            sys.exit(f"written.py: {name}: {len(wanted)} written, {len(seen)} told: {seen[:2]} {wanted[:2]}")
        if order != right:
            sys.exit(f"written.py: {name}: (taken, stamp) in another order: {order[:4]} instead of {right[:4]}")
    print(f"{COUNT} writes each of {', '.join(LIBRARIES)}")


in_directory(main)
