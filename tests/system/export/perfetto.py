#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: answers, shared
"""Exports real ROS 2 traces to Perfetto and asks a real trace processor what it sees.

What must be there is counted independently of kymo, with babeltrace2, and where there is one,
compared with what tracetools_analysis said about the same trace.
"""
import collections
import csv
import os
import subprocess
import sys

import bt2

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_bt2
from lib_perfetto import with_reader
from lib_test import KYMO, SHARED, fewer, kymo, report, skip

DATA = os.path.join(SHARED, "data")
ROS = "ros2-traces/"
TRACES = [ROS + name for name in ("pair_basic_st", "pair_pipeline_mt", "pair_intra",
                                  "pair_lifecycle", "pair_components", "discarded",
                                  "many_contexts", "streamed_relayd")] + ["caret-demo"]


class Truth:
    """What a trace says, by the plainest reading of its events."""

    def __init__(self, path):
        self.callbacks = []         # (tid, address, start ns, duration ns)
        self.starts, self.ends = set(), set()
        self.arrows = set()         # (source timestamp, callback start ns, topic, message)
        self.inner = set()          # (publish ns, callback start ns) within a process
        self.intra, self.place, self.fetched = {}, {}, {}
        self.published = collections.Counter()      # topic -> messages through the middleware
        self.lost = self.events = 0
        self.open = collections.defaultdict(list)
        self.taken = {}
        self.topic_of, self.callback_of = {}, {}    # (pid, handle) -> topic, callback
        self.sent = set()
        for message in lib_bt2.read(path):
            if type(message) is bt2._DiscardedEventsMessageConst:
                self.lost += message.count or 0
            elif isinstance(message, lib_bt2.Event):
                self.events += 1
                self.event(message, message.ns())

    def event(self, event, ns):
        handler = getattr(self, event.name.replace("ros2:", "on_"), None)
        if handler:
            pid = int(event["vpid"])
            handler(event, ns, pid, (pid, int(event["vtid"])))

    def on_rcl_publisher_init(self, e, _ns, pid, _thread):
        self.topic_of[pid, int(e["rmw_publisher_handle"])] = str(e["topic_name"])

    def on_rcl_subscription_init(self, e, _ns, pid, _thread):
        self.topic_of[pid, int(e["rmw_subscription_handle"])] = str(e["topic_name"])
        self.topic_of["rcl", pid, int(e["subscription_handle"])] = str(e["topic_name"])

    def on_rclcpp_subscription_init(self, e, _ns, pid, _thread):
        self.topic_of["object", pid, int(e["subscription"])] = \
            self.topic_of.get(("rcl", pid, int(e["subscription_handle"])))

    def on_rclcpp_subscription_callback_added(self, e, _ns, pid, _thread):
        self.callback_of[pid, int(e["callback"])] = \
            self.topic_of.get(("object", pid, int(e["subscription"])))

    def on_rmw_publish(self, e, _ns, pid, _thread):
        topic = self.topic_of.get((pid, int(e["rmw_publisher_handle"])))
        if topic:
            self.published[topic] += 1
            self.sent.add((int(e["timestamp"]), topic))

    def on_rmw_take(self, e, _ns, pid, thread):
        topic = self.topic_of.get((pid, int(e["rmw_subscription_handle"])))
        if topic and e["taken"]:
            self.taken[thread] = int(e["source_timestamp"]), topic, int(e["message"])

    def on_rclcpp_intra_publish(self, _e, ns, _pid, thread):
        self.intra[thread] = ns

    def on_rclcpp_ring_buffer_enqueue(self, e, _ns, pid, thread):
        self.place[pid, int(e["buffer"]), int(e["index"])] = self.intra.get(thread)

    def on_rclcpp_ring_buffer_dequeue(self, e, _ns, pid, thread):
        self.fetched[thread] = self.place.pop((pid, int(e["buffer"]), int(e["index"])), None)

    def on_callback_start(self, e, ns, pid, thread):
        address = int(e["callback"])
        published = self.fetched.pop(thread, None)
        if published and e["is_intra_process"]:
            self.inner.add((published, ns))
        stamp, topic, message = self.taken.pop(thread, (None, None, None))
        if (stamp, topic) in self.sent and self.callback_of.get((pid, address)) == topic \
                and not e["is_intra_process"]:
            self.arrows.add((stamp, ns, topic, message))
        self.starts.add((thread[1], address, ns))
        self.open[thread].append((address, ns))

    def on_callback_end(self, e, ns, _pid, thread):
        address = int(e["callback"])
        self.ends.add((thread[1], address, ns))
        stack = self.open[thread]
        while stack:
            began, start = stack.pop()
            if began == address:
                self.callbacks.append((thread[1], address, start, ns - start))
                break


