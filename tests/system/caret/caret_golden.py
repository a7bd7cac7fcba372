#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""What caret_analyze says about two traces: the same out of kymo report, number by number."""
import collections
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

import yaml

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, SHARED, existing, kymo

DATA = os.path.join(SHARED, "data")
CASES = ["all", "best", "worst", "worst-with-external-latency"]
failed = 0


def check(what, got, want):
    global failed
    if got != want:
        failed += 1
        print(f"FAIL {what}")
        if isinstance(got, list) and isinstance(want, list):
            print(f"  {len(got)} rows, expected {len(want)}")
            for g, w in zip(got, want):
                if g != w:
                    print("  got     ", g, "\n  expected", w)
                    break
        else:
            print("  got     ", got, "\n  expected", want)
    return got == want


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def responses(trace, architecture, path, variant):
    flags = ["--first-callback"] * (variant[5] == "1") + ["--last-callback"] * (variant[-1] == "1")
    text = kymo("report", trace, "--architecture", architecture, "--path", path, "--format", "csv",
                "--section", "response-rows", *flags)
    text = text[text.index("path,case,"):]
    whole, stacks = collections.defaultdict(list), collections.defaultdict(list)
    for row in csv.DictReader(line for line in io.StringIO(text) if not line.startswith("#")):
        if row["position"] == "0":
            whole[row["case"]].append((int(row["start_ns"]), int(row["duration_ns"])))
        elif row["position"] == "1":
            stacks[row["case"]].append([("start", int(row["start_ns"])),
                                        (row["segment"], int(row["duration_ns"]))])
        else:
            stacks[row["case"]][-1].append((row["segment"], int(row["duration_ns"])))
    return whole, stacks


def check_paths(trace, golden, architectures):
    for path in sorted(os.listdir(os.path.join(golden, "paths"))):
        folder = os.path.join(golden, "paths", path)
        want = collections.defaultdict(list)
        for row in rows(os.path.join(folder, "response_time.csv")):
            want[row["variant"], row["case"]].append((int(row["start_timestamp"]),
                                                      int(row["response_time"])))
        for variant in sorted({key[0] for key in want}):
            whole, stacks = responses(trace, architectures[path.endswith("_chain")], path, variant)
            for case in CASES:
                check(f"{path} {variant} {case}", whole[case], want[variant, case])
                file = os.path.join(folder, "stacked_bar_latency_%s_%s.csv" % (
                    case.replace("-", "_"), variant))
                if not os.path.exists(file):
                    continue
                expected = [[("start", int(row["start time"]))] +
                            [(key, int(value)) for key, value in row.items() if key != "start time"]
                            for row in rows(file)]
                check(f"{path} {variant} {case} stack", stacks[case], sorted(expected))
            print(f"{path} {variant}: {[len(whole[case]) for case in CASES]} rows")


def check_architecture(trace, golden, ours):
    """The same content as create_architecture_file writes; executors by their groups, for their
    numbers depend on addresses. CARET leaves callbacks out that are in no known group; the one
    process that was not under its tracer has such a one. kymo lists it."""
    def content(path):
        with open(path) as file:
            architecture = yaml.safe_load(file)
        architecture["nodes"] = [node for node in architecture["nodes"]
                                 if node["node_name"] != "/caret_session_node"]
        executors = sorted((e["callback_group_names"], e["executor_type"])
                           for e in architecture.pop("executors"))
        return architecture, executors
    kymo("export", trace, "--format", "caret-architecture", "-q", "-o", ours)
    got, want = content(ours), content(os.path.join(golden, "architecture_exported.yaml"))
    check("executors", got[1], want[1])
    check("nodes", [node["node_name"] for node in got[0]["nodes"]],
          [node["node_name"] for node in want[0]["nodes"]])
    for mine, other in zip(got[0]["nodes"], want[0]["nodes"]):
        check("node " + mine["node_name"], mine, other)
    check("architecture", got[0], want[0])


def check_callbacks(trace, golden):
    """Durations, starts, by callback: callback_instances.csv."""
    out = json.loads(kymo("report", trace, "--format", "json", "--section", "callback_instances"))
    got = collections.Counter((row["start_ns"], row["start_ns"] + row["duration_ns"])
                              for row in out["callback_instances"])
    want = collections.Counter((int(row["callback_start_timestamp"]), int(row["callback_end_timestamp"]))
                               for row in rows(os.path.join(golden, "callback_instances.csv")))
    check("callback instances", sorted((want - got).elements()), [])


def check_headline(trace, golden):
    with open(os.path.join(golden, "headline.json")) as file:
        headline = json.load(file)
    out = json.loads(kymo("report", trace, "--format", "json", "--section", "communications"))
    got = {(row["publisher"], row["subscriber"], row["topic"]): row for row in out["communications"]}
    for comm in headline["communications"]:
        key = comm["publish_node_name"], comm["subscribe_node_name"], comm["topic_name"]
        want = comm["latency_ns"]
        if not want["n"]:
            continue
        row = got[key]
        check(f"communication {key}",
              [row["latency_count"], row["latency_min_ns"], row["latency_max_ns"],
               round(row["latency_mean_exact_ns"] * row["latency_count"])],
              [want["n"], want["min"], want["max"], want["sum"]])
    print(f"{len(headline['communications'])} communications")


# CARET counts a publication that the trace ends in, and, within a process, only what arrived.
EXPLAINED = {("/message_driven_node", "/timer_driven_node", "/topic3"),
             ("/ip_producer", "/ip_consumer_shared", "/ip_burst"),
             ("/ip_producer", "/ip_consumer_unique", "/ip_burst")}


