#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""kymo export --format parquet: an independent reader (lib_parquet.py), and DuckDB where it is, find in the files row by row what
`kymo query` prints."""
import os
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_duckdb import available, duckdb
from lib_parquet import read
from lib_test import KYMO, SHARED, TESTS, check, existing, fewer, in_directory, query, run

TRACES = os.path.join(SHARED, "data", "ros2-traces")
FEW = "", "/planner", "Größe", "broken \ufffd byte"


def row_of(row):
    """As tests/tools/parquet_file.c has it."""
    def null(column):
        return row // (1 + column) % 3 == 0

    return (row, None if null(1) else row * -1000003, None if null(2) else 2 ** 64 - 1 - row, None if null(3) else row / 8 - 3,
            None if null(4) else row % 5 == 0, FEW[row % 4] if row % 7 else "",
            None if null(6) else "" if row % 1000 == 1 else
            f"text {row} of many, so many that no dictionary has room for them",
            [row * i for i in range(row % 6 % 5)], None)


def check_bounds(columns, rows, groups):
    """What a reader skips groups by."""
    first = 0
    for group in groups:
        part = rows[first:first + group["rows"]]
        first += group["rows"]
        for number, name in enumerate(columns):
            values = [row[number] for row in part if row[number] is not None]
            told = group[name]
            if name == "counts":
                continue
            check(told["nulls"] == len(part) - len(values), name, "nulls", told)
            if "min" in told:
                check((told["min"], told["max"]) == (min(values), max(values)), name, told)
            else:
                check(not values or any(len(str(value)) > 64 for value in values), name, "has no bounds")


def files(directory):
    """The writer itself: no row, one, those around a page and a group, NULLs, and a dictionary that becomes too large."""
    for rows in fewer((0, 1, 7, 8, 9, 1000, 32767, 32768, 131073)):
        path = os.path.join(directory, f"{rows}.parquet")
        run(os.path.join(TESTS, "parquet_file"), str(rows), path)
        columns, got, groups = read(path)
        want = [row_of(row) for row in range(rows)]
        check(got == want, rows, "rows:", next(((a, b) for a, b in zip(got, want) if a != b), len(got)))
        check(len(groups) == (rows + 131071) // 131072, rows, "rows in", len(groups), "groups")
        check_bounds(columns, got, groups)
        if available():
            told, = duckdb(f"SELECT count(*), sum(id), sum(number), max(unsigned), sum(real), count(*) FILTER (flag), count(many), "
                           f"count(DISTINCT few), sum(list_sum(counts)) FROM '{path}'")
            numbers = [row[0] for row in want]
            check([str(value) for value in told[0][:2]] == [str(rows), str(sum(numbers) if rows else None)], rows, told)
            rest = [len([row for row in want if row[4]]), len([row for row in want if row[6] is not None]), len({row[5] for row in want})]
            check([int(value) for value in told[0][5:8]] == rest, rows, told, rest)


def same(a, b):
    """Booleans are 0 and 1 in SQL."""
    return len(a) == len(b) and all(tuple(x) == tuple(y) for x, y in zip(a, b))


def tables(trace, directory):
    out = os.path.join(directory, os.path.basename(os.path.dirname(trace)))
    run(KYMO, "export", trace, "--format", "parquet", "--quiet", "-o", out)
    run(KYMO, "export", trace, "--table", "events", "-o", os.path.join(out, "events.parquet"), "--quiet")
    asked = {}
    for name in sorted(os.listdir(out)):
        table, path = name.partition(".")[0], os.path.join(out, name)
        rows = query(trace, f"SELECT * FROM {table} ORDER BY id")
        asked[table] = want = [tuple(row.values()) for row in rows]
        columns, got, groups = read(path)
        got.sort()
        check(same(got, want), trace, table, next(((a, b) for a, b in zip(got, want) if a != b), (len(got), len(want))))
        check(not rows or columns == list(rows[0]), table, columns)
        check(sum(group["rows"] for group in groups) == len(want), table, groups)
    check(len([table for table in asked if asked[table]]) > 20, trace, "has few tables with rows")
    if available():
        for told, (table, want) in zip(duckdb(*(f"SELECT * FROM '{out}/{table}.parquet' ORDER BY id" for table in asked)), asked.items()):
            told = [tuple(value if of is None or isinstance(of, (str, bool)) else type(of)(value) for value, of in zip(row, wanted))
                    for row, wanted in zip(told, want)]
            check(same(told, want), "DuckDB:", table, next(((a, b) for a, b in zip(told, want) if a != b), len(told)))


def words(trace, directory):
    """Where it goes, and what is refused."""
    one = os.path.join(directory, "one.parquet")
    run(KYMO, "export", trace, "--table", "topics", "--format", "parquet", "-o", one)
    with open(one, "rb") as file:
        piped = run_bytes(trace)
        check(file.read() == piped, "-o - is the file")
    check("already exists" in run(KYMO, "export", trace, "--table", "topics", "-o", one, status=1).stderr)
    run(KYMO, "export", trace, "--table", "topics", "-o", one, "--force")
    check("one table" in run(KYMO, "export", trace, "-o", os.path.join(directory, "two.parquet"), status=2).stderr)
    check(not os.path.exists(os.path.join(directory, "two.parquet")))


def run_bytes(trace):
    return subprocess.run([KYMO, "export", trace, "--table", "topics", "--format", "parquet", "-o", "-", "--quiet"],
                          stdout=subprocess.PIPE, check=True).stdout


def test(directory):
    files(directory)
    traces = existing(*(os.path.join(TRACES, name, "ctf") for name in ("pair_lifecycle", "pair_intra")))
    for trace in fewer(traces, 2):
        tables(trace, directory)
    words(traces[0], directory)
    if not available():
        print("skipped in part: DuckDB, for KYMO_NODE_MODULES names no folder with @duckdb/node-api")


in_directory(test)
