#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Why those took their time behind whom an instance was queued: `because` adds up to each queued part, and is what a made-up
schedule, which a trace of ROS 2 is read with, did in just that time. The sentence names what was much of it, once for each who."""
import collections
import os
import re
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_sched import BLOCKED, ON, PREEMPTED, WAITING, beside
from lib_test import answer, query, skip
from why import DATA


def who_ran(row):
    """Who woke it is another matter."""
    return row["by"] if row["kind"] == "preempted" else None


def check(trace, scene, callback):
    """Each queued part behind one piece of one thread is known exactly: it has a begin and a length."""
    why = answer("why", trace, callback, "--worst", "100")
    because = collections.defaultdict(list)
    for row in why["because"]:
        because[row["rank"], row["step"], row["culprit"], row["group"]].append(row)
    queued = [p for p in why["parts"] if p["kind"] == "queued" and p["ns"]]
    ends = {i["rank"]: i["begin_ns"] + i["latency_ns"] for i in why["instances"]}
    exact = 0
    for part in queued:
        rows = because.pop((part["rank"], part["step"], part["who"], part["group"]))
        assert sum(r["ns"] for r in rows) == part["ns"], (part, rows)
        tid, end = int(part["where"].split()[1]), ends[part["rank"]]
        if part["pieces"] > 1:
            continue
        exact += 1
        states, whom = scene.by_whom(tid, part["begin_ns"], part["begin_ns"] + part["ns"])
        wanted = {("blocked", None): states[BLOCKED], ("executing", None): part["ns"] - sum(states.values()) + states[ON]}
        for row in rows:
            if row["kind"] == "blocked":
                waker = scene.woken_by(tid, part["begin_ns"], part["begin_ns"] + part["ns"])
                assert row["by"] == (f"{scene.names[waker]} ({waker})" if waker > 0 else "an interrupt" if not waker else "(not known)"), \
                    (part, row, waker)
        for tid, ns in whom.items():
            name = f"{scene.names[tid]} ({tid})" if tid > 0 else "(not known)" if tid else "an idle CPU that woke up"
            wanted["preempted", name] = ns
        assert sum(whom.values()) == states[PREEMPTED] + states[WAITING]
        assert {k: ns for k, ns in wanted.items() if ns} == {(r["kind"], who_ran(r)): r["ns"] for r in rows}, (part, rows, wanted)
    assert not because, because
    return exact, said(why, queued)


def said(why, queued):
    """A reason that was at least a tenth of it is in the sentence, with all its pieces."""
    count = 0
    for instance in why["instances"]:
        if instance["cause"] != "queued" or "nothing sticks out" in instance["sentence"]:
            continue
        cause = [p for p in queued if p["rank"] == instance["rank"] and p["who"] == instance["cause_who"]]
        if len({p["group"] for p in cause}) != 1:
            continue
        ns, pieces = collections.Counter(), collections.Counter()
        for row in why["because"]:
            if row["rank"] == instance["rank"] and row["culprit"] == instance["cause_who"] and row["kind"] != "executing":
                ns[row["kind"], who_ran(row)] += row["ns"]
                pieces[row["kind"], who_ran(row)] += row["pieces"]
        for (kind, by), total in ns.most_common(3):
            if total < .1 * instance["cause_ns"]:
                continue
            words = re.escape(by) if by else ""
            times = rf"( by)? ?{words}" + (rf" \({pieces[kind, by]} times\)" if pieces[kind, by] > 1 else "")
            verb = "kept waiting" if by and by.startswith("an idle") else kind
            assert re.search(rf"meanwhile that one was .*{verb} [0-9.]+ \w+{times}", instance["sentence"]), (instance, kind, by)
            count += 1
    return count


if __name__ == "__main__":
    if not os.path.isdir(DATA):
        skip("no recorded traces here")
    exact = told = 0
    with tempfile.TemporaryDirectory() as private:
        for ros, callback in (("ros2-traces/pair_basic_st", "/perception/fusion /perception/image_filtered"),
                              ("ros2-traces/pair_basic_st", "/planning/planner /perception/fused"),
                              ("ros2-traces/pair_pipeline_mt", "/perception/filter /parameter_events")):
            for number in range(2):
                directory = os.path.join(private, str(exact))
                a, b = check(*beside(os.path.join(DATA, ros), os.path.join(directory, str(number)), number, query, lttng=number == 1), callback)
                exact += a
                told += b
    assert exact > 50 and told > 4, (exact, told)
    print(f"{exact} parts behind others are as the schedule has them, {told} reasons are said")
