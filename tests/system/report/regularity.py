#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: answers
"""`kymo report`'s publications, takes, intervals, between-runs and utilisation against a naive reading."""
import collections
import json
import math
import os
import shutil
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_messages import Reading, needs_bt2
from lib_test import SHARED, SOURCE, answer, check, query, report, skip

TRACES = os.path.join(SHARED, "data", "ros2-traces")


def same_numbers(where, row, values):
    values = sorted(values)
    for key, value in (("min_ns", values[0]), ("max_ns", values[-1])):
        check(row[key] == value, *where, key, row[key], value)
    check(abs(row["mean_ns"] - sum(values) / len(values)) <= 0.5, *where, "mean", row)


def same_deviation(where, row, column, values):
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
    check(abs(row[column] - deviation) <= 1 + deviation * 1e-6, *where, column, row[column], deviation)


def compare_callbacks(trace, callbacks, between, reading):
    """The deviation of durations, and the time from an end to the next start."""
    runs, compared = collections.defaultdict(list), 0
    for run in reading.runs:
        if run.end is not None:
            runs[run.callback[1], run.callback[0]].append((run.start, run.end))
    for row in callbacks:
        key = int(row["callback"], 16), row["pid"]
        if runs[key]:
            same_deviation((trace, "callbacks", key), row, "deviation_ns", [e - s for s, e in runs[key]])
            compared += 1
    check(compared == len(runs), trace, "callbacks", compared, len(runs))
    ours = {(int(row["callback"], 16), row["pid"]): row for row in between}
    for key, times in runs.items():
        times.sort()
        gaps = [b[0] - a[1] for a, b in zip(times, times[1:])]
        check((key in ours) == bool(gaps), trace, "between-runs", key, len(gaps))
        if gaps and key in ours:
            check(ours[key]["count"] == len(gaps), trace, "between-runs", key, ours[key], len(gaps))
            same_numbers((trace, "between-runs", key), ours[key], gaps)
            same_deviation((trace, "between-runs", key), ours[key], "deviation_ns", gaps)


def compare_publications(trace, rows, reading):
    made, runs = collections.defaultdict(list), collections.defaultdict(set)
    for p in reading.publications:
        key = (p.run.callback[1] if p.run else None, p.process, p.node, p.topic)
        made[key].append(p.begin - p.run.start if p.run else None)
        if p.run:
            runs[key].add(id(p.run))
    ours = {}
    for row in rows:
        address = int(row["callback"], 16) if row["callback"] else None
        key = [k for k in made if k[0] == address and k[3] == row["topic"] and
               (address or k[2] == row["node"]) and (not address or k[1] == row["pid"])]
        check(len(key) == 1, trace, "publications", row, key)
        if len(key) == 1:
            ours[key[0]] = row
    check(set(ours) == set(made), trace, "publications differ", set(ours) ^ set(made))
    for key, row in ours.items():
        check(row["count"] == len(made[key]), trace, key, "count", row)
        if key[0]:
            check(row["runs"] == len(runs[key]), trace, key, "runs", row)
            delay = {k.replace("delay_", ""): v for k, v in row.items()}
            same_numbers((trace, key), delay, made[key])


def compare_takes(trace, rows, reading):
    waits = collections.defaultdict(list)
    for run in reading.runs:
        if run.message:
            waits[run.callback[1], run.callback[0]].append(run.start - run.message[2])
    ours = {(int(row["callback"], 16), row["pid"]): row for row in rows}
    check(set(ours) == set(waits), trace, "takes differ", set(ours) ^ set(waits))
    for key in set(ours) & set(waits):
        check(ours[key]["count"] == len(waits[key]), trace, key, "takes", ours[key])
        same_numbers((trace, "takes", key), ours[key], waits[key])


def compare_intervals(trace, rows, reading):
    series = collections.defaultdict(list)
    for run in reading.runs:
        series[run.callback[1], run.callback[0]].append(run.start)
    for p in reading.publications:
        series[p.topic].append(p.begin)
    compared = 0
    for row in rows:
        key = (int(row["callback"], 16), row["pid"]) if row["what"] == "callback" else row["source"]
        at = sorted(series[key])
        values = [b - a for a, b in zip(at, at[1:])]
        check(row["count"] == len(values), trace, key, "intervals", row, len(values))
        if not values:
            continue
        same_numbers((trace, "intervals", key), row, values)
        same_deviation((trace, key), row, "deviation_ns", values)
        compared += 1
    check(compared == sum(len(at) > 1 for at in series.values()), trace, "intervals", compared)


