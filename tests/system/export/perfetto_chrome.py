#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, shared
"""Chrome's JSON is valid and says what the Perfetto file says: a real trace processor reads both."""
import json
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_reader
from lib_test import BUILD, SHARED, TESTS, kymo, record, skip

QUESTIONS = (
    "select ts, dur, coalesce(name, ''), coalesce(category, '') from slice order by 1, 2, 3, 4",
    # Names of counters hold their process in Chrome's JSON.
    "select ts, cast(value * 1000 as int) from counter order by 1, 2",
    "select a.category, a.ts, b.category, b.ts from flow f join slice a on f.slice_out = a.id "
    "join slice b on f.slice_in = b.id where a.category in ('publish', 'take', 'link', 'call') "
    "and b.category not in ('publish', 'response') order by 1, 2, 3, 4",
    "select distinct p.pid, p.name, t.tid, t.name from slice s join thread_track k on s.track_id = k.id "
    "join thread t using (utid) join process p using (upid) where s.category = 'callback' order by 1, 3")


def main(check, reader, scratch):
    data = os.path.join(SHARED, "data", "ros2-traces")
    if not os.path.isdir(data):
        skip("no traces in ../shared")
    traces = [os.path.join(data, name, "ctf") for name in ("pair_intra", "discarded")]
    for name, *command in (("calls", os.path.join(TESTS, "service_calls"), "20"),
                           ("cyclic", os.path.join(BUILD, "cyclic", "cyclic"), "--seconds", "0.3")):
        traces.append(os.path.join(scratch, name))
        record(traces[-1], "-q", "--", *command)
    for trace in traces:
        name = os.path.basename(trace) if "data" not in trace else trace.split(os.sep)[-2]
        both = os.path.join(scratch, "t.pftrace"), os.path.join(scratch, "t.json")
        kymo("export", "-q", trace, "--force", "-o", both[0])
        kymo("export", "-q", trace, "--format", "chrome", "--force", "-o", both[1])
        with open(both[1]) as text:
            told = json.load(text)
        check.ok(f"{name}: valid JSON", told["traceEvents"] and told["otherData"]["exported_by"])
        want, got = (reader.query(path, *QUESTIONS) for path in both)
        for what, a, b in zip(("slices", "counters", "arrows", "threads"), got, want):
            check.equal(f"{name}: {len(b)} {what}", a, b)


with_reader(main)
