#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Service calls of a recorded program; executors and lifecycles of traces against a naive reading."""
import collections
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_bt2
from lib_test import BUILD, KYMO, SHARED, answer, check, in_directory, record, report, run

TRACES = os.path.join(SHARED, "data", "ros2-traces")
EXECUTOR = "ros2:rclcpp_executor_"


def service_calls(scratch):
    """Through the real hooks, the recorder and the reader: every call, each in its parts."""
    trace = os.path.join(scratch, "trace")
    said = record(trace, "-q", "--", os.path.join(BUILD, "tests", "service_calls"), "100").stdout
    check(said == "calls 100 answered 80 fused 50\n", "the program said", said)
    rows = {row["side"]: row for row in report(trace, "service-calls")["service-calls"]}
    check(sorted(rows) == ["client", "service"], "sides", sorted(rows))
    served, unserved = rows["service"], rows["client"]
    check(served["service"] == "/add" and served["node"] == "/adder", "service", served)
    check((served["calls"], served["answered"], served["unserved"]) == (80, 80, 0), served)
    check((unserved["calls"], unserved["answered"], unserved["unserved"]) == (20, 0, 20), unserved)
    for part in "request", "callback", "response", "total":
        check(served[part + "_count"] == 80, part, served[part + "_count"])
        check(0 <= served[part + "_min_ns"] <= served[part + "_max_ns"], part, served)
        check(unserved[part + "_count"] == 0, part, unserved)
    parts = sum(served[part + "_mean_exact_ns"] for part in ("request", "callback", "response"))
    check(parts < served["total_mean_exact_ns"], "the parts are more than the whole", served)
    # The same calls as chains: 20 are not taken, 80 go all the way.
    chains = answer("flow", trace, "/add -> adder -> /add -> asker")["chains"]
    check([(row["path"], row["begun"], row["arrived"]) for row in chains] ==
          [("/add request -> /adder -> /add response -> /asker", 100, 80)], "chains", chains)
    check(chains[0]["max_ns"] == served["total_max_ns"] and chains[0]["min_ns"] ==
          served["total_min_ns"], "a chain and its call differ", chains, served)


def odd_types(scratch):
    """A trace may declare anything: what is not what its name says is ignored, and told."""
    trace = os.path.join(scratch, "trace")
    metadata = [os.path.join(folder, "metadata") for folder, _, files in os.walk(trace)
                if "metadata" in files][0]
    with open(metadata, encoding="latin1") as file:
        text = file.read()
    number = "integer { size = 64; align = 8; signed = 0; base = 10; } "
    for event, field in (("rcl_node_init", "node_name"), ("rmw_client_init", "gid"),
                         ("rmw_take_request", "client_gid"),
                         ("message_link_partial_sync", "subs")):
        begin = text.index('"ros2:' + event + '"')
        changed, times = re.subn(r"\n[^\n]*\b_" + field + r"\b[^;\n]*;", f"\n{number}_{field};",
                                 text[begin:], count=1)
        check(times == 1, "no field", field)
        with open(metadata, "w", encoding="latin1") as file:
            file.write(text[:begin] + changed)
        out = run(KYMO, "report", trace, "--section", "nodes", "--section", "service-calls", status=(0, 6)).stdout
        check(f"The trace declares ros2:{event} with other fields" in out, event, out)


def naive(trace):
    """(pid, tid, state) -> durations; node -> its states: from babeltrace2's events."""
    executors, states, nodes = collections.defaultdict(list), [], {}
    running, machines, now = {}, {}, {}
    for event in lib_bt2.events(trace):
        pid, tid, ns, payload = event["vpid"], event["vtid"], event.ns(), event.payload()
        if event.name.startswith(EXECUTOR):
            if (pid, tid) in running:
                state, since = running[pid, tid]
                executors[pid, tid, state].append(ns - since)
            running[pid, tid] = (event.name[len(EXECUTOR):], ns)
        elif event.name == "ros2:rcl_node_init":
            namespace, name = str(payload["namespace"]), str(payload["node_name"])
            nodes[pid, int(payload["node_handle"])] = (namespace.rstrip("/") + "/" + name, ns)
        elif event.name == "ros2:rcl_lifecycle_state_machine_init":
            machines[pid, int(payload["state_machine"])] = nodes[pid, int(payload["node_handle"])]
        elif event.name == "ros2:rcl_lifecycle_transition":
            name, born = machines[pid, int(payload["state_machine"])]
            states.append((name, str(payload["start_label"]), now.get(name, born), ns))
            now[name] = ns
            last = name, str(payload["goal_label"])
    if states:
        states.append((*last, now[last[0]], None))
    return executors, states


def compare(trace):
    executors, states = naive(trace)
    rows = {(row["pid"], row["tid"], row["state"]): row for row in report(trace, "executors")["executors"]}
    check(rows.keys() == executors.keys(), trace, "states of threads", rows.keys() ^ executors.keys())
    for key in rows.keys() & executors.keys():
        values = executors[key]
        row = rows[key]
        check((row["count"], row["min_ns"], row["max_ns"], row["total_ns"]) ==
              (len(values), min(values), max(values), sum(values)), trace, key, row)
    got = [(row["node"], row["state"], row["start_ns"], row["end_ns"])
           for row in report(trace, "lifecycle")["lifecycle"]]
    check(got == states, trace, "lifecycle", got, states)
    print(f"{os.path.basename(os.path.dirname(trace))}: {len(rows)} states of threads, {len(got)} of nodes")


def main(scratch):
    service_calls(scratch)
    odd_types(scratch)
    if os.path.isdir(TRACES):
        for name in "pair_basic_st", "pair_pipeline_mt", "pair_lifecycle":
            compare(os.path.join(TRACES, name, "ctf"))


in_directory(main)
