#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Many processes with many threads, recorded and read with few file descriptors: streams that are
merged by time hold every event once, in order, with its thread, and what is lost is told."""
import json
import os
import re
import resource
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_checks
from lib_test import BUILD, KYMO, TESTS

FLEET = os.path.join(TESTS, "fleet")
RECORDER_FILES = 80     # descriptors: for each process less than as many as 500 have below `ulimit -n 1024`, and those of the recorder itself
CROWDED_FILES = 60
READER_FILES = 160
FEW_FILES = 16          # fewer than streams
PROCESSES, THREADS = 30, 10

EVENT = re.compile(r"^\[\s*(\S+)\].* fleet:tick: .*vpid = (\d+).*vtid = (\d+), procname = \"([^\"]*)\".*"
                   r"thread = (\d+), n = (\d+) \}")
LOST = re.compile(r"Tracer discarded (\d+) event")


def run(*command, files=READER_FILES, statuses=(0,), **how):
    done = subprocess.run(command, capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)), **how)
    if done.returncode not in statuses:
        raise SystemExit(f"{' '.join(command[:6])}: {done.returncode}: {done.stderr[-2000:]}")
    return done


class Fleet:
    """One recording: what was produced, the recorder's accounts, and what others read."""

    def __init__(self, scratch, name, *fleet, streams, rules=(), files=RECORDER_FILES, statuses=(0,), **environment):
        self.trace = os.path.join(scratch, name)
        env = dict(os.environ, KYMO_DIR=os.path.join(scratch, name + ".run"), **environment)
        done = run(KYMO, "record", "-q", "-o", self.trace, "--streams", streams, *rules, "--", FLEET, *map(str, fleet),
                   files=files, statuses=statuses, env=env)
        self.said = done.stderr
        self.produced = {}      # by (pid, tid): (number in the fleet, events)
        for line in done.stdout.splitlines():
            said = json.loads(line)
            for tid, (number, events) in said["threads"].items():
                self.produced[said["pid"], int(tid)] = number, events
        with open(os.path.join(self.trace, "kymo.json")) as file:
            self.accounts = json.load(file)
        self.files = sum(len([f for f in files if f != "metadata"]) for path, _, files in os.walk(self.trace)
                         if not path.endswith("index") and path != self.trace)

    def read(self):
        self.seen, self.lost, self.wrong = {}, 0, []
        done = run("babeltrace2", "--clock-cycles", self.trace)
        last = 0
        for line in done.stdout.splitlines():
            at, pid, tid, procname, number, n = EVENT.match(line).groups()
            key = int(pid), int(tid)
            if int(at) < last or procname != f"t{number}" or self.produced[key][0] != int(number):
                self.wrong.append(line)
            last = int(at)
            numbers = self.seen.setdefault(key, [])
            if numbers and int(n) <= numbers[-1]:
                self.wrong.append(line)
            numbers.append(int(n))
        self.lost = sum(int(n) for n in LOST.findall(done.stderr))
        self.complaints = [line for line in done.stderr.splitlines() if not LOST.search(line) and "WARN" in line
                           or "ERROR" in line]


def check_fleet(check, what, fleet):
    fleet.read()
    threads = {(p["pid"], t["tid"]): t for p in fleet.accounts["processes"] for t in p["threads"]}
    check.equal(f"{what}: babeltrace2 does not complain", fleet.complaints, [])
    check.equal(f"{what}: every event in its place, once", fleet.wrong[:3], [])
    check.equal(f"{what}: produced = recorded + dropped, of each thread",
                {key: p for key, (_, p) in fleet.produced.items()
                 if threads.get(key, {"recorded": 0, "dropped": 0})["recorded"] +
                 threads.get(key, {"recorded": 0, "dropped": 0})["dropped"] != p}, {})
    check.equal(f"{what}: what is recorded is read, of each thread",
                {key: len(fleet.seen.get(key, [])) for key in fleet.produced
                 if len(fleet.seen.get(key, [])) != threads[key]["recorded"]}, {})
    check.equal(f"{what}: what is lost is told", fleet.lost, fleet.accounts["totals"]["dropped"])


