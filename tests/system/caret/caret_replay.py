#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""What kymo records of a program says the same as what CARET recorded of it: all that the real trace of CARET tells is called again, in
its order and on as many threads, under kymo's hooks (tests/rclcpp/caret_replay.cpp), and recorded. Then nodes, callbacks, executors and
groups, publishers, subscriptions, instances, deliveries, variable passings and the rows of all response times are the same, but for times.
caret_analyze, if it can be imported, gets the response times that kymo says out of kymo's export."""
import collections
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import COMPILE, require
from lib_test import BUILD, KYMO, SHARED, SOURCE, check, kymo, skip

DATA = os.path.join(SHARED, "data", "caret-demo")
THEIRS = os.path.join(DATA, "ctf")
# Not arguments of the functions, but of CARET's rclcpp.
NO_ARGUMENTS = {"version", "message_timestamp"}


def events(trace):
    return [json.loads(line) for line in kymo("dump", trace, "--format", "json").splitlines()]


# ---- the trace as calls ----

def argument(value):
    return f'"{value}' if isinstance(value, str) else str(value)


def calls(trace):
    """Lines for caret_replay. What tells the handle that a take has now: CARET's dispatch told the callback instead."""
    handle_of, rmw_of, subscription_of, writing = {}, {}, {}, {}
    for event in trace:
        name, fields, thread = event["name"].split(":")[1], event["fields"], event["context"]["vtid"]
        values = [argument(value) for key, value in fields.items() if key not in NO_ARGUMENTS]
        if name == "rcl_subscription_init":
            rmw_of[fields["subscription_handle"]] = fields["rmw_subscription_handle"]
        elif name == "rclcpp_subscription_init":
            handle_of[fields["subscription"]] = fields["subscription_handle"]
        elif name == "rclcpp_subscription_callback_added":
            subscription_of[fields["callback"]] = fields["subscription"]
        if name == "rmw_implementation":
            continue
        if name == "dds_write":
            writing[thread] = fields["message"]
            continue
        if name == "dds_bind_addr_to_stamp":
            check(writing.pop(thread, None) == fields["addr"], "a stamp without its write:", event)
            name, values = "write", [fields["addr"], fields["source_stamp"]]
        elif name == "dispatch_subscription_callback":
            handle = rmw_of[handle_of[subscription_of[fields["callback"]]]]
            name, values = "rmw_take", [handle, fields["message"], fields["source_stamp"], 1]
        elif name == "construct_executor":
            name = "executor"
        elif name == "add_callback_group":
            name = "group"
        elif name.startswith("callback_group_add_"):
            name = name[len("callback_group_add_"):]
        yield "\t".join(map(str, (thread, name, *values)))
    check(not writing, "written, and no stamp:", writing)


def replayed(work, trace):
    """The trace that kymo records of it."""
    source, tracetools = f"{SOURCE}/tests/rclcpp/caret_replay.cpp", f"{BUILD}/stub/humble/lib"
    subprocess.run([*COMPILE, "-DLIBRARY", "-shared", "-o", f"{work}/librclcpp.so", source], check=True)
    subprocess.run([*COMPILE, "-o", f"{work}/end_to_end_samp", source, f"-L{work}", "-lrclcpp", f"-Wl,-rpath,{work}", "-Wl,--no-as-needed",
                    f"-L{tracetools}", "-ltracetools", f"-Wl,-rpath,{tracetools}", "-ldl", "-pthread"], check=True)
    implementation, = (event["fields"]["rmw_impl"] for event in trace if event["name"] == "ros2_caret:rmw_implementation")
    with open(f"{work}/calls", "w", encoding="utf-8") as file:
        print("\n".join([f'{trace[0]["context"]["vtid"]}\trmw\t"{implementation}', *calls(trace)]), file=file)
    done = subprocess.run([KYMO, "record", "-q", "-o", f"{work}/ours", "--", f"{work}/end_to_end_samp", f"{work}/calls"],
                          env=dict(os.environ, KYMO_DIR=f"{work}/run"), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"caret_replay.py: {done.stderr}")
    return f"{work}/ours"


# ---- what both say ----

def query(trace, sql):
    return next(iter(json.loads(kymo("query", trace, "--format", "json", sql)).values()))


OBJECTS = ("nodes", "topics", "publishers", "subscriptions", "timers", "services", "clients", "callbacks", "callback_groups", "executors",
           "subscription_objects", "callback_objects", "callback_symbols", "timer_node_links")
ROWS = ("callback_instances", "unfinished_instances", "publications", "messages", "publish_instances")
# What is not a time: the program's own, and what stands in messages.
NO_TIMES = ("period_ns", "source_ns")


def compare_tables(ours):
    """Row by row, in their order: all but times; thread numbers are others, but as many and each for the same one."""
    threads, processes, seen = {}, {}, 0
    for table in OBJECTS + ROWS:
        first, second = (query(trace, f"SELECT * FROM {table}") for trace in (THEIRS, ours))
        check(len(first) == len(second), table, "has", len(second), "rows, not", len(first))
        for a, b in zip(first, second):
            for key, value in a.items():
                # Only CARET's rclcpp tells there by which publisher; kymo knows it from rcl_publish, a moment later.
                if a.get("layer") == "rclcpp" and key.startswith("publisher_"):
                    continue
                # CARET's tracepoint has the stamp of the message; a call has only the message's address.
                if key in ("header_stamp_ns", "age_ns"):
                    continue
                if key.endswith("tid") or key == "thread_id":
                    which = "tid" if key.endswith("tid") else key
                    check(value is None or threads.setdefault((which, value), b[key]) == b[key], table, "another thread:", a, b)
                elif key == "pid" or key.endswith("_pid"):
                    check(value is None or processes.setdefault(value, b[key]) == b[key], table, "another process:", a, b)
                elif not key.endswith("_ns") or key in NO_TIMES:
                    check(value == b[key], table, key, "is", b[key], "and not", value, "in", a, b)
                else:
                    check((value is None) == (b[key] is None), table, key, "is there in one only:", a, b)
        seen += len(first)
    check(len(set(threads.values())) == len(threads) > 10 and seen > 2000, "only", seen, "rows of", threads)
    return seen


