#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""`kymo report` against tracetools_analysis, row by row, and against an independent reading.

For each trace with an oracle folder: every callback run, every callback's numbers and owner, and
the tables of objects must be equal. Known defects of the oracle are allowed for one by one; they
are explained in docs/comparison/analysis-differences.md. Topic latencies are computed a second time here,
from babeltrace2's events, by the definition in src/analysis/stats/stats.h.
"""
import collections
import csv
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import SHARED, check, report, skip

TRACES = os.path.join(SHARED, "data", "ros2-traces")

# Request types of the lifecycle services, and their names.
LIFECYCLE = {"ChangeState": "change_state", "GetState": "get_state",
             "GetAvailableStates": "get_available_states"}


def oracle(trace, table):
    path = os.path.join(TRACES, trace, "oracle", table + ".csv")
    if not os.path.exists(path):        # an empty table was not written
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def address(text):
    return int(text, 16)


def same(trace, what, ours, theirs):
    ours, theirs = collections.Counter(ours), collections.Counter(theirs)
    for row in list((ours - theirs).elements())[:3]:
        check(False, trace, what, "only ours:", row)
    for row in list((theirs - ours).elements())[:3]:
        check(False, trace, what, "only the oracle's:", row)


def compare_instances(trace, rows):
    ours = [(address(r["callback_object"]), r["start_ns"], r["duration_ns"]) for r in rows]
    theirs = [(address(r["callback_object"]), int(r["start_ns"]), int(r["duration_ns"]))
              for r in oracle(trace, "callback_durations")]
    check(theirs, trace, "the oracle has no callback runs: the test would prove nothing")
    same(trace, "callback runs", ours, theirs)
    intra = [(address(r["callback_object"]), r["duration_ns"], bool(r["is_intra"])) for r in rows]
    theirs = [(int(r["callback_object"]), duration_ns(r["duration"]), r["intra_process"] == "True")
              for r in oracle(trace, "callback_instances")]
    same(trace, "callback runs (intra-process)", intra, theirs)


def duration_ns(text):
    """'0 days 00:00:00.000035103' in nanoseconds."""
    days, clock = text.split(" days ")
    hours, minutes, seconds = clock.split(":")
    whole, _, part = seconds.partition(".")
    return (((int(days) * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(whole)) * 10**9 + \
        int((part + "000000000")[:9])


def owner_of(row):
    """What tracetools_analysis prints as the owner, as far as both sides know it."""
    fields = dict(line.split(": ", 1) for line in row["owner"].split("\n")[1:] if ": " in line)
    return row["owner"].split("\n")[0].lower(), fields


def compare_callbacks(trace, rows):
    ours = {address(r["callback"]): r for r in rows if r["count"]}
    theirs = {address(r["callback_object"]): r for r in oracle(trace, "callback_summary")}
    check(set(ours) == set(theirs), trace, "callbacks differ:", set(ours) ^ set(theirs))
    for key in set(ours) & set(theirs):
        a, b = ours[key], theirs[key]
        where = (trace, hex(key))
        for name in ("count", "min_ns", "max_ns"):
            check(a[name] == int(b[name]), *where, name, a[name], b[name])
        # Exact against a double that pandas rounded somewhere on its way.
        check(abs(a["mean_exact_ns"] - float(b["mean_ns"])) < 1e-3, *where, "mean",
              a["mean_exact_ns"], b["mean_ns"])
        check((a["symbol"] or "(null)").replace(" ", "") == b["symbol"].replace(" ", ""), *where,
              "symbol", a["symbol"], b["symbol"])
        compare_owner(where, a, b)


def compare_owner(where, a, b):
    kind, fields = owner_of(b)
    if not kind:        # defect 1: services have no owner there
        check(a["kind"] == "service" and a["node"] and a["source"], *where, "service", a)
        if "::srv::" in b["symbol"]:    # SetBool_Request: part of the symbol, and of the name
            kind = b["symbol"].split("::srv::")[1].split("_Request")[0]
            check(LIFECYCLE.get(kind, a["source"]).split("/")[-1] == a["source"].split("/")[-1],
                  *where, "service name", a["source"], kind)
        return
    check(a["kind"] == kind, *where, "kind", a["kind"], kind)
    check(a["node"].split("/")[-1] == fields["node"], *where, "node", a["node"], fields)
    if kind == "subscription":
        check(a["source"] == fields["topic"], *where, "topic", a["source"], fields)
    if kind == "timer":
        check(f"{a['period_ns'] / 1e6:.0f} ms" == fields["period"], *where, "period", a, fields)


def compare_objects(trace, r):
    nodes = {int(n["node_handle"]): n for n in oracle(trace, "nodes")}

    def full_name(handle):
        n = nodes[int(handle)]
        return n["namespace"].rstrip("/") + "/" + n["name"]

    same(trace, "nodes",
         [(address(n["node_handle"]), n["name"], n["namespace"], n["tid"], n["created_ns"])
          for n in r["nodes"]],
         [(int(n["node_handle"]), n["name"], n["namespace"], int(n["tid"]), int(n["timestamp"]))
          for n in oracle(trace, "nodes")])
    for section, table, handle in (("publishers", "rcl_publishers", "publisher_handle"),
                                   ("subscriptions", "rcl_subscriptions", "subscription_handle")):
        same(trace, section,
             [(address(p[handle]), address(p["rmw_handle"]), p["topic_name"], p["node"], p["depth"],
               p["created_ns"]) for p in r[section]],
             [(int(p[handle]), int(p["rmw_handle"]), p["topic_name"], full_name(p["node_handle"]),
               int(p["depth"]), int(p["timestamp"])) for p in oracle(trace, table)])
    links = {int(t["timer_handle"]): t["node_handle"] for t in oracle(trace, "timer_node_links")}
    same(trace, "timers",
         [(address(t["timer_handle"]), t["period_ns"], t["tid"], t["node"], t["created_ns"])
          for t in r["timers"]],
         [(int(t["timer_handle"]), int(t["period"]), int(t["tid"]),
           full_name(links[int(t["timer_handle"])]) if int(t["timer_handle"]) in links else None,
           int(t["timestamp"])) for t in oracle(trace, "timers")])
    # Defect 1: the handle of a service is its time stamp there.
    same(trace, "services",
         [(s["created_ns"], address(s["rmw_handle"]), s["service_name"], s["node"])
          for s in r["services"]],
         [(int(s["timestamp"]), int(s["rmw_handle"]), s["service_name"],
           full_name(s["node_handle"])) for s in oracle(trace, "services")])
    same(trace, "clients",
         [(address(c["client_handle"]), address(c["rmw_handle"]), c["service_name"], c["node"])
          for c in r["clients"]],
         [(int(c["client_handle"]), int(c["rmw_handle"]), c["service_name"],
           full_name(c["node_handle"])) for c in oracle(trace, "clients")])
    same(trace, "tracetools versions", [p["tracetools"] for p in r["processes"]],
         [c["version"] for c in oracle(trace, "contexts")])


# ---- a second opinion on messages, from babeltrace2 ----


def events_of(trace):
    import lib_bt2
    for event in lib_bt2.events(os.path.join(TRACES, trace, "ctf")):
        yield event.ns(), event.name.split(":")[1], event["vpid"], event["vtid"], event.payload()


def second_opinion(trace):
    """topic -> list of (publish_ns, callback_ns) through the middleware; and of takes in all."""
    topic_of_pub, rmw_of_pub, topic_of_sub, sub_of_object, sub_of_callback = {}, {}, {}, {}, {}
    begun, sent, taken = {}, {}, {}
    latency, takes, published = (collections.defaultdict(list), collections.Counter(),
                                 collections.Counter())
    intra_call = {}
    for ns, name, pid, tid, f in events_of(trace):
        if name == "rcl_publisher_init":
            topic_of_pub[pid, int(f["rmw_publisher_handle"])] = str(f["topic_name"])
            rmw_of_pub[pid, int(f["publisher_handle"])] = int(f["rmw_publisher_handle"])
        elif name == "rcl_subscription_init":
            topic_of_sub[pid, int(f["rmw_subscription_handle"])] = (
                str(f["topic_name"]), int(f["subscription_handle"]))
        elif name == "rclcpp_subscription_init":
            sub_of_object[pid, int(f["subscription"])] = int(f["subscription_handle"])
        elif name == "rclcpp_subscription_callback_added":
            sub_of_callback[pid, int(f["callback"])] = int(f["subscription"])
        elif name == "rclcpp_publish":
            begun[tid] = (ns, int(f["message"]))
        elif name == "rclcpp_intra_publish":
            rmw = rmw_of_pub[pid, int(f["publisher_handle"])]
            published[topic_of_pub[pid, rmw]] += 1
            intra_call[tid] = (rmw, ns)
        elif name == "rmw_publish":
            topic = topic_of_pub.get((pid, int(f["rmw_publisher_handle"])))
            if topic is None:
                continue
            start, message = begun.pop(tid, (ns, None))
            # A call that goes both ways begins where it goes to the subscriptions of the process.
            intra_rmw, intra_ns = intra_call.pop(tid, (None, None))
            both_ways = intra_rmw == int(f["rmw_publisher_handle"])
            sent[topic, int(f["timestamp"])] = (intra_ns if both_ways else
                                                start if message == int(f["message"]) else ns)
            if not both_ways:
                published[topic] += 1
        elif name == "rmw_take":
            sub = topic_of_sub.get((pid, int(f["rmw_subscription_handle"])))
            if sub and int(f["taken"]):
                takes[sub[0]] += 1
                taken[tid] = (sub[0], sub[1], int(f["source_timestamp"]))
        elif name == "callback_start":
            take = taken.pop(tid, None)
            intra_call.pop(tid, None)
            handle = sub_of_object.get((pid, sub_of_callback.get((pid, int(f["callback"])))))
            if take and not int(f["is_intra_process"]) and handle == take[1] and \
                    (take[0], take[2]) in sent:
                latency[take[0]].append(ns - sent[take[0], take[2]])
    return latency, takes, published


def compare_topics(trace):
    latency, takes, published = second_opinion(trace)
    r = report(os.path.join(TRACES, trace, "ctf"), "topics", "messages")
    ours = collections.defaultdict(list)
    for m in r["messages"]:
        if not m["is_intra"] and m["latency_ns"] is not None:
            ours[m["topic_name"]].append(m["latency_ns"])
    check(latency, trace, "no latency at all: the test would prove nothing")
    for topic in set(latency) | set(ours):
        same(trace, "latencies of " + topic, ours[topic], latency[topic])
    for row in r["topics"]:
        topic = row["topic"]
        check(row["taken"] == takes[topic], trace, topic, "taken", row["taken"], takes[topic])
        check(row["published"] == published[topic], trace, topic, "published", row["published"],
              published[topic])
        if row["intra_sent"] or not latency[topic]:
            continue
        exact = sorted(latency[topic])
        check(row["latency_count"] == len(exact), trace, topic, "count")
        check(row["latency_min_ns"] == exact[0], trace, topic, "min")
        check(row["latency_max_ns"] == exact[-1], trace, topic, "max")
        check(abs(row["latency_mean_ns"] - sum(exact) / len(exact)) <= 0.5, trace, topic, "mean")
        p99 = exact[max(0, -(-99 * len(exact) // 100) - 1)]
        check(abs(row["latency_p99_ns"] - p99) <= p99 / 1000, trace, topic, "p99",
              row["latency_p99_ns"], p99)


def main():
    if not os.path.isdir(TRACES):
        skip("no recorded traces here")
    traces = sorted(t for t in os.listdir(TRACES) if os.path.isdir(os.path.join(TRACES, t, "oracle")))
    for trace in traces:
        r = report(os.path.join(TRACES, trace, "ctf"), "callbacks", "callback_instances", "nodes", "publishers", "subscriptions",
                   "timers", "services", "clients", "processes")
        compare_instances(trace, r["callback_instances"])
        compare_callbacks(trace, r["callbacks"])
        compare_objects(trace, r)
        compare_topics(trace)
        print(trace + ":", len(r["callback_instances"]), "callback runs,", len(r["callbacks"]), "callbacks")
    check(len(traces) >= 6, "only", len(traces), "traces have an oracle")


main()
