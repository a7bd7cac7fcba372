#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""kymo check of runs in which several processes have one name: each of them has to keep a budget of that name, the answer names the worst one,
and which of them is called the second in which run does not matter. The first file of budgets has each name once, and its run keeps it."""
import json
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_summary import write_summary
from lib_test import KYMO, TESTS, check, in_directory, query, record, run

MS = 1_000_000


def judged(file, *runs, status, words=()):
    told = json.loads(run(KYMO, "check", "-c", file, "--format", "json", *words, *runs, status=status).stdout)["budgets"]
    return {row["budget"]: row for row in told}, run(KYMO, "check", "-c", file, *words, "--all", *runs, status=status).stdout


def budgets(work, text):
    file = os.path.join(work, "budgets.yaml")
    with open(file, "w", encoding="utf-8") as out:
        out.write(text)
    return file


def recorded(work):
    trace = os.path.join(work, "swarm")
    record(trace, "-q", "--", os.path.join(TESTS, "swarm"), "3", "100")
    runs = {row["pid"]: row["ns"] for row in query(trace, "SELECT pid, max(duration_ns) AS ns FROM callback_instances WHERE node = '/drone' AND kind = 'timer' "
                                                          "GROUP BY pid")}
    slow = max(runs, key=runs.get)
    file = budgets(work, "callbacks:\n  /drone timer 10 ms:\n    - duration max <= 15 ms\n    - rate >= 50 Hz\nchains:\n  /swarm -> /drone: latency max <= 1 s\n")
    rows, text = judged(file, trace, status=5)
    worst = rows["duration max <= 15 ms"]
    check([worst[key] for key in ("verdict", "alike", "worst_of", "value", "of")] == ["violated", 3, f"swarm {slow}", runs[slow], "swarm"], worst, runs)
    check(re.search(rf"^ VIOLATED   callback /drone timer 10 ms\n.*\n +[\d.]+ ms of 100, the worst of 3: swarm {slow}$", text, re.M), text)
    check((rows["rate >= 50 Hz"]["verdict"], rows["latency max <= 1 s"]["alike"], len(rows)) == ("kept", 9, 3), "one row for each budget:", rows)
    check(max(map(len, text.split("\n"))) <= 80, "long lines:", text)
    junit = os.path.join(work, "check.xml")
    run(KYMO, "check", "-c", file, "--junit", junit, trace, status=5)
    with open(junit, encoding="utf-8") as file:
        names = re.findall(r'(?:name|classname)="([^"]*)"', file.read())
    check(not any(re.search(r"swarm \d", name) for name in names), "tests have another name in each run:", names)

    first = run(KYMO, "check", "--init", trace).stdout
    names = re.findall(r'^  "(.*)":$', first, re.M)
    check(names.count("/drone timer 10 ms") == 2 and names.count("swarm:step") == 1, "a name of a section stands there twice:", names)
    judged(budgets(work, first), trace, status=0)


def made(work):
    """Two processes with 2 ms and 10 ms. In each run another one is the first."""
    files = [os.path.join(work, f"{number}.summary") for number in range(4)]
    for number, file in enumerate(files):
        write_summary(file, {"arm:step": [2 * MS, 10 * MS] if number % 2 else [10 * MS, 2 * MS]})
    file = budgets(work, "runs: 2 of 4\nspans:\n  arm:step:\n    - duration p50 <= 5 ms\n    - duration p50 <= 20 ms\n")
    rows, text = judged(file, *files, status=5)
    row = rows["duration p50 <= 5 ms"]
    check([row[key] for key in ("verdict", "runs_violated", "alike", "value", "worst_of")] == ["violated", 4, 2, 10 * MS, "robot"], "no run keeps it:", row)
    check("10.0 ms of 200, the worst of 2: robot; kept in 0 of 4 runs" in text, text)
    check(rows["duration p50 <= 20 ms"]["verdict"] == "kept", rows)
    one = budgets(work, "spans:\n  'arm:step': duration p50 <= 5 ms\n")
    write_summary(files[0], {"arm:step": [2 * MS, 2 * MS, 2 * MS]})
    write_summary(files[1], {"arm:step": 2 * MS})
    rows, _ = judged(one, files[0], files[1], status=0)
    check(rows["duration p50 <= 5 ms"]["alike"] == 3, "the number of processes may differ:", rows)


def relative(work):
    """Against a base line, what happened in all of them is compared."""
    sides = {"base": [[2, 10]] * 6, "swapped": [[10, 2]] * 6, "slow": [[20, 2]] * 6}
    for name, runs in sides.items():
        os.makedirs(os.path.join(work, name))
        for number, ms in enumerate(runs):
            write_summary(os.path.join(work, name, f"{number}.summary"), {"arm:step": [one * MS for one in ms]})
    file = budgets(work, "spans:\n  'arm:step': duration p90 within 10 %\n")
    base = ("--base", os.path.join(work, "base"))
    rows, _ = judged(file, os.path.join(work, "swapped"), status=0, words=base)
    check(rows["duration p90 within 10 %"]["verdict"] == "kept", rows)
    rows, text = judged(file, os.path.join(work, "slow"), status=5, words=base)
    check(rows["duration p90 within 10 %"]["verdict"] == "violated" and "+100.0 % against the base line" in text, rows, text)


@in_directory
def main(work):
    recorded(work)
    made(work)
    relative(work)
