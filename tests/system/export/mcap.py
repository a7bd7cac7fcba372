#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""kymo export to MCAP: the format's own reader (npm's @mcap/core) reads every message, from the beginning and by the index, with all sums
checked; the numbers are those of kymo query, of kymo flow and of the findings. Traces of the robot, of programs, and of ../shared."""
import collections
import json
import os
import re
import subprocess
import sys
import zlib

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, SHARED, check, fewer, in_directory, kymo, query, record, record_robot, run, skip

READER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib/mcap_reader.mjs")
PACKAGES = ("@mcap/core@2.2.2", "fzstd@0.1.1")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "kymo", "mcap-2.2.2")
TRACES = ["ros2-traces/" + name + "/ctf" for name in ("pair_pipeline_mt", "pair_intra", "discarded", "caret_runtime", "many_contexts")] + ["caret-demo/ctf"]


def modules():
    """Where the reader is; it is installed once."""
    if not os.path.isdir(f"{CACHE}/node_modules/fzstd"):
        os.makedirs(CACHE, exist_ok=True)
        try:
            done = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", CACHE, *PACKAGES], capture_output=True,
                                  text=True, timeout=280)
        except (FileNotFoundError, subprocess.TimeoutExpired) as error:
            skip(f"no npm: {error}")
        if done.returncode:
            skip("npm cannot install @mcap/core: " + done.stderr.strip()[-200:])
    return f"{CACHE}/node_modules"


def read(path):
    done = subprocess.run(["node", READER, modules(), path], capture_output=True, text=True)
    check(not done.returncode, path, done.stderr[-2000:])
    return json.loads(done.stdout)


def plain(prefix, name):
    return re.sub("/+", "/", f"/kymo/{prefix}/" + re.sub("[^A-Za-z0-9/]", "_", name.replace(" /", "/").replace(" -> ", "/to/").replace(" ~> ", "/to/")))


def same(data):
    """Numbers of two languages: 0 and 0.0."""
    return json.dumps({key: value + 0.0 if isinstance(value, (int, float)) else value for key, value in data.items() if key != "count"},
                      sort_keys=True)


def members(columns, row):
    """As a message has them: milliseconds with all digits, and nothing that is not known."""
    return {key: round(row[column] / 1e6, 6) if key.endswith("_ms") else row[column] for key, column in columns.items() if row[column] is not None}


MESSAGE = {"latency_ms": "latency_ns", "transport_ms": "transport_ns", "dispatch_ms": "dispatch_ns", "publish_call_ms": "publish_call_ns",
           "age_ms": "age_ns", "size_bytes": "size_bytes"}
RUN = {"duration_ms": "duration_ns", "latency_ms": "latency_ns", "idle_ms": "idle_ns", "published": "published"}
CALL = {"duration_ms": "duration_ns", "request_latency_ms": "request_latency_ns", "callback_latency_ms": "callback_latency_ns",
        "callback_duration_ms": "callback_duration_ns", "response_latency_ms": "response_latency_ns"}
CYCLE = {"latency_ms": "latency_ns", "busy_ms": "busy_ns", "missed_ms": "missed_ns", "overrun_ms": "overrun_ns", "skipped": "skipped"}
# (prefix, name, time, time of publication, members, of)
KINDS = (
    ("topic", "coalesce(topic_name, 'unknown') || '/to/' || coalesce(subscriber_node, 'unknown')", "coalesce(callback_start_ns, take_ns)",
     "coalesce(publish_ns, callback_start_ns, take_ns)", MESSAGE, "messages WHERE take_ns IS NOT NULL"),
    ("lost", "coalesce(topic_name, 'unknown') || '/to/' || coalesce(subscriber_node, 'unknown')", "publish_ns", "publish_ns", {"outcome": "outcome"},
     "messages WHERE take_ns IS NULL AND publish_ns IS NOT NULL"),
    ("callback", "callback", "start_ns", "start_ns", RUN, "callback_instances"),
    ("service", "service_name || '/from/' || coalesce(client_node, 'unknown')", "coalesce(request_ns, request_taken_ns)",
     "coalesce(request_ns, request_taken_ns)", CALL, "service_calls WHERE coalesce(request_ns, request_taken_ns) IS NOT NULL"),
    ("loop", "category || '/' || name", "begin_ns", "coalesce(due_ns, begin_ns)", CYCLE, "loop_cycles"),
    ("span", "category || '/' || name", "begin_ns", "begin_ns", {"duration_ms": "duration_ns", "self_ms": "self_ns"}, "spans"),
    ("counter", "category || '/' || name", "timestamp_ns", "timestamp_ns", {"value": "value"}, "counters"),
)


def check_rows(trace, got, prefix, name, at, published, columns, of):
    rows = query(trace, f"SELECT {name} AS series, {at} AS at, {published} AS sent, {', '.join(columns.values())} FROM {of}")
    want = sorted((plain(prefix, row["series"]), str(row["at"]), str(row["sent"]), same(members(columns, row)))
                  for row in rows)
    found = sorted((topic, log, publish, same(data))
                   for topic, log, publish, _, data in got["messages"] if topic.startswith(f"/kymo/{prefix}/"))
    check(found == want, trace, prefix, len(found), len(want), [pair for pair in zip(found, want) if pair[0] != pair[1]][:2])
    return len(want)


def check_chains(trace, got):
    """As many arrivals as kymo report counts, with the same longest one; the segments add up."""
    rows = json.loads(run(KYMO, "report", trace, "--section", "flow", "--format", "json", status=None).stdout or "{}").get("chains", [])
    found = collections.defaultdict(list)
    for topic, _, _, _, data in got["messages"]:
        if topic.startswith("/kymo/chain/"):
            found[got["names"][topic]].append(data)
            parts = sum(value for key, value in data.items() if key != "latency_ms")
            check(abs(parts - data["latency_ms"]) < 1e-5, trace, topic, data)
    return rows, found


def check_one(directory, name, trace):
    out = os.path.join(directory, name.replace("/", "_") + ".mcap")
    kymo("export", "-q", trace, "-o", out)
    got = read(out)
    stats, counts = got["statistics"], collections.Counter(topic for topic, *_ in got["messages"])
    check(stats["messages"] == len(got["messages"]) and stats["channels"] == len(got["schemas"]) and stats["metadata"] == 1, trace, stats)
    check({topic: count for topic, count in stats["counts"].items() if count} == dict(counts), trace, "counts of channels")
    times = [int(log) for _, log, *_ in got["messages"]] or [0]
    check((int(stats["begin"]), int(stats["end"])) == (min(times), max(times)), trace, stats["begin"], stats["end"])
    check(got["library"].startswith("kymo "), got["library"])
    check(all(re.fullmatch(r"/kymo(/[A-Za-z0-9_]+)+/?", topic) for topic in got["schemas"]), trace, got["schemas"])
    rows = sum(check_rows(trace, got, *kind) for kind in KINDS)
    findings = json.loads(run(KYMO, "report", trace, "--section", "findings", "--format", "json", status=None).stdout)["findings"]
    logs = [data["message"] for topic, *_, data in got["messages"] if topic == "/kymo/findings"]
    check(logs == [one["text"] for one in findings], trace, logs, findings)
    check_chains(trace, got)
    check(rows + len(logs) + sum(topic.startswith("/kymo/chain/") for topic, *_ in got["messages"]) == len(got["messages"]), trace, "there is more")
    return out, got


def check_robot(directory):
    trace = os.path.join(directory, "robot")
    record_robot(trace, 2, "-q")
    out, got = check_one(directory, "robot", trace)
    summary = os.path.join(directory, "robot.json")
    kymo("report", trace, "--format", "summary", "--force", "-o", summary)
    with open(summary, "rb") as file:
        entities = json.loads(zlib.decompress(file.read(), 31))["entities"]
    want = {one["name"].replace(" -> ", "/to/"): (one["runs"], one["latency"]["sum"]) for one in entities if one["kind"] == "chain"}
    found = {name: (len(all_of), round(sum(one["latency_ms"] for one in all_of) * 1e6)) for name, all_of in check_chains(trace, got)[1].items()}
    check(found == want and len(want) > 2, "chains", found, want)
    window = os.path.join(directory, "window.mcap")
    kymo("export", "-q", trace, "--begin", "+0.5s", "--end", "+1s", "--node", "/perception/*", "-o", window)
    some = read(window)
    check(some["messages"] and all("/perception/" in topic or "/obstacles/" in topic for topic, *_ in some["messages"]), "a selection has", some["schemas"])
    first = min(int(log) for _, log, *_ in got["messages"])
    check(all(first <= int(log) <= first + 1_100_000_000 for _, log, *_ in some["messages"]), "a window")
    nothing = os.path.join(directory, "nothing.mcap")
    kymo("export", "-q", trace, "--begin", "+100s", "--end", "+101s", "-o", nothing)
    check(not read(nothing)["messages"], "a window without events has messages")
    damaged(out, os.path.join(directory, "damaged.mcap"))
    with open(out, "rb") as file:
        piped = subprocess.run([KYMO, "export", "-q", trace, "-o", "-", "--format", "mcap"], stdout=subprocess.PIPE, check=True)
        check(piped.stdout == file.read(), "standard output has another file")
    done = run(KYMO, "export", trace, "-o", out, status=None)
    check(done.returncode == 1 and "--force" in done.stderr, done)
    done = run(KYMO, "export", trace, "--clock", "sim", "-o", os.path.join(directory, "sim.mcap"), status=None)
    check(done.returncode == 2 and "mcap" in done.stderr, done)


def damaged(path, copy):
    """The reader does see a wrong byte: the sums are checked."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data[len(data) // 2] ^= 1
    with open(copy, "wb") as file:
        file.write(data)
    check(subprocess.run(["node", READER, modules(), copy], capture_output=True).returncode, "a damaged file is read")


def test(directory):
    modules()
    check_robot(directory)
    trace = os.path.join(directory, "cyclic")
    record(trace, "-q", "--", os.path.join(BUILD, "cyclic", "cyclic"), "--seconds", "0.3")
    check_one(directory, "cyclic", trace)
    if not os.path.isdir(os.path.join(SHARED, "data")):
        print("skipped in part: no traces in ../shared")
        return
    for name in fewer(TRACES):
        check_one(directory, name, os.path.join(SHARED, "data", name))


in_directory(test)
