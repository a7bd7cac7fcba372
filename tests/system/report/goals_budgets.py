#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""kymo check and kymo diff about actions. The limits are computed a second time, from the table of goals."""
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import record_actions, require
from lib_test import answer, check, in_directory, kymo, query

COUNT = 32


def silences(trace):
    """The longest time without feedback of each goal that its server executed."""
    steps = query(trace, "SELECT action_goal_id AS goal, ns FROM action_feedback WHERE NOT received ORDER BY ns")
    for goal in query(trace, "SELECT id, executing_ns, ended_ns FROM action_goals WHERE executing_ns IS NOT NULL AND ended_ns IS NOT NULL"):
        times = [goal["executing_ns"], *(step["ns"] for step in steps if step["goal"] == goal["id"]), goal["ended_ns"]]
        yield max(to - since for since, to in zip(times, times[1:]))


def main(work):
    require()
    trace = record_actions(work, COUNT)
    goals = query(trace, "SELECT status, duration_ns, execution_ns, answer_taken_ns - sent_ns AS accept_ns FROM action_goals")
    of = {"total": [goal["duration_ns"] for goal in goals if goal["duration_ns"] is not None],
          "execution": [goal["execution_ns"] for goal in goals if goal["execution_ns"] is not None],
          "accept": [goal["accept_ns"] for goal in goals if goal["accept_ns"] is not None],
          "silence": list(silences(trace))}
    ends = [goal["status"] for goal in goals]
    check(len(ends) == COUNT and len(of["silence"]) > 9, ends)
    budgets = os.path.join(work, "budgets.yaml")
    wanted = {}
    for name, times in of.items():
        for beyond, verdict in (0, "kept"), (-2, "violated"):
            wanted[f"{name} max <= {max(times) + beyond} ns"] = verdict
            wanted[f"{name} mean <= {sum(times) // len(times) + 1 + beyond} ns"] = verdict
    for name in "aborted", "canceled", "rejected":
        wanted[f"{name} = {ends.count(name)}"] = "kept"
        wanted[f"{name} = {ends.count(name) + 1}"] = "violated"
    with open(budgets, "w", encoding="utf-8") as file:
        file.write("actions:\n  /count:\n" + "".join(f"    - {budget}\n" for budget in wanted))
    rows = answer("check", "-c", budgets, trace, status=5)["budgets"]
    check({row["budget"]: row["verdict"] for row in rows} == wanted, rows)

    kymo("check", "--init", "-o", os.path.join(work, "init.yaml"), trace)
    with open(os.path.join(work, "init.yaml"), encoding="utf-8") as file:
        text = file.read()
    check("actions:" in text and "- total p" in text and "- canceled <=" in text, text)

    rows = answer("diff", trace, trace)["metrics"]
    mine = {row["metric"]: row for row in rows if row["name"] == "/count"}
    check({"total p50", "accept p50", "execution p50", "silence p50", "canceled"} <= set(mine), mine)


in_directory(main)
