#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""kymo export --table fleet_windows: windows add up to the whole trace, exactly, and the whole is what the summary says."""
import collections
import gzip
import json
import math
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_duckdb import available, duckdb
from lib_parquet import read
from lib_test import KYMO, SHARED, SOURCE, check, existing, fewer, in_directory, run

TRACES = os.path.join(SHARED, "data", "ros2-traces")
COUNTERS = "published", "received", "lost", "late", "unfinished", "waited", "waited_ns"


def windows(trace, path, *words):
    """Return: the rows, as dictionaries."""
    run(KYMO, "export", trace, "--table", "fleet_windows", "-o", path, "--quiet", "--force", *words)
    columns, rows, _ = read(path)
    return [dict(zip(columns, row)) for row in rows]


def merged(rows):
    """Return: {(kind, entity, process, metric): sums}, as any database would add them up."""
    sums = {}
    for row in rows:
        key = row["entity_kind"], row["entity"], row["process"], row["metric"]
        one = sums.setdefault(key, {"count": 0, "sum": 0, "zero": 0, "min": None, "max": 0, "buckets": collections.Counter()})
        one["count"] += row["count"]
        one["sum"] += row["sum_ns"]
        one["zero"] += row["zero_count"]
        if row["metric"]:
            one["min"] = min(row["min_ns"], row["min_ns"] if one["min"] is None else one["min"])
        one["max"] = max(row["max_ns"], one["max"])
        one["buckets"] += collections.Counter({row["bucket_offset"] + i: n for i, n in enumerate(row["buckets"])})
    return sums


def counters(rows):
    sums = collections.Counter()
    for row in rows:
        for name in COUNTERS:
            sums[row["entity_kind"], row["entity"], row["process"], name] += row[name] or 0
    return {key: value for key, value in sums.items() if value}


def bucket_of(value):
    return math.ceil(math.log2(value) * 32) - 1


def check_rows(rows, length):
    for row in rows:
        name = row["entity"], row["metric"]
        check(row["window_start"] % int(length * 1e9) == 0 and row["window_s"] == length, name, row["window_start"])
        check(not row["metric"] or row["count"] == row["zero_count"] + sum(row["buckets"]), name, "buckets", row)
        check(all(row["buckets"][::max(1, len(row["buckets"]) - 1)]), name, "begins or ends with an empty bucket")
        if row["buckets"]:
            check(abs(bucket_of(row["max_ns"]) - row["bucket_offset"] - len(row["buckets"]) + 1) <= 1, name, "last bucket", row)
            check(row["scale"] == 5 and (not row["min_ns"] or abs(bucket_of(row["min_ns"]) - row["bucket_offset"]) <= 1), name, row)
    first = [(row["window_start"], row["entity_kind"], row["entity"], row["process"]) for row in rows if row["lost"] is not None]
    check(len(first) == len(set(first)), "counters are in one row of an entity")
    check({one[:1] for one in first} == {one[:1] for one in first if one[1] == "window"}, "each window has a row of its own")


def against_summary(trace, directory, whole):
    """The one other way to the same numbers: the file of `kymo report --format summary`."""
    path = os.path.join(directory, "whole.summary")
    run(KYMO, "report", trace, "--format", "summary", "--force", "-o", path)
    with gzip.open(path) as file:
        summary = json.load(file)
    compared = 0
    for entity in summary["entities"]:
        for metric in "duration", "latency", "wait", "period":
            told = entity.get(metric)
            if not told:
                continue
            row = [row for row in whole if (row["entity_kind"], row["entity"], row["metric"]) == (entity["kind"], entity["name"], metric)
                   and (entity["kind"] == "subscription" or row["process"] == entity.get("of", ""))]
            values = tuple(told.get(key, 0) for key in ("count", "sum", "min", "max"))
            check([tuple(one[key] for key in ("count", "sum_ns", "min_ns", "max_ns")) for one in row] == [values],
                  trace, entity["name"], metric, values, row)
            compared += 1
    check(compared > 5, trace, compared, "distributions compared")
    check(sum(row["count"] for row in whole if row["entity_kind"] == "window") == summary["events"], trace, "events")


def add_up(trace, directory):
    path = os.path.join(directory, "w.parquet")
    whole = windows(trace, path, "--window", "1d")
    check_rows(whole, 86400)
    against_summary(trace, directory, whole)
    want = {key: value for key, value in merged(whole).items() if key[0] in ("callback", "timer", "topic", "span", "loop")}
    for length in fewer((2, 0.5), 2):
        rows = windows(trace, path, "--window", f"{int(length * 1000)}ms")
        check_rows(rows, length)
        got = merged(rows)
        for key, value in want.items():
            # The first period of a window begins in the one before; chains and executors are found again in each.
            if key[3] != "period":
                check(got.get(key) == value, trace, length, key, got.get(key), value)
        counts = counters(rows)
        for key, value in counters(whole).items():
            if key[0] in ("callback", "timer", "topic") and key[3] in ("published", "received", "late"):
                check(counts.get(key) == value, trace, length, key, counts.get(key), value)


