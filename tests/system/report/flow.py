#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""`kymo flow` against a second, naive reading of the same traces, to the nanosecond.

All events are kept in dictionaries; each run of a callback knows the message it got, each message
the run that published it. Every way that a message went is then a list of times, and all of
them must be equal to what `kymo flow --worst 1000` says of each instance: begin, each segment,
and the sum of the segments to the end-to-end latency."""
import collections
import csv
import fnmatch
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_messages import Publication, Reading, Run, needs_bt2
from lib_test import KYMO, ROBOT, SHARED, check, existing, lossless, record_robot, until_lossless

TRACES = os.path.join(SHARED, "data", "ros2-traces")
CARET = os.path.join(SHARED, "data", "caret-demo")
IGNORED = ("/rosout", "/parameter_events")


def busy(runs, begin, end):
    """How much of [begin, end] is covered by runs that ended by then."""
    covered = 0
    for run in sorted((r for r in runs if r.end is not None and r.end <= end), key=lambda r: r.start):
        if run.end > begin:
            covered += run.end - max(run.start, begin)
            begin = max(begin, run.end)
    return covered


class Link:
    """A publication that follows from what a callback stored."""

    def __init__(self, publication):
        self.publication, self.topic, self.begin = publication, publication.topic, publication.begin


def chains_of(reading, latest):
    """path -> list of (begin, parts), path being the names of nodes and topics in turn. @latest: a
    timer's publication follows from the latest ended run of each subscription of its node, too."""
    by_thread, of_node = collections.defaultdict(list), collections.defaultdict(list)
    for run in reading.runs:
        by_thread[run.tid].append(run)
        if reading.callback_object.get(run.callback) and run.end is not None:
            of_node[reading.owner(run.callback)].append(run)
    goes_on, ends, found = set(), set(), collections.defaultdict(list)
    followed = lambda topic: topic not in IGNORED

    def stored(publication):
        """The runs whose input a timer may have published."""
        if not latest or not publication.run or publication.run.callback not in reading.timer_callback:
            return []
        last = {}
        for run in of_node[publication.node]:
            rcl = reading.object.get((run.callback[0], reading.callback_object[run.callback]))
            topic = reading.sub_rcl[run.callback[0], rcl][1]
            if run.end <= publication.begin and followed(topic) and \
               (run.callback not in last or run.end > last[run.callback].end):
                last[run.callback] = run
        return last.values()

    def ways_of_run(run):
        publication = run.message[0] if run.message else None
        if publication and followed(publication.topic):
            for way in ways_of_publication(publication):
                if any(isinstance(s, Run) and s.callback == run.callback for s in way):
                    raise SystemExit("a loop in the data: this test does not know it")
                yield way + [run]
        else:
            yield [run]

    def ways_of_publication(publication):
        if publication.run is None:
            yield [publication]
            return
        for way in ways_of_run(publication.run):
            yield way + [publication]
        for run in stored(publication):
            for way in ways_of_run(run):
                yield way + [Link(publication)]

    def name(step):
        return reading.owner(step.callback) if isinstance(step, Run) else step.topic

    def parts(steps):
        result = []
        for i, step in enumerate(steps):
            after = steps[i + 1] if i + 1 < len(steps) else None
            if isinstance(step, Link):
                result.append(step.begin - steps[i - 1].end)
            if not isinstance(step, Run):
                continue
            start = step.start
            if i:
                publication, sent, take = step.message[:3]
                wait = busy(by_thread[step.tid], sent, take)
                result += [sent - publication.begin] * (not publication.is_call) + [take - sent - wait, wait]
                if step.callback in reading.client_rcl:     # it begins with the response
                    start = take
                else:
                    result.append(start - take)
            result.append((after.begin if isinstance(after, Publication) else step.end) - start)
        return result

    def add(steps):
        begin = steps[0].start if isinstance(steps[0], Run) else steps[0].begin
        found[tuple(map(name, steps))].append((begin, tuple(parts(steps))))

    # A link is made anew each time, so ways are told apart by what stays.
    stays = lambda way: tuple(id(s.publication) if isinstance(s, Link) else id(s) for s in way)
    led = set()                         # ways that went on
    for publication in reading.publications:
        if not followed(publication.topic):
            continue
        for way in ways_of_publication(publication):
            led.add(stays(way[:-1]))
            goes_on.add(tuple(map(name, way[:-1])))
            if publication.taken:
                goes_on.add(tuple(map(name, way)))
            if len(way) > 2:
                add(way)
    for run in reading.runs:
        if run.end is None:
            continue
        for way in ways_of_run(run):
            if len(way) == 1:
                continue
            add(way)
            if stays(way) not in led:
                ends.add(tuple(map(name, way)))
    return {path: sorted(rows) for path, rows in found.items() if path not in goes_on or path in ends}