def check_series(trace, golden):
    """Periods (section intervals) and frequencies, by callback and by communication."""
    with open(os.path.join(golden, "architecture_summary.json")) as file:
        sources = {c["callback_name"]: (node["node_name"], c["subscribe_topic_name"] or c["period_ns"])
                   for node in json.load(file)["nodes"] for c in node["callbacks"]}
    out = json.loads(kymo("report", trace, "--format", "json", "--section", "intervals",
                          "--section", "frequency"))
    got = collections.Counter(
        (row["node"], row["period_ns"] or row["source"], row["count"], row["min_ns"], row["max_ns"])
        for row in out["intervals"] if row["what"] == "callback")
    with open(os.path.join(golden, "headline.json")) as file:
        headline = json.load(file)
    for callback in headline["callbacks"]:
        period = callback["period_ns"]
        want = (*sources[callback["callback_name"]], period["n"], period["min"], period["max"])
        check(f"period of {want}", got[want] > 0, True)
    counts = collections.defaultdict(list)
    for row in out["frequency"]:
        # A node has one publisher of a topic, and one callback per source, but for the twins that
        # serve messages of the same process.
        counts[row["what"], row["node"], row["source"], row["callback"]].append(
            (row["start_ns"], row["count"]))
    ours = list(counts.values())
    want = collections.defaultdict(list)
    for row in rows(os.path.join(golden, "callback_frequency.csv")):
        want[row["callback_name"]].append((int(row["interval_start_timestamp"]), int(row["frequency"])))
    for callback, series in want.items():
        check(f"frequency of {callback}", series in ours, True)
    want = collections.defaultdict(list)
    for row in rows(os.path.join(golden, "communication_frequency.csv")):
        want[row["publish_node_name"], row["subscribe_node_name"], row["topic_name"]].append(
            (int(row["interval_start_timestamp"]), int(row["frequency"])))
    different = {comm for comm, series in want.items() if series not in ours}
    check("frequencies of communications that differ", different, EXPLAINED & set(want))
    print(f"{len(headline['callbacks'])} periods, {len(want)} frequencies of communications")


def check_stamps(trace, architecture, scratch):
    """The path with inherit_unique_stamp everywhere, against times that babeltrace2 gives: a message has
    the same stamp in its header all the way. Other contexts are refused, with the reason."""
    def changed(context):
        path = os.path.join(scratch, context + ".yaml")
        with open(architecture) as file, open(path, "w") as out:
            out.write(file.read().replace("context_type: use_latest_message", "context_type: " + context))
        return path

    def one(sql):
        return json.loads(kymo("query", trace, "--format", "json", sql))["rows"][0]["x"]

    publisher = one("SELECT publisher_handle AS x FROM publishers WHERE topic_name = '/topic1'")
    callback = one("SELECT callback_object AS x FROM callbacks WHERE topic_name = '/topic4'")
    publisher, callback = ("0x%X" % int(str(x), 0) for x in (publisher, callback))
    begin, end, taken = {}, {}, {}
    text = subprocess.run(["babeltrace2", "--clock-seconds", trace], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    for line in text.splitlines():
        ns = int(re.match(r"\[(\d+)\.(\d{9})\]", line).expand(r"\1\2"))
        field = dict(re.findall(r"(\w+) = ([^,} ]+)", line))
        if " ros2:rclcpp_publish:" in line and field["publisher_handle"] == publisher:
            begin.setdefault(field["message_timestamp"], ns)
        elif " ros2:dispatch_subscription_callback:" in line and field["callback"] == callback:
            taken[field["vtid"]] = field["message_timestamp"]
        elif " ros2:callback_start:" in line and field["callback"] == callback:
            end.setdefault(taken.pop(field["vtid"]), ns)     # a timer may send it again
    want = {begin[stamp]: ns - begin[stamp] for stamp, ns in end.items() if stamp in begin}
    got = dict(responses(trace, changed("inherit_unique_stamp"), "target", "first0_last0")[0]["all"])
    check("stamps", {start: got[start] for start in want if start in got},
          {start: value for start, value in want.items() if start in got})
    # The earliest output is left out.
    check("stamps that are missing", len(set(want) - set(got)), 1)
    check("responses by stamps are many", len(want) > 30, True)
    print(f"{len(want)} responses by stamps")
    refused = subprocess.run([KYMO, "report", trace, "--architecture", changed("tilde"), "--path", "target",
                              "--section", "response-times"], check=False, stdout=subprocess.PIPE,
                             text=True)
    check("tilde without its events is refused", (refused.returncode, "does not have TILDE's ids" in
                               refused.stdout), (6, True))


# A folder with ctf/ and golden/, and where in it the architecture file is.
TRACES = (
    (os.path.join(DATA, "caret-demo"), "architecture.yaml"),
    (os.path.join(DATA, "ros2-traces", "caret_runtime"), os.path.join("golden", "architecture_used.yaml")),
)


def check_all(trace, folder, architecture):
    """All golden numbers of the case @folder, of @trace, which is its own or was made of it. Return: how many are wrong."""
    golden, architecture = os.path.join(folder, "golden"), os.path.join(folder, architecture)
    with tempfile.TemporaryDirectory() as scratch:
        check_architecture(trace, golden, os.path.join(scratch, "architecture.yaml"))
        if folder == TRACES[0][0]:
            check_stamps(trace, architecture, scratch)
    check_callbacks(trace, golden)
    check_headline(trace, golden)
    check_series(trace, golden)
    check_paths(trace, golden, [architecture, os.path.join(golden, "architecture_chain.yaml")])
    return failed


def main():
    for folder, architecture in TRACES:
        if not existing(folder):
            continue
        check_all(os.path.join(folder, "ctf"), folder, architecture)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
