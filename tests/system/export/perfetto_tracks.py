#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, shared
"""What stands below "ROS 2", in counters and in executors is what the tables of `kymo query` say, row by
row, for real traces, the example robot, a program that calls services and fuses messages, and one with goals of actions. The robot's
arrows are the same when its processes ran on two hosts."""
import collections
import concurrent.futures
import os
import re
import shutil
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import record_actions
from lib_perfetto import table, with_reader
from lib_test import SHARED, TESTS, fewer, kymo, query, record, record_robot, sanitized, skip

TRACES = [os.path.join("ros2-traces", name, "ctf") for name in (
    "pair_basic_st", "pair_pipeline_mt", "pair_intra", "pair_lifecycle", "pair_components", "discarded",
    "caret_runtime", "many_contexts", "streamed_relayd", "rotated_files")] + ["caret-demo/ctf"]
UNKNOWN = "(node unknown)"

# Slices of the tree with the names of their track and of the track above, by category; counters likewise.
TREE = ("select s.category, p.name, t.name, s.ts, s.dur, s.name from slice s join track t on s.track_id = t.id "
        "join track p on t.parent_id = p.id where s.category in "
        "('publish', 'take', 'timer', 'service', 'call', 'lifecycle', 'dropped', 'link')")
COUNTERS = ("select p.name, t.name, c.ts, cast(c.value as int) from counter c join track t on c.track_id = t.id "
            "join track p on t.parent_id = p.id order by c.track_id, c.ts, c.id")
EXECUTORS = ("select cast(replace(t.name, rtrim(t.name, '0123456789'), '') as int), s.name, s.ts, s.dur "
             "from slice s join track t on s.track_id = t.id where s.category = 'executor'")
MESSAGES = ("select a.category, b.category, count(*) from flow f join slice a on f.slice_out = a.id "
            "join slice b on f.slice_in = b.id where a.category in ('publish', 'take') "
            "or b.category in ('publish', 'take') group by 1, 2")
OFFSET = "select int_value from metadata where name = 'trace_attribute.epoch_offset_ns'"
ARROWS = ("select a.category || ' ' || a.name, b.category || ' ' || b.name, count(*) from flow f "
          "join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id "
          "where a.category in ('call', 'service', 'link') or b.category in ('call', 'service', 'link') "
          "group by 1, 2 order by 1, 2")

ASKED = {
    "publish": "select distinct node, 'publisher ' || topic_name, min(publish_ns), 0, topic_name from publications "
               "where publisher_id is not null group by publication_id, thread_id",
    "take": "select subscriber_node, 'subscription ' || topic_name, take_ns, 0, topic_name from messages "
            "where take_ns is not null and subscription_id is not null "
            "and outcome in ('callback', 'taken')",
    "timer": "select i.node, 'timer ' || c.source, i.start_ns, i.duration_ns, i.callback from callback_instances i "
             "join callbacks c on c.id = callback_id where timer_id is not null",
    "lifecycle": "select coalesce(node, ''), state, start_ns, coalesce(duration_ns, -1) from lifecycle_states "
                 "where node is not null",
    "counted": "select topic_name, outcome, count(*) from messages where outcome not in ('callback', 'taken') "
               "and topic_id is not null group by 1, 2",
    "latency": "select topic_name, subscriber_node, callback_start_ns, latency_ns from messages "
               "where latency_ns is not null and topic_id is not null",
    "executor": "select tid, state, start_ns, coalesce(duration_ns, 0) from executor_states e "
                "join threads t on t.id = e.thread_id",
    "published": "select topic_name, publication_id, min(coalesce(send_ns, publish_ns)) from publications "
                 "where topic_id is not null group by 1, 2 order by 3",
    "taken": "select m.topic_name, subscription_id, m.subscriber_node, publication_id, take_ns, "
             "m.callback_start_ns, depth from messages m join subscriptions s on s.id = subscription_id "
             "where outcome in ('callback', 'taken') and take_ns is not null and publication_id is not null "
             "order by take_ns",
}


def of_tracks(rows, category, offset):
    return sorted((node, track, ts + offset, dur, name.replace(" within the process", "")) for kind, node, track, ts, dur, name in rows
                  if kind == category)


