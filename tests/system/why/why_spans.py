#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""`kymo why` about programs of kymo.h: the worst cycle of a loop and the longest span are those that SQL finds, their parts add up, and
with a schedule beside them the parts are those of the schedule."""
import collections
import os
import shutil
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_checks
from lib_sched import BLOCKED, PREEMPTED, WAITING, Scene
from lib_test import answer, compiled, kymo, lossless, accounts, query, record, run, KYMO

PROGRAM = r"""
#include <kymo/loop.h>
#include <unistd.h>
static void inner(int i) { KYMO_SPAN("arm", "inner"); if (i % 7 == 0) usleep(500); }
static void plan(int i) { KYMO_SPAN("arm", "plan", ("i", i)); inner(i); inner(i + 1); }
int main(void)
{
	struct kymo_loop loop;

	KYMO_LOOP_INIT(&loop, "arm", "step", 2000000, 0);
	for (int i = 0; i < 100; i++) {
		kymo_loop_wait(&loop);
		plan(i);
		if (i == 50)
			usleep(20000);
	}
	kymo_loop_end(&loop);
	return 0;
}
"""


def inside(trace, begin, end):
    """Return: {span: its self time} of all spans between two times."""
    rows = query(trace, f"SELECT name, sum(self_ns) AS ns FROM spans WHERE begin_ns >= {begin} AND end_ns <= {end} GROUP BY name")
    return {row["name"]: row["ns"] for row in rows}


def spans_and_loops(check, scratch):
    trace = os.path.join(scratch, "trace")
    record(trace, "-q", "--", compiled(scratch, PROGRAM))
    lossless(sum(p["dropped"] for p in accounts(trace)["processes"]))
    worst = query(trace, "SELECT *, end_ns - due_ns AS total_ns FROM loop_cycles ORDER BY end_ns - due_ns DESC LIMIT 3")
    # Which of them stands out most depends on where a busy machine held the program up.
    found = answer("why", trace)
    check.ok("without a name, the loop or a span", found["worst"].startswith(("loop arm:step of thread program", "span arm:")), found["worst"])
    found = answer("why", trace, "step", "--worst", "3")
    check.ok("the loop by its name", found["worst"].startswith("loop arm:step of thread program"), found["worst"])
    check.equal("the worst cycles", [(i["cycle"], i["latency_ns"], i["late_ns"]) for i in found["instances"]],
                [(w["cycle"], w["total_ns"], w["latency_ns"]) for w in worst])
    check.equal("missed by", found["instances"][0]["missed_ns"], worst[0]["missed_ns"])
    for rank, cycle in enumerate(worst, 1):
        parts = [p for p in found["parts"] if p["rank"] == rank]
        check.equal("parts add up", sum(p["ns"] for p in parts), cycle["total_ns"])
        check.equal("late", sum(p["ns"] for p in parts if p["kind"] == "late"), cycle["latency_ns"])
        check.equal("self times", {p["who"]: p["ns"] for p in parts if p["kind"] == "running"},
                    inside(trace, cycle["begin_ns"], cycle["end_ns"]))
    longest = query(trace, "SELECT max(duration_ns) AS ns FROM spans WHERE name = 'plan'")[0]["ns"]
    for name in "plan", "arm:plan", "arm:pl*":
        found = answer("why", trace, name)
        check.equal(name + ": the longest", found["instances"][0]["latency_ns"], longest)
    check.ok("a sentence", "itself took" in found["why"], found["why"])
    check.ok("text", "The parts of the longest" in kymo("why", trace, "plan"))
    in_order(check, trace, longest)
    nothing = run(KYMO, "why", trace, "nobody", status=6)
    check.ok("no such name", "no loop or span 'nobody'" in nothing.stdout, nothing.stdout)
    with_schedule(check, scratch, trace)


def in_order(check, trace, longest):
    """kymo flow: the same instances, span by span in order of time."""
    cycle = query(trace, "SELECT * FROM loop_cycles ORDER BY end_ns - due_ns DESC LIMIT 1")[0]
    spans = query(trace, f"SELECT name, begin_ns, duration_ns, self_ns FROM spans WHERE begin_ns >= {cycle['begin_ns']} AND end_ns <= {cycle['end_ns']} "
                         "ORDER BY begin_ns, duration_ns DESC")
    found = answer("flow", trace, "step")["spans"]
    check.equal("flow: until it woke", (found[0]["begin_ns"], found[0]["duration_ns"]), (cycle["due_ns"], cycle["latency_ns"]))
    check.equal("flow: the spans of the cycle", [(row["name"], row["begin_ns"], row["duration_ns"], row["self_ns"]) for row in found[1:]],
                [tuple(row.values()) for row in spans])
    check.equal("flow: who is inside whom", [(row["name"], row["depth"]) for row in found[1:]],
                [("step", 0), ("plan", 1), ("inner", 2), ("inner", 2)])
    found = answer("flow", trace, "arm:pl*")["spans"]
    check.equal("flow: the longest span", [found[0][key] for key in ("name", "offset_ns", "duration_ns", "worst_ns")], ["plan", 0, longest, longest])
    check.ok("flow: without a name", "  plan" in kymo("flow", trace).split("Span\n")[-1])
    check.ok("flow: at a time", str(found[0]["begin_ns"]) in kymo("flow", "--format", "json", trace, "plan", "--at", f"{found[0]['begin_ns'] / 1e9 + 1e-6:.6f}"))
    check.ok("flow: of a node", "no events of ROS 2, but events of kymo.h" in run(KYMO, "flow", trace, "--node", "*", status=6).stdout)
    check.ok("flow: no such span", "nor an action, loop or span" in run(KYMO, "flow", trace, "nobody", status=6).stdout)


def with_schedule(check, scratch, trace):
    tid = query(trace, "SELECT tid FROM threads")[0]["tid"]
    host = query(trace, "SELECT host FROM processes")[0]["host"]
    extent = query(trace, "SELECT min(due_ns) AS b, max(end_ns) AS e FROM loop_cycles")[0]
    scene = Scene({tid: "other", 1000001: "hog1", 1000002: "hog2"}, extent["b"] - 10**7, extent["e"] + 10**7, seed=5)
    both = os.path.join(scratch, "both")
    os.makedirs(both)
    shutil.copytree(trace, os.path.join(both, "program"))
    scene.write(os.path.join(both, "kernel"), host)
    found = answer("why", both, "--worst", "5")
    for instance in found["instances"]:
        begin, end = instance["begin_ns"], instance["begin_ns"] + instance["latency_ns"]
        parts = [p for p in found["parts"] if p["rank"] == instance["rank"]]
        check.equal("with a schedule: parts add up", sum(p["ns"] for p in parts), instance["latency_ns"])
        states = collections.Counter()
        for state, _, since, until in scene.during(tid, begin, end):
            states["ready" if state in (PREEMPTED, WAITING) else state] += until - since
        asleep = sum(until - since for state, _, since, until in scene.during(tid, begin + instance["late_ns"], end) if state == BLOCKED)
        check.equal("preempted", sum(p["ns"] for p in parts if p["kind"] == "preempted"), states["ready"])
        check.equal("blocked", sum(p["ns"] for p in parts if p["kind"] == "blocked"), asleep)
        _, whom = scene.by_whom(tid, begin, end)
        by = collections.Counter()
        for part in parts:
            if part["kind"] == "preempted" and "hog" in (part["by"] or ""):
                by[int(part["by"].split("(")[1][:-1])] += part["ns"]
        # A part of no length may be there.
        check.equal("by whom", {who: ns for who, ns in by.items() if ns}, {who: ns for who, ns in whom.items() if who > 1000000 and ns})


with_checks(spans_and_loops)
