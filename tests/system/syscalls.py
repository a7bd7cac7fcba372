#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`kymo record --syscalls`: the system calls of tests/tools/syscalls.c are those that it makes, by number and by name, also as
strace(1) counts them; and of no other program."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "bin", "kymo")
CALLS = os.path.join(BUILD, "tests", "syscalls")
ROUNDS = 20
PARENTS = 7     # in a round: of a callback, and of a span
EVENT = re.compile(r"syscall_(entry|exit)_(\w+): .*?\{ (?:ret = (-?\w+), )?tid = (\d+) \}")


def record(directory, *options, name="trace"):
    """Return: the trace, what was said."""
    trace = os.path.join(directory, name)
    done = subprocess.run([KYMO, "record", "--syscalls", *options, "-o", trace, "--", CALLS, str(ROUNDS)], capture_output=True, text=True,
                          check=True, input="go\n", env=dict(os.environ, KYMO_DIR=os.path.join(directory, "run")))
    return trace, done.stderr


def kymo(*arguments, status=0):
    done = subprocess.run([KYMO, *arguments, "--format", "json"], capture_output=True, text=True, check=False)
    assert done.returncode == status, (arguments, done)
    return json.loads(done.stdout)


def accounts(trace):
    with open(os.path.join(trace, "kymo.json"), encoding="utf-8") as file:
        return json.load(file)


def threads(trace):
    """Return: tids by name of the thread."""
    return {t["name"]: t["tid"] for process in accounts(trace)["processes"] for t in process["threads"]}


def recorded(directory, source):
    """What others read: each call of the thread that makes them has both events, and what it returned."""
    os.environ["KYMO_KERNEL_SOURCE"] = source
    try:
        trace, said = record(directory, name=source)
    finally:
        del os.environ["KYMO_KERNEL_SOURCE"]
    kernel = accounts(trace)["kernel"]
    assert kernel["syscalls"] and kernel["source"] == source, kernel
    read = subprocess.run(["babeltrace2", os.path.join(trace, "kernel")], capture_output=True, text=True, check=True)
    caller, entries, exits, others = str(threads(trace)["caller"]), collections.Counter(), collections.defaultdict(list), set()
    for phase, name, ret, tid in EVENT.findall(read.stdout):
        if tid != caller:
            others.add(tid)
        elif phase == "entry":
            entries[name] += 1
        else:
            exits[name].append(int(ret, 0))
    assert len(others) == 1, others     # its main thread: nobody else's
    if kernel["lost"]:
        print("lost:", kernel["lost"], said)
        assert entries["getppid"] <= PARENTS * ROUNDS and entries["read"] <= ROUNDS and entries["close"] <= ROUNDS, entries
        return trace
    assert {n: entries[n] for n in ("getppid", "read", "close")} == {"getppid": PARENTS * ROUNDS, "read": ROUNDS, "close": ROUNDS}, \
        entries
    assert entries["futex"] >= ROUNDS and "unknown" not in entries, entries
    assert len(exits["getppid"]) == PARENTS * ROUNDS and len(set(exits["getppid"])) == 1, exits["getppid"]
    assert exits["read"] == [1] * ROUNDS and exits["close"] == [-9] * ROUNDS, exits
    return trace


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
    probe, said = record(directory, name="probe")
    if "recording without them" in said or "does not have the tracepoints of system calls" in said:
        assert not os.path.exists(os.path.join(probe, "kernel")) or not accounts(probe)["kernel"]["syscalls"], said
        print("skipped:", said)
        return 77
    for source in accounts(probe)["kernel"]["source"], "perf_event_open":
        recorded(directory, source)
    as_strace(directory)
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as private:
        sys.exit(main(private))
