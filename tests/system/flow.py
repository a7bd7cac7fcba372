#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`kymo flow` against a second, naive reading of the same traces, to the nanosecond.

All events are kept in dictionaries; each run of a callback knows the message it got, each message
the run that published it. Every way that a message went is then a list of times, and all of
them must be equal to what `kymo flow --worst 1000` says of each instance: begin, each segment,
and the sum of the segments to the end-to-end latency."""
import collections
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("KYMO_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "bin", "kymo")
ROBOT = os.path.join(BUILD, "robot/robot")
TRACES = os.path.join(SOURCE, "..", "shared", "data", "ros2-traces")
IGNORED = ("/rosout", "/parameter_events")

failures = []


def check(condition, *text):
    if not condition:
        failures.append(" ".join(str(t) for t in text))
    return condition


class Run:
    def __init__(self, callback, start, tid, message):
        self.callback, self.start, self.tid, self.message = callback, start, tid, message
        self.end = None
        self.made = []          # publications


class Publication:
    def __init__(self, run, node, topic, begin, process):
        self.run, self.node, self.topic, self.begin, self.process = run, node, topic, begin, process
        self.taken = []         # runs


def events_of(trace):
    import bt2
    for message in bt2.TraceCollectionMessageIterator(trace):
        if type(message) is bt2._EventMessageConst:
            event = message.event
            try:
                pid, tid = int(event["vpid"]), int(event["vtid"])
            except KeyError:
                continue
            fields = {str(k): v for k, v in event.payload_field.items()} if event.payload_field else {}
            yield (message.default_clock_snapshot.ns_from_origin, event.name, pid, tid, fields)


class Reading:
    """What happened, told by dictionaries."""

    def __init__(self, trace):
        self.runs, self.publications = [], []
        self.node_of = {}                                   # (pid, node handle) -> name
        self.pub, self.pub_rcl = {}, {}                     # rmw, rcl handle -> (node, topic)
        self.sub = {}                                       # rmw handle -> (node, topic, rcl)
        self.sub_rcl = {}                                   # rcl handle -> (node, topic)
        self.object, self.callback_object = {}, {}          # subscription object; callback -> it
        self.timer_node, self.timer_callback = {}, {}
        self.buffer_ipb, self.ipb_object = {}, {}
        self.stack = collections.defaultdict(list)          # tid -> open runs
        self.call, self.intra = {}, {}                      # tid -> publish call going on
        self.sent, self.places = {}, {}
        self.taken = {}                                     # tid -> (delivery, intra, owner)
        for ns, name, pid, tid, f in events_of(trace):
            provider, short = name.split(":")
            handler = getattr(self, "on_" + short, None)
            if provider == "ros2" and handler:
                handler(ns, pid, tid, f)

    # objects
    def on_rcl_node_init(self, ns, pid, tid, f):
        space = str(f["namespace"])
        self.node_of[pid, int(f["node_handle"])] = space.rstrip("/") + "/" + str(f["node_name"])

    def on_rcl_publisher_init(self, ns, pid, tid, f):
        who = (self.node_of.get((pid, int(f["node_handle"]))), str(f["topic_name"]))
        self.pub[pid, int(f["rmw_publisher_handle"])] = who
        self.pub_rcl[pid, int(f["publisher_handle"])] = who

    def on_rcl_subscription_init(self, ns, pid, tid, f):
        rcl = int(f["subscription_handle"])
        who = (self.node_of.get((pid, int(f["node_handle"]))), str(f["topic_name"]))
        self.sub[pid, int(f["rmw_subscription_handle"])] = (*who, rcl)
        self.sub_rcl[pid, rcl] = who

    def on_rclcpp_subscription_init(self, ns, pid, tid, f):
        self.object[pid, int(f["subscription"])] = int(f["subscription_handle"])

    def on_rclcpp_subscription_callback_added(self, ns, pid, tid, f):
        self.callback_object[pid, int(f["callback"])] = int(f["subscription"])

    def on_rclcpp_timer_callback_added(self, ns, pid, tid, f):
        self.timer_callback[pid, int(f["callback"])] = int(f["timer_handle"])

    def on_rclcpp_timer_link_node(self, ns, pid, tid, f):
        self.timer_node[pid, int(f["timer_handle"])] = self.node_of.get((pid, int(f["node_handle"])))

    def on_rclcpp_buffer_to_ipb(self, ns, pid, tid, f):
        self.buffer_ipb[pid, int(f["buffer"])] = int(f["ipb"])

    def on_rclcpp_ipb_to_subscription(self, ns, pid, tid, f):
        self.ipb_object[pid, int(f["ipb"])] = int(f["subscription"])

    def owner(self, key):
        """(node, what) of a callback (pid, address)."""
        if key in self.timer_callback:
            return self.timer_node.get((key[0], self.timer_callback[key]))
        rcl = self.object.get((key[0], self.callback_object.get(key)))
        return self.sub_rcl.get((key[0], rcl), (None, None))[0]

    # publishing
    def publish(self, ns, pid, tid, who):
        run = self.stack[tid][-1] if self.stack[tid] else None
        publication = Publication(run, *who, ns, pid)
        self.publications.append(publication)
        if run:
            run.made.append(publication)
        return publication

    def on_rclcpp_intra_publish(self, ns, pid, tid, f):
        who = self.pub_rcl.get((pid, int(f["publisher_handle"])))
        if who:
            self.intra[tid] = [self.publish(ns, pid, tid, who), who, True]

    def on_rclcpp_ring_buffer_enqueue(self, ns, pid, tid, f):
        publication = self.intra[tid][0] if tid in self.intra else None
        self.places[pid, int(f["buffer"]), int(f["index"])] = (publication, ns)

    def on_rclcpp_publish(self, ns, pid, tid, f):
        self.call[tid] = (ns, int(f["message"]))

    def on_rcl_publish(self, ns, pid, tid, f):
        if self.call.get(tid, (0, None))[1] != int(f["message"]):
            self.call[tid] = (ns, int(f["message"]))

    def on_rmw_publish(self, ns, pid, tid, f):
        who = self.pub.get((pid, int(f["rmw_publisher_handle"])))
        begin, message = self.call.pop(tid, (ns, None))
        if not who:
            return
        if message != int(f["message"]):
            begin = ns
        intra = self.intra.get(tid)
        if intra and intra[2] and intra[1] == who:
            intra[2] = False
            publication = intra[0]
        else:
            publication = self.publish(begin, pid, tid, who)
        self.sent[who[1], int(f["timestamp"])] = (publication, ns)

    # taking
    def on_rmw_take(self, ns, pid, tid, f):
        sub = self.sub.get((pid, int(f["rmw_subscription_handle"])))
        if sub and int(f["taken"]):
            publication, sent = self.sent.get((sub[1], int(f["source_timestamp"])), (None, 0))
            self.taken[tid] = (publication, sent, ns, False, sub[2])

    def on_rclcpp_ring_buffer_dequeue(self, ns, pid, tid, f):
        key = (pid, int(f["buffer"]), int(f["index"]))
        publication, sent = self.places.pop(key, (None, 0))
        obj = self.ipb_object.get((pid, self.buffer_ipb.get((pid, key[1]))))
        self.taken[tid] = (publication, sent, ns, True, self.object.get((pid, obj)))

    def on_callback_start(self, ns, pid, tid, f):
        key = (pid, int(f["callback"]))
        take = self.taken.pop(tid, None)
        rcl = self.object.get((pid, self.callback_object.get(key)))
        if take and not (take[3] == bool(int(f["is_intra_process"])) and take[4] == rcl):
            take = None
        self.intra.pop(tid, None)
        run = Run(key, ns, tid, take)
        if take and take[0]:
            take[0].taken.append(run)
        self.stack[tid].append(run)
        self.runs.append(run)

    def on_callback_end(self, ns, pid, tid, f):
        self.intra.pop(tid, None)
        stack = self.stack[tid]
        while stack and stack[-1].callback != (pid, int(f["callback"])):
            stack.pop()
        if stack:
            stack.pop().end = ns


def busy(runs, begin, end):
    """How much of [begin, end] is covered by runs that ended by then."""
    covered = 0
    for run in sorted((r for r in runs if r.end is not None and r.end <= end), key=lambda r: r.start):
        if run.end > begin:
            covered += run.end - max(run.start, begin)
            begin = max(begin, run.end)
    return covered


def chains_of(reading):
    """path -> list of (begin, parts), path being the names of nodes and topics in turn."""
    by_thread = collections.defaultdict(list)
    for run in reading.runs:
        by_thread[run.tid].append(run)
    goes_on, ends, found = set(), set(), collections.defaultdict(list)

    def way(run):
        """Steps from the beginning to this run; None when it goes round."""
        steps = [run]
        while run.message and run.message[0] and run.message[0].topic not in IGNORED:
            publication = run.message[0]
            steps.insert(0, publication)
            run = publication.run
            if run is None:
                break
            if any(isinstance(s, Run) and s.callback == run.callback for s in steps):
                raise SystemExit("a loop in the data: this test does not know it")
            steps.insert(0, run)
        return steps

    def name(step):
        return reading.owner(step.callback) if isinstance(step, Run) else step.topic

    def parts(steps):
        result = []
        for i, step in enumerate(steps):
            if not isinstance(step, Run):
                continue
            if i:
                publication, sent, take = step.message[:3]
                wait = busy(by_thread[step.tid], sent, take)
                result += [sent - publication.begin, take - sent - wait, wait, step.start - take]
            result.append((steps[i + 1].begin if i + 1 < len(steps) else step.end) - step.start)
        return result

    for run in reading.runs:
        steps = way(run)
        path = tuple(name(s) for s in steps)
        made = [p for p in run.made if p.topic not in IGNORED]
        for publication in made:
            goes_on.add(path)
            longer = path + (publication.topic,)
            if len(steps) > 1:
                found[longer].append((steps[0], parts(steps + [publication])))
            if publication.taken:
                goes_on.add(longer)
        if run.end is None or len(steps) == 1:
            continue
        if not made:
            ends.add(path)
        found[path].append((steps[0], parts(steps)))
    return {path: sorted((first.start if isinstance(first, Run) else first.begin, tuple(p))
                         for first, p in rows)
            for path, rows in found.items() if path not in goes_on or path in ends}


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


def compare(what, trace):
    status, result = flow(trace)
    if not check(status == 0, what, "ended with", status):
        return 0
    mine, naive = ours(result), chains_of(Reading(trace))
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
    if not os.path.isdir(TRACES):
        return
    count = 0
    for name in ("pair_basic_st", "pair_pipeline_mt", "pair_intra", "pair_components",
                 "many_contexts", "streamed_relayd"):
        count += compare(name, os.path.join(TRACES, name, "ctf"))
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


def live():
    """The robot's chain, recorded now."""
    if not os.path.exists(ROBOT):
        print("the robot was not built: it needs CycloneDDS")
        return
    with tempfile.TemporaryDirectory(prefix="kymo-flow-") as root:
        os.mkdir(os.path.join(root, "run"), 0o700)
        environment = dict(os.environ, KYMO_DIR=os.path.join(root, "run"), KYMO_RING_SIZE="2M")
        trace = os.path.join(root, "trace")
        command = [KYMO, "record", "-o", trace, "--", ROBOT, "--domain",
                   str(100 + os.getpid() % 100), "--seconds", "2.5"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        if not check(done.returncode == 0, "record:", done.returncode, done.stderr):
            return
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


try:
    import bt2      # noqa: F401
except ImportError:
    print("skipped: no python3-bt2")
    sys.exit(77)
recorded()
live()
for failure in failures[:30]:
    print("FAILED:", failure[:600])
sys.exit(1 if failures else 0)
