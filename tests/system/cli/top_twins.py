#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""`kymo top` beside three running processes of one name that hear each other: each has its rows, told apart by the pid, and what is wrong
with many of them is one finding. On the screen they are one row, until they are unfolded."""
import contextlib
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_terminal import Terminal, pyte
from lib_test import KYMO, TESTS, check, in_directory, private, run, until

PROCESSES = 3
CHAINS = PROCESSES * PROCESSES


@contextlib.contextmanager
def swarm(env):
    """Three processes, until the end. Yields their pids; the first one is the slow one."""
    with subprocess.Popen([KYMO, "run", "--", os.path.join(TESTS, "swarm"), str(PROCESSES), "0"], env=env, start_new_session=True) as program:
        try:
            yield until("the processes", lambda: pids(env))
        finally:
            program.terminate()


def pids(env):
    done = run(KYMO, "status", "--format", "json", env=env, status=None)
    found = [process["pid"] for process in json.loads(done.stdout or "{}").get("processes", [])]
    return found if len(found) == PROCESSES else None


def is_whole(told):
    """Whether a look has all of the processes, and a finding that counts all that are alike: on a busy machine some do not run in it."""
    found = [row["finding"] for row in told["findings"] if row["kind"] != "trust"]
    return (len(told["chains"]) == CHAINS and len(told["callbacks"]) == 2 * PROCESSES and
            any(f" of {CHAINS} such chains." in text or f" of {PROCESSES} such " in text for text in found))


def once(env):
    """One look, if it has all of it."""
    done = run(KYMO, "top", "--once", "--interval", "1s", "--format", "json", env=env, status=(0, 6))
    told = json.loads(done.stdout) if done.returncode == 0 else {}
    return told if told and is_whole(told) else None


def looked_at(env, processes):
    told = until("all chains and a finding", lambda: once(env))
    check(told["state"] == "watching" and told["processes"] == PROCESSES, told["state"], told["processes"])
    for source in "timer 10 ms", "/swarm":
        rows = [row for row in told["callbacks"] if row["source"] == source]
        check(sorted(row["pid"] for row in rows) == sorted(processes) and all(row["count"] and row["worst_ns"] for row in rows), source, rows)
    check(sorted(row["pid"] for row in told["spans"]) == sorted(processes), "spans:", told["spans"])
    ways = [f"{a}" if a == b else f"{a}, swarm {b}" for a in processes for b in processes]
    check(sorted(row["chain"] for row in told["chains"]) == sorted(f"/swarm -> /drone (swarm {way})" for way in ways), "chains:", told["chains"])
    told["findings"] = [row for row in told["findings"] if row["kind"] != "trust"]
    names = [re.match(r"(.*?) \(swarm (\d+)", row["finding"]) for row in told["findings"]]
    check(all(names) and len({name[1] for name in names}) == len(names), "one name has several findings:", told["findings"])
    check(all(int(name[2]) in processes for name in names if name), "findings name", told["findings"])
    for row in told["findings"]:
        check(row["ask"].endswith(")") and row["finding"].count(row["ask"].rpartition(" (")[2]), "asked is", row)


def screen(env, processes):
    terminal = Terminal(KYMO, "top", "--interval", "200ms", env=env, rows=30, columns=120)
    terminal.shows("one row for all timers", rf"^. {PROCESSES} x /drone +timer 10 ms ")
    terminal.shows("how many are affected", r"Affected:\s+\d of \d")
    terminal.keys("u")
    for pid in processes:
        terminal.shows("a row of its own", rf"^. /drone +timer 10 ms .* {pid}\b")
    terminal.keys("u")
    terminal.shows("one row again", rf"^. {PROCESSES} x /drone +/swarm ")
    terminal.keys(f"/{processes[1]}\r")
    terminal.shows("the rows of one process", rf"^. /drone +/swarm .* {processes[1]}\b")
    check(not re.search(rf" x /drone|^. /drone .* {processes[0]}\b", terminal.text(), re.M), "of", processes[1], "\n" + terminal.text())
    terminal.keys("\x1b3")
    terminal.shows("one row for all chains", rf"^. {CHAINS} x /swarm -> /drone ")
    check(terminal.end() == 0, "top ended with an error")


@in_directory
def main(work):
    env = private(work, KYMO_RING_SIZE="2M")
    with swarm(env) as processes:
        looked_at(env, processes)
        if pyte:
            screen(env, processes)
    if not pyte:
        print("skipped in part: the screen needs python3-pyte")
