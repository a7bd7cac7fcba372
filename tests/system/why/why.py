#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""`kymo why`: the parts of each instance add up to its latency to the nanosecond and are those that `kymo flow` gives it, and
what it says to have held a callback up is what ran then, as `kymo report` lists each run."""
import collections
import csv
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, SHARED, answer, existing, lossless, record_robot, report, run, until_lossless

DATA = os.path.join(SHARED, "data")
TRACES = ("ros2-traces/pair_pipeline_mt", "ros2-traces/pair_basic_st", "ros2-traces/pair_intra",
          "ros2-traces/caret_runtime", "caret-demo/ctf")
# flow's segment and why's part; the others have one name. What ran before an executor slept is no reason to why, and a wait to flow.
KIND = {"run": "executing", "wait": "way", "transport": "way", "queued": "way", "dds": "way", "network": "way", "cache": "way"}
IDLE_NS = 2000000    # a wait that long is one of an executor with nothing to do


def kymo(*arguments, **options):
    done = run(KYMO, *arguments, **options)
    return done.stdout + done.stderr


def blame(part):
    """What one is to blame for counts together, wherever in the chain."""
    if part["kind"] == "preempted":
        return part["kind"], part["who"].rpartition("(")[2]    # its number: it may have had several names
    if part["kind"] == "queued":
        return part["kind"], part["who"], part["group"]
    return part["kind"], part["who"], part["step"]


def adds_up(why):
    """Return: rank -> the parts that took time."""
    parts = collections.defaultdict(list)
    for part in why["parts"]:
        if part["ns"]:
            parts[part["rank"]].append(part)
    assert why["instances"] and why["latency_ns"] == why["instances"][0]["latency_ns"]
    for instance in why["instances"]:
        its = parts[instance["rank"]]
        assert sum(p["ns"] for p in its) == instance["latency_ns"], instance
        blamed = collections.Counter()
        for p in [p for p in why["parts"] if p["rank"] == instance["rank"]]:
            blamed[blame(p), "ns"] += p["ns"]
            blamed[blame(p), "usual"] += p["usual_ns"] or 0
        assert any((p["kind"], p["who"], blamed[blame(p), "ns"]) ==
                   (instance["cause"], instance["cause_who"], instance["cause_ns"]) for p in its), instance
        if all(p["usual_ns"] is not None for p in why["parts"] if p["rank"] == instance["rank"]):
            assert instance["cause_ns"] - instance["cause_usual_ns"] == \
                max(blamed[blame(p), "ns"] - blamed[blame(p), "usual"] for p in its), instance
    return parts


def equals_flow(trace, pattern, *arguments):
    """The same instances but for start-up, and each of flow's segments is the sum of the parts it is made of."""
    why = answer("why", trace, pattern, "--worst", "100", *arguments)
    flow = answer("flow", trace, pattern, "--worst", "100", *arguments)
    adds_up(why)
    # The longest alone needs fewer passes, and is the same.
    alone = answer("why", trace, pattern, *arguments)
    assert alone["parts"] == [p for p in why["parts"] if p["rank"] == 1], (trace, pattern)
    chain = next(c["chain"] for c in flow["chains"] if c["path"] == why["chain"])
    segments, parts = collections.Counter(), collections.Counter()
    begun = {(i["begin_ns"], i["latency_ns"]): i["rank"] for i in why["instances"]}
    rank = {w["rank"]: begun.get((w["begin_ns"], w["total_ns"])) for w in flow["worst"] if w["chain"] == chain}
    for s in flow["worst_segments"]:
        if s["chain"] == chain and rank[s["rank"]]:
            segments[rank[s["rank"]], s["step"], KIND.get(s["segment"], s["segment"])] += s["ns"]
    shared = set(rank.values())
    for p in why["parts"]:
        if p["rank"] in shared:
            parts[p["rank"], p["step"], KIND.get(p["kind"], p["kind"])] += p["ns"]
    worst = [w for w in flow["worst"] if w["chain"] == chain]
    left_out = [w for w in worst if not rank[w["rank"]]]
    assert [i["latency_ns"] for i in why["instances"] if i["rank"] in shared] == [w["total_ns"] for w in worst if rank[w["rank"]]], \
        (trace, pattern)
    # Of more than 100, others take the places of those that why leaves out.
    assert len(why["instances"]) - len(shared - {None}) <= len(left_out) * (len(worst) == 100), (trace, pattern)
    # Nodes that were created within the trace have their start in its first seconds.
    assert not left_out or min(w["begin_ns"] for w in worst) == min(w["begin_ns"] for w in left_out) or len(worst) == 100, (trace, pattern)
    assert sum(w["total_ns"] > why["latency_ns"] for w in left_out) == why["hidden_startup"], (trace, pattern, why["hidden_startup"])
    for key in set(segments) | set(parts):
        assert segments[key] == parts[key], (trace, pattern, key, segments[key], parts[key])
    return len(worst)


def recorded():
    """Traces of ROS 2 itself, each of their chains."""
    instances = 0
    for trace in existing(*(os.path.join(DATA, name) for name in TRACES)):
        adds_up(answer("why", trace, "--worst", "100", "--all"))
        for latest in [], ["--latest"]:
            for chain in answer("flow", trace, *latest)["chains"]:
                steps = chain["path"].replace(" ~> ", " -> ").split(" -> ")
                pattern = " -> ".join(s.split(" ")[0] for s in steps)
                instances += equals_flow(trace, pattern, *latest)
    assert instances > 200, instances
    print(f"{instances} instances in traces of ROS 2 are the same as flow's")


