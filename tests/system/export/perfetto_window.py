#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, shared
"""A window, a node or a topic leaves in the Perfetto file what the whole file has there, and no more:
asked of a real trace processor, for callbacks, messages, spans, instants and counters."""
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_reader
from lib_test import BUILD, SHARED, check, kymo, record

SLICES = "SELECT ts, dur, name, category FROM slice ORDER BY 1, 2, 3, 4"
# Those of topics count what the file shows, so they are other ones in a window.
COUNTERS = "SELECT ts, value, t.name FROM counter JOIN process_counter_track t ON t.id = track_id ORDER BY 1, 2, 3"


def export(reader, trace, *options):
    path = os.path.join(reader.scratch, "x.pftrace")
    kymo("export", trace, "-q", "--force", "-o", path, *options)
    slices, counters = reader.query(path, SLICES, COUNTERS, pedantic=False)
    return [tuple(row) for row in slices], [tuple(row) for row in counters]


def windows(reader, trace, table, column):
    """@table, @column: of `kymo query`, with the times since 1970 of what is also a slice."""
    slices, counters = export(reader, trace)
    # Lifecycle states reach beyond a window: they are cut.
    slices = [row for row in slices if row[3] != "lifecycle"]
    first = int(kymo("query", "-q", trace, "--format", "csv",
                     "SELECT min(%s) FROM %s" % (column, table)).split()[-1])
    same = "callback" if table == "callback_instances" else None
    offset = first - min(row[0] for row in slices if same is None and row[1] or row[3] == same)
    times = sorted(row[0] for row in slices)
    for low, high in ((0.0, 0.5), (0.3, 0.6), (0.9, 0.9)):
        begin, end = times[int(low * (len(times) - 1))], times[int(high * (len(times) - 1))]
        text = ["%d.%09d" % divmod(at + offset, 10 ** 9) for at in (begin, end)]
        some, values = export(reader, trace, "--begin", text[0], "--end", text[1])
        some = [row for row in some if row[3] != "lifecycle"]
        wanted = [row for row in slices if begin <= row[0] <= end]
        check(some == wanted, trace, text, len(some), "slices, not", len(wanted), sorted(set(some) ^ set(wanted))[:4])
        check(values == [row for row in counters if begin <= row[0] <= end], trace, text, "counters differ")
    print("%s: 3 windows of %d slices and %d counter values" % (
        os.path.basename(trace), len(slices), len(counters)))


def selection(reader, trace):
    for option, column in (("--node", "node"), ("--topic", "topic_name")):
        counted = kymo("query", "-q", trace, "--format", "csv",
                       "SELECT count(*) FROM callback_instances i JOIN callbacks c ON c.id = i.callback_id "
                       "LEFT JOIN topics t ON t.id = c.topic_id "
                       "WHERE %s" % ("c.node GLOB '/perception/*'" if column == "node" else
                                     "t.name GLOB '/perception/*' OR t.name IS NULL"))
        some = [row for row in export(reader, trace, option, "/perception/*")[0] if row[3] == "callback"]
        check(some and len(some) == int(counted.split()[-1]), option, len(some), "callbacks, the table has", counted)


def main(_, reader, scratch):
    trace = os.path.join(scratch, "trace")
    record(trace, "-q", "--", os.path.join(BUILD, "cyclic", "cyclic"), "--seconds", "1")
    windows(reader, trace, "spans", "begin_ns")
    for name in ("pair_pipeline_mt", "pair_lifecycle"):
        windows(reader, os.path.join(SHARED, "data", "ros2-traces", name),
                "callback_instances", "start_ns")
    selection(reader, os.path.join(SHARED, "data", "ros2-traces", "pair_pipeline_mt"))


with_reader(main)