def by_process(check, scratch):
    fleet = Fleet(scratch, "process", PROCESSES, THREADS, 0, 0, 60, streams="process")
    check.equal("by process: nothing is lost", fleet.accounts["totals"]["dropped"], 0)
    check.equal("by process: none waits for descriptors", fleet.said, "")
    # An event that was cut off by its thread's processor may have come too late for the merged one.
    check.ok("by process: a stream for each", PROCESSES <= fleet.files < 2 * PROCESSES, fleet.files)
    check_fleet(check, "by process", fleet)
    info = json.loads(run(KYMO, "info", "--format", "json", fleet.trace).stdout)
    check.equal("by process: kymo info knows the threads",
                {(t["pid"], t["tid"]): (t["name"], t["events"]) for t in info["threads"]},
                {key: (f"t{number}", events) for key, (number, events) in fleet.produced.items()})


def with_rules(check, scratch):
    """Rules that may leave something out, and here leave nothing."""
    fleet = Fleet(scratch, "rules", PROCESSES, THREADS, 0, 0, 20, streams="process",
                  rules=("--topic", "!/rosout", "--event", "!ros2:*"))
    check.equal("with rules: nothing is lost", fleet.accounts["totals"]["dropped"], 0)
    check.ok("with rules: a stream for each", PROCESSES <= fleet.files < 2 * PROCESSES, fleet.files)
    check_fleet(check, "with rules", fleet)


def crowded(check, scratch):
    """There are descriptors for a third of the processes: the others are recorded when these have ended."""
    fleet = Fleet(scratch, "crowded", PROCESSES, THREADS, 0, 0, 20, streams="process", files=CROWDED_FILES, statuses=(0, 1))
    totals = fleet.accounts["totals"]
    check.ok("crowded: most are recorded", totals["recorded"] > PROCESSES * THREADS * 15, totals)
    check_counts(check, "crowded", scratch, fleet)


def check_counts(check, what, scratch, fleet):
    totals = fleet.accounts["totals"]
    check.equal(f"{what}: produced = recorded + dropped + unwritten",
                totals["recorded"] + totals["dropped"] + totals.get("unwritten", 0),
                sum(events for _, events in fleet.produced.values()))
    check.equal(f"{what}: no process is left behind", os.listdir(os.path.join(scratch, f"{what}.run")), ["domain"])


def without_descriptors(check, scratch):
    """Now and then nothing can be opened: not a region, a stream or a file of /proc (tests/preload/few_files.c)."""
    for seed in "123":
        fleet = Fleet(scratch, seed, PROCESSES, THREADS, 6000, 0.5, 20, streams="process", statuses=(0, 1), KYMO_TEST_FILES=seed,
                      LD_PRELOAD=os.path.join(BUILD, "tests", "libfew_files.so"))
        check_counts(check, seed, scratch, fleet)


def overflowing(check, scratch):
    fleet = Fleet(scratch, "overflow", 4, 6, 0, 0, 4000, streams="process", KYMO_RING_SIZE="16K")
    check_fleet(check, "overflowing", fleet)


def automatically(check, scratch):
    fleet = Fleet(scratch, "auto", PROCESSES, THREADS, 0, 0, 20, streams="auto")
    produced = sum(events for _, events in fleet.produced.values())
    check.equal("auto: nothing is lost", fleet.accounts["totals"]["recorded"], produced)
    check.ok("auto: not a stream for each thread", fleet.files < PROCESSES * THREADS, fleet.files)
    check.ok("auto: more streams than descriptors of a reader", fleet.files > FEW_FILES, fleet.files)
    info = json.loads(run(KYMO, "info", "--format", "json", fleet.trace, files=FEW_FILES).stdout)
    check.equal("auto: kymo reads all", info["events"], produced)
    check.equal("auto: none is missing of any thread",
                {(t["pid"], t["tid"]): t["events"] for t in info["threads"]},
                {key: events for key, (_, events) in fleet.produced.items()})


with_checks(by_process, with_rules, crowded, without_descriptors, overflowing, automatically)
