#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: answers
"""--model: activities, regions and states of a file, against a naive evaluation of the events; its errors; its tracks."""
import json
import os
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, SOURCE, answer, check, run

TRACE = os.path.join(SOURCE, "tests", "fixtures", "lifecycle")

MODEL = """
activities:
  chatter: {begin: {publish: /lc_chatter}, end: [{end: '*'}, {event: 'no:such'}], budget: %(budget)s}
  never: {begin: {span-begin: 'a:*'}, end: {span-end: 'a:*'}, budget: 1s}
regions:
  run: {begin: {start: '*'}, end: {end: '*'}}
states:
  phase:
    each: node
    idle: {lifecycle: inactive}
    busy: {when: {lifecycle: 'act*'}, budget: 1000s}
    other: [{lifecycle: unconfigured}, {lifecycle: finalized}, {lifecycle: '*ing*'}, {lifecycle: errorprocessing}]
"""


def alternate(begins, ends):
    """What an activity does: from a begin to the next end, begins meanwhile do not count."""
    result, open_at = [], None
    for at, is_begin in sorted([(t, 1) for t in begins] + [(t, 0) for t in ends]):
        if is_begin and open_at is None:
            open_at = at
        elif not is_begin and open_at is not None:
            result.append((open_at, at))
            open_at = None
    return result, open_at is not None


def of(rows, name):
    return [(row["start_ns"], row["end_ns"]) for row in rows if row["name"] == name and row["end_ns"]]


