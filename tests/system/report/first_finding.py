#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""All faces name the same first finding, of the robot, of a program of kymo.h, of goals of an action and of real traces: the first screen of `kymo report`, its
JSON, `kymo why` without operand, `kymo top --once`, and a file of the summary."""
import collections
import glob
import json
import os
import re
import shlex
import shutil
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import COMPILER, record_actions
from lib_test import BUILD, KYMO, SHARED, SOURCE, check, fewer, in_directory, record_robot, run, sanitized


def as_json(*words):
    return json.loads(run(KYMO, *words, "--format", "json").stdout)


def shown(trace):
    """The first screen of the report, without the ends of its lines."""
    return " ".join(run(KYMO, "report", trace).stdout.split())


def counted(rows, *keys):
    counts = collections.Counter()
    for row in rows:
        counts[tuple(row[key] for key in keys[:-1])] += row[keys[-1]]
    return counts


def same_rows(trace, of_file, top):
    """`top` has the rows of the summary, which `report` shows, with the same counts."""
    rows = [{**row, "name": row["callback"] if row["callback"].startswith("(unnamed") else f"{row['callback']} {row['source'] or ''}".strip()}
            for row in top["callbacks"]]
    for name, ours, theirs in (
            ("callbacks", counted(of_file["callbacks"], "name", "process", "runs"), counted(rows, "name", "process", "count")),
            ("topics", counted(of_file["topics"], "name", "published"), counted(top["topics"], "topic", "count")),
            ("spans", counted(of_file["spans"] + of_file["loops"], "name", "process", "runs"),
             counted([{**row, "name": f"{row['category']}:{row['span']}"} for row in top["spans"]], "name", "process", "count"))):
        check(ours == theirs, trace, name, "report:", ours - theirs, "top:", theirs - ours)
    # Their names are short in top.
    chains = [sorted(row[key] for row in rows) for rows, key in ((of_file["chains"], "runs"), (top["chains"], "count"))]
    check(chains[0] == chains[1], trace, "chains:", chains)
    return sum(map(len, (of_file[kind] for kind in ("callbacks", "topics", "spans", "chains"))))


def same_nothing(trace, why, sentence, screen):
    """All say in the same words that nothing stands out, and what is slowest; `why` explains that, also when asked as `report` says."""
    text = [run(KYMO, *words, trace).stdout for words in (("why",), ("top", "--once"))]
    check(sentence.startswith("Nothing stands out.") and "ok " + sentence in screen, trace, "top:", sentence, "report:", screen)
    check(why["nothing"] == sentence and why.get("callback", "") in sentence, trace, "why:", why["nothing"], why.get("callback"), "top:", sentence)
    check(all(f"\nFinding: {sentence}\n" in "\n" + each and "What stands out" not in each for each in text), trace, sentence, "is not said:", *text)
    command = re.search(r"kymo (why .*)", run(KYMO, "report", trace).stdout).group(1)
    asked = as_json(*shlex.split(command))
    check(asked["sentence"] == why["sentence"] and "nothing" not in asked, trace, command, asked["sentence"], "why:", why["sentence"])


def same(trace, directory):
    """Return: what kind of finding it is."""
    report, top, why = as_json("report", trace), as_json("top", "--once", trace), as_json("why", trace)
    file = os.path.join(directory, "summary")
    run(KYMO, "report", trace, "--format", "summary", "--force", "-o", file)
    summary = as_json("report", file)
    same_rows(trace, summary, {**top, **{kind: as_json("top", "--once", trace, "--all")[kind] for kind in ("callbacks", "topics")}})
    of_file = summary["findings"]
    first, screen = (report["findings"] or [None])[0], shown(trace)
    check([f["finding"] for f in top["findings"]] == [f["text"] for f in report["findings"]][:len(top["findings"])] and
          bool(top["findings"]) == bool(report["findings"]), trace, "top:", top["findings"], "report:", report["findings"])
    check((of_file[0]["kind"], of_file[0]["name"], of_file[0]["worst_ns"]) == (first["kind"], first["name"], first["worst_ns"]) if first else not of_file,
          trace, "the file of the summary:", of_file, "report:", first)
    if not first or first["kind"] == "trust":
        check(not why.get("finding"), trace, "why has a finding", why.get("finding"))
        same_nothing(trace, why, top["nothing"], screen)
        return "none"
    check(not why.get("nothing") and not top.get("nothing"), trace, "there are findings, and yet:", why.get("nothing"), top.get("nothing"))
    check(" 1 " + " ".join(first["text"].split()) in screen, trace, "the first screen has not", first["text"], screen)
    if first["kind"] in ("loss", "holds", "aborted") and why.get("finding"):
        check(why["finding"] == first["text"], trace, "why:", why["finding"], "report:", first["text"])
    else:
        # What a callback holds up is its run; why counts from when it was due.
        told, took = why.get("chain", why.get("callback", why.get("action"))), why["latency_ns"]
        check(told == first["name"] and (took == first["worst_ns"] or first["kind"] == "holds" and took > first["worst_ns"]), trace,
              "why:", told, took, "report:", first)
    return first["kind"]


def single():
    """What ran once has nothing usual."""
    trace, once = os.path.join(SHARED, "data", "ros2-traces", "rotated_files", "ctf"), "timer 100 ms"
    if not os.path.isdir(trace):
        return
    why, text = as_json("why", trace, once), run(KYMO, "why", trace, once).stdout
    check((why["callback"], why["count"]) == (once, 1) and "the only instance; most of it: " in why["sentence"] and "usually" not in why["sentence"] and
          why["usual_ns"] is why["instances"][0]["cause_usual_ns"] is None and "Usually (p50)" not in text and "usual one" not in text, once, why, text)


def test(directory):
    robot, cyclic = os.path.join(directory, "robot"), os.path.join(directory, "cyclic")
    record_robot(robot, 2)
    run(KYMO, "record", "-q", "-o", cyclic, "--", os.path.join(BUILD, "cyclic", "cyclic"), "--seconds", "1")
    same(robot, directory)
    report, top = as_json("report", cyclic), as_json("top", "--once", cyclic)
    check([f["text"] for f in report["findings"]][:8] == [f["finding"] for f in top["findings"]], "cyclic:", report["findings"], top["findings"])
    file = os.path.join(directory, "summary")
    run(KYMO, "report", cyclic, "--format", "summary", "--force", "-o", file)
    same_rows(cyclic, as_json("report", file), {kind: top.get(kind, []) for kind in ("callbacks", "topics", "spans", "chains")})
    single()
    if not sanitized() and shutil.which(COMPILER):
        kind = same(record_actions(directory, 240, 203, 211), directory)
        check(kind in ("goal", "aborted"), "goals:", kind)
    # Traces with callbacks that have no name, chains that end somewhere and go on later, several processes of one name.
    for trace in glob.glob(os.path.join(SOURCE, "tests", "fixtures", "*")):
        if os.path.isdir(trace) and glob.glob(os.path.join(trace, "**", "metadata"), recursive=True):
            same(trace, directory)
    traces = sorted(glob.glob(os.path.join(SHARED, "data", "*", "ctf")) + glob.glob(os.path.join(SHARED, "data", "*", "*", "ctf")))
    kinds = {same(trace, directory) for trace in fewer(traces)}
    check(sanitized() or len(traces) < 9 or {"chain", "loss", "none"} <= kinds, "some kinds of first findings were never seen:", kinds)
    if len(traces) < 9:
        print("skipped in part: most of the real traces are not here")


in_directory(test)
