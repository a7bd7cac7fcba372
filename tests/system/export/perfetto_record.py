#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: shared
"""Records with kymo, exports to Perfetto, asks a real trace processor: nothing gets lost on the way
except what the recorder says, and that stands where it happened."""
import csv
import json
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_reader
from lib_test import SHARED, TESTS, kymo, record, skip

LOG = os.path.join(SHARED, "data", "ros2-traces", "calllog_pipeline_mt.csv")


def exported(scratch, name, *words):
    """Records the command, exports. Return: path of the export, kymo.json."""
    trace, out = os.path.join(scratch, name), os.path.join(scratch, name + ".pftrace")
    record(trace, "-q", *words[0], "--", *words[1])
    kymo("export", "-q", trace, "-o", out)
    with open(os.path.join(trace, "kymo.json")) as file:
        return out, json.load(file)


def replayed(check, reader, scratch):
    out, told = exported(scratch, "replayed", ["--strict", "--ring-size", "4M"],
                       [os.path.join(TESTS, "replay"), "--speed", "full", LOG])
    with open(LOG) as rows:
        functions = [row["fn"] for row in csv.DictReader(rows)]
    ends = sum(fn in ("ros_trace_callback_end", "ros_trace_do_callback_end") for fn in functions)
    slices, clocks, names = reader.query(
        out, "select count(*) from slice where category = 'callback'",
        "select clock_name, max(clock_value - ts) d, count(distinct ts) from clock_snapshot "
        "where clock_name in ('REALTIME', 'BOOTTIME') group by 1 order by 1",
        "select name from process where name like 'pipe%'")
    check.equal("every callback of the call log", slices[0], [ends])
    boot, real = (max(c[key] - c["monotonic_ns"] for c in told["clocks"])
                  for key in ("boottime_ns", "realtime_ns"))
    check.equal("the recorder's clock readings", clocks,
                [["BOOTTIME", boot, len(told["clocks"])], ["REALTIME", real, len(told["clocks"])]])
    check.equal("the process has its name", names, [["pipeline_proc"]])


# Stops the recorder, which is its parent, while each thread of the program emits more than a ring holds.
STOPPED = """
import os, signal, struct, subprocess, sys, time
def noted():
    try:
        with open(sys.argv[-1], "rb") as file:
            return min(struct.unpack("<2Q", file.read(16)))
    except (OSError, struct.error):
        return 0
def emit(count):
    least, end = noted() + count, time.monotonic() + 300
    while noted() < least:
        assert time.monotonic() < end
        time.sleep(0.01)
with subprocess.Popen(sys.argv[1:]) as program:
    try:
        emit(1000)
        os.kill(os.getppid(), signal.SIGSTOP)
        try:
            emit(30000)
        finally:
            os.kill(os.getppid(), signal.SIGCONT)
        emit(10000)
    finally:
        program.send_signal(signal.SIGINT)
sys.exit(program.returncode)
"""


def lossy(check, reader, scratch):
    """The command stops its own recorder for a while; the rings run over."""
    flood = [os.path.join(TESTS, "numbers"), "--threads", "2", "--rate", "100000", "--seconds", "600",
             os.path.join(scratch, "noted")]
    out, told = exported(scratch, "lossy", ["--ring-size", "128K"], [sys.executable, "-c", STOPPED, *flood])
    dropped = {thread["tid"]: thread["dropped"] for process in told["processes"]
               for thread in process["threads"] if thread["dropped"]}
    check.ok("something was dropped", sum(dropped.values()) > 1000, dropped)
    marks, total = reader.query(
        out, "select tid, sum(extract_arg(s.arg_set_id, 'debug.lost_events')) from slice s "
        "join thread_track t on s.track_id = t.id join thread using (utid) "
        "where s.name = 'TRACE DATA LOST' group by 1",
        "select int_value from metadata where name = 'trace_attribute.lost_events'")
    check.equal("losses per thread, in place", dict(marks), dropped)
    check.equal("losses in all", total, [[told["totals"]["dropped"]]])


def main(check, reader, scratch):
    if not os.path.exists(LOG):
        skip("no call logs in ../shared")
    replayed(check, reader, scratch)
    lossy(check, reader, scratch)


with_reader(main)