def name_of(run):
    what = f"timer {run['source']}" if run["kind"] == "timer" else run["source"]
    return f"{run['node']} {what}"


def idle_until(waits, begin, end):
    """When the executor last slept between @begin and @end."""
    return max((min(e, end) for b, e in waits if min(e, end) - max(b, begin) >= IDLE_NS), default=begin)


def culprits(trace, callback):
    """Each part that is queued on the thread itself is what the runs of that callback cover of the wait, since the executor last slept."""
    lines = kymo("report", trace, "--section", "callback_instances", "--format", "csv").splitlines()
    rows = csv.DictReader(line for line in lines[:lines.index("") if "" in lines else None] if line[:1] != "#")
    runs = collections.defaultdict(list)
    for row in rows:
        begin = int(row["start_ns"])
        runs[name_of(row), row["tid"]].append((begin, begin + int(row["duration_ns"])))
    slept = collections.defaultdict(list)
    for row in csv.DictReader(kymo("query", trace, "--format", "csv", "SELECT tid, start_ns, end_ns FROM executor_states "
                                   "JOIN threads ON threads.id = thread_id WHERE state = 'wait_for_work' AND end_ns").splitlines()):
        slept[row["tid"]].append((int(row["start_ns"]), int(row["end_ns"])))
    found = collections.Counter()
    for parts in adds_up(answer("why", trace, callback, "--worst", "100")).values():
        waits = [p for p in parts if p["kind"] in ("queued", "transport", "dds", "network", "cache", "late")]
        if not waits:
            continue
        begin, end = min(p["begin_ns"] for p in waits), min(p["begin_ns"] for p in waits) + sum(p["ns"] for p in waits)
        for p in waits:
            if p["kind"] != "queued" or p["group"]:
                continue
            tid = p["where"].split()[1]
            since = idle_until(slept[tid], begin, end)
            covered = sum(max(0, min(e, end) - max(b, since)) for b, e in runs[p["who"], tid])
            assert covered == p["ns"], (p, covered)
            found[p["who"]] += 1
    return found


def short_run(trace, callback):
    """Return: begin and end of a run that is not among the first or the longest."""
    runs = kymo("query", trace, "--format", "csv", f"SELECT start_ns, duration_ns FROM callback_instances WHERE callback = '{callback}' "
                "ORDER BY start_ns LIMIT -1 OFFSET 5").splitlines()[1:]
    begin, ns = min((tuple(map(int, run.split(","))) for run in runs), key=lambda run: run[1])
    return begin, begin + ns


def named(directory):
    """The robot's flaw is known: a timer holds the executor for 20 ms, and /scan waits behind it."""
    trace = os.path.join(directory, "robot")
    record_robot(trace, 4)
    lossless(report(trace, "loss")["lost_events"])
    found = culprits(trace, "/perception/obstacle_detector")
    assert found["/perception/costmap timer 96 ms"], found
    equals_flow(trace, "/scan -> /cmd_vel")
    for instance in answer("why", trace, "/scan -> /cmd_vel", "--worst", "4")["instances"]:
        end = instance["begin_ns"] + instance["latency_ns"]
        at = answer("why", trace, "/scan -> /cmd_vel", "--at", f"{end // 10**9}.{end % 10**9:09}")
        adds_up(at)
        assert [at["instances"][0][key] for key in ("begin_ns", "latency_ns")] == [instance["begin_ns"], instance["latency_ns"]], (at, instance)
        assert at["usual_ns"], at
    timer = "/perception/costmap timer 96 ms"
    begin, end = short_run(trace, timer)
    at = answer("why", trace, timer, "--at", "{}.{:09}".format(*divmod((begin + end) // 2, 10**9)))["instances"][0]
    assert at["begin_ns"] <= begin and at["begin_ns"] + at["latency_ns"] == end, (begin, end, at)
    longest = answer("flow", trace, "/scan -> /perception/obstacle_detector", "--worst", "1")["worst"][0]
    named = answer("why", trace, str(longest["message"]))
    assert named["latency_ns"] >= longest["total_ns"], (named, longest)
    adds_up(named)
    print("what held /scan up:", dict(found))
    says(trace)


def says(trace):
    """Where there is nothing, it says what to do."""
    assert "Did you mean /perception/obstacle_detector?" in kymo("why", trace, "obstacle_d", status=6)
    end = answer("why", trace, "/scan -> /cmd_vel")["instances"][0]["begin_ns"]
    at = f"{end // 10**9}.{end % 10**9:09}"
    unknown = kymo("why", trace, "/perception/obstacle_detectro", "--at", at, status=6)
    assert "has the name '/perception/obstacle_detectro'. Did you mean /perception/obstacle_detector?" in unknown, unknown
    known = kymo("why", trace, "/perception/obstacle_detector", "--at", f"{end // 10**9 - 1000}.5", status=6)
    assert "Nothing of that name ran at that time" in known, known
    assert "There is no node or topic '/scam'" in kymo("why", trace, "/scam -> /cmd_vel", status=6)
    assert "'/scan' is a topic. Name it with a node that receives it: `kymo why" in kymo("why", trace, "/scan", status=6)
    assert "No message of the trace has this number" in kymo("why", trace, "99999999", status=6)
    assert "at a time" in kymo("why", trace, "a", "b", status=2)
    assert "numbered from 1" in kymo("why", trace, "0", status=2)
    assert "nowhere" in kymo("why", "/proc/nowhere", "/a -> /b", status=3)
    assert "Queued" not in kymo("why", trace) and kymo("why", trace).startswith("Why: ")


if __name__ == "__main__":
    if os.path.isdir(DATA):
        recorded()
    until_lossless(named)