def oracle_rows(path):
    """(address, start, duration) by tracetools_analysis, or None."""
    try:
        with open(path) as rows:
            return sorted((int(row["callback_object"], 0), int(row["start_ns"]),
                           int(row["duration_ns"])) for row in csv.DictReader(rows))
    except FileNotFoundError:
        return None


QUERIES = (
    # 0: the clocks
    "select max(clock_value - ts) from clock_snapshot where clock_id = 1",
    # 1: the callbacks
    "select tid, extract_arg(s.arg_set_id, 'debug.callback') address, s.ts, s.dur, "
    "extract_arg(s.arg_set_id, 'debug.topic') topic from slice s join thread_track t "
    "on s.track_id = t.id join thread using (utid) where category = 'callback'",
    # 2: count and sums as a user would ask for them
    "select count(*), sum(dur), min(ts), max(ts) from slice where category = 'callback'",
    # 3: facts
    "select substr(name, 17) key, int_value from metadata where name glob 'trace_attribute.*' "
    "and int_value is not null",
    # 4: arrows publish -> take -> callback
    "select extract_arg(p.arg_set_id, 'debug.source_timestamp') stamp, c.ts, "
    "extract_arg(c.arg_set_id, 'debug.topic') topic, extract_arg(c.arg_set_id, 'debug.message') "
    "from flow f join slice p on f.slice_out = p.id "
    "join slice t on f.slice_in = t.id join flow g on g.slice_out = t.id "
    "join slice c on g.slice_in = c.id where p.category = 'publish' and t.category = 'take' "
    "and c.category = 'callback' and not extract_arg(c.arg_set_id, 'debug.is_intra_process')",
    # 5: arrows from callbacks to what they published lie within the callback
    "select sum(p.ts between c.ts and c.ts + c.dur), count(*) from flow f "
    "join slice c on f.slice_out = c.id join slice p on f.slice_in = p.id "
    "where c.category = 'callback' and p.category = 'publish'",
    # 6: published per topic, on the tracks of publishers
    "select substr(t.name, instr(t.name, ' publisher ') + 11) topic, count(*) from slice s join track t on s.track_id = t.id "
    "where category = 'publish' and extract_arg(s.arg_set_id, 'debug.source_timestamp') is not null "
    "group by 1",
    # 7: losses in place
    "select sum(extract_arg(arg_set_id, 'debug.lost_events')) from slice "
    "where name = 'TRACE DATA LOST'",
    # 8: arrows within a process
    "select p.ts, c.ts from flow f join slice p on f.slice_out = p.id "
    "join slice t on f.slice_in = t.id join flow g on g.slice_out = t.id "
    "join slice c on g.slice_in = c.id where p.category = 'publish' and t.category = 'take' "
    "and c.category = 'callback' and extract_arg(c.arg_set_id, 'debug.is_intra_process')",
    # 9: nothing but callbacks has a duration on a thread, and no callback is left open
    "select sum(coalesce(category, '') <> 'callback' and dur > 0), sum(category = 'callback' and dur < 0) "
    "from slice s join thread_track t on s.track_id = t.id",
)