def compare_utilisation(trace, rows, reading):
    threads = collections.Counter()
    for run in reading.runs:        # none of these programs spins inside a callback
        if run.end is not None:
            threads[run.tid] += run.end - run.start
    ours = {row["tid"]: row["busy_ns"] for row in rows if row["what"] == "thread"}
    check(ours == dict(threads), trace, "utilisation", ours, dict(threads))
    nodes = sum(row["busy_ns"] for row in rows if row["what"] == "node")
    check(nodes == sum(threads.values()), trace, "nodes", nodes, sum(threads.values()))


def compare_windows(trace, path, reading):
    """Each window of 100 ms against the runs that lie in it."""
    rows = answer("query", path, "--window", "100ms", "SELECT w.*, c.callback_object AS callback, c.pid AS pid"
                     " FROM windows w LEFT JOIN callbacks c ON c.id = w.callback_id")["rows"]
    runs, published = collections.defaultdict(list), collections.Counter(p.topic for p in reading.publications)
    for run in reading.runs:
        if run.end is not None:
            runs[run.callback[1], run.callback[0]].append((run.start, run.end))
    last = max(row["end_ns"] for row in rows)
    seen, messages = collections.Counter(), collections.Counter()
    for row in rows:
        begin, end = row["start_ns"], row["end_ns"]
        check(end - begin == 100_000_000 or end == last, trace, "length of a window", row)
        if row["kind"] == "topic":
            messages[row["name"]] += row["count"]
            continue
        mine = runs[row["callback"], row["pid"]]
        values = [e - s for s, e in mine if begin <= e < end or e == end == last]
        check(row["count"] == len(values), trace, "windows", row, values)
        check(row["max_ns"] == max(values, default=None), trace, "windows", row, values)
        check(row["busy_ns"] == sum(max(0, min(e, end) - max(s, begin)) for s, e in mine), trace, "busy", row)
        if values:
            same_deviation((trace, "windows"), row, "deviation_ns", values)
        seen[row["callback"], row["pid"]] += len(values)
    check(seen == {key: len(times) for key, times in runs.items()}, trace, "windows leave out runs")
    check(+messages == published, trace, "windows leave out publications", messages, published)


def pauses_are_no_intervals():
    """A pause of 1 ns between two runs of a timer: what was due, idle or an interval over it is not known."""
    fixture = os.path.join(SOURCE, "tests", "fixtures", "lifecycle")
    of_timer = "WHERE callback LIKE '/lc_manager timer%'"
    with tempfile.TemporaryDirectory() as trace:
        shutil.copytree(fixture, trace, dirs_exist_ok=True)

        def answers():
            waits = [row["ready_ns"] for row in query(trace, f"SELECT ready_ns FROM callback_waits {of_timer} ORDER BY 1")]
            idle = query(trace, f"SELECT count(idle_ns) AS n FROM callback_instances {of_timer}")[0]["n"]
            return waits, idle, [row["count"] for row in report(trace, "intervals")["intervals"]
                                 if (row["node"], row["source"]) == ("/lc_manager", "200 ms")][0]

        offset = answer("info", trace)["traces"][0]["clock_offset_ns"]
        waits, idle, counts = answers()
        at = waits[-1] - offset - 1000
        with open(os.path.join(trace, "kymo.json"), "w", encoding="utf-8") as file:
            json.dump({"format": 1, "pauses": [{"begin_ns": at, "end_ns": at + 1}]}, file)
        less, idle_less, counts_less = answers()
        check(less == waits[:-1], "waits", less, waits)
        check((idle_less, counts_less) == (idle - 1, counts - 1), "idle, intervals", idle_less, idle, counts_less, counts)


pauses_are_no_intervals()
needs_bt2()
if not os.path.isdir(TRACES):
    skip("no recorded traces here")
for name in "pair_basic_st", "pair_pipeline_mt", "pair_intra", "many_contexts":
    trace = os.path.join(TRACES, name, "ctf")
    result, naive = report(trace, "publications", "takes", "intervals", "utilisation", "callbacks",
                           "between-runs"), Reading(trace)
    compare_publications(name, result["publications"], naive)
    compare_takes(name, result["takes"], naive)
    compare_intervals(name, result["intervals"], naive)
    compare_callbacks(name, result["callbacks"], result["between-runs"], naive)
    compare_windows(name, trace, naive)
    compare_utilisation(name, result["utilisation"], naive)
    print("%s: %d publications, %d runs" % (name, len(naive.publications), len(naive.runs)))
