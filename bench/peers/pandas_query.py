#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What an analyst writes without kymo: events by Python's bt2 into pandas, joined there.

usage: pandas_query.py QUESTION TRACE   prints the answer as CSV, as the SQL of query.sh does
  durations   per callback: runs, mean, p99 and longest duration
  latency     per topic: messages, mean and longest time from publish to the start of the callback
"""
import os
import sys

import bt2
import pandas

FIELDS = {
    "ros2:callback_start": ("callback",), "ros2:callback_end": ("callback",),
    "ros2:rcl_publisher_init": ("rmw_publisher_handle", "topic_name"),
    "ros2:rcl_subscription_init": ("rmw_subscription_handle", "topic_name"),
    "ros2:rclcpp_publish": ("message",), "ros2:rmw_publish": ("rmw_publisher_handle", "message", "timestamp"),
    "ros2:rmw_take": ("rmw_subscription_handle", "source_timestamp", "taken"),
}


def tables(trace, names):
    """Event name -> DataFrame: ns, pid, tid and the fields."""
    rows = {name: [] for name in names}
    # One directory for each trace of the tree, as babeltrace2 finds them.
    paths = [root for root, _, files in os.walk(trace) if "metadata" in files]
    for message in bt2.TraceCollectionMessageIterator(paths):
        if type(message) is not bt2._EventMessageConst:
            continue
        event = message.event
        name = event.name
        if name not in rows:
            continue
        vpid, vtid = ids(event)
        fields = event.payload_field
        rows[name].append((message.default_clock_snapshot.ns_from_origin, vpid, vtid) +
                          tuple(plain(fields[f]) for f in FIELDS[name]))
    return {name: pandas.DataFrame(rows[name], columns=("ns", "pid", "tid") + FIELDS[name]) for name in names}


def ids(event):
    """vpid and vtid stand where the recorder put them: in each event, or in the packet."""
    for context in (event.common_context_field, event.packet.context_field):
        if context is not None and "vpid" in context:
            return int(context["vpid"]), int(context["vtid"])
    raise SystemExit("no vpid in this trace")


def plain(value):
    return str(value) if isinstance(value, bt2._StringFieldConst) else int(value)


def runs(data):
    """Starts with their ends: the n-th of a callback on a thread with the n-th."""
    key = ["pid", "tid", "callback"]
    start, end = data["ros2:callback_start"], data["ros2:callback_end"]
    start["n"], end["n"] = start.groupby(key).cumcount(), end.groupby(key).cumcount()
    both = start.merge(end, on=key + ["n"], suffixes=("", "_end"))
    both["duration"] = both.ns_end - both.ns
    return both


def durations(trace):
    both = runs(tables(trace, ["ros2:callback_start", "ros2:callback_end"])).groupby(["pid", "callback"]).duration
    answer = pandas.DataFrame({"runs": both.count(), "mean": both.mean(), "p99": both.quantile(0.99),
                               "longest": both.max()})
    for (_, callback), row in answer.sort_index().iterrows():
        print(f"{callback},{row.runs:.0f},{row['mean']:.3f},{row.p99:.3f},{row.longest:.0f}")


def latency(trace):
    data = tables(trace, list(FIELDS))
    topics = data["ros2:rcl_publisher_init"][["pid", "rmw_publisher_handle", "topic_name"]]
    begun, sent, taken = data["ros2:rclcpp_publish"], data["ros2:rmw_publish"], data["ros2:rmw_take"]
    # The call that a write belongs to: the latest with this message on this thread.
    sent = pandas.merge_asof(sent, begun.rename(columns={"ns": "publish"}).assign(ns=begun.ns), on="ns",
                             by=["pid", "tid", "message"])
    sent = sent.merge(topics, on=["pid", "rmw_publisher_handle"])
    names = data["ros2:rcl_subscription_init"][["pid", "rmw_subscription_handle", "topic_name"]]
    taken = taken[taken.taken != 0].merge(names, on=["pid", "rmw_subscription_handle"])
    messages = taken.merge(sent[["topic_name", "timestamp", "publish"]].rename(
        columns={"timestamp": "source_timestamp"}), on=["topic_name", "source_timestamp"]).sort_values("ns")
    # The callback that got it: the next one that starts on the thread.
    starts = data["ros2:callback_start"].rename(columns={"ns": "start"})
    messages = pandas.merge_asof(messages, starts.assign(ns=starts.start), on="ns", by=["pid", "tid"],
                                 direction="forward")
    messages["latency"] = messages.start - messages.publish
    for topic, group in messages.groupby("topic_name").latency:
        print(f"{topic},{group.count()},{group.mean():.3f},{group.max():.0f}")


{"durations": durations, "latency": latency}[sys.argv[1]](sys.argv[2])