def layout(trace, directory):
    """Hive paths, which databases read as columns, and a macro for quantiles."""
    fleet = os.path.join(directory, "fleet")
    for robot in "r2d2", "c3po/../x":
        run(KYMO, "export", trace, "--format", "parquet", "--table", "fleet_windows", "--robot", robot, "--software", "1.2", "--window",
            "1s", "-o", fleet, "--quiet")
    found = [os.path.relpath(os.path.join(where, name), fleet) for where, _, names in os.walk(fleet) for name in names]
    check(sorted(path.split("/")[1:] for path in found) == [["robot=c3po_.._x", "ctf.parquet"], ["robot=r2d2", "ctf.parquet"]], found)
    check(len({path.split("/")[0] for path in found}) == 1 and found[0].startswith("date=20"), found)
    columns, rows, _ = read(os.path.join(fleet, found[0]))
    check({row[columns.index("software")] for row in rows} == {"1.2"}, "software")
    check("already exists" in run(KYMO, "export", trace, "--format", "parquet", "--table", "fleet_windows", "--robot", "r2d2",
                                  "-o", fleet, status=1).stderr, "not overwritten")
    for words in ("--format", "csv", "--table", "fleet_windows"), ("--robot", "x"), \
            ("--format", "parquet", "--table", "fleet_windows", "--node", "/x"), \
            ("--format", "parquet", "--table", "fleet_windows", "--table", "nodes"):
        run(KYMO, "export", trace, *words, "-o", os.path.join(directory, "no"), status=2)
    if not available():
        print("skipped in part: DuckDB, for KYMO_NODE_MODULES names no folder with @duckdb/node-api")
        return
    with open(os.path.join(SOURCE, "packaging", "fleet", "duckdb.sql"), encoding="utf-8") as file:
        macros = [statement for statement in file.read().split(";\n") if statement.strip()]
    *_, counted, told = duckdb(*macros,
                               f"SELECT robot, count(*) FROM read_parquet('{fleet}/**/*.parquet') GROUP BY robot ORDER BY robot",
                               "SELECT entity, " + "".join(f"hist_quantile({q}, bucket_offset, buckets, zero_count, min_ns, max_ns), "
                                                           for q in (0.5, 0.99, 1)) + "max(max_ns), sum(count) "
                               f"FROM read_parquet('{fleet}/**/*.parquet') WHERE metric = 'duration' AND robot = 'r2d2' "
                               "GROUP BY entity")
    check([row[0] for row in counted] == ["c3po_.._x", "r2d2"], counted)
    exact = durations(trace)
    check(len(told) > 5, told)
    for entity, *quantiles, largest, count in told:
        values = exact.get(entity)
        if not values or len(values) != int(count):
            continue
        for q, value in zip((0.5, 0.99, 1), quantiles):
            want = values[max(0, math.ceil(q * len(values)) - 1)]
            check(abs(float(value) - want) <= want * 0.012 + 1, entity, q, value, want)
        check(float(quantiles[2]) <= int(largest), entity, "above the largest value")


def durations(trace):
    """Return: the durations of all runs by the name of the callback, from `kymo query`."""
    rows = json.loads(run(KYMO, "query", trace, "--format", "json",
                          "SELECT callback, duration_ns FROM callback_instances ORDER BY duration_ns").stdout)["rows"]
    values = collections.defaultdict(list)
    for row in rows:
        values[row["callback"]].append(row["duration_ns"])
    return values


def documented():
    """docs/answers/fleet.md has the columns as window.def has them."""
    with open(os.path.join(SOURCE, "src", "fleet", "window", "window.def"), encoding="utf-8") as file:
        columns = re.findall(r'^COLUMN\((\w+), \w+, .*, "(.*)"\)$', file.read(), re.M)
    with open(os.path.join(SOURCE, "docs", "answers", "fleet.md"), encoding="utf-8") as file:
        page = file.read()
    for name, text in columns:
        check(f"| `{name}` | {text} |" in page, f"docs/answers/fleet.md: | `{name}` | {text} |")
    check(len(columns) == 27, len(columns))


def test(directory):
    documented()
    traces = existing(*(os.path.join(TRACES, name, "ctf") for name in ("pair_basic_st", "pair_intra", "pair_pipeline_mt")))
    for trace in fewer(traces, 3):
        add_up(trace, directory)
    layout(traces[0], directory)


in_directory(test)
