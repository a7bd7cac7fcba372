#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, kernel
"""The tables of the kernel's scheduler: with made-up schedules beside traces of ROS 2 each row is what was made up; of a recording
the times on CPUs are those that its switches add up to; of threads with other numbers in the kernel nothing is told."""
import bisect
import collections
import itertools
import os
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_events import Events
from lib_kernel import lossless_tasks, with_tracefs
from lib_sched import BLOCKED, ON, PREEMPTED, WAITING, Wait, beside
from lib_test import SHARED, answer, kymo, lossless, query, record, report, robot, until_lossless

DATA = os.path.join(SHARED, "data", "ros2-traces")
TABLES = "io_waits", "callback_cpu", "callback_preemptions", "thread_cpu", "thread_states", "cpu_times"
SECTIONS = "callback-cpu", "node-cpu", "process-cpu", "preemptions"
STATE = {ON: "running", PREEMPTED: "preempted", WAITING: "waiting", BLOCKED: "blocked"}


def adds_up(row):
    return row["cpu_ns"] + row["preempted_ns"] + row["waiting_ns"] + row["blocked_ns"] + row["unknown_ns"] == row["duration_ns"]


# ---- made up ----

def state_at(scene, tid, ns):
    its = scene.spells[tid]
    at = bisect.bisect_right(its, ns, key=lambda s: s.begin) - 1
    return its[at].state if at >= 0 and its[at].begin <= ns < its[at].end else None


def run_of(scene, tid, begin, end):
    """What a run must have: None where the schedule does not have its thread on a CPU, which cannot be that thread then."""
    if state_at(scene, tid, begin) != ON or state_at(scene, tid, end) != ON:
        return None
    pieces = list(scene.during(tid, begin, end))
    on = [cpu for state, cpu, *_ in pieces if state == ON]
    by = collections.defaultdict(lambda: [0, 0])
    for state, cpu, since, until in pieces:
        for runner, ns in scene.runners(cpu, since, until) if state in (PREEMPTED, WAITING) else ():
            by[runner][0] += ns
            by[runner][1] += 1
    spent = collections.Counter()
    for state, _, since, until in pieces:
        spent[state] += until - since
    after = [(a[0], b[0]) for a, b in zip(pieces, pieces[1:])]
    return [spent[ON], spent[PREEMPTED], spent[WAITING], spent[BLOCKED], 0, after.count((ON, PREEMPTED)),
            sum(a != b for a, b in zip(on, on[1:]))], by


def made_up(directory, name, seed):
    trace, scene = beside(os.path.join(DATA, name), os.path.join(directory, f"{name}-{seed}"), seed, query, lttng=seed % 2 == 1, mean_ns=30_000,
                          io=True)
    told = {row["id"]: row for row in query(trace, "SELECT * FROM callback_cpu")}
    runs = query(trace, "SELECT id, tid, start_ns, end_ns, duration_ns FROM callback_instances")
    whom = collections.defaultdict(dict)
    for row in query(trace, "SELECT * FROM callback_preemptions"):
        whom[row["callback_instance_id"]][-1 if row["by_tid"] is None else row["by_tid"]] = [row["ns"], row["count"]]
        assert row["by_name"] == (scene.names[row["by_tid"]] if row["by_tid"] is not None else None), row
    assert set(told) == {run["id"] for run in runs}
    known = 0
    kinds = waits(trace, scene, runs)
    assert name != "pair_basic_st" or kinds == {"disk", "network"}, kinds
    for run in runs:
        row, wanted = told[run["id"]], run_of(scene, run["tid"], run["start_ns"], run["end_ns"])
        ours = [row[k] for k in ("cpu_ns", "preempted_ns", "waiting_ns", "blocked_ns", "unknown_ns", "preemptions", "migrations")]
        if wanted is None:
            assert ours == [None] * 7 and run["id"] not in whom, (row, ours)
            continue
        assert adds_up(row) and ours == wanted[0], (row, wanted)
        assert whom.get(run["id"], {}) == dict(wanted[1]), (row, whom[run["id"]], wanted[1])
        known += row["cpu_ns"] < row["duration_ns"]
    states(trace, scene)
    reported(trace)
    return known