def check_trace(check, reader, name, scratch):
    trace = os.path.join(DATA, name, "ctf")
    out = os.path.join(scratch, "out.pftrace")
    truth = Truth(trace)
    kymo("export", trace, "--format", "perfetto", "--force", "-o", out)
    answers = reader.query(out, *QUERIES)
    offset = answers[0][0][0]
    rows = sorted((tid, address, ts + offset, dur) for tid, address, ts, dur, _ in answers[1])
    facts = dict(answers[3])
    lossless = not truth.lost

    if lossless:
        check.equal(f"{name}: {len(rows)} callbacks, each as in the trace", rows,
                    sorted(truth.callbacks))
        spans = [(s, d) for _, _, s, d in truth.callbacks]
        check.equal(f"{name}: count, sum, first, last", answers[2][0],
                    [len(spans), sum(d for _, d in spans), min(s for s, _ in spans) - offset,
                     max(s for s, _ in spans) - offset])
        want = oracle_rows(os.path.join(DATA, name, "oracle", "callback_durations.csv"))
        if want:
            check.equal(f"{name}: as tracetools_analysis says", sorted(r[1:] for r in rows), want)
    else:
        # Which halves belong together across a gap is not certain; that each exists is.
        bad = [r for r in rows if r[:3] not in truth.starts or
               (r[0], r[1], r[2] + r[3]) not in truth.ends]
        check.equal(f"{name}: {len(rows)} callbacks begin and end as in the trace", bad, [])
        check.ok(f"{name}: most callbacks", len(rows) > 0.95 * len(truth.callbacks))
        check.equal(f"{name}: losses in place", answers[7][0][0], truth.lost)
    check.equal(f"{name}: as many as the report counts",
                sum(row["count"] for row in report(trace)["callbacks"]), len(rows))
    check.equal(f"{name}: callbacks, events, losses as facts",
                [facts["callbacks"], facts["events"], facts["lost_events"]],
                [len(rows), truth.events, truth.lost])
    check.equal(f"{name}: only callbacks have a duration on threads", answers[9][0], [0, 0])

    if name == "caret-demo":        # no rmw_take: messages are not paired
        return
    arrows = {(stamp, ts + offset, topic, message) for stamp, ts, topic, message in answers[4]}
    if lossless:
        check.equal(f"{name}: {len(arrows)} arrows from publish to callback", arrows, truth.arrows)
        inner = {(p + offset, c + offset) for p, c in answers[8]}
        check.equal(f"{name}: {len(inner)} arrows within a process", inner, truth.inner)
    else:
        check.ok(f"{name}: {len(arrows)} arrows from publish to callback", len(arrows) > 0)
    within, count = answers[5][0]
    check.equal(f"{name}: {count} arrows leave the callback that published", within, count)
    if lossless:
        check.equal(f"{name}: publishes per topic", dict(answers[6]), dict(truth.published))


def check_reading(check, reader, scratch):
    """Levels give the same answers; sizes shrink; standard output works."""
    trace = os.path.join(DATA, ROS, "pair_basic_st", "ctf")
    answers, sizes = [], []
    for level in ("none", "1", "6"):
        data = subprocess.run([KYMO, "export", trace, "-q", "--compress", level, "-o", "-"],
                              capture_output=True, check=True).stdout
        answers.append(reader.query(data, *QUERIES))
        sizes.append(len(data))
    check.equal("compressed equals plain", answers[1:], [answers[0]] * 2)
    check.ok("higher levels are smaller", sizes[0] > sizes[1] > sizes[2], sizes)


def main(check, reader, scratch):
    if not os.path.isdir(os.path.join(DATA, ROS)):
        skip("no traces in ../shared")
    for name in fewer(TRACES):
        check_trace(check, reader, name, scratch)
    check_reading(check, reader, scratch)


with_reader(main)