def named(rows, name):
    """As tracks and slices are called: @name of a row's node and last column."""
    return sorted((node or UNKNOWN, f"{node or UNKNOWN} {track}", ts, dur, name(node or UNKNOWN, what)) for node, track, ts, dur, what in rows)


def waiting(told):
    """Topic and node -> how many newer messages each take left in the queue, as it changes."""
    ids = collections.defaultdict(list)
    for topic, number, ns in told["published"]:
        ids[topic].append((ns, number))
    steps, last = collections.defaultdict(list), {}
    for topic, to, node, number, ns, _, depth in told["taken"]:
        newer = sum(at <= ns and other > number for at, other in ids[topic])
        value = min(newer, depth) if depth else newer
        if last.get(to) != value:
            steps[topic, f"{topic} waiting for {node or UNKNOWN}"].append((ns, value))
        last[to] = value
    return {key: sorted(value) for key, value in steps.items()}


def check_counters(check, name, rows, told, offset):
    by_track = collections.defaultdict(list)
    for topic, counter, ts, value in rows:
        by_track[topic, counter].append((ts + offset, value))
    check.equal(f"{name}: latencies",
                sorted((topic, counter[len(f"{topic} latency to "):], *value) for (topic, counter), values
                       in by_track.items() if counter.startswith(f"{topic} latency to ") for value in values),
                named_last(told["latency"]))
    rates = {topic: sum(value for _, value in values) for (topic, counter), values in by_track.items()
             if counter == f"{topic} rate"}
    check.equal(f"{name}: rates add up to what was published", rates,
                dict(collections.Counter(topic for topic, _, _ in told["published"])))
    drops = collections.Counter()
    for topic, _, count in told["counted"]:
        drops[topic] += count
    check.equal(f"{name}: drops", {topic: values[-1][1] for (topic, counter), values in by_track.items()
                                   if counter == f"{topic} dropped"}, dict(drops))
    got = {key: sorted(values) for key, values in by_track.items() if " waiting for " in key[1]}
    want = waiting(told)
    check.equal(f"{name}: waiting", [(key, value) for key, value in got.items() if want.get(key) != value],
                [(key, value) for key, value in want.items() if got.get(key) != value])


def named_last(rows):
    return sorted((topic, node or UNKNOWN, ts, value) for topic, node, ts, value in rows)


def ask(reader, name, trace):
    """What the tables say, and what the reader says of the export."""
    out = os.path.join(reader.scratch, name.replace("/", "_") + ".pftrace")
    kymo("export", "-q", "--executors", trace, "-o", out)
    told = {what: table(trace, sql) for what, sql in ASKED.items()}
    return name, told, reader.query(out, TREE, COUNTERS, EXECUTORS, OFFSET)


def check_trace(check, name, told, answers):
    tree, counters, executors, ((offset,),) = answers
    check.equal(f"{name}: publications", of_tracks(tree, "publish", offset), named(told["publish"], "{} → {}".format))
    check.equal(f"{name}: takes", of_tracks(tree, "take", offset), named(told["take"], lambda node, topic: f"{topic} → {node}"))
    check.equal(f"{name}: timers", of_tracks(tree, "timer", offset),
                named(told["timer"], lambda node, callback: callback))
    check.equal(f"{name}: states", sorted((node, track, state, ts + offset, dur) for kind, node, track, ts, dur, state
                                          in tree if kind == "lifecycle"),
                sorted((node, node + " lifecycle", f"{node} {state}", *rest) for node, state, *rest in told["lifecycle"]))
    dropped = collections.Counter(row[5].split()[-1].replace("taken", "untaken") for row in tree
                                  if row[0] == "dropped")
    lost = collections.Counter()
    for _, outcome, count in told["counted"]:
        lost[outcome] += count
    check.equal(f"{name}: what was dropped", dropped, lost)
    check.equal(f"{name}: executors", sorted((tid, state.split()[0], ts + offset, dur) for tid, state, ts, dur
                                             in executors), sorted(told["executor"]))
    check.equal(f"{name}: only what an executor executes has a name", {state for _, state, *_ in executors
                                                                       if " " in state and not state.startswith("execute ")}, set())
    check_counters(check, name, counters, told, offset)


