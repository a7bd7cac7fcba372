#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""What `kymo export` writes as SQLite, CSV and JSON Lines is what `kymo query` says, table by table;
the numbers are those of `kymo report`; ids are the same however a trace is asked; windows."""
import csv
import json
import os
import sqlite3
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import SHARED, SOURCE, answer, check, existing, fewer, in_directory, kymo, query, report

DATA = os.path.join(SHARED, "data")
TRACES = [os.path.join(SOURCE, "tests", "fixtures", "lifecycle")] + \
    [os.path.join(DATA, name, "ctf") for name in
     ("ros2-traces/discarded", "ros2-traces/pair_pipeline_mt", "ros2-traces/pair_intra",
      "ros2-traces/rotated_files", "ros2-traces/streamed_relayd", "ros2-traces/caret_runtime", "caret-demo")]


def compare_exports(trace, scratch, tables):
    file = os.path.join(scratch, "x.sqlite")
    kymo("export", "-q", trace, "--format", "sqlite", "-o", file)
    kymo("export", "-q", trace, "--format", "csv", "-o", scratch)
    kymo("export", "-q", trace, "--format", "json", "-o", scratch)
    kymo("export", "-q", trace, "--format", "sqlite", "-o", file, status=1)
    kymo("export", "-q", trace, "--format", "csv", "-o", scratch, status=1)
    kymo("export", "-q", trace, "--format", "sqlite", "--force", "-o", file)
    db = sqlite3.connect(file)
    db.row_factory = sqlite3.Row
    rows = 0
    answers = answer("query", trace, "; ".join(f"SELECT * FROM {table}" for table in tables))
    for table, asked in zip(tables, answers.values(), strict=True):
        where = (trace, table)
        rows += len(asked)
        if table == "events":       # only when it is named
            continue
        by_id = sorted(asked, key=lambda row: row["id"])
        check([dict(row) for row in db.execute(f"SELECT * FROM {table} ORDER BY id")] == by_id, *where,
              "sqlite differs")
        with open(os.path.join(scratch, table + ".jsonl")) as lines:
            check([json.loads(line) for line in lines] == asked, *where, "json differs")
        with open(os.path.join(scratch, table + ".csv"), newline="") as lines:
            written = list(csv.DictReader(lines))
        check([{k: v or None for k, v in row.items()} for row in written] ==
              [{k: spell(v) for k, v in row.items()} for row in asked], *where, "csv differs")
    documented = {(row[0], row[1]) for row in db.execute('SELECT "table", "column" FROM columns')}
    for table in tables:
        if table != "events":
            for row in db.execute(f"PRAGMA table_info({table})"):
                check((table, row["name"]) in documented, table, row["name"], "is not documented")
    check(db.execute("PRAGMA integrity_check").fetchone()[0] == "ok", trace, "the database is broken")
    db.close()
    return rows


def spell(value):
    """As it stands in CSV."""
    if value is None or value == "":
        return None
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value)


def compare_report(trace):
    told = report(trace, "callbacks", "topics", "callback_instances", "messages")
    ours = query(trace, "SELECT start_ns, duration_ns, tid, is_intra, callback_object, depth, publish_ns"
                      " FROM callback_instances")
    theirs = [dict(start_ns=r["start_ns"], duration_ns=r["duration_ns"], tid=r["tid"],
                   is_intra=r["is_intra"], callback_object=int(r["callback_object"], 16), depth=r["depth"],
                   publish_ns=r["publish_ns"]) for r in told["callback_instances"]]
    check(ours == theirs, trace, "callback runs differ from the report's")
    ours = query(trace, "SELECT topic_name, publish_ns, take_ns, callback_start_ns, is_intra FROM messages"
                      " WHERE outcome IN ('callback', 'taken')")
    theirs = [dict(topic_name=r["topic_name"], publish_ns=r["publish_ns"], take_ns=r["take_ns"],
                   callback_start_ns=r["callback_start_ns"], is_intra=r["is_intra"]) for r in told["messages"]
              if r["outcome"] in ("callback", "taken")]
    check(ours == theirs, trace, "messages differ from the report's")
    ours = query(trace, "SELECT t.name, sum(latency_ns IS NOT NULL) AS n, min(latency_ns) AS low,"
                      " max(latency_ns) AS high FROM messages m JOIN topics t ON t.id = m.topic_id"
                      " GROUP BY t.id")
    theirs = {r["topic"]: r for r in told["topics"]}
    for row in ours:
        topic = theirs.get(row["name"])
        if topic and row["n"]:
            check(row["n"] == topic["latency_count"] and row["high"] == topic["latency_max_ns"] and
                  max(row["low"], 0) == topic["latency_min_ns"], trace, "latency of", row, topic)
    counts = query(trace, "SELECT callback_object, count(*) AS n, sum(duration_ns) AS total FROM"
                        " callback_instances GROUP BY callback_id")
    check(sorted((r["callback_object"], r["n"], r["total"]) for r in counts) ==
          sorted((int(r["callback"], 16), r["count"], r["total_ns"]) for r in told["callbacks"]
                 if r["count"]), trace, "counts differ from the report's")


# An id in one table means the row in the other, though the tables were read at different times.
IDS = """SELECT count(*) AS wrong FROM callback_instances i JOIN threads t ON t.id = i.thread_id
             WHERE t.tid <> i.tid;
         SELECT count(*) AS wrong FROM callback_instances i JOIN callbacks c ON c.id = i.callback_id
             WHERE c.callback_object <> i.callback_object OR c.node IS NOT i.node;
         SELECT count(*) AS wrong FROM messages m JOIN topics t ON t.id = m.topic_id
             WHERE t.name IS NOT m.topic_name;
         SELECT count(*) AS wrong FROM messages m JOIN subscriptions s ON s.id = m.subscription_id
             WHERE s.node IS NOT m.subscriber_node OR s.topic_id <> m.topic_id;
         SELECT count(*) AS wrong FROM messages m JOIN callback_instances i ON i.id = m.callback_instance_id
             WHERE i.start_ns <> m.callback_start_ns OR i.callback_id <> m.callback_id;
         SELECT count(*) AS wrong FROM publications p JOIN callback_instances i
             ON i.id = p.callback_instance_id WHERE p.publish_ns NOT BETWEEN i.start_ns AND i.end_ns;
         SELECT count(*) AS wrong FROM events e JOIN threads t ON t.id = e.thread_id WHERE t.tid <> e.tid;
         SELECT count(*) AS wrong FROM executor_states e JOIN threads t ON t.id = e.thread_id
             WHERE t.process_id <> e.process_id;
         SELECT count(*) AS wrong FROM events e LEFT JOIN processes p ON p.id = e.process_id
             WHERE e.process_id IS NOT NULL AND p.pid IS NOT e.pid;
         SELECT count(*) AS wrong FROM publications p LEFT JOIN publishers u ON u.id = p.publisher_id
             WHERE p.publisher_id IS NOT NULL AND (u.process_id IS NOT p.process_id OR u.topic_id IS NOT p.topic_id)"""


def compare_ids(trace):
    done = answer("query", trace, IDS)
    check(len(done) == 10 and all(rows == [{"wrong": 0}] for rows in done.values()), trace, "ids", done)
    for table in ("callback_instances", "publications"):
        ids = [row["id"] for row in query(trace, f"SELECT id FROM {table}")]
        check(len(set(ids)) == len(ids), trace, table, "has an id twice")


def compare_windows(scratch):
    trace = TRACES[0]
    file = os.path.join(scratch, "window.sqlite")
    kymo("export", "-q", trace, "--format", "sqlite", "-o", file, "--begin", "+0.5s", "--end", "+1s",
         "--table", "callback_instances", "--table", "nodes", "--table", "events")
    first = query(trace, "SELECT min(timestamp_ns) AS ns FROM events")[0]["ns"]
    begin, end = first + 500000000, first + 1000000000
    with sqlite3.connect(file) as db:
        for table, column in (("callback_instances", "start_ns"), ("events", "timestamp_ns")):
            rows = db.execute(f"SELECT id FROM {table} ORDER BY {column}, id").fetchall()
            asked = query(trace, f"SELECT id FROM {table} WHERE {column} BETWEEN {begin} AND {end}"
                               f" ORDER BY {column}, id")
            check(rows == [(row["id"],) for row in asked] and rows, trace, table, "in a window")
        check(db.execute("SELECT count(*) FROM nodes").fetchone()[0] ==
              query(trace, "SELECT count(*) AS n FROM nodes")[0]["n"], trace, "nodes in a window")


def compare_selection(scratch):
    trace = TRACES[0]
    file = os.path.join(scratch, "selection.sqlite")
    kymo("export", "-q", trace, "--format", "sqlite", "-o", file, "--node", "lc_m*", "--topic", "/parameter_events")
    with sqlite3.connect(file) as db:
        for sql in ("SELECT id FROM nodes WHERE full_name = '/lc_manager'",
                    "SELECT id FROM topics WHERE name = '/parameter_events'",
                    "SELECT id FROM publishers WHERE node = '/lc_manager' AND topic_name = '/parameter_events'",
                    "SELECT id FROM publications WHERE node = '/lc_manager' AND topic_name = '/parameter_events'",
                    "SELECT id FROM timers WHERE node = '/lc_manager'",
                    "SELECT id FROM threads"):
            rows = db.execute("SELECT id FROM " + sql.split()[3]).fetchall()
            check(rows == [(row["id"],) for row in query(trace, sql)] and rows, trace, "selection:", sql, rows)
    kymo("export", trace, "--format", "caret-architecture", "-o", file, "--node", "x", status=2)


def main():
    tables = [row["table"] for row in answer("query", "--schema")["tables"]]
    seen = 0
    for trace in existing(*fewer(TRACES)):
        with tempfile.TemporaryDirectory() as scratch:
            seen += compare_exports(trace, scratch, tables)
            compare_report(trace)
            compare_ids(trace)
        print(os.path.relpath(trace, SOURCE))
    in_directory(compare_windows)
    in_directory(compare_selection)
    check(seen > 1000, "only", seen, "rows")


main()
