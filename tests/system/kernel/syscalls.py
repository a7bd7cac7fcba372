#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, kernel
"""`kymo record --syscalls`: the system calls of tests/tools/syscalls.c are those that it makes, by number and by name, also as
strace(1) counts them; and of no other program."""
import collections
import functools
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_kernel import lossless_tasks, skip_without, with_tracefs
from lib_test import BUILD, KYMO, SHARED, accounts, answer, in_directory, lossless, query, record, run, sanitized, skip, until_lossless

CALLS = os.path.join(BUILD, "tests", "syscalls")
ROUNDS = 20
EDGE = 4        # calls that may be on the wrong side of the begin or end of a run: it is told by another clock than the kernel's
SANITIZED = sanitized()
PARENTS = 7     # in a round: of a callback, and of a span
FORK = re.compile(r"sched_process_fork: .*parent_tid = (\d+), .*child_tid = (\d+)")
EVENT = re.compile(r"syscall_(entry|exit)_(\w+): .*?\{ (?:ret = (-?\w+), )?tid = (\d+) \}")


def recorded_as(directory, *options, name="trace"):
    """Return: the trace, what was said."""
    trace = os.path.join(directory, name)
    return trace, record(trace, "--syscalls", "--kernel=if-possible", *options, "--", CALLS, str(ROUNDS), input="go\n").stderr


def threads(trace):
    """Return: tids by name of the thread."""
    return {t["name"]: t["tid"] for process in accounts(trace)["processes"] for t in process["threads"]}


def recorded(directory, source):
    """What others read: each call of the thread that makes them has both events, and what it returned."""
    os.environ["KYMO_KERNEL_SOURCE"] = source
    try:
        trace, said = recorded_as(directory, name=source)
    finally:
        del os.environ["KYMO_KERNEL_SOURCE"]
    kernel = accounts(trace)["kernel"]
    assert kernel["syscalls"] and kernel["source"] == source, kernel
    read = run("babeltrace2", os.path.join(trace, "kernel"))
    caller, entries, exits, others = str(threads(trace)["caller"]), collections.Counter(), collections.defaultdict(list), set()
    for phase, name, ret, tid in EVENT.findall(read.stdout):
        if tid != caller:
            others.add(tid)
        elif phase == "entry":
            entries[name] += 1
        else:
            exits[name].append(int(ret, 0))
    family = {str(p["pid"]) for p in accounts(trace)["processes"]}
    for parent, child in FORK.findall(read.stdout):
        family |= {child} if parent in family else set()
    # A sanitizer has threads of its own.
    assert entries["getppid"] <= PARENTS * ROUNDS and entries["read"] <= ROUNDS and entries["close"] <= ROUNDS, entries
    lossless_tasks(kernel["lost"], said)
    assert others and others <= family, (others, family)
    assert {n: entries[n] for n in ("getppid", "read", "close")} == {"getppid": PARENTS * ROUNDS, "read": ROUNDS, "close": ROUNDS}, \
        entries
    assert entries["futex"] >= ROUNDS and "unknown" not in entries, entries
    assert len(exits["getppid"]) == PARENTS * ROUNDS and len(set(exits["getppid"])) == 1, exits["getppid"]
    assert exits["read"] == [1] * ROUNDS and exits["close"] == [-9] * ROUNDS, exits
    return trace


# Many threads that end at once: what is read too late is of a thread that nobody knows any more.
SHORT = 5000
THREADS = f"""
import os, threading
for _ in range({SHORT}):
    thread = threading.Thread(target=os.getppid)
    thread.start()
    thread.join()
"""


def short_threads(directory):
    """Each one's call is there, although the recorder's own calls, which read the rings, are in the same rings."""
    trace = os.path.join(directory, "trace")
    said = record(trace, "--syscalls", "--ctf", "2", "--", sys.executable, "-c", THREADS).stderr
    with open(os.path.join(trace, "kernel", "metadata"), "rb") as metadata:
        assert metadata.read(1) == b"\x1e", "the kernel's metadata are not CTF 2"
    lossless_tasks("were lost" in said, said)
    calls = query(trace, "SELECT tid, end_ns FROM system_calls WHERE name = 'getppid'")
    assert len(calls) == SHORT == len({c["tid"] for c in calls}) and all(c["end_ns"] for c in calls), len(calls)


