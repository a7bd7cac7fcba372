#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, shared
"""Made-up traces of the Perfetto writer, read by a real Perfetto trace processor."""
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import sample, with_reader

T0 = 1000000000000


def main(check, reader, _):
    for level in (0, 6):
        data, _ = sample("features", level)
        slices, flows, args, facts, processes = reader.query(
            data,
            f"select ts - {T0} t, dur, name, depth from slice order by ts",
            "select a.name a, b.name b from flow join slice a on slice_out = a.id "
            "join slice b on slice_in = b.id order by a.ts",
            "select key, coalesce(string_value, int_value, real_value) v, value_type "
            "from args where key glob 'debug.*' order by 1",
            "select name, coalesce(str_value, int_value) v from metadata "
            "where name glob 'trace_attribute.*' or name = 'trace_time_clock_id' order by 1",
            "select pid, name, machine_id from process where pid = 10 order by 3")
        check.equal(f"level {level}: slices", slices,
                    [[100, 100, "far", 0], [1000, 1000, "call?ä", 0], [1500, 100, "inner", 1],
                     [2500, 0, "take", 0], [3000, 500, "got", 0]])
        check.equal(f"level {level}: flows", flows, [["call?ä", "take"], ["take", "got"]])
        check.equal(f"level {level}: arguments", args,
                    [["debug.callback", 0x7fff12345678, "pointer"],
                     ["debug.is_intra_process", 1, "bool"], ["debug.period_ns", -5, "int"],
                     ["debug.ratio", 0.25, "real"], ["debug.topic", "/scan", "string"]])
        check.equal(f"level {level}: facts", facts,
                    [["trace_attribute.lost_events", 12345678901],
                     ["trace_attribute.tracer", "kymo"], ["trace_time_clock_id", 3]])
        check.equal(f"level {level}: one pid on two machines", processes,
                    [[10, "renamed", 0], [10, "far", 1]])

    data, _ = sample("loss", 6)
    slices, = reader.query(data, f"select ts - {T0} t, dur, name, depth, "
                           "extract_arg(arg_set_id, 'debug.lost_events') lost, "
                           "extract_arg(arg_set_id, 'debug.gap_ns') gap from slice order by id")
    check.equal("losses close what is open and are marked", slices,
                [[100, 200, "outer", 0, None, None], [200, 100, "inner", 1, None, None],
                 [900, 0, "TRACE DATA LOST", 0, 17, 600], [1100, 300, "outer", 0, None, None],
                 [1200, 100, "inner", 1, None, None], [2000, 0, "outer", 0, None, None],
                 [2000, 0, "TRACE DATA LOST", 0, 1, 0]])

    # Random events with losses: every one is a row.
    for seed in (1, 2):
        data, want = sample("random", 1, seed)
        got, = reader.query(data, "select count(*), sum(dur), min(dur), "
                            "sum(name = 'TRACE DATA LOST') from slice")
        check.equal(f"random events, seed {seed}", got[0],
                    [want["slices"] + want["instants"] + want["losses"], want["duration"],
                     0, want["losses"]])

    # 100 000 events, deflated or not, give the same answers.
    sums = "select count(*), sum(dur), min(ts), max(ts), sum(name = 'Plan') from slice"
    plain, _ = sample("workload", 0)
    small, _ = sample("workload", 6)
    check.equal("deflated equals plain", reader.query(small, sums), reader.query(plain, sums))

    # A file cut within its last packet, or with a tail of zeros, still loads.
    data, _ = sample("workload", 0, 20)
    whole, = reader.query(data, "select count(*) from slice")
    check.equal("the whole short file", whole, [[80]])
    for cut in (1, 9):
        rows, = reader.query(data[:-cut], "select count(*), sum(dur = -1) from slice")
        check.equal(f"{cut} bytes cut", rows, [[80, 1]])
    rows, = reader.query(data + bytes(4096), "select count(*) from slice")
    check.equal("a tail of zeros", rows, [[80]])
    # Whole blocks only: with the last block cut, the blocks before it are all there.
    rows, = reader.query(small[:-100], "select count(*) > 40000 from slice")
    check.equal("a cut block", rows, [[1]])


with_reader(main)
