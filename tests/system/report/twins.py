#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Two processes of one name that run at the same time have the same callbacks: the first screen of `kymo report`, its JSON and `kymo top`
have a row for each, told apart by the pid, and SQL has the same counts. A process that is started again is one row with the first.
So are chains: each way through the twins is a row, a finding, and what `kymo why` is asked about."""
import gzip
import json
import os
import re
import shlex
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, another_trace, check, in_directory, private, ros_domain

ROBOT = os.path.join(BUILD, "robot")
DRIVER = os.path.join(ROBOT, "driver")
NODE = "/imu_driver"


def kymo(place, *words):
    return subprocess.run([KYMO, *words], env=place, capture_output=True, text=True, timeout=300, check=True).stdout


def record(place, trace, command):
    """Return: runs of the callback by pid."""
    kymo(place, "record", "-q", "-o", trace, "--", "sh", "-c", command)
    rows = json.loads(kymo(place, "query", trace, "--format", "json", "SELECT pid, count(*) AS runs FROM callback_instances "
                           f"WHERE node = '{NODE}' AND kind = 'timer' GROUP BY pid"))["rows"]
    check(len(rows) == 2, "processes:", rows)
    return {row["pid"]: row["runs"] for row in rows}


def topped(place, trace):
    """The same in top, by pid."""
    rows = json.loads(kymo(place, "top", trace, "--once", "--format", "json"))["callbacks"]
    return {row["pid"]: row["count"] for row in rows if row["callback"] == NODE and row["source"].startswith("timer")}


def rows(place, verb, trace, *words):
    return json.loads(kymo(place, verb, trace, *words, "--format", "json"))


def chains_of(place, trace):
    """Return: arrivals, median, worst by name, as top has them."""
    return {row["chain"]: [row["count"], row["usual_ns"], row["worst_ns"]] for row in rows(place, "top", trace, "--once")["chains"]}


def lead(place, *traces):
    """Return: the processes that findings name. Each finding about one of several leads to its own worst instance."""
    found = rows(place, "report", *traces, "--section", "findings")["findings"]
    twins = [(row, match[1], shlex.split(row["command"])) for row in found if (match := re.match(r"[^(]* (\([^)]* \d+[^)]*\)) ", row["text"]))]
    for finding, ways, command in twins:
        check(command[:2] == ["kymo", "why"] and command[-1].endswith(" " + ways), finding)
        if finding["kind"] in ("chain", "callback"):
            check(rows(place, "why", *traces, command[-1])["latency_ns"] == finding["worst_ns"], finding)
    return [ways for _, ways, _ in twins]


def chains(place, work):
    """Two of perception hear one driver, and each other: four ways, as `kymo flow` has them."""
    command = f"{ROBOT}/%s --domain {ros_domain()} --seconds"
    driver, perception = command % "driver", command % "perception"
    trace, costmap = os.path.join(work, "ways"), "/scan -> /obstacles -> /perception/costmap"
    kymo(place, "record", "-q", "-o", trace, "--", "sh", "-c", f"{driver} 4 & {perception} 4 & {perception} 4 & wait")
    pids = [row["pid"] for row in rows(place, "query", trace, "SELECT pid FROM processes WHERE name = 'perception'")["rows"]]
    found = chains_of(place, trace)
    names = [f"{costmap} (perception {ways})" for a, b in (pids, pids[::-1]) for ways in (str(a), f"{a}, perception {b}")]
    check(sorted(name for name in found if name.startswith(costmap)) == sorted(names), "top has", found, pids)
    told = [[row["arrived"], row["p50_ns"], row["max_ns"]] for row in rows(place, "flow", trace)["chains"]]
    check(all(values in told for values in found.values()), "top has", found, "flow has", told)
    ways = [row["processes"] for row in rows(place, "flow", trace)["chains"] if row["path"].endswith("/obstacles -> /perception/costmap")]
    check(sorted(ways) == sorted(name[len(costmap) + 2:-1] for name in names), "flow has the processes", ways)
    check(re.search(r"Max +Processes +Chain$", kymo(place, "flow", trace, "--all"), re.M), "flow --all has no column of processes")
    for name in names:
        ways = name[len(costmap):]
        why = rows(place, "why", trace, "/lidar_driver -> /perception/costmap" + ways, "--all")
        check([why["count"], why["latency_ns"]] == [found[name][0], found[name][2]], name, "is", found[name], "why says", why)
        check(re.sub(r" (\d+)", r" (\1)", ways[2:-1]) == why["process"], name, why["process"])
        one = rows(place, "why", trace, "/perception/costmap timer*" + names[0][len(costmap):])
        check(one["process"] == f"perception ({pids[0]})", "one callback:", one["process"])
    empty = subprocess.run([KYMO, "why", trace, "/lidar_driver -> /perception/costmap (perception 1)"], env=place, capture_output=True, text=True)
    check(empty.returncode == 6 and "did not run in (perception 1)" in empty.stdout, "of no process:", empty)

    check(len(lead(place, trace)) > 1, "no findings of twins")
    found = rows(place, "report", trace, "--section", "findings")["findings"][0]
    if found["kind"] in ("chain", "callback"):
        first, named = rows(place, "why", trace), rows(place, "why", trace, shlex.split(found["command"])[3])
        check(named["sentence"] == first["sentence"], "the first finding is", found, first)

    # A summary's file has no pids.
    file = os.path.join(work, "ways.summary")
    kymo(place, "report", trace, "--format", "summary", "-o", file)
    with gzip.open(file) as text:
        names = {row.get("of", ""): [row["label"], row["ask"]] for row in json.load(text)["entities"] if row["kind"] == "chain"}
    check(names == {of: [costmap, "/lidar_driver -> /perception/costmap"] for of in ("", "perception #2", "perception, perception #2", "perception #2, perception")}, names)
    read = kymo(place, "report", file, "--format", "json")
    check(not any(f"perception {pid}" in read for pid in pids), "of a summary:", read)

    # The same processes on another host: their names have the hosts, too.
    other = os.path.join(work, "other")
    another_trace(trace, other)
    metadata = os.path.join(other, "ust", "metadata")
    with open(metadata, "rb") as file:
        data = file.read()
    here = re.search(rb'hostname = "(\w+)"', data)[1]
    with open(metadata, "wb") as file:
        file.write(data.replace(b'hostname = "' + here, b'hostname = "' + here[::-1][1:] + b"z", 1))
    driver_pid = rows(place, "query", trace, "SELECT pid FROM processes WHERE name = 'driver'")["rows"][0]["pid"]
    for host in here.decode(), here[::-1][1:].decode() + "z":
        one = rows(place, "why", trace, other, f"/imu_driver timer* (driver {driver_pid} @{host})")
        check(one["process"] == f"driver ({driver_pid}) @{host}", one["process"])
    lead(place, trace, other)
    worst = rows(place, "why", trace, other, "/lidar_driver -> /perception/costmap")
    check(re.match(rf"driver \({driver_pid}\) @\w+, perception \(\d+\) @", worst["process"]), "the chain of two hosts is of", worst["process"])
    ways = re.sub(r"\((\d+)\)", r"\1", worst["process"])
    named = rows(place, "why", trace, other, f"/lidar_driver -> /perception/costmap ({ways})")
    check([named["process"], named["latency_ns"]] == [worst["process"], worst["latency_ns"]], named, worst)
    flow = rows(place, "flow", trace, other, f"/lidar_driver -> /perception/costmap ({ways})")["chains"]
    check([row["processes"] for row in flow] == [ways], "flow has", flow, "not", ways)
    check(worst["alike"] == 1 + len(worst["others"]) and all(re.search(r" @\w+", row["process"]) for row in worst["others"]), "others:", worst["others"])

    again = os.path.join(work, "way_again")
    kymo(place, "record", "-q", "-o", again, "--", "sh", "-c", f"{driver} 4 & ({perception} 2; {perception} 2) & wait")
    found, told = chains_of(place, again), rows(place, "flow", again)["chains"]
    check(found[costmap][0] == sum(row["arrived"] for row in told if row["path"].endswith("/obstacles -> /perception/costmap")), found, told)
    check(not any("(" in name for name in found), "a process that was started again is told apart:", found)


@in_directory
def main(work):
    place = private(work)
    chains(place, work)
    driver = f"{DRIVER} --seconds 3"
    twins = os.path.join(work, "twins")
    runs = record(place, twins, f"{driver} & {driver} & wait")
    text = kymo(place, "report", twins)
    for pid in runs:
        check(f"{pid})" in text, "the report does not show", pid, text)
    check("2 processes" in text.split("\n")[0], "the head is", text.split("\n")[0])
    check(topped(place, twins) == runs, "top has", topped(place, twins), "SQL has", runs)
    why = kymo(place, "why", twins, "/imu_driver timer*")
    check(any(f"Process: driver ({pid})" in why for pid in runs), "why does not say of which process it speaks:", why)
    for pid, count in runs.items():
        why = rows(place, "why", twins, f"/imu_driver timer* (driver {pid})", "--all")
        check([why["process"], why["count"]] == [f"driver ({pid})", count], "of", pid, why)
    summary = os.path.join(work, "summary")
    kymo(place, "report", twins, "--format", "summary", "-o", summary)
    text = kymo(place, "report", summary)
    check("(driver #2)" in text and not any(f"driver {pid}" in text for pid in runs), "of a summary:", text)

    again = os.path.join(work, "again")
    runs = record(place, again, f"{driver}; {driver}")
    text = kymo(place, "report", again)
    check(not any(f"{pid})" in text for pid in runs), "a process that was started again is told apart:", text)
    check(list(topped(place, again).values()) == [sum(runs.values())], "top has", topped(place, again), "SQL has", runs)
