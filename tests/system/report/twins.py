#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Two processes of one name that run at the same time have the same callbacks: the first screen of `kymo report`, its JSON and `kymo top`
have a row for each, told apart by the pid, and SQL has the same counts. A process that is started again is one row with the first."""
import json
import os
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, check, in_directory, private

DRIVER = os.path.join(BUILD, "robot", "driver")
NODE = "/imu_driver"


def kymo(place, *words):
    return subprocess.run([KYMO, *words], env=place, capture_output=True, text=True, timeout=120, check=True).stdout


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


@in_directory
def main(work):
    place = private(work)
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
    check("(driver #2)" in text and not any(str(pid) in text for pid in runs), "of a summary:", text)

    again = os.path.join(work, "again")
    runs = record(place, again, f"{driver}; {driver}")
    text = kymo(place, "report", again)
    check(not any(f"{pid})" in text for pid in runs), "a process that was started again is told apart:", text)
    check(list(topped(place, again).values()) == [sum(runs.values())], "top has", topped(place, again), "SQL has", runs)
