#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, long
"""Programs that create and destroy nodes all the time: the init log stays small and has exactly what is
there; a recorder that was there has everything once; whoever is stopped or killed, nothing comes twice.
A flight recorder keeps what is there and what ended lately, and no more."""
import collections
import functools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_bt2
from lib_perfetto import Checks
from lib_test import KYMO, TESTS, lossless, sanitized, stop, until_lossless, waited

import bt2

FLEET = os.path.join(TESTS, "fleet")
CHUNK = 64 << 10
SMALL = 256 << 10       # the least that KYMO_LOG_SIZE can be
PER_NODE = collections.Counter({
    "rcl_node_init": 1, "rmw_publisher_init": 1, "rcl_publisher_init": 1, "rmw_subscription_init": 1,
    "rcl_subscription_init": 1, "rclcpp_subscription_init": 1, "rclcpp_subscription_callback_added": 1,
    "rclcpp_callback_register": 3, "rcl_timer_init": 1, "rclcpp_timer_callback_added": 1,
    "rclcpp_timer_link_node": 1, "rcl_service_init": 1, "rclcpp_service_callback_added": 1, "rcl_client_init": 1})


def until(what, condition, seconds=300):
    found = waited(condition, seconds)
    if not found:
        raise SystemExit(f"churn.py: never happened: {what}")
    return found


class Place:
    """A runtime directory of its own, and the traces of its programs."""

    def __init__(self, scratch, name):
        self.path = os.path.join(scratch, name)
        os.makedirs(self.path)
        os.mkdir(os.path.join(self.path, "run"), 0o700)
        self.env = dict(os.environ, KYMO_DIR=os.path.join(self.path, "run"))
        self.traces = 0

    def status(self, pid):
        done = subprocess.run([KYMO, "status", "-f", "json"], env=self.env, capture_output=True, text=True)
        rows = [row for row in json.loads(done.stdout)["processes"] if row["pid"] == pid]
        return rows[0] if rows else None

    def record(self, *options):
        self.traces += 1
        trace = os.path.join(self.path, f"trace{self.traces}")
        with open(trace + ".log", "w") as log:
            recorder = subprocess.Popen([KYMO, "record", "-q", "-o", trace, *options], env=self.env,
                                        stdout=log, stderr=log)
        return recorder, trace

    def recording(self, pid):
        """A recorder that has the process, and the trace it writes."""
        recorder, trace = self.record("-p", str(pid))
        until("the process is recorded", lambda: (self.status(pid) or {}).get("state") == "record")
        return recorder, trace

    def trace_of(self, pid):
        recorder, trace = self.recording(pid)
        return Trace(end(recorder, trace))


def end(recorder, trace):
    recorder.send_signal(signal.SIGINT)
    if recorder.wait() not in (0, 3):
        raise SystemExit("churn.py: the recorder failed: " + open(trace + ".log").read())
    return trace


class Trace:
    """Facts by name, and what was not recorded."""

    def __init__(self, path):
        self.counts, self.nodes, self.facts, self.discarded = collections.Counter(), [], collections.Counter(), 0
        for event in lib_bt2.read(path):
            if isinstance(event, bt2._DiscardedEventsMessageConst):
                self.discarded += event.count or 0
            if not isinstance(event, lib_bt2.Event):
                continue
            name = event.name.split(":")[1]
            payload = event.payload()
            self.counts[name] += 1
            self.facts[name, event["init_timestamp"], event["vtid"], *payload.values()] += 1
            if name == "rcl_node_init":
                self.nodes.append(int(payload["node_name"][1:]))
        with open(os.path.join(path, "kymo.json")) as file:
            self.dropped = json.load(file)["totals"]["init_dropped"]
        shutil.rmtree(path)

    def twice(self):
        return [fact for fact, times in self.facts.items() if times > 1][:3]