with tempfile.TemporaryDirectory() as place:
    file = os.path.join(place, "model.yaml")

    def write(text):
        with open(file, "w") as out:
            out.write(text)

    def rows(sql):
        return answer("query", TRACE, "--model", file, sql)["rows"]

    write(MODEL % {"budget": "1s"})
    begins = [r["publish_ns"] for r in rows("SELECT publish_ns FROM publications WHERE topic_name = '/lc_chatter'")]
    ends = [r["end_ns"] for r in rows("SELECT end_ns FROM callback_instances")]
    expected, is_open = alternate(begins, ends)
    longest = max(end - begin for begin, end in expected)
    check(len(expected) > 1, "too few in the fixture", begins)

    write(MODEL % {"budget": f"{longest - 1}ns"})
    found = rows("SELECT * FROM behaviours")
    check(of(found, "chatter") == expected, "activity", of(found, "chatter"), expected)
    runs = rows("SELECT start_ns, end_ns FROM callback_instances WHERE depth = 0")
    check(sorted(of(found, "run")) == sorted((row["start_ns"], row["end_ns"]) for row in runs) and runs, "regions")

    def kind(label):
        return "busy" if label.startswith("act") else "idle" if label == "inactive" else "other"

    # "activating" is busy, as 'act*' says, and then other, by '*ing*': the later condition of an event counts.
    states, open_states = [], {}
    for row in rows("SELECT node, timestamp_ns AS ns, goal_label AS goal FROM lifecycle_transitions ORDER BY id"):
        names = [kind(row["goal"])] + (["other"] if "ing" in row["goal"] else [])
        for name in names:
            before = open_states.get(row["node"])
            if before and before[0] == name:
                continue
            if before:
                states.append((row["node"], before[0], before[1], row["ns"]))
            open_states[row["node"]] = (name, row["ns"])
    ours = [(r["node"], r["state"], r["start_ns"], r["end_ns"]) for r in found if r["name"] == "phase" and r["end_ns"]]
    check(ours == states and len(states) > 3, "states", ours, states)

    done = run(KYMO, "report", TRACE, "--model", file, "--section", "behaviour", "--format", "json", status=5)
    report = {row["what"]: row for row in json.loads(done.stdout)["behaviour"]}
    chatter = report["chatter"]
    check(chatter["count"] == len(expected) and chatter["max_ns"] == longest, "report", chatter)
    check(chatter["over"] == sum(end - begin >= longest for begin, end in expected), "over", chatter)
    check(chatter["result"] == "FAILED" and chatter["unfinished"] == is_open, "verdict", chatter)
    check(report["never"]["result"] == "NOT_MEASURED" and report["never"]["count"] == 0, report["never"])
    check(report["run"]["result"] is None and report["phase: busy"]["budget_ns"] == 10 ** 12, report)
    write(MODEL.replace("  never: {begin: {span-begin: 'a:*'}, end: {span-end: 'a:*'}, budget: 1s}\n", "") %
          {"budget": f"{longest}ns"})
    run(KYMO, "report", TRACE, "--model", file, "--section", "behaviour")

    # The tracks, as Chrome's JSON has them.
    chrome = os.path.join(place, "trace.json")
    run(KYMO, "export", TRACE, "-q", "--format", "chrome", "-o", chrome, "--model", file)
    with open(chrome) as text:
        slices = [e for e in json.load(text)["traceEvents"] if e.get("cat") == "activity" and e["ph"] in "XB"]
    check(len(slices) == len(expected) + is_open and {e["name"] for e in slices} == {"chatter"}, "tracks", slices)

    # Names as operands of flow and why: the same answers as for what they are.
    write("""
activities:
  way: {begin: {publish: /lc_chatter, node: /lc_talker}, end: {end: '/lc_manager /lc_chatter'}}
  timer: {begin: {start: '/lc_talker timer 100 ms'}, end: {publish: /lc_chatter}}
  received: {begin: {receive: /lc_chatter, node: '/lc_*'}, end: {end: /lc_manager}}
  several: {begin: [{publish: /a}, {publish: /b}], end: {publish: /c}}
  said: {begin: {instant: 'a:b'}, end: {publish: /c}}
  late: {begin: {publish: /lc_chatter}, end: {receive: /lc_chatter}}
  inside: {begin: {publish: /lc_chatter, process: 'a*'}, end: {publish: /c}}
regions:
  run: {begin: {start: '/lc_talker timer*'}, end: {end: '/lc_talker timer*'}}
  span: {begin: {span-begin: 'a:b'}, end: {span-end: 'a:b'}}
  arrow: {begin: {span-begin: 'a->b'}, end: {span-end: 'a->b'}}
states:
  mode: {on: {publish: /a}, off: {publish: /b}}
""")
    same = {"way": "/lc_talker:/lc_chatter -> /lc_manager:/lc_chatter", "timer": "/lc_talker -> /lc_chatter",
            "received": "/lc_*:/lc_chatter -> /lc_manager"}
    for name, chain in same.items():
        for verb in ("flow", "why"):
            named, plain = answer(verb, TRACE, "--model", file, name), answer(verb, TRACE, chain)
            check(named == plain, verb, name, named, plain)
    check(answer("flow", TRACE, "--model", file, "way")["chains"][0]["arrived"] > 1, "way")
    check(answer("why", TRACE, "--model", file, "run") == answer("why", TRACE, "/lc_talker timer*"), "a callback")
    check("no span 'a:b'" in run(KYMO, "flow", TRACE, "--model", file, "span", status=6).stdout, "a span")
    check("no span 'a->b'" in run(KYMO, "flow", TRACE, "--model", file, "arrow", status=6).stdout, "a span with an arrow")
    check("kymo why explains it" in run(KYMO, "flow", TRACE, "--model", file, "run", status=2).stderr, "flow of a callback")
    for words, text in ((["several"], "no chain, callback or span"), (["said"], "no chain, callback or span"),
                        (["late"], "no chain, callback or span"), (["inside"], "no chain, callback or span"),
                        (["mode"], "group of states"), (["other"], f"--model {file}: no activity or region 'other'; it has 'way', 'timer', "),
                        (["way", "timer"], "'way' and 'timer': only one"), ([], "name an activity")):
        for verb in ("flow", "why"):
            done = run(KYMO, verb, TRACE, "--model", file, *words, status=2)
            check(text in done.stderr, verb, words, done.stderr)

    # A name that is also the path of a trace: the one that is needed.
    for name in ("way", "received"):
        os.symlink(TRACE, os.path.join(place, name))
    for verb in ("flow", "why"):
        plain, words = answer(verb, TRACE, same["way"]), [KYMO, verb, "--model", file, "--format", "json"]
        for more in ([TRACE, "way"], ["way", TRACE], ["./way", "way"]):
            check(json.loads(run(*words, *more, cwd=place).stdout) == {**plain, "trace": more[1] if more[0] == "way" else more[0]}, verb, more)
        plain = {**answer(verb, TRACE, same["timer"]), "trace": "way"}
        check(json.loads(run(*words, "way", "timer", cwd=place).stdout) == plain, verb, "the name that is no path")
        check("write ./way" in run(*words, "way", "received", cwd=place, status=2).stderr, verb, "two names that are paths")
        check("cannot open the trace typo" in run(*words, "typo", "way", cwd=place, status=3).stderr, verb, "a trace that is not there")
        check("--model: " + TRACE in run(KYMO, verb, "--model", TRACE, "way", status=3).stderr, verb, "a trace as the model")

    # What is wrong with a file, and where.
    for text, line, words in (
            ("activities: [1]", 1, "names and what they mean"),
            ("activities:\n  a: {begin: {publish: /a}}", 2, "begin or end is missing in 'a'"),
            ("activities:\n  a: {begin: {publich: /a}, end: {publish: /b}}", 2, "but not 'publich'"),
            ("activities:\n  a: {begin: {publish: /a}, end: {publish: /b}, budget: soon}", 2, "such as 20ms, and not 'soon'"),
            ("regions:\n  a: {begin: {start: x}, end: {end: x}, each: day}", 2, "and not 'day'"),
            ("states:\n  a: {on: {publish: /a}}", 2, "at least two states: 'a'"),
            ("budgets: {}", 1, "but not 'budgets'"), ("", 1, "expected activities"), ("a: [", 1, "not YAML"),
            ("activities: {}", 1, "names nothing"),
            ("activities:\n  a: {begin: [%s], end: {end: b}}" % ", ".join(["{start: a}"] * 65), 2, "up to 64")):
        write(text)
        done = run(KYMO, "report", TRACE, "--model", file, status=3)
        check(f"{file}:{line}: " in done.stderr or "not YAML" in words and f"{file}:" in done.stderr, text, done.stderr)
        check(words in done.stderr, text, done.stderr)
    run(KYMO, "report", TRACE, "--section", "behaviour", status=2)
    run(KYMO, "report", TRACE, "--model", os.path.join(place, "none"), status=3)