def flow(trace, *options):
    done = subprocess.run([KYMO, "flow", trace, "--format", "json", "--worst", "1000", *options],
                          stdout=subprocess.PIPE)
    return done.returncode, json.loads(done.stdout)


def ours(result):
    """The same shape as chains_of()."""
    found = collections.defaultdict(list)
    parts = collections.defaultdict(list)
    for row in result.get("worst_segments", []):
        parts[row["chain"], row["rank"]].append(row["ns"])
    paths = {}
    for row in result["chains"]:
        steps = re.split(" [-~]> ", row["path"])
        paths[row["chain"]] = tuple(s.split(" ")[0] for s in steps)
        found[paths[row["chain"]]]
    for row in result["worst"]:
        mine = parts[row["chain"], row["rank"]]
        check(sum(mine) == row["total_ns"], "segments do not add up:", row, mine)
        found[paths[row["chain"]]].append((row["begin_ns"], tuple(mine)))
    return {path: sorted(rows) for path, rows in found.items()}


def compare(what, trace, *options):
    status, result = flow(trace, *options)
    if not check(status == 0, what, "ended with", status):
        return 0
    mine, naive = ours(result), chains_of(Reading(trace), "--latest" in options)
    for path in set(mine) | set(naive):
        a, b = mine.get(path), naive.get(path)
        if check(a is not None, what, "only the second reading has", path, len(b or [])) and \
           check(b is not None, what, "only kymo has", path, len(a or [])):
            check(a == b[-len(a):] if len(b) > 1000 else a == b, what, path, "differs:",
                  len(a), len(b), [pair for pair in zip(a, b) if pair[0] != pair[1]][:2])
    for row in result["chains"]:        # the distributions are those of the instances
        rows = [r for r in result["worst"] if r["chain"] == row["chain"]]
        total = sorted(r["total_ns"] for r in rows)
        if len(total) < 1000 and total:
            check(row["arrived"] == len(total), what, "arrived", row, len(total))
            check((row["min_ns"], row["max_ns"]) == (total[0], total[-1]), what, "bounds", row)
            p90 = total[max(0, -(-90 * len(total) // 100) - 1)]
            check(abs(row["p90_ns"] - p90) <= p90 / 1000 + 1, what, "p90", row["p90_ns"], p90)
    count = sum(len(rows) for rows in naive.values())
    print("%s: %d chains, %d instances" % (what, len(naive), count))
    return count


def recorded():
    count = 0
    traces = existing(*(os.path.join(TRACES, name) for name in ("pair_basic_st", "pair_pipeline_mt", "pair_intra", "pair_components",
                                                                "many_contexts", "streamed_relayd")))
    for trace in traces:
        name = os.path.basename(trace)
        count += compare(name, os.path.join(trace, "ctf"))
        if name in ("pair_basic_st", "pair_pipeline_mt", "streamed_relayd"):
            count += compare(name + " --latest", os.path.join(trace, "ctf"), "--latest")
    check(count > 1000, "only", count, "instances: the test would prove little")
    named(os.path.join(TRACES, "pair_basic_st", "ctf"))


def named(trace):
    """A named chain is the part of the found one between its ends."""
    status, result = flow(trace, "/sensing/image_raw -> ... -> filter:/perception/image_*")
    check(status == 6 and "filter" in result["why_empty"], "a wrong name", status, result)
    status, result = flow(trace, "/sensing/image_raw -> ... -> */filter:/perception/image_*")
    check(status == 0 and len(result["chains"]) == 1, "named chain", status, result)
    check(result["chains"][0]["path"] ==
          "/sensing/image_raw -> /perception/filter -> /perception/image_filtered",
          "named chain", result["chains"])
    segments = [s["segment"] for s in result["segments"]]
    check(segments == ["publish", "transport", "wait", "take", "run"], "named chain", segments)
    check(flow(trace, "/planning/planner -> /sensing/imu")[0] == 6, "the wrong way round")
    status, result = flow(trace, "/sensing/camera_driver -> /planning/planner", "--latest")
    check(status == 0 and "~> /perception/fused" in result["chains"][0]["path"] and result["latest"],
          "--latest", result.get("chains"))
    cached = [s for s in result["segments"] if s["segment"] == "cached"]
    check(len(cached) == 1 and cached[0]["min_ns"] > 0, "--latest", cached)
    message = result["worst"][0]["message"]
    tree = flow(trace, "--message", str(message))[1]["tree"]
    check([t["message"] for t in tree if t["asked"]] == [message] and tree[-1]["kind"] == "callback",
          "tree", tree)


def caret():
    """Communication latencies as the real caret_analyze has them, one by one."""
    golden = collections.defaultdict(list)
    with open(os.path.join(CARET, "golden", "communication_latency.csv"), newline="") as file:
        for row in csv.DictReader(file):
            golden[row["topic_name"], row["subscribe_node_name"]].append(int(row["latency"]))
    for (topic, node), latencies in golden.items():
        status, result = flow(os.path.join(CARET, "ctf"), topic + " -> " + node)
        if not check(status == 0 and len(result["chains"]) == 1, "caret", topic, status):
            continue
        mine = collections.Counter()
        for row in result["worst_segments"]:
            if row["segment"] != "run":
                mine[row["rank"]] += row["ns"]
        check(sorted(mine.values()) == sorted(latencies), "caret", topic, len(mine), len(latencies))
    check(len(golden) >= 5, "caret: only", list(golden))
    print("caret: %d topics, %d latencies" % (len(golden), sum(map(len, golden.values()))))


def robot_of(root):
    """The robot's chain, recorded now."""
    trace = os.path.join(root, "trace")
    record_robot(trace, 2.5)
    with open(os.path.join(trace, "kymo.json"), encoding="utf-8") as file:
        totals = json.load(file)["totals"]
    lossless(totals["dropped"] + totals["unwritten"])       # kymo flow goes through no gap
    compare("robot", trace)
    status, result = flow(trace, "/scan -> /cmd_vel")
    check(status == 0 and [c["path"] for c in result["chains"]] ==
          ["/scan -> /perception/obstacle_detector -> /obstacles -> /control/planner -> /cmd_vel"],
          "/scan -> /cmd_vel", status, result)
    check(result["chains"][0]["arrived"] > 20, "/scan -> /cmd_vel", result["chains"])
    ours(result)
    status, result = flow(trace)
    longest = result["chains"][0]["path"]
    check(fnmatch.fnmatch(longest, "/lidar_driver timer* -> /scan -> * -> /cmd_vel -> /base_driver"),
          "the longest chain is", longest)


def live():
    if os.path.exists(ROBOT):
        until_lossless(robot_of)
    else:
        print("the robot was not built: it needs CycloneDDS")


needs_bt2()
recorded()
caret()
live()
