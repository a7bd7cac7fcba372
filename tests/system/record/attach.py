#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Recorders that come late, and sinks that are added, beside a program of 60 busy threads: every trace is whole.

Each trace must have possible times in its indexes, babeltrace2 and kymo must read it, and of each thread's numbers as many must
be missing as are counted as lost. While a recorder is there, a short program begins: its facts come when the horizon is known.

usage: attach.py [ATTACHES [THREADS]]     how often a recorder comes; for each two, three sinks are added"""
import collections
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import lib_numbers as lib
from lib_numbers import check, wait_for

ATTACHES = int(sys.argv[1]) if len(sys.argv) > 1 else 6
THREADS = int(sys.argv[2]) if len(sys.argv) > 2 else 60
AT_ONCE = 3             # sinks
BURST, PERIOD = 26, 50          # events, of 26 bytes; ms
ENTRY = struct.Struct(">5Q")    # of an index: offset, sizes, begin and end of the packet
NUMBER = re.compile(r"publisher_handle = 0x([0-9A-F]+), message = 0x([0-9A-F]+)")
DISCARDED = re.compile(r"WARNING: Tracer discarded (\d+) event")
DAMAGE = re.compile(r"damage|impossible", re.I)


def index_times(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack_from(">4I", data)[3] if len(data) >= 16 else 1
    for at in range(16, len(data) - size + 1, size):
        yield ENTRY.unpack_from(data, at)[3:]


def check_times(trace, begin, end):
    """Packets begin and end within the recording, and in order."""
    for path in glob.glob(os.path.join(trace, "ust/index/*.idx")):
        last = begin
        for first, to in index_times(path):
            check(last <= first <= to <= end, "%s: a packet from %d to %d, behind %d, of a recording from %d to %d",
                  path, first, to, last, begin, end)
            last = first


def check_numbers(place, trace):
    """Return: how many events the trace has, and how many are lost."""
    done = subprocess.run(["babeltrace2", "--no-delta", trace], capture_output=True, text=True, timeout=300)
    wrong = [line for line in done.stderr.splitlines() if line and not DISCARDED.match(line) and not line.startswith(lib.MAYBE)]
    check(not done.returncode and not wrong, "babeltrace2 %s: %d\n%s", trace, done.returncode, "\n".join(wrong[:5]))
    lost = sum(map(int, DISCARDED.findall(done.stderr)))
    seen = collections.defaultdict(list)
    for match in NUMBER.finditer(done.stdout):
        seen[match[1]].append(int(match[2], 16))
    missing = 0
    for thread, numbers in seen.items():
        check(all(a < b for a, b in zip(numbers, numbers[1:])), "%s: the numbers of %s are not in order", trace, thread)
        missing += numbers[-1] - numbers[0] + 1 - len(numbers)
    check(missing <= lost, "%s: %d events are missing, %d are counted as lost", trace, missing, lost)
    said = place.kymo("info", trace)
    check(not DAMAGE.search(said), "kymo info %s:\n%s", trace, said)
    return sum(map(len, seen.values())), lost


def short_program(place):
    place.kymo("run", "--", os.path.join(lib.BUILD, "tests/numbers"), "--threads", "1", "--rate", "1000", "--seconds", "0.05",
               "--first", "1000", place.at("short"))


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def look(place, trace, begin):
    """A complete trace of this program and the short one."""
    check_times(trace, begin - 10**9, now_ns())
    check(len(glob.glob(os.path.join(trace, "ust/*_init"))) == 2, "%s has not the facts of both programs", trace)
    count = check_numbers(place, trace)
    shutil.rmtree(trace)
    return count


def end(recorder):
    status, said = lib.end(recorder)
    check(status in (0, 3), "the recorder ended with %d: %s", status, said)


def attach(place, pid):
    begin, trace = now_ns(), place.at("trace")
    recorder = place.recorder("-o", trace)
    wait_for("the program to be recorded", lambda: any(
        row["pid"] == pid and row["state"] == "record" and row["recorded"]
        for row in json.loads(place.kymo("status", "--format", "json"))["processes"]))
    short_program(place)
    end(recorder)
    return look(place, trace, begin)


def add_sinks(place):
    begin, traces = now_ns(), [place.at("sink%d" % number) for number in range(AT_ONCE)]
    for trace in traces:
        place.kymo("sink", "add", trace)
    short_program(place)
    for trace in traces:
        place.kymo("sink", "remove", trace)
    counts = [look(place, trace, begin) for trace in traces]
    return sum(count[0] for count in counts), sum(count[1] for count in counts)


def noted(place):
    """The last number of each thread."""
    path = place.at("noted")
    data = open(path, "rb").read(8 * THREADS) if os.path.exists(path) else b""
    return struct.unpack("<%dQ" % THREADS, data) if len(data) == 8 * THREADS else (0,)


def test(place):
    """In a ring of 32 KiB, a burst is a twelfth of a block: often a burst ends with its block, and the next begins a new one."""
    program = place.start(lib.KYMO, "run", "--", os.path.join(lib.BUILD, "tests/numbers"), "--threads", str(THREADS),
                          "--period", str(PERIOD), "--rate", str(THREADS * BURST * 1000 // PERIOD), "--seconds", "100000",
                          place.at("noted"))
    wait_for("all threads", lambda: min(noted(place)) > BURST)
    counts = [attach(place, program.pid) for _ in range(ATTACHES)]
    recorder = place.recorder("-o", place.at("main"), "--max-size", "20M")
    counts += [add_sinks(place) for _ in range((ATTACHES + 1) // 2)]
    end(recorder)
    print("%d attaches, %d sinks: %d events, %d lost" % (ATTACHES, (len(counts) - ATTACHES) * AT_ONCE,
                                                        sum(count[0] for count in counts), sum(count[1] for count in counts)))


lib.main("attach.py", test)
