#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""kymo store: summaries by commit in plain files; the commit that changed something is found; kymo diff and kymo check compare with a commit."""
import json
import os
import random
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_summary import write_summary
from lib_test import KYMO, check, private, run

COMMITS, CHANGED = 24, 14


def fill(kymo, place):
    """Two runs for each commit; from CHANGED on, one of two spans takes a fifth longer. Added in another order than that of time."""
    chance = random.Random(1)
    commits = list(range(COMMITS))
    chance.shuffle(commits)
    for commit in commits:
        for name in ("a.summary", "b.summary"):
            grown = 1.2 if commit >= CHANGED else 1
            write_summary(os.path.join(place, name), {"control:plan": int(1e6 * chance.uniform(0.99, 1.01)),
                                                      "control:step": int(5e5 * grown * chance.uniform(0.99, 1.01))})
        said = kymo("store", "add", "perf", "--commit", f"c{commit:02}", "--time", str(1_700_000_000 + commit), "a.summary", "b.summary").stdout
        check(said == f"perf/c{commit:02}/001.summary\nperf/c{commit:02}/002.summary\n", "add:", said)


def changes(kymo):
    text = kymo("store", "changes", "perf").stdout
    check(f"since c{CHANGED}, after c{CHANGED - 1}" in text and "worse   span control:step" in text, "changes:", text)
    check("control:plan" not in text and all(len(line) <= 80 for line in text.splitlines()), "changes:", text)
    check(text == kymo("store", "changes", "perf").stdout, "the same store gives other bytes")
    rows = json.loads(kymo("store", "changes", "perf", "--format", "json").stdout)
    half = [row for row in rows["changes"] if row["metric"] == "duration p50"]
    check(len(half) == 1 and half[0]["since"] == f"c{CHANGED}" and abs(half[0]["after"] / half[0]["before"] - 1.2) < 0.02, half)
    check(rows["commits"] == COMMITS and rows["metrics_searched"] == rows["metrics"], rows)
    check("0 changes" in kymo("store", "changes", "perf", "--limit", "30").stdout, "a limit of 30 %")
    check("0 changes" in kymo("store", "changes", "perf", "--only", "*plan").stdout, "of one span")
    listed = json.loads(kymo("store", "list", "perf", "--format", "json").stdout)["commits"]
    check([row["commit"] for row in listed] == [f"c{i:02}" for i in range(COMMITS)] and listed[0]["runs"] == 2, listed)
    check(max(row["bytes"] for row in listed) < 2000, listed)


def compare(kymo, place):
    """Commits as sides of a comparison, and as a base line."""
    for commit in ("c01", "c20"):
        kymo("store", "add", "perf", "-c", commit, "-q", f"perf/{commit}/001.summary", f"perf/{commit}/002.summary")
    text = kymo("diff", "--store", "perf", "c01", "c20", status=5).stdout
    check(text.startswith("4 runs each   c01 -> c20   same machine, no events lost\n") and "WORSE      span control:step" in text, text)
    check(text.replace("perf/", "") == kymo("diff", "perf/c01", "perf/c20", status=5).stdout.replace("perf/", ""), "as directories")
    check("1 run each" in kymo("diff", "a.summary", "b.summary").stdout, "files")
    with open(os.path.join(place, "budgets.yaml"), "w", encoding="utf-8") as file:
        file.write('spans:\n  "control:*":\n    - duration p50 within 10 %\n')
    check("Violated: 1 of 2" in kymo("check", "--base", "perf/c01", "perf/c20", status=5).stdout, "check")
    kymo("check", "--base", "perf", "perf/c23")		# its newest commit is the same one
    check("needs a base line" in kymo("check", "perf/c20", status=3).stderr, "no base line")


def mistakes(kymo, place):
    os.mkdir(os.path.join(place, "other"))
    with open(os.path.join(place, "other/file"), "w", encoding="utf-8"):
        pass
    write_summary(os.path.join(place, "lost.summary"), {"control:step": 5}, trust={"lost_events": 3})
    for words, status, said in (
            (("add", "perf", "a.summary"), 2, "which commit"), (("add", "perf", "-c", "x"), 2, "which runs"),
            (("add", "perf", "-c", "../x", "a.summary"), 2, "an id has"), (("add", "other", "-c", "x", "a.summary"), 2, "is not a store"),
            (("add", "perf", "-c", "x", "lost.summary"), 3, "events were lost"), (("list", "other"), 3, "is not a store"),
            (("changes", "nothing"), 3, "is not a store"), (("list",), 2, "kymo store list DIR"), (("burn", "perf"), 2, "kymo store add"),
            (("list", "perf", "other"), 2, "one operand")):
        error = kymo("store", *words, status=status).stderr
        check(said in error and error.startswith("kymo store: "), words, "says", error)
    check("begin with 'c'" in kymo("diff", "--store", "perf", "c", "c20", status=2).stderr, "several commits")
    check("has no commit 'zz'" in kymo("diff", "--store", "perf", "zz", "c20", status=3).stderr, "no commit")
    kymo("store", "add", "young", "-c", "x", "-q", "a.summary")
    check("in 20 commits or more" in kymo("store", "changes", "young", status=6).stdout, "a young store")


def main():
    with tempfile.TemporaryDirectory() as place:
        environment = private(place)

        def kymo(*words, status=0):
            return run(KYMO, *words, status=status, env=environment, cwd=place)

        fill(kymo, place)
        changes(kymo)
        compare(kymo, place)
        mistakes(kymo, place)


main()