def waits(trace, scene, runs):
    """Each wait for a disk or the network lies in the runs that its thread was in."""
    wanted = collections.Counter()
    for run in runs:
        if state_at(scene, run["tid"], run["start_ns"]) == ON:
            for wait in scene.waits[run["tid"]]:
                if run["start_ns"] <= wait.end <= run["end_ns"]:
                    wanted[run["id"], wait] += 1
    told = collections.Counter((row["callback_instance_id"], Wait(*(row[key] for key in (
        "start_ns", "end_ns", "kind", "device", "direction", "bytes", "requests", "request_ns")))) for row in query(trace, "SELECT * FROM io_waits"))
    assert told == wanted, (told - wanted, wanted - told)
    return {wait.kind for _, wait in wanted}


def states(trace, scene):
    ours = collections.defaultdict(list)
    for row in query(trace, "SELECT * FROM thread_states ORDER BY tid, start_ns"):
        assert (row["by_tid"] is None and row["by_name"] is None) or row["state"] != "running", row
        ours[row["tid"]].append((row["state"], row["cpu_id"], row["start_ns"], row["end_ns"]))
    for tid, its in ours.items():
        # Ready ones are cut where another thread gets the CPU.
        merged = []
        for state, cpu, begin, end in its:
            if merged and merged[-1][:2] == (state, cpu) and merged[-1][3] == begin and state in ("preempted", "waiting"):
                begin = merged.pop()[2]
            merged.append((state, cpu, begin, end))
        wanted = [(STATE[s.state], s.cpu, s.begin, s.end) for s in scene.spells[tid]]
        # What goes on at the end of the trace has been told up to the latest switch of its CPU.
        assert merged[:len(wanted)] == wanted and len(merged) <= len(wanted) + 1, (tid, merged[-3:], wanted[-3:])
    assert set(ours) == {tid for tid, its in scene.spells.items() if its}
    times = [(r["tid"], r["cpu_id"], r["start_ns"], r["duration_ns"]) for r in query(trace, "SELECT * FROM cpu_times")]
    assert sorted(times) == sorted((tid, s.cpu, s.begin, s.end - s.begin) for tid, its in scene.spells.items()
                                   for s in its if s.state == ON)
    # The schedule has them on CPUs when they cannot have been: these are no threads of the kernel.
    assert {r["cpu_ns"] for r in query(trace, "SELECT cpu_ns FROM thread_cpu")} == {None}


def without(trace):
    for table in TABLES:
        assert not query(trace, f"SELECT * FROM {table}"), table
    told = report(trace, *SECTIONS)
    assert not any(told[section] for section in SECTIONS)
    text = kymo("report", trace, "--section", "node-cpu")
    assert "kymo record --kernel" in text, text
    assert "callback-cpu" not in report(trace)


def sums(rows, key, *fields):
    """{key of a row: sums of these fields}, where anything is known."""
    out = {}
    for row in rows:
        if None not in [row[f] for f in fields]:
            out[key(row)] = [a + b for a, b in zip(out.get(key(row), [0] * len(fields)), (row[f] for f in fields))]
    return out


def reported(trace):
    """The report's sums are those of the rows of the tables."""
    told = report(trace, *SECTIONS)
    runs = query(trace, "SELECT c.*, p.pid, k.callback_object FROM callback_cpu c JOIN processes p ON p.id = c.process_id "
                        "JOIN callbacks k ON k.id = c.callback_id")
    usage = "cpu_ns", "preempted_ns", "waiting_ns", "blocked_ns", "unknown_ns", "preemptions", "migrations"
    ours = sums(told["callback-cpu"], lambda r: (r["pid"], int(r["callback"], 16)), "total_ns", *usage)
    assert ours == sums(runs, lambda r: (r["pid"], int(r["callback_object"])), "duration_ns", *usage)
    ours = {k: v for k, v in sums(told["node-cpu"], lambda r: (r["pid"], r["node"]), "cpu_ns").items() if k[1]}
    assert ours == {k: v for k, v in sums(runs, lambda r: (r["pid"], r["node"]), "own_cpu_ns").items() if k[1]}
    whom = query(trace, "SELECT b.*, p.pid, k.callback_object FROM callback_preemptions b JOIN processes p ON p.id = b.process_id "
                        "JOIN callbacks k ON k.id = b.callback_id")
    ours = sums(told["preemptions"], lambda r: (r["pid"], int(r["callback"], 16), r["by_tid"]), "ns", "count")
    assert ours == sums(whom, lambda r: (r["pid"], int(r["callback_object"]), r["by_tid"]), "ns", "count")
    ours = sums(told["process-cpu"], lambda r: r["pid"], *usage)
    assert ours == sums(query(trace, "SELECT * FROM thread_cpu"), lambda r: r["pid"], *usage)
    return len(told["callback-cpu"])