def lint(trace, *names, status=0):
    """Return: {(what, call, period in s or span): row} and what was looked at."""
    told = answer("report", trace, "--section", "realtime", *(x for n in names for x in ("--realtime", n)), status=status)
    return {(r["what"], r["call"], r["callback"] if r["kind"] == "span" else int(r["callback"].split()[-2])): r
            for r in told["realtime"] if r["what"] != "page_fault"}, told["looked_at"]


def check_lint(directory):
    """Which, how many, in which callback and which span; a futex that waits for a mutex is that mutex."""
    trace, said = recorded_as(directory, *([] if SANITIZED else ["--malloc"]), name="lint")
    rows, looked_at = lint(trace)
    assert looked_at.endswith("system calls"), looked_at
    lossless_tasks("were lost" in said, said)
    malloc = "mutexes" in looked_at     # not with a sanitizer
    assert malloc == (("lock", None, 4) in rows), rows
    expected = {("system_call", "getppid", 2): (5, 5), ("system_call", "read", 3): (1, 1), ("system_call", "getppid", "control:step"): (2, 2),
                ("system_call", "close", "control:step"): (1, 1), ("system_call", "futex", 4): (1, 2)}
    made = {k for k in rows if k[0] == "system_call"}
    assert made >= expected.keys(), made
    assert SANITIZED or all(rows[k]["times"] <= EDGE for k in made - expected.keys()), rows
    for key, (least, most) in expected.items():
        row = rows[key]
        assert row["runs"] == ROUNDS and ROUNDS - EDGE <= row["in_runs"] <= ROUNDS and row["longest_ns"] <= row["call_ns"], row
        # Where an end may be lost, a call that slept has no duration: its end may be another call's.
        assert row["longest_ns"] > 0 or "were lost" in said, (row, said)
        if key[1] != "futex":
            assert abs(row["times"] - least * ROUNDS) <= EDGE and abs(row["most"] - most) <= 1, row
    # With the mutex, what is left is the one that wakes who waits next.
    assert abs(rows["system_call", "futex", 4]["times"] - ROUNDS) <= EDGE or not malloc, rows
    # It may have a page fault, or a call at its edge.
    quiet = subprocess.run([KYMO, "report", trace, "--section", "realtime", "--realtime", "/calling timer 1 s", "--format", "json"],
                           capture_output=True, text=True, check=False)
    assert SANITIZED or all(r["times"] <= EDGE for r in json.loads(quiet.stdout)["realtime"] if r["what"] != "page_fault"), quiet
    assert quiet.returncode == (5 if json.loads(quiet.stdout)["realtime"] else 0), quiet
    lint(trace, "/calling timer 2 s", status=5)
    lint(trace, "control:step", status=5)
    calls = check_tables(trace, rows)
    check_why(trace)
    check_perfetto(directory, trace, calls)


def check_why(trace):
    """What it slept in is named: also where a mutex is, that is what it is called."""
    for period, call in (3, "read"), (4, "futex"):
        told = answer("why", trace, f"/calling timer {period} s")
        parts = [p for p in told["parts"] if p["kind"] == "blocked" and p["rank"] == 1]
        # That it sleeps in its read is waited for; a mutex may be had just before.
        assert (parts or call == "futex") and all(p["call"] == call for p in parts), (call, told["parts"])
        assert all(p["call"] is None for p in told["parts"] if p["kind"] != "blocked"), told["parts"]
        usual = "nothing sticks out" in told["sentence"]
        assert usual or told["instances"][0]["cause"] != "blocked" or f" in {call}() " in told["sentence"], told["sentence"]


