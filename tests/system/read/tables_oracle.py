#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""The tables of `kymo query` against those of tracetools_analysis, row by row.

For each trace with an oracle folder, every table of the oracle is selected out of kymo's and must
have the same rows with the same values. What is allowed to differ is a defect of the oracle, named
here and in docs/comparison/analysis-differences.md.
"""
import collections
import csv
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import SHARED, answer, check, skip

TRACES = os.path.join(SHARED, "data", "ros2-traces")

# Table of the oracle: how to get it in SQL, columns in the order of its CSV file.
SQL = {
    "contexts": "SELECT context_handle, timestamp_ns, pid, version FROM contexts",
    "nodes": "SELECT node_handle, created_ns, tid, rmw_handle, name, namespace FROM nodes",
    "rmw_publishers": "SELECT publisher_handle, timestamp_ns, gid FROM rmw_publishers",
    "rcl_publishers": "SELECT publisher_handle, p.created_ns, n.node_handle, p.rmw_handle, topic_name,"
                      " depth FROM publishers p JOIN nodes n ON n.id = p.node_id",
    "rmw_subscriptions": "SELECT subscription_handle, timestamp_ns, gid FROM rmw_subscriptions",
    "rcl_subscriptions": "SELECT subscription_handle, s.created_ns, n.node_handle, s.rmw_handle,"
                         " topic_name, depth FROM subscriptions s JOIN nodes n ON n.id = s.node_id",
    "subscription_objects": "SELECT subscription, timestamp_ns, subscription_handle"
                            " FROM subscription_objects",
    # Defect 1: the oracle's handle of a service is its time stamp.
    "services": "SELECT s.created_ns, s.created_ns, n.node_handle, s.rmw_handle, service_name"
                " FROM services s JOIN nodes n ON n.id = s.node_id",
    "clients": "SELECT client_handle, c.created_ns, n.node_handle, c.rmw_handle, service_name"
               " FROM clients c JOIN nodes n ON n.id = c.node_id",
    "timers": "SELECT timer_handle, created_ns, period_ns, tid FROM timers",
    "timer_node_links": "SELECT timer_handle, timestamp_ns, node_handle FROM timer_node_links",
    "callback_objects": "SELECT reference, timestamp_ns, callback_object FROM callback_objects",
    "callback_symbols": "SELECT callback_object, timestamp_ns, symbol FROM callback_symbols",
    "lifecycle_state_machines": "SELECT state_machine_handle, node_handle FROM lifecycle_state_machines",
    "rclcpp_publish_instances": "SELECT timestamp_ns, message FROM publish_instances"
                                " WHERE layer = 'rclcpp'",
    "rcl_publish_instances": "SELECT publisher_handle, timestamp_ns, message FROM publish_instances"
                             " WHERE layer = 'rcl'",
    "rmw_publish_instances": "SELECT timestamp_ns, message FROM publish_instances WHERE layer = 'rmw'",
    "rmw_take_instances": "SELECT subscription_handle, timestamp_ns, message, coalesce(source_ns, 0),"
                          " taken"
                          " FROM take_instances WHERE layer = 'rmw'",
    "rcl_take_instances": "SELECT timestamp_ns, message FROM take_instances WHERE layer = 'rcl'",
    "rclcpp_take_instances": "SELECT timestamp_ns, message FROM take_instances WHERE layer = 'rclcpp'",
    "callback_instances": "SELECT callback_object, start_ns, duration_ns, is_intra"
                          " FROM callback_instances",
    "lifecycle_transitions": "SELECT state_machine_handle, start_label, goal_label, timestamp_ns"
                             " FROM lifecycle_transitions",
}
# Tables without an index of their own: the first column of the CSV file numbers the rows.
NUMBERED = ("instances", "transitions")


def ask(trace, statements):
    """The rows of each statement, as lists of values."""
    sections = answer("query", os.path.join(TRACES, trace, "ctf"), ";\n".join(statements)).values()
    return [[list(row.values()) for row in section] for section in sections]


def nanoseconds(text):
    """'2026-11-20 20:25:32.189266256' (UTC) or '0 days 00:00:00.000025588' in nanoseconds."""
    import calendar
    import time
    if " days " in text:
        days, clock = text.split(" days ")
        seconds = int(days) * 86400
    else:
        date, clock = text.split(" ")
        seconds = calendar.timegm(time.strptime(date, "%Y-%m-%d"))
    hours, minutes, rest = clock.split(":")
    whole, _, part = rest.partition(".")
    return (seconds + int(hours) * 3600 + int(minutes) * 60 + int(whole)) * 10**9 + \
        int((part + "000000000")[:9])


def value(column, text):
    if column == "gid":
        return "".join("%02x" % int(n) for n in text.strip("[]").split(","))
    if column in ("taken", "intra_process"):
        return int(text == "True")
    if column == "duration" or (column == "timestamp" and "-" in text):
        return nanoseconds(text)
    return int(text) if text.lstrip("-").isdigit() else text


def oracle(trace, table):
    path = os.path.join(TRACES, trace, "oracle", table + ".csv")
    if not os.path.exists(path):        # an empty table was not written
        return None, []
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    first = 1 if table.endswith(NUMBERED) else 0
    names = rows[0][first:]
    return names, [[value(n, v) for n, v in zip(names, row[first:])] for row in rows[1:]]


def compare(trace, table, ours):
    names, theirs = oracle(trace, table)
    a = collections.Counter(map(tuple, ours))
    b = collections.Counter(map(tuple, theirs))
    for row in list((a - b).elements())[:3]:
        check(False, trace, table, "only ours:", row)
    for row in list((b - a).elements())[:3]:
        check(False, trace, table, "only the oracle's:", row)
    if table.endswith(NUMBERED):
        check(ours == theirs or a != b, trace, table, "has another order")
    if names:
        check(theirs, trace, table, "is empty in the oracle: nothing was compared")
    return len(theirs)


def main():
    if not os.path.isdir(TRACES):
        skip("no recorded traces here")
    traces = sorted(t for t in os.listdir(TRACES) if os.path.isdir(os.path.join(TRACES, t, "oracle")))
    seen = collections.Counter()
    for trace in traces:
        results = ask(trace, list(SQL.values()))
        rows = {table: compare(trace, table, ours) for table, ours in zip(SQL, results)}
        seen.update(rows)
        print(trace + ":", sum(rows.values()), "rows in", sum(1 for n in rows.values() if n), "tables")
    check(len(traces) >= 6, "only", len(traces), "traces have an oracle")
    for table in SQL:
        check(seen[table], table, "was empty everywhere: nothing was compared")


main()