def responses(trace, architecture):
    """The rows of response times and of where they went, without the times."""
    said = json.loads(kymo("report", trace, "--architecture", architecture, "--format", "json",
                           *(word for name in ("times", "segments", "rows") for word in ("--section", f"response-{name}"))))
    times = [[row[key] for key in ("path", "case", "count", "rows", "complete", "reversed")] for row in said["response-times"]]
    segments = [[row[key] for key in ("path", "case", "position", "segment", "count")] for row in said["response-segments"]]
    rows = [[row[key] for key in ("path", "case", "position", "segment")] for row in said["response-rows"]]
    return {"times": times, "segments": segments, "rows": rows}


def compare_paths(ours):
    for name in "architecture.yaml", "golden/architecture_chain.yaml":
        first, second = (responses(trace, os.path.join(DATA, name)) for trace in (THEIRS, ours))
        for key, rows in first.items():
            check(rows and rows == second[key], name, "response", key, "are", second[key][:3], "and not", rows[:3])


def compare_architectures(work, ours):
    first, second = (kymo("export", "--format", "caret-architecture", "-o", "-", "-q", trace) for trace in (THEIRS, ours))
    check(first == second and "executors:" in first, "the architectures differ:", first, second)


def compare_activity(ours):
    for section, key in ("communications", "communications"), ("topics", "topics"), ("callbacks", "callbacks"):
        first, second = (json.loads(kymo("report", trace, "--format", "json", "--section", section))[key] for trace in (THEIRS, ours))
        counts = [sorted(json.dumps({k: v for k, v in row.items() if (isinstance(v, str) and k != "host") or k in COUNTS})
                         for row in rows) for rows in (first, second)]
        check(first and counts[0] == counts[1], section, "count otherwise:", counts)


COUNTS = ("count", "published", "taken", "lost", "untaken", "unpublished", "instances", "overwritten")


def compare_exports(work, ours):
    """As CARET's format again, for caret_analyze: the same events with the same values, thread by thread."""
    def told(trace):
        lanes = collections.defaultdict(list)
        for event in events(trace):
            name, fields = event["name"].split(":")[1], event["fields"]
            # When kymo began to record; and the handle and the callback of a take, as the two generations of CARET tell it.
            if name == "caret_init":
                continue
            if name == "rmw_implementation":            # CARET tells it at the first node, kymo with rcl_init
                lanes[None].append(fields["rmw_impl"])
                continue
            if name in ("dispatch_subscription_callback", "rmw_take"):
                name, fields = "take", {"message": fields["message"],
                                        "stamp": fields.get("source_stamp", fields.get("source_timestamp"))}
            lanes[event["context"]["vtid"]].append((name, *((key, value) for key, value in fields.items() if key not in NOT_TOLD)))
        return [lanes.pop(None), *sorted(lanes.values())]
    kymo("export", "--format", "caret", "-q", "-o", f"{work}/exported", ours)
    first, second = told(THEIRS), told(f"{work}/exported")
    check(len(first) == len(second), len(second), "threads, not", len(first))
    for a, b in zip(first, second):
        if a != b:
            apart = next((pair for pair in zip(a, b) if pair[0] != pair[1]), (len(a), len(b)))
            check(False, "exported otherwise:", apart)


def compare_with_caret_analyze(work, ours):
    """caret_analyze itself, where it is installed, gets the same response times out of that export."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            from caret_analyze import Application, Architecture, Lttng
            from caret_analyze.record import ResponseTime
    except ImportError as error:
        print(f"skipped in part: caret_analyze is not installed ({error})")
        return
    architecture = f"{DATA}/architecture.yaml"
    with contextlib.redirect_stdout(io.StringIO()):
        application = Application(Architecture("yaml", architecture), Lttng(f"{work}/exported", force_conversion=True))
    rows = json.loads(kymo("report", ours, "--architecture", architecture, "--section", "response-times", "--format", "json"))["response-times"]
    check(len(rows) == 4, "response times:", rows)
    for row in rows:
        times = ResponseTime(application.get_path(row["path"]).to_records())
        case = row["case"].replace("-", "_")
        theirs = getattr(times, f"to_{case}_records" if case == "all" else f"to_{case}_case_records")().to_dataframe()["response_time"]
        check([len(theirs), theirs.min(), theirs.max(), theirs.sum()] == [row[key] for key in ("count", "min_ns", "max_ns", "sum_ns")],
              "caret_analyze says of", row, list(theirs))


NOT_TOLD = ("version", "message_timestamp", "init_timestamp", "publisher_handle")


def main():
    require()
    if not os.path.isdir(THEIRS):
        skip("there is no trace of CARET")
    with tempfile.TemporaryDirectory(prefix="kymo-caret-", dir="/dev/shm") as work:
        trace = events(THEIRS)
        ours = replayed(work, trace)
        rows = compare_tables(ours)
        compare_paths(ours)
        compare_architectures(work, ours)
        compare_activity(ours)
        compare_exports(work, ours)
        compare_with_caret_analyze(work, ours)
        print(f"{len(trace)} events, called again: {rows} rows are the same")


if __name__ == "__main__":
    main()