def check_perfetto(directory, trace, calls):
    """The trace processor makes the same calls of it, as slices inside of the callbacks and spans."""
    oracle = os.path.join(SHARED, "oracles", "perfetto", "perfetto-sql.mjs")
    if SANITIZED or not shutil.which("node") or not os.path.exists(oracle):
        return
    caller = threads(trace)["caller"]
    path = os.path.join(directory, "trace.pftrace")
    subprocess.run([KYMO, "export", trace, "-q", "--format", "perfetto", "-o", path], check=True)
    run = subprocess.run(["node", oracle, "--offline", "-f", "json", path,
                          f"""select s.name, s.dur, p.name from slice s join thread_track k on s.track_id = k.id join thread t using (utid)
                              left join slice p on s.parent_id = p.id where t.tid = {caller} and s.name glob 'sys_*' and s.dur >= 0"""],
                         capture_output=True, text=True, check=False)
    if run.returncode == 77:
        return
    assert run.returncode == 0, run
    rows = json.loads(run.stdout)["results"][0]["rows"]
    # Perfetto's names are those of the numbers.
    ours = collections.Counter((f"sys_{c['name']}", c["duration_ns"]) for c in calls if c["tid"] == caller and c["duration_ns"])
    got = collections.Counter((name, ns) for name, ns, _ in rows)
    assert sum(((got - ours) + (ours - got)).values()) <= 2 * EDGE, (got - ours, ours - got)
    inside = collections.Counter((name, parent) for name, _, parent in rows)
    assert min(inside["sys_read", "/calling timer 3 s"], inside["sys_close", "step"]) >= ROUNDS - EDGE, inside
    assert inside["sys_getppid", "/calling timer 2 s"] + inside["sys_getppid", "step"] >= PARENTS * ROUNDS - 2 * EDGE, inside


def check_tables(trace, rows):
    """Each call, and sums of runs, nodes and the process, are of one another. Return: each call."""
    calls = answer("query", trace, "SELECT * FROM system_calls")["rows"]
    runs = answer("query", trace, "SELECT * FROM callback_costs")["rows"]
    caller = [c for c in calls if c["tid"] == threads(trace)["caller"]]
    assert {c["pid"] for c in caller} <= {None, next(p["pid"] for p in accounts(trace)["processes"])}, caller
    lossless(sum(c["end_ns"] is None for c in caller if c["name"] != "exit"), "ends of calls that nobody counted as lost")
    read = [c for c in caller if c["name"] == "read"]
    assert len(read) == ROUNDS and all(c["ret"] == 1 and c["duration_ns"] == c["end_ns"] - c["start_ns"] for c in read), read
    assert sum(c["callback"] == "/calling timer 3 s" for c in read) >= ROUNDS - EDGE, read
    assert [c["ret"] for c in caller if c["name"] == "close"] == [-9] * ROUNDS, caller
    assert all(c["end_ns"] is None and c["start_ns"] for c in caller if c["name"] == "exit"), caller
    for run in runs:
        own = [c for c in caller if c["callback_instance_id"] == run["id"] and not c["is_lock_wait"]]
        assert run["system_calls"] == len(own) and run["system_call_ns"] == sum(c["duration_ns"] for c in own), (run, own)
    node, = answer("report", trace, "--section", "node-costs")["node-costs"]
    process, = answer("report", trace, "--section", "process-costs")["process-costs"]
    assert node["system_calls"] == sum(run["system_calls"] for run in runs), node
    ours = set(threads(trace).values())
    assert process["system_calls"] == len([c for c in calls if c["tid"] in ours and not c["is_lock_wait"]]), (process, len(calls))
    assert sum(c["is_lock_wait"] for c in calls) >= (ROUNDS - EDGE if ("lock", None, 4) in rows else 0), calls
    return calls


def as_strace(directory):
    """It counts the same calls."""
    counts = os.path.join(directory, "counts")
    if not shutil.which("strace"):
        return
    done = subprocess.run(["strace", "-f", "-c", "-e", "trace=getppid,close", "-o", counts, CALLS, str(ROUNDS)], capture_output=True,
                          input="go\n", text=True, check=False)
    if done.returncode:
        print("without strace:", done.stderr)
        return
    with open(counts, encoding="utf-8") as file:
        row = {line.split()[-1]: line.split() for line in file if line.split()[-1:] in (["getppid"], ["close"])}
    assert int(row["getppid"][3]) == PARENTS * ROUNDS, row
    assert int(row["close"][4]) == ROUNDS, row


def main(directory):
    probe, said = recorded_as(directory, name="probe")
    if "recording without them" in said or "does not have the tracepoints of system calls" in said:
        assert not os.path.exists(os.path.join(probe, "kernel")) or not accounts(probe)["kernel"]["syscalls"], said
        skip_without(said)
        skip("this kernel has no tracepoints of system calls")
    for source in accounts(probe)["kernel"]["source"], "perf_event_open":
        until_lossless(functools.partial(recorded, source=source))
    until_lossless(short_threads)
    until_lossless(check_lint)
    as_strace(directory)


if __name__ == "__main__":
    with_tracefs(__file__)
    in_directory(main)
