#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Goals of actions: hooks of rcl_action's functions record each step with the goal's id, and nothing of a call that failed. The table
has one row for each goal, with both sides; the report has the numbers of these rows."""
import collections
import os
import re
import statistics
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import dump, record_actions, require
from lib_test import answer, check, in_directory, query, report

COUNT = 12  # three of each kind
STATUS = ("rejected", "aborted", "canceled", "succeeded")
ORDER = ("sent_ns", "taken_ns", "answered_ns", "answer_taken_ns")
LATER = ("accepted_ns", "executing_ns", "ended_ns", "result_asked_ns", "result_ask_taken_ns", "result_sent_ns", "result_taken_ns")
CANCEL = ("canceling_ns", "cancel_sent_ns", "cancel_taken_ns", "cancel_answered_ns", "cancel_answer_taken_ns", "ended_ns")


def check_row(number, row):
    status = STATUS[number % 4]
    columns = ORDER + (LATER if number % 4 else ())
    check(row["goal_id"] == f"a0000000-0000-0000-0000-0000000000{number:02x}" and row["status"] == status, row)
    check((row["action"], row["client_node"], row["server_node"]) == ("/count", "/actor", "/actor"), row)
    check(row["client_id"] and row["service_id"] and row["first_ns"] == row["sent_ns"], row)
    for names in (columns, CANCEL if status == "canceled" else ()):
        check([row[name] for name in names] == sorted(row[name] or 0 for name in names), names, row)
    check(status == "canceled" or not any(row[name] for name in CANCEL[:-1]), row)
    check(row["cancel_answer"] == (0 if status == "canceled" else None), row)
    feedbacks = number % 3 if number % 4 else 0
    check((row["feedback_sent"], row["feedback_taken"]) == (feedbacks, feedbacks), row)
    check((row["feedback_gap_ns"] is None) == (feedbacks < 2), row)
    for name in "request_latency_ns", "answer_ns":
        check(row[name] >= 0, row)
    for name in "queued_ns", "execution_ns", "result_latency_ns", "duration_ns":
        check(row[name] >= 0 if number % 4 else row[name] is None, name, row)


def check_report(trace, rows):
    shown = report(trace, "actions")["actions"]
    check(len(shown) == 1 and (shown[0]["action"], shown[0]["goals"]) == ("/count", COUNT), shown)
    shown = shown[0]
    check([shown[name] for name in (*STATUS, "unfinished")] == [3, 3, 3, 3, 0], shown)
    for part, values in (("accept", [row["answer_taken_ns"] - row["sent_ns"] for row in rows]), ("execution", [row["execution_ns"] for row in rows]),
                         ("total", [row["duration_ns"] for row in rows])):
        values = [value for value in values if value is not None]
        check([shown[part + "_count"], shown[part + "_min_ns"], shown[part + "_max_ns"]] == [len(values), min(values), max(values)], part, shown)
        middle = statistics.median_low(values)
        check(abs(shown[part + "_p50_ns"] - middle) <= middle / 256 + 1, part, middle, shown)
    check((shown["feedback"], shown["feedback_gap_ns"]) == (9, max(row["feedback_gap_ns"] or 0 for row in rows)), shown)
    check(shown["others"] == "3 aborted, 3 canceled, 3 rejected", shown)
    check(answer("report", trace, "--section", "actions", "--node", "/actor")["actions"] == [shown], "of its node")
    check(answer("report", trace, "--section", "actions", "--node", "/another")["actions"] == [], "of another node")


def main(work):
    require()
    trace = record_actions(work, COUNT)
    rows = query(trace, "SELECT * FROM action_goals ORDER BY goal_id")
    check(len(rows) == COUNT, rows)
    for number, row in enumerate(rows):
        check_row(number, row)
    check_report(trace, rows)
    names = collections.Counter(found[1] for found in map(re.compile(r"ros2_kymo:(action_\w+):").search, dump(trace)) if found)
    wanted = {"action_request_sent": 24, "action_request_taken": 24, "action_response_sent": 24, "action_response_taken": 24,
              "action_goal_state": 30, "action_feedback_sent": 9, "action_feedback_taken": 9}
    check(names == wanted, names)


in_directory(main)
