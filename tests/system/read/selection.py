#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""--node, --topic, --process, --begin and --end mean the same in every verb.

What they select is computed a second time: windows and processes from the lines of the whole dump,
nodes from the handles that the init events tell. The nodes of a trace divide its events: each event
is of one node or of none.
"""
import collections
import csv
import io
import json
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, SHARED, SOURCE, check, run

DATA = os.path.join(SHARED, "data", "ros2-traces")
TRACES = [os.path.join(SOURCE, "tests", "fixtures", "lifecycle")] + [
    os.path.join(DATA, name, "ctf") for name in ("pair_intra",)
    if os.path.isdir(os.path.join(DATA, name, "ctf"))]
NONE = "!*"


def kymo(*words):
    return run(KYMO, *words, status=(0, 6)).stdout


def dump(trace, *args):
    return [json.loads(line) for line in kymo("dump", trace, "--format", "json", *args).splitlines()]


def key(event):
    return json.dumps(event, sort_keys=True)


def count(events):
    return collections.Counter(map(key, events))


def context(event, name):
    for scope in ("context", "event_context", "packet"):
        if name in event.get(scope, {}):
            return event[scope][name]
    return None


def rows(trace, sql, *args):
    return list(csv.DictReader(io.StringIO(kymo("query", trace, "--quiet", "--format", "csv", *args,
                                                sql))))


def check_nodes(trace, every):
    """Each event is of at most one node, and of one that its handles name."""
    nodes = rows(trace, "SELECT full_name, node_handle, p.pid FROM nodes JOIN processes p"
                 " ON p.id = process_id")
    left = count(every)
    for name in sorted({node["full_name"] for node in nodes}):
        own = dump(trace, "--node", name)
        left -= count(own)
        check(own, f"{trace}: no event is of {name}")
        handles = {(int(n["pid"]), int(n["node_handle"])) for n in nodes if n["full_name"] == name}
        for event in own:
            handle = event["fields"].get("node_handle")
            if handle is None:
                continue
            pid = context(event, "vpid")
            value = int(handle, 0) if isinstance(handle, str) else handle
            check((pid, value) in handles, f"{trace}: {name} has an event of another node: {event}")
        # What a node is told to be leaves nothing of it behind.
        others = dump(trace, "--node", "!" + name)
        check(count(own) + count(others) == count(every),
              f"{trace}: {name} and '!{name}' are not all events")
    of_none = dump(trace, "--node", NONE)
    check(count(of_none) == left, f"{trace}: {sum(left.values())} events of no node, "
          f"--node '{NONE}' gives {len(of_none)}")
    init = [e for e in of_none if e["name"] in ("ros2:rcl_timer_init", "ros2:rcl_publisher_init",
                                                "ros2:rclcpp_callback_register")]
    check(not init, f"{trace}: init events of no node: {init[:2]}")
    two = sorted({node["full_name"] for node in nodes})[:2]
    if len(two) == 2:
        both = dump(trace, "--node", two[0], "--node", two[1].lstrip("/"))
        check(count(both) == count(dump(trace, "--node", two[0])) + count(dump(trace, "--node", two[1])),
              f"{trace}: two nodes are not the sum of each")


def check_topics(trace, every):
    names = [row["name"] for row in rows(trace, "SELECT name FROM topics")]
    for name in names:
        for event in dump(trace, "--topic", name):
            topic = event["fields"].get("topic_name")
            check(topic in (None, name), f"{trace}: --topic {name} gives one of {topic}")
    inits = {e["fields"]["topic_name"] for e in every if "topic_name" in e["fields"]}
    shown = {e["fields"]["topic_name"] for name in names for e in dump(trace, "--topic", name)
             if "topic_name" in e["fields"]}
    check(inits == shown, f"{trace}: topics {inits ^ shown} are not found by --topic")


def check_processes(trace, every):
    main = {}
    for event in every:
        if context(event, "vpid") == context(event, "vtid"):
            main.setdefault(context(event, "vpid"), context(event, "procname"))
    by_name = collections.defaultdict(list)
    for event in every:
        by_name[main.get(context(event, "vpid"))].append(event)
    for pid, name in main.items():
        check(count(dump(trace, "--process", name)) == count(by_name[name]),
              f"{trace}: --process {name}")
        own = [e for e in every if context(e, "vpid") == pid]
        check(count(dump(trace, "--process", str(pid))) == count(own), f"{trace}: --process {pid}")
        runs = len(rows(trace, "SELECT id FROM callback_instances", "--process", str(pid)))
        whole = rows(trace, "SELECT c.id FROM callback_instances c JOIN processes p"
                     f" ON p.id = process_id WHERE p.pid = {pid}")
        check(runs == len(whole), f"{trace}: query --process {pid}: {runs} of {len(whole)} runs")


def check_windows(trace, every):
    first, last = every[0]["ts_ns"], every[-1]["ts_ns"]
    begin, end = (last - first) // 4, (last - first) // 2
    window = ("--begin", f"+{begin}ns", "--end", f"+{end}ns")
    inside = [e for e in every if first + begin <= e["ts_ns"] <= first + end]
    check(dump(trace, *window) == inside, f"{trace}: dump in a window")
    node = rows(trace, "SELECT full_name FROM nodes")
    for select in [()] + ([("--node", node[-1]["full_name"])] if node else []):
        own = [e for e in dump(trace, *select) if first + begin <= e["ts_ns"] <= first + end]
        check(dump(trace, *select, *window) == own, f"{trace}: dump {select} in a window")
        names = collections.Counter(e["name"] for e in own)
        listed = json.loads(kymo("list", trace, *select, *window, "--format", "json"))["events"]
        total = collections.Counter()
        for row in listed:
            total[row["name"]] += row["count"]
        check(total == names, f"{trace}: list {select} in a window: {total} instead of {names}")
        info = json.loads(kymo("info", trace, *select, *window, "--format", "json"))
        check(info["events"] == len(own), f"{trace}: info {select}: {info['events']} of {len(own)}")
        check(sum(p["events"] for p in info["processes"]) == len(own), f"{trace}: info by process")
        if own:
            check((info["begin_ns"], info["end_ns"]) == (own[0]["ts_ns"], own[-1]["ts_ns"]),
                  f"{trace}: info says when")


def check_tables(trace):
    """Runs by node: report, query and export agree, with each other and with the whole."""
    whole = rows(trace, "SELECT node, start_ns, topic_name FROM callback_instances")
    for node in sorted({row["node"] for row in whole if row["node"]}):
        own = sorted(row["start_ns"] for row in whole if row["node"] == node)
        for args in (("query", trace, "--quiet", "--format", "csv", "--node", node,
                      "SELECT start_ns FROM callback_instances"),
                     ("report", trace, "--section", "callback_instances", "--format", "csv", "--node", node),
                     ("export", trace, "--quiet", "--format", "csv", "--table", "callback_instances",
                      "-o", "-", "--node", node)):
            text = [line for line in kymo(*args).splitlines() if not line.startswith("#") and line]
            found = sorted(row["start_ns"] for row in csv.DictReader(text))
            check(found == own, f"{trace}: {args[0]} --node {node}: {len(found)} of {len(own)} runs")
        graph = kymo("export", trace, "--quiet", "--format", "dot", "-o", "-", "--node", node)
        frames = [line for line in graph.splitlines() if "label=" in line and line.startswith("\t\tlabel")]
        check(all(f'"{node} (' in line for line in frames), f"{trace}: graph of {node}: {frames}")


for trace in TRACES:
    every = dump(trace)
    check(every, f"{trace}: nothing")
    check_nodes(trace, every)
    check_topics(trace, every)
    check_processes(trace, every)
    check_windows(trace, every)
    check_tables(trace)