def check_calls(check, reader):
    """80 calls of 100 are answered; 50 messages are made of two each."""
    trace = os.path.join(reader.scratch, "calls")
    record(trace, "-q", "--", os.path.join(TESTS, "service_calls"), "100")
    out = os.path.join(reader.scratch, "calls.pftrace")
    kymo("export", "-q", trace, "-o", out)
    tree, arrows, offset, lanes = reader.query(
        out, TREE, ARROWS, OFFSET, "select count(*), sum(depth > 0), sum(dur < 0) from slice s "
        "join track t on s.track_id = t.id where t.name like '% client %' and s.name like '% calls %'")
    offset = offset[0][0]
    calls = table(trace, "select client_node, service_node, request_ns, response_taken_ns, request_taken_ns, "
                         "response_ns from service_calls")
    slices = sorted((node, track, ts + offset, dur, name) for kind, node, track, ts, dur, name in tree
                    if kind in ("call", "service") and " response " not in name)
    want = [(client, client + " client /add", start, end - start if end else 0, client + " calls /add")
            for client, _, start, end, _, _ in calls] + \
           [(service, service + " service /add", start, end - start, service + " serves /add")
            for _, service, _, _, start, end in calls if service]
    check.equal("calls: requests and what served them", slices, sorted(want))
    check.equal("calls: no slice is in another, all end", lanes[0], [100, 0, 0])
    links = len(table(trace, "select id from causal_links"))
    check.ok("there are links", links > 0)
    check.equal("calls: arrows", arrows, [
        ["call /asker calls /add", "service /adder serves /add", 80],
        ["callback /adder /add", "call /asker gets the response of /add", 80],
        *(["link /adder used %s for /fused" % topic, "link /adder made /fused of %s" % topic, links // 2] for topic in ("/a", "/b")),
        ["service /adder serves /add", "callback /adder /add", 80]])


GOALS = ("select t.name, s.name, s.ts, s.dur, s.depth, coalesce(extract_arg(s.arg_set_id, 'debug.goal_id') || ' ' || "
         "extract_arg(s.arg_set_id, 'debug.status') || ' ' || extract_arg(s.arg_set_id, 'debug.feedback'), '') "
         "from slice s join track t on s.track_id = t.id where s.category = 'action'")
ENDS = {"client": ("sends a goal to", "sent_ns", "taken", ("result_taken_ns", "answer_taken_ns"),
                   (("waiting for acceptance", "sent_ns", "answer_taken_ns"), ("waiting for the result", "answer_taken_ns", "result_taken_ns"))),
        "server": ("works on a goal of", "taken_ns", "sent", ("result_sent_ns", "answered_ns"),
                   (("accepting", "taken_ns", "answered_ns"), ("executing", "executing_ns", "ended_ns"),
                    ("waiting to send the result", "ended_ns", "result_sent_ns")))}


def shown_goal(row, side, received):
    """What a goal is at one end: its slice, and what is inside. @received: {goal: times of feedback} of this side."""
    verb, begin, feedback, ends, parts = ENDS[side]
    track = f"/actor action {side} /count"
    end = next(row[name] for name in ends if row[name])
    yield (track, f"/actor {verb} /count", row[begin], end - row[begin], 0, f"{row['goal_id']} {row['status']} {row['feedback_' + feedback]}")
    for name, start, stop in parts:
        if row[start] and row[stop]:
            # The server may execute before its answer is recorded.
            last = min(row[stop], row["executing_ns"] or row[stop]) if name == "accepting" else row[stop]
            yield (track, f"/count: {name}", row[start], last - row[start], 1, "")
    moment, name = {"client": ("cancel_sent_ns", "cancel"), "server": ("canceling_ns", "canceling")}[side]
    if row[moment]:
        yield (track, f"/count: {name}", row[moment], 0, None, "")
    yield from ((track, "/count: feedback", ns, 0, None, "") for ns in received.get(row["id"], []))
    if side == "client" and row["result_taken_ns"]:
        yield (track, "/actor gets the result of /count", row["result_taken_ns"], 0, 1, "")


def check_goals(check, reader):
    """12 goals, three of each kind, at their client and server."""
    trace, out = record_actions(reader.scratch, 12), os.path.join(reader.scratch, "goals.pftrace")
    rows = query(trace, "SELECT * FROM action_goals ORDER BY goal_id")
    kymo("export", "-q", trace, "-o", out)
    slices, arrows, offset = reader.query(out, GOALS, ARROWS.replace("'call', 'service', 'link'", "'action'"), OFFSET)
    got = sorted((track, name, ts + offset[0][0], dur, depth if dur or " result " in name else None, args)
                 for track, name, ts, dur, depth, args in slices)
    feedback = {"client": {}, "server": {}}
    for step in query(trace, "SELECT * FROM action_feedback"):
        feedback["client" if step["received"] else "server"].setdefault(step["action_goal_id"], []).append(step["ns"])
    check.equal("goals: feedback", [sum(map(len, feedback[side].values())) for side in ENDS], [9, 9])
    want = [shown for row in rows for side in ENDS for shown in shown_goal(row, side, feedback[side])]
    check.equal("goals: slices and what is inside", got, sorted(want, key=lambda shown: shown[:4]))
    sends, works, gets = (f"action /actor {verb} /count" for verb in ("sends a goal to", "works on a goal of", "gets the result of"))
    check.equal("goals: arrows", arrows, [[sends, works, 12], [works, gets, 9]])


def of_process(trace, copy, host, wanted):
    """The part of a trace of the processes that are @wanted, as if recorded on @host."""
    shutil.copytree(trace, copy)
    for directory, _, names in os.walk(copy):
        for name in names:
            path, process = os.path.join(directory, name), re.match(r"(\d+)-\d+_", name)
            if process and not wanted(process[1]):
                os.remove(path)
            elif name == "metadata":
                with open(path, encoding="utf-8") as text:
                    lines = re.sub(r'hostname = "[^"]*"', f'hostname = "{host}"', text.read())
                with open(path, "w", encoding="utf-8") as text:
                    text.write(lines)


def check_hosts(check, reader, robot):
    """Readers draw arrows within a machine: those of a message are below "ROS 2" then."""
    both = os.path.join(reader.scratch, "both")
    left, right = os.path.join(both, "left"), os.path.join(both, "right")
    first = min(re.match(r"\d+", name)[0] for name in os.listdir(os.path.join(robot, "ust")) if name[0].isdigit())
    os.mkdir(both)
    of_process(robot, left, "left", lambda process: process == first)
    of_process(robot, right, "right", lambda process: process != first)
    for name, traces in (("robot", [robot]), ("both", [both]), ("each", [left, right])):
        kymo("export", "-q", *traces, "-o", os.path.join(reader.scratch, name + ".pftrace"), "--force")
    alone, one, two = ({(a, b): count for a, b, count in
                        reader.query(os.path.join(reader.scratch, name + ".pftrace"), MESSAGES)[0]}
                       for name in ("robot", "both", "each"))
    check.equal("two hosts: a directory of traces is what they are together", two, one)
    check.ok("two hosts: some runs are on the other one", one.get(("take", "run"), 0) > 0 and
             one.get(("take", "callback"), 0) > 0, one)
    for what, ends in (("from messages to takes", [("publish", "take")]),
                       ("from takes to callbacks", [("take", "callback"), ("take", "run")]),
                       ("from callbacks to messages", [("callback", "publish"), ("run", "publish"),
                                                       ("timer", "publish"), ("service", "publish")])):
        check.equal(f"two hosts: arrows {what}", sum(one.get(end, 0) for end in ends),
                    sum(alone.get(end, 0) for end in ends))


def main(check, reader, scratch):
    data = os.path.join(SHARED, "data")
    if not os.path.isdir(data):
        skip("no traces in ../shared")
    recorded = os.path.join(scratch, "robot")
    record_robot(recorded, 2, "-q")
    traces = [(name, os.path.join(data, name)) for name in fewer(TRACES)] + [("robot", recorded)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for answer in pool.map(lambda trace: ask(reader, *trace), traces):
            check_trace(check, *answer)
    check_calls(check, reader)
    if not sanitized():
        check_goals(check, reader)
    check_hosts(check, reader, recorded)


with_reader(main)
