#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""kymo why and kymo flow about an action: its worst goal, taken apart. All numbers are computed a second time from the table of goals, so
it does not matter which goal a busy machine made the worst."""
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import record_actions, require
from lib_goals import COUNT, HELD, SLOW, UUID, parts_of
from lib_test import answer, check, in_directory, kymo, query


def sums(parts, key):
    found = {}
    for part in parts:
        found[part["kind"]] = found.get(part["kind"], 0) + part[key]
    return {name: ns for name, ns in found.items() if ns}


def check_why(trace, rows):
    steady = sorted((row for row in rows if not row["startup"]), key=lambda row: -row["duration_ns"])
    check(len(steady) > 20 and len(steady) < len(rows), "start-up and the others", len(steady), len(rows))
    said = answer("why", trace, "/count", "--worst", "3")
    check(said["count"] == len(rows), said["count"], len(rows))
    check([(one["goal_id"], one["latency_ns"], one["status"], one["feedback_sent"]) for one in said["instances"]]
          == [(row["goal_id"], row["duration_ns"], row["status"], row["feedback_sent"]) for row in steady[:3]], said["instances"])
    durations = {row["duration_ns"] for row in rows}
    for rank, row in enumerate(steady[:3], 1):
        parts = [part for part in said["parts"] if part["rank"] == rank]
        check(sum(part["ns"] for part in parts) == row["duration_ns"], "parts add up", parts, row)
        check(sums(parts, "ns") == {name: ns for name, ns in parts_of(row).items() if ns}, parts, parts_of(row))
        usual = sum(part["usual_ns"] for part in parts)
        check(usual in durations, "usually, too", usual)
        below = sum(ns < usual for ns in durations)
        # The instance nearest to the median of a histogram, where many goals take nearly as long.
        check(0.4 * len(durations) <= below <= 0.6 * len(durations), "it is in the middle", below, len(durations))
        instance = said["instances"][rank - 1]
        most = max(parts, key=lambda part: part["ns"] - part["usual_ns"])
        check((instance["cause"], instance["cause_by"], instance["cause_ns"], instance["cause_usual_ns"])
              == (most["kind"], most["by"], most["ns"], most["usual_ns"]), instance, most)
        check(instance["handling_ns"] == row["handled_ns"] - row["result_taken_ns"], instance, row)
    for operand in ("action /count", "/cou*", "count"):
        again = answer("why", trace, operand, "--worst", "3")
        check(again["instances"] == said["instances"] and again["parts"] == said["parts"], operand)
    return said


def check_held(trace, rows):
    """While the request of one goal was on its way, the server ran a timer's callback."""
    row = next(row for row in rows if row["goal_id"] == UUID.format(HELD))
    run = query(trace, f"SELECT c.label, i.duration_ns FROM callback_instances i JOIN callbacks c ON c.id = i.callback_id "
                       f"WHERE i.start_ns BETWEEN {row['sent_ns']} AND {row['taken_ns']}")
    middle = (row["sent_ns"] + row["taken_ns"]) // 2
    said = answer("why", trace, "/count", "--at", f"{middle // 10 ** 9}.{middle % 10 ** 9:09}")
    check([one["goal_id"] for one in said["instances"]] == [row["goal_id"]], said["instances"])
    held = [(part["by"], part["ns"]) for part in said["parts"] if part["kind"] == "request" and part["by"] and part["ns"]]
    check(len(run) == 1 and held == [(run[0]["label"], run[0]["duration_ns"])], held, run)
    check("it waited" in said["sentence"] and f"because the executor of /actor ran {run[0]['label']}" in said["sentence"], said["sentence"])


def check_flow(trace, rows, why):
    said = answer("flow", trace, "/count", "--worst", "3")
    check((said["sentence"], said["worst"], said["count"]) == (why["sentence"], why["worst"], why["count"]), said["sentence"], why["sentence"])
    for rank, one in enumerate(why["instances"], 1):
        row = next(row for row in rows if row["goal_id"] == one["goal_id"])
        steps = [step for step in said["steps"] if step["rank"] == rank]
        check([step["begin_ns"] for step in steps] == sorted(step["begin_ns"] for step in steps), "in order of time")
        check(sum(step["ns"] for step in steps if step["kind"] == "part" and step["what"] != "handled by the client")
              == row["duration_ns"], steps)
        for what, side in (("feedback", "sent"), ("feedback arrives", "taken")):
            times = [step["begin_ns"] for step in steps if step["what"] == what]
            gaps = [b - a for a, b in zip(times, times[1:])]
            gap = row["feedback_gap_ns" if side == "sent" else "feedback_taken_gap_ns"]
            told = query(trace, f"SELECT ns FROM action_feedback WHERE action_goal_id = {row['id']} AND received = {side == 'taken'} ORDER BY ns")
            check(times == [one["ns"] for one in told], what, times, told)
            check(len(times) == row["feedback_" + side] and (max(gaps, default=0) or None) == gap, what, times, row)
        handled = [step["ns"] for step in steps if step["what"] == "handled by the client"]
        check(handled == [row["handled_ns"] - row["result_taken_ns"]], handled, row)
        for what, name in (("cancel is asked for", "cancel_sent_ns"), ("cancel arrives", "cancel_taken_ns"),
                           ("the acceptance arrives", "answer_taken_ns"), ("the result is asked for", "result_asked_ns")):
            check([step["begin_ns"] for step in steps if step["what"] == what] == [row[name]] * (row[name] is not None), what)


def check_text(trace, why):
    """What people read, and what an operand that names nothing gets."""
    text = kymo("why", trace, "/count")
    check("action /count" in text and "= all" in text and "executing" in text, text)
    text = kymo("flow", trace, "action /count")
    check("feedback arrives" in text and "handled by the client" in text, text)
    check("action, loop or span" in kymo("flow", trace, "/nothing", status=6), "flow of nothing")
    check("No callback of" in kymo("why", trace, "/nothing", status=6), "why of nothing")
    check("/count" in kymo("--complete", "action", trace).split("\n"), "completion")
    check(why["worst"].startswith("goal a0000000-"), why["worst"])


def check_nothing(work, trace, rows):
    """Why there is no answer: no goal was under way, or none has ended."""
    before = min(row["sent_ns"] for row in rows) - 1
    at = f"{before // 10 ** 9}.{before % 10 ** 9:09}"
    text = kymo("why", trace, "/count", "--at", at, status=6)
    check("Nothing of that name ran at that time" in text, text)
    check("under way at that time" in kymo("flow", trace, "/count", "--at", at, status=6), "flow of another time")
    place = os.path.join(work, "refused")
    os.mkdir(place)
    trace = record_actions(place, 1)
    for verb in "why", "flow":
        text = kymo(verb, trace, "/count", status=6)
        check("No goal of that action has ended" in text, text)


def main(work):
    require()
    trace = record_actions(work, COUNT, SLOW, HELD)
    rows = query(trace, "SELECT * FROM action_goals WHERE duration_ns IS NOT NULL ORDER BY goal_id")
    check(len(rows) == COUNT * 3 // 4 and all(row["handled_ns"] for row in rows), len(rows))
    slow = next(row for row in rows if row["goal_id"] == UUID.format(SLOW))
    check(slow["feedback_sent"] == slow["feedback_taken"] == 15 and not slow["startup"], slow)
    why = check_why(trace, rows)
    check_held(trace, rows)
    check_flow(trace, rows, why)
    check_text(trace, why)
    check_nothing(work, trace, rows)


in_directory(main)