class Program:
    def __init__(self, place, *options, **environment):
        self.place = place
        self.child = subprocess.Popen([KYMO, "run", "--", os.path.join(TESTS, "churn"), *options],
                                      env=dict(place.env, **environment), text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.said = self.tell("keep 0")
        self.pid = self.said["pid"]

    def send(self, command):
        self.child.stdin.write(command + "\n")
        self.child.stdin.flush()

    def tell(self, command):
        self.send(command)
        self.said = json.loads(self.child.stdout.readline())
        return self.said

    def status(self):
        return self.place.status(self.pid)

    def kept(self):
        first = self.said["first_kept"]
        return first, first + self.said["kept"]

    def end(self):
        self.child.communicate("end\n")


def expect_nodes(check, what, trace, nodes):
    """Of these nodes everything is there, once, and of no others anything."""
    wanted = collections.Counter({name: times * len(nodes) for name, times in PER_NODE.items()})
    wanted["rcl_init"] = 1
    check.equal(f"{what}: names of nodes", sorted(trace.nodes), sorted(nodes))
    check.equal(f"{what}: facts by name", dict(trace.counts), dict(wanted))
    check.equal(f"{what}: none twice", trace.twice(), [])
    check.equal(f"{what}: none lost", (trace.dropped, trace.discarded), (0, 0))


def bounded(check, what, program, before, size):
    row = program.status()
    check.ok(f"{what}: memory", row["memory_bytes"] <= before + size + 2 * CHUNK, row)
    return row


def unrecorded(check, scratch):
    place = Place(scratch, "unrecorded")
    program = Program(place, KYMO_LOG_SIZE=str(SMALL))
    before = program.status()["memory_bytes"]
    program.tell("keep 8")
    for _ in range(3):
        program.tell("churn 700")
        program.tell("keep 2")
        row = bounded(check, "nobody records", program, before, SMALL)
        check.equal("nobody records: what is there", row["init_events"], program.said["live"])
        check.equal("nobody records: nothing lost", row["init_dropped"], 0)
    check.equal("librcl does its work", program.said["finis"], program.said["forwarded"])
    expect_nodes(check, "who comes late", place.trace_of(program.pid), list(range(8)) + [708, 709, 1410, 1411, 2112, 2113])
    program.tell("drop 5")
    expect_nodes(check, "when some are gone", place.trace_of(program.pid),
                 [5, 6, 7, 708, 709, 1410, 1411, 2112, 2113])
    program.end()


def many_threads(check, scratch):
    many_threads_in(check, scratch, "four threads", 4, 4 << 20)
    # Some of them are preempted while they write or clean, and the others fill the log meanwhile.
    many_threads_in(check, scratch, "sixteen threads", 16, 1 << 20)


def many_threads_in(check, scratch, what, threads, size):
    place = Place(scratch, f"threads{threads}")
    program = Program(place, "--threads", str(threads), KYMO_LOG_SIZE=str(size))
    before = program.status()["memory_bytes"]
    program.tell("keep 5")
    program.tell("churn 1000")
    row = bounded(check, what, program, before, size)
    check.equal(f"{what}: what is there", (row["init_events"], row["init_dropped"]), (program.said["live"], 0))
    expect_nodes(check, what, place.trace_of(program.pid), range(5))
    program.end()


def addresses_only(check, scratch):
    """Nobody tells what is gone, but addresses are used again."""
    place = Place(scratch, "addresses")
    program = Program(place, "--no-fini", KYMO_LOG_SIZE=str(SMALL))
    before = program.status()["memory_bytes"]
    program.tell("keep 10")
    program.tell("churn 2000")
    row = bounded(check, "addresses only", program, before, SMALL)
    check.equal("addresses only: nothing lost", row["init_dropped"], 0)
    check.ok("addresses only: collapsed", program.said["live"] <= row["init_events"] <= program.said["facts"] / 4, row)
    trace = place.trace_of(program.pid)
    check.ok("addresses only: all that are there", set(range(10)) <= set(trace.nodes), trace.nodes)
    check.equal("addresses only: none twice", trace.twice(), [])
    program.end()


def recorded(check, scratch):
    place = Place(scratch, "recorded")
    program = Program(place)
    program.tell("churn 300")
    program.tell("keep 3")
    recorder, trace = place.recording(program.pid)
    program.tell("churn 400")
    program.tell("keep 2")
    expect_nodes(check, "who was there", Trace(end(recorder, trace)), range(300, 705))
    expect_nodes(check, "the next one", place.trace_of(program.pid), [300, 301, 302, 703, 704])
    program.end()


def recorder_stands_still(check, scratch):
    """What is forgotten before anybody read it is counted."""
    place = Place(scratch, "still")
    program = Program(place, KYMO_LOG_SIZE=str(SMALL))
    before = program.status()["memory_bytes"]
    program.tell("keep 5")
    recorder, trace = place.recording(program.pid)
    stop(recorder.pid)
    program.tell("churn 1000")
    program.tell("keep 5")
    bounded(check, "the recorder stands still", program, before, SMALL)
    recorder.send_signal(signal.SIGCONT)
    seen = Trace(end(recorder, trace))
    check.equal("the recorder stands still: none twice", seen.twice(), [])
    check.ok("the recorder stands still: those that are there", set(range(5)) | set(range(1005, 1010)) <= set(seen.nodes))
    check.ok("the recorder stands still: lost ones count", seen.dropped > 0 and
             sum(seen.counts.values()) + seen.dropped >= program.said["facts"],
             (sum(seen.counts.values()), seen.dropped, program.said))
    check.equal("the recorder stands still: the trace says so", seen.discarded, seen.dropped)
    program.end()


def killed(check, scratch):
    """At any moment of writing and cleaning, with a recorder and with one that was killed before."""
    for i in range(2 if sanitized() else 6):
        if i % 2:
            killed_after_recorder(check, Place(scratch, f"killed{i}"))
        else:
            until_lossless(functools.partial(killed_while_recorded, check))


def kill_while_it_writes(program):
    program.send("churn 1000000")
    time.sleep(random.random() / 10)
    os.kill(program.pid, signal.SIGKILL)
    program.child.wait()


def left_by_killed(check, program, trace):
    """Return: what the trace has."""
    program.child.stdin.close()
    program.child.stdout.close()
    seen = Trace(trace)
    check.equal("killed: none twice", seen.twice(), [])
    check.ok("killed: those that are there", set(range(4)) <= set(seen.nodes), seen.nodes[:9])
    return seen


def killed_while_recorded(check, directory):
    place = Place(directory, "killed")
    program = Program(place, KYMO_LOG_SIZE="64M")
    program.tell("keep 4")
    recorder, trace = place.recording(program.pid)
    kill_while_it_writes(program)
    seen = left_by_killed(check, program, end(recorder, trace))
    lossless(seen.dropped, "initialization events")
    check.equal("killed: no gap", sorted(seen.nodes), list(range(len(seen.nodes))))


def killed_after_recorder(check, place):
    """The next recorder finds what the dead process left."""
    program = Program(place, KYMO_LOG_SIZE=str(SMALL))
    program.tell("keep 4")
    recorder, trace = place.recording(program.pid)
    recorder.kill()
    recorder.wait()
    shutil.rmtree(trace)
    kill_while_it_writes(program)
    recorder, trace = place.record()
    until("the left-over is taken", lambda: not any(
        name.endswith(".region") for name in os.listdir(place.env["KYMO_DIR"])))
    left_by_killed(check, program, end(recorder, trace))


def facts_of(trace):
    """Each fact once, as text without its place in the trace; and how many there were."""
    done = subprocess.run(["babeltrace2", trace], capture_output=True, text=True)
    if done.returncode or done.stderr:
        raise SystemExit(f"churn.py: babeltrace2 {trace}: {done.stderr}")
    facts = [line.split(" ros2:")[1] for line in done.stdout.splitlines() if " ros2:" in line]
    shutil.rmtree(trace)
    return set(facts), len(facts)


def flight(check, scratch):
    """What ended goes, once no packet of its time is kept; snapshots have the rest, at any moment."""
    place = Place(scratch, "flight")
    events = subprocess.Popen([FLEET, "1", "1", "1000", "600"], env=place.env, stdout=subprocess.DEVNULL,
                              start_new_session=True)
    program = Program(place)
    program.tell("keep 20")
    recorder, _ = place.record("--flight", "1s")

    def kept():
        done = subprocess.run([KYMO, "sink", "list", "-f", "json"], env=place.env, capture_output=True, text=True)
        return json.loads(done.stdout)["sinks"][0]["bytes"] if done.returncode == 0 else 0

    def snapshot(name):
        trace = os.path.join(place.path, name)
        done = subprocess.run([KYMO, "snapshot", "-q", "-o", trace], env=place.env, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit("churn.py: no snapshot: " + done.stderr)
        return facts_of(trace)

    until("the flight recorder has the facts", lambda: kept() > 10000)
    snapshots = []

    def most_is_gone():
        program.tell("churn 1000")
        if program.said["facts"] > 20000 * (1 + len(snapshots)) and len(snapshots) < 4:
            snapshots.append(snapshot(f"snapshot{len(snapshots)}"))
        time.sleep(0.2)
        return kept() < program.said["facts"] * 70 / 4    # a fact takes 70 bytes and more

    until("what ended is given up", most_is_gone)
    snapshots.append(snapshot("last"))
    end(recorder, os.path.join(place.path, "trace1"))
    os.killpg(events.pid, signal.SIGKILL)   # below the thread sanitizer it ends at nothing less before its time
    events.wait()
    recorder, trace = place.recording(program.pid)
    live, count = facts_of(end(recorder, trace))
    check.equal("flight: what is there", count, program.said["live"])
    for seen, count in snapshots:
        check.equal("flight: a snapshot has what is there", sorted(live - seen)[:3], [])
        check.equal("flight: none twice", count - len(seen), 0)
    check.ok("flight: what ended is not in the last one", snapshots[-1][1] < program.said["facts"] / 3,
             (snapshots[-1][1], program.said["facts"]))
    program.end()


def main():
    check = Checks()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch:
        for part in (unrecorded, many_threads, recorded, recorder_stands_still, killed, flight):
            part(check, scratch)
        if not sanitized():     # which keeps addresses from being used again
            addresses_only(check, scratch)
    check.end()


main()
