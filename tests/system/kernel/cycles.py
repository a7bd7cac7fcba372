#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, kernel
"""`kymo record --cycles`: what a counter of perf counted while a thread was on a CPU, and each callback's part of it by time, as
computed here from the events. Without a hardware counter it is CPU time, which is said, and which is known."""
import collections
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_kernel import skip_without, with_tracefs
from lib_test import accounts, answer, in_directory, kymo, query, record, report, robot, run, skip

EVENT = re.compile(r"\[(\d+)\.(\d{9})\] .* (cpu-c\w+): \{[^}]*\}, \{ tid = (\d+), ns = (\d+), count = (\d+) \}")


def recorded(directory, name, *options):
    trace = os.path.join(directory, name)
    return trace, record(trace, *options, "--kernel=if-possible", "--", *robot(0.5)).stderr


def stretches(trace):
    """Return: {thread: [(end, ns, count)]}, in order of time."""
    done = run("babeltrace2", "--clock-seconds", os.path.join(trace, "kernel"))
    found = collections.defaultdict(list)
    for match in EVENT.finditer(done.stdout):
        found[int(match[4])].append((int(match[1]) * 10**9 + int(match[2]), int(match[5]), int(match[6])))
    return found


def parts(runs, told):
    """Return: {callback: [count, ns]}, each run's part of each stretch of its thread."""
    sums = collections.defaultdict(lambda: [0, 0])
    for run in runs:
        for end, ns, count in told.get(run["tid"], ()):
            part = min(end, run["end_ns"]) - max(end - ns, run["start_ns"])
            if part > 0:
                sums[run["callback"]][0] += count * part / ns
                sums[run["callback"]][1] += part
    return sums


def check(trace, counter):
    told = stretches(trace)
    told_cycles = report(trace, "cycles")
    # With fewer rows than callbacks, and with all.
    for limit in "1", "1000":
        text = kymo("report", trace, "--section", "cycles", "--limit", limit)
        assert "thread" in text and "The counter is read each time" in text, text
    assert told_cycles["counter"] == counter, told_cycles["counter"]
    rows = {r["name"]: r for r in told_cycles["cycles"] if r["what"] == "callback"}
    runs = query(trace, "SELECT callback, tid, start_ns, end_ns FROM callback_instances")
    sums = parts(runs, told)
    assert rows and set(rows) == set(sums), (set(rows) ^ set(sums))
    for name, row in rows.items():
        count, ns = sums[name]
        assert row["runs"] == sum(r["callback"] == name for r in runs), (name, row)
        assert row["cpu_ns"] == ns and abs(row["count"] - count) <= 1 + count / 10**6, (name, row, count, ns)
    threads = [r for r in told_cycles["cycles"] if r["what"] == "thread"]
    assert threads and sum(r["runs"] for r in threads) == len(runs), (threads, len(runs))
    assert all(r["count"] <= sum(c for _, _, c in told[r["tid"]]) + 1 for r in threads), threads
    if counter == "cpu-clock":		# by another clock, read a moment later
        count, ns = sum(r["count"] for r in rows.values()), sum(r["cpu_ns"] for r in rows.values())
        assert abs(count - ns) < ns / 4, (count, ns)
    return rows


def main(directory):
    trace, said = recorded(directory, "counted", "--cycles")
    skip_without(said)
    counter = accounts(trace)["kernel"]["counter"]
    if counter is None:
        skip("no counter of perf is available beside tracefs")
    assert (counter == "cpu-clock") == ("no CPU cycles: " in said), (counter, said)
    rows = check(trace, counter)
    late = answer("report", trace, "--section", "cycles", "--begin", "+300ms", "--node", "/imu_driver")
    assert {r["name"] for r in late["cycles"] if r["what"] == "callback"} <= {n for n in rows if n.startswith("/imu_driver ")}, late
    plain, _ = recorded(directory, "plain", "--kernel")
    told = kymo("report", plain, "--section", "cycles")
    assert "kymo record --cycles" in told and not stretches(plain), told


if __name__ == "__main__":
    with_tracefs(__file__)
    in_directory(main)