def windowed(trace):
    """What processes did between --begin and --end is what thread_states has of it; and the two halves are the whole."""
    known = {row["tid"]: row["pid"] for row in query(trace, "SELECT tid, pid FROM thread_cpu WHERE cpu_ns IS NOT NULL")}
    spells = [row for row in query(trace, "SELECT tid, state, start_ns, end_ns FROM thread_states") if row["tid"] in known]
    times = {time for spell in spells for time in (spell["start_ns"], spell["end_ns"])}
    middle = next(ns for ns in itertools.count((min(times) + max(times)) // 2) if ns not in times)
    wanted = collections.defaultdict(lambda: [0] * 4)
    for spell in spells:
        state = ("running", "preempted", "waiting", "blocked").index(spell["state"])
        wanted[known[spell["tid"]]][state] += max(spell["end_ns"] - max(spell["start_ns"], middle), 0)
    usage = "cpu_ns", "preempted_ns", "waiting_ns", "blocked_ns", "unknown_ns", "preemptions", "migrations"
    at = f"{middle // 10**9}.{middle % 10**9:09}"
    whole, before, after = (sums(answer("report", trace, "--section", "process-cpu", *window)["process-cpu"], lambda r: r["pid"], *usage)
                            for window in ([], ["--end", at], ["--begin", at]))
    assert {pid: its[:4] for pid, its in after.items()} == wanted, (after, wanted)
    assert {pid: [a + b for a, b in zip(before[pid], after[pid])] for pid in whole} == whole, (before, after, whole)


# ---- recorded ----


def recorded(directory):
    trace = os.path.join(directory, "trace")
    said = record(trace, "--kernel=if-possible", "--", *robot(1)).stderr
    if "recording without them" in said:
        print("not recorded:", said)
        return
    events = Events(trace)
    rows = query(trace, "SELECT * FROM callback_cpu")
    known = [row for row in rows if row["cpu_ns"] is not None]
    lossless_tasks(len(events.gaps), said)
    # Page faults that perf did not deliver leave stretches in which nothing is known: not most of the time.
    unknown = sum(min(end, events.last) - max(begin, events.first) for begin, end in events.gaps)
    lossless(unknown > .4 * (events.last - events.first), "(events of) most stretches")
    assert len(known) > .5 * len(rows) > 0, (len(known), len(rows))
    assert all(map(adds_up, known))
    least = collections.Counter()
    for _, ns, _, tid in events.slices:
        least[tid] += ns
    threads = [row for row in query(trace, "SELECT * FROM thread_cpu") if row["cpu_ns"]]
    assert threads
    for row in threads:
        # Both are the same where no switch is hidden.
        most = events.at_most[row["tid"]]
        assert least[row["tid"]] <= row["cpu_ns"] and row["cpu_ns"] <= most, (row, least[row["tid"]], most)
    assert reported(trace)
    windowed(trace)
    same = sum(least[row["tid"]] == row["cpu_ns"] for row in threads)
    print(f"{len(known)} of {len(rows)} runs known; {len(threads)} threads on CPUs as long as their switches say, {same} of them to the ns")


if __name__ == "__main__":
    with_tracefs(__file__)
    with tempfile.TemporaryDirectory() as private:
        if os.path.isdir(DATA):
            parts = made_up(private, "pair_basic_st", 0) + made_up(private, "pair_basic_st", 1) + made_up(private, "pair_pipeline_mt", 1)
            assert parts > 20, parts
            print(f"{parts} runs that were off their CPU are as they were made up")
            without(os.path.join(DATA, "pair_basic_st"))
    until_lossless(recorded)
