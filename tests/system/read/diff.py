#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""kymo bench records two sides in turn, and kymo diff compares them: what is worse is found and fails, what is not does not, in text,
JSON, CSV, JUnit and annotations. Machines that
differ are refused."""
import base64
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, TESTS, check, private, run

PAIRS, ASKED = 8, 10
SPANS = os.path.join(TESTS, "spans_for")


def bench(place, environment):
    """Spans of 0.1 ms on the base side, of 1 ms on the new one: no load makes these alike."""
    def kymo(*words, status):
        return run(KYMO, "bench", *words, status=status, env=environment, cwd=place)

    done = kymo("--base", f"{SPANS} 100000 120", "--new", f"{SPANS} 1000000 120", "-o", "runs", "-p", str(ASKED), status=5)
    check(done.stdout.startswith(f"{PAIRS} runs each, in pairs   base -> new   same machine, no events lost\n"), "head:", done.stdout)
    check("WORSE      span control:step" in done.stdout, "text:", done.stdout)
    check(f"The warm-up is over; {ASKED} pairs: about " in done.stderr, "it does not say what it will take:", done.stderr)
    check(f"The verdict is known after {PAIRS} of {ASKED} pairs." in done.stderr, "it does not stop early:", done.stderr)
    check("other programs took" in done.stderr and "next:  kymo diff --paired runs/base runs/new" in done.stderr, done.stderr)
    for side in ("base", "new"):
        names = [f"{i:03}" for i in range(1, PAIRS + 1)]
        check(sorted(os.listdir(os.path.join(place, "runs", side))) == names, side, os.listdir(os.path.join(place, "runs", side)))
    check(sorted(os.listdir(os.path.join(place, "runs/warm-up"))) == ["base", "new"], os.listdir(os.path.join(place, "runs/warm-up")))

    for words, status, said in (
            (("--base", "true"), 2, "which commands"), (("--base", "true", "--new", "true", "-p", "3"), 2, "fewer can prove nothing"),
            (("--base", "true", "--new", "true", "--quick", "--require"), 2, "leave one out"),
            (("--base", "true", "--new", "true", "-o", "runs"), 1, "choose another one with -o"),
            (("--base", "echo loud; exit 3", "--new", "echo loud; exit 3", "-o", "failed"), 1, "failed with status 3")):
        error = kymo(*words, status=status).stderr
        check(said in error and "kymo bench: " in error, words, "says", error)
    with open(os.path.join(place, "failed/logs", os.listdir(os.path.join(place, "failed/logs"))[0]), encoding="utf-8") as log:
        check("loud" in log.read(), "what the command printed is not in its log")


def left_out(place, environment):
    """A pair with losses is left out, and both of its runs are named."""
    run(KYMO, "record", "-q", "-o", "lossy", "--", SPANS, "0", "200000", status=0, env={**environment, "KYMO_RING_SIZE": "16K"}, cwd=place)
    words = ("diff", "--paired", "runs/base/001", "lossy", "--", "runs/new/001", "runs/new/002")
    text = run(KYMO, *words, status=0, env=environment, cwd=place).stdout
    check("1 of the base runs, 1 of the new ones.\n    lossy: " in text and " lost events\n" in text, "text:", text)
    check("    runs/new/002: events were lost in the other run of its pair\n" in text, "text:", text)
    rows = json.loads(run(KYMO, "diff", "--format", "json", *words[1:], status=0, env=environment, cwd=place).stdout)["left_out"]
    check([(row["side"], row["run"], row["lost_events"] > 0) for row in rows] == [("base", "lossy", True), ("new", "runs/new/002", False)], rows)


def disturbed(place, environment):
    """A program beside it takes a CPU: each pair is recorded again, as often as the rule says, and that is said."""
    if os.cpu_count() > 16:
        return						# one busy CPU of so many is hardly more than the least that can be rejected
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            done = run(KYMO, "bench", "--base", f"{SPANS} 1000 2", "--new", f"{SPANS} 1000 2", "-o", "busy", "--reject", "1", status=6,
                       env=environment, cwd=place)
        finally:
            busy.kill()
    check("Disturbed, and recorded again: 3 pairs." in done.stderr, done.stderr)
    check("judged nevertheless: 6 pairs; in the last one" in done.stderr, done.stderr)
    again = {name.split("-")[1] for name in os.listdir(os.path.join(place, "busy/disturbed"))}
    check(len(again) == 3, "one pair uses up the repeats of others:", again)
    check(len(os.listdir(os.path.join(place, "busy/disturbed"))) == 6 and len(os.listdir(os.path.join(place, "busy/base"))) == 6, "busy")


def quick(place, environment):
    """What is faster cannot become slower by the sixth pair: --quick ends, with pairs whose command was ended. Events were lost in one run:
    its pair is recorded again before anything is compared."""
    lossy = f"mkdir once 2>/dev/null || {{ mkdir twice 2>/dev/null && exec env KYMO_RING_SIZE=16K {SPANS} 0 200000; }}"
    done = run(KYMO, "bench", "--quick", "-d", "1s", "--base", f"{lossy}; exec {SPANS} 200000 5000", "--new", f"{SPANS} 20000 5000; sleep 9",
               "-o", "quick", "--reject", "100", status=0, env=environment, cwd=place)
    check("can be known after 6 pairs, not earlier." in done.stderr, done.stderr)
    check("Events were lost, so recorded again: 1 pair." in done.stderr, done.stderr)
    check("After 3 of 6 pairs, no metric can become worse any more." in done.stderr, done.stderr)
    check(done.stdout.startswith("3 runs each, in pairs   base -> new   same machine, no events lost"), done.stdout)
    check("Not worse: 0, better: 0" in done.stdout, "it claims what it did not look at:", done.stdout)


def nothing(place, environment):
    """A run that ends before its program has begun."""
    done = run(KYMO, "bench", "-d", "50ms", "--base", "sleep 9", "--new", "sleep 9", "-o", "nothing", status=6, env=environment, cwd=place)
    check("'sleep 9' recorded nothing: no traced program wrote an event within --duration; nothing/logs/" in done.stderr, done.stderr)


def blocks(place, environment):
    """One run a side, here the same one: an interval of its blocks holds no change, and nothing is suspect. A summary has no blocks."""
    run(KYMO, "record", "-q", "-d", "1200ms", "-o", "one", "--", SPANS, "400000", "100000", status=130, env=environment, cwd=place)
    run(KYMO, "report", "--format", "summary", "-o", "one.summary", "one", env=environment, cwd=place)

    def diff(*sides):
        return json.loads(run(KYMO, "diff", *sides, "--format", "json", status=0, env=environment, cwd=place).stdout)

    found = diff("one", "one")
    half = next(row for row in found["metrics"] if row["metric"] == "duration p50")
    check(found["intervals_of"] == "blocks of one run" and -1 < half["change_low"] <= 0 <= half["change_high"] < 10, "interval:", half)
    check(not any(row["suspect"] for row in found["metrics"]), "a run is suspect to itself:", found["metrics"])
    found = diff("one", "one.summary")
    check(found["intervals_of"] == "runs" and all(row["change_low"] is None for row in found["metrics"]), "summary:", found["metrics"])


def own(place, environment):
    """Six pairs of the robot with the kernel's events, the new side beside two programs that keep both CPUs busy (of a recording: the callback
    of 0.3 ms, and a chain through it): the chain is worse, the callback's own time is not, and what others took is shown."""
    with gzip.open(os.path.join(os.environ["KYMO_SOURCE"], "tests/fixtures/diff/own.json.gz"), "rt", encoding="utf-8") as file:
        sides = json.load(file)
    for side, runs in sides.items():
        os.makedirs(os.path.join(place, "own", side))
        for number, summary in enumerate(runs):
            with open(os.path.join(place, "own", side, f"{number}.summary"), "w", encoding="utf-8") as file:
                json.dump(summary, file, separators=(",", ":"))
    words = ("diff", "--paired", "own/base", "own/new")
    rows = json.loads(run(KYMO, *words, "--format", "json", status=5, env=environment, cwd=place).stdout)["metrics"]
    check({row["kind"] for row in rows if row["verdict"] == "worse"} == {"chain"}, "worse:", rows)
    half = next(row for row in rows if row["metric"] == "own p50")
    check(half["verdict"] == "not worse" and half["change_high"] < 0.1 and half["new_others"] > 10 * half["base_others"], "own:", half)
    check(not any(row["kind"] == "callback" and row["metric"].startswith("duration") for row in rows), "it judges the duration, too:", rows)
    text = run(KYMO, *words, status=5, env=environment, cwd=place).stdout
    check("most beside /perception/obstacle_detector /scan (p90: 58" in " ".join(text.split()), "text:", text)
    check(all(len(line) <= 80 for line in text.splitlines()), "wider than 80 columns:", text)


def renamed(runs, diff):
    """What the user says was renamed is compared, and so said; a name that does not exist is refused."""
    with gzip.open(os.path.join(runs, "base-001.summary"), "rt", encoding="utf-8") as file:
        text = file.read()
    with gzip.open(os.path.join(runs, "stride.summary"), "wt", encoding="utf-8") as file:
        file.write(text.replace("control:step", "control:stride"))
    found = json.loads(diff("base-001.summary", "stride.summary", "--format", "json", status=6).stdout)
    check(found["gone"] and found["appeared"] and not found["likely_renamed"], "a name alone says nothing:", found)
    words = ("base-001.summary", "stride.summary", "--rename", "control:step=control:stride")
    found = json.loads(diff(*words, "--format", "json", status=0).stdout)
    check(not found["gone"] and {row["name"] for row in found["metrics"]} == {"control:stride"}, "renamed:", found)
    check(found["renamed"] == [{"old": "control:step", "new": "control:stride"}], "renamed:", found["renamed"])
    text = diff(*words, status=0).stdout
    check("\ncontrol:step of the base runs is compared with control:stride.\n" in text, "text:", text)
    for rename, said in (("control:step", "is not OLD=NEW"), ("x=control:stride", "nothing of the base side is called x"),
                         ("control:step=x", "nothing of the new side is called x")):
        error = diff(*words[:2], "--rename", rename, status=2).stderr
        check(said in error, rename, "says", error)


def machines(runs, diff):
    """Summaries of machines that differ are refused, naming what does; what one side does not know does not count."""
    with open(os.path.join(runs, "base/001/kymo.json"), encoding="utf-8") as file:
        accounts = json.load(file)
    with gzip.open(os.path.join(runs, "base-001.summary"), "rt", encoding="utf-8") as file:
        summary = json.load(file)
    machine = summary["machine"]
    check(machine["kernel"] == accounts["host"]["kernel"] and machine["cpus"] == str(os.sysconf("SC_NPROCESSORS_ONLN")), machine)
    check(accounts["processes"][0]["rmw"] == machine["rmw"] == "rmw_of_this_test", machine)
    machine["cpu"] = "A"

    def write(name, **changes):
        changed = {key: value for key, value in {**machine, **changes}.items() if value}
        with gzip.open(os.path.join(runs, name), "wt", encoding="utf-8") as file:
            json.dump({**summary, "machine": changed, "host": name}, file, separators=(",", ":"))

    for name, changes in (("a", {}), ("b", {"cpu": "B"}), ("rmw", {"rmw": "rmw_other"}), ("less", {"rmw": "", "governor": ""}),
                          ("unknown", {"cpu": ""})):
        write(name, **changes)
    diff("a", "less", status=0)				# names of hosts count only where the machine is not known
    for other, says in (("b", "(cpu 'A' and 'B')"), ("rmw", "(rmw 'rmw_of_this_test' and 'rmw_other')"), ("unknown", "(host 'a' and 'unknown')")):
        error = diff("a", other, status=3).stderr
        check(says in error and "--anyway" in error, error)
        diff("a", other, "--anyway", status=0)


def main():
    with tempfile.TemporaryDirectory() as place:
        environment = {**private(place), "RMW_IMPLEMENTATION": "rmw_of_this_test"}
        bench(place, environment)
        left_out(place, environment)
        disturbed(place, environment)
        quick(place, environment)
        nothing(place, environment)
        own(place, environment)

        def diff(*words, status):
            return run(KYMO, "diff", *words, status=status, env=environment, cwd=os.path.join(place, "runs"))

        text = diff("base", "new", status=5).stdout
        check("WORSE      span control:step" in text and "duration p50" in text, "text:", text)
        check(text.startswith(f"{PAIRS} runs each   base -> new   same machine, no events lost\n"), "head:", text)
        check(all(len(line) <= 80 for line in text.splitlines()), "wider than 80 columns:", text)

        rows = json.loads(diff("--paired", "base", "new", "--format", "json", status=5).stdout)
        half = next(row for row in rows["metrics"] if row["metric"] == "duration p50")
        check(half["verdict"] == "worse" and half["kind"] == "span" and half["name"] == "control:step", "worse:", half)
        check(half["change_low"] <= half["change"] <= half["change_high"] and half["change_low"] > 1, "interval:", half)
        check(rows["base_runs"] == rows["new_runs"] == PAIRS and rows["paired"], "runs:", rows)
        check("values" not in rows, "values of runs without --values")
        plot = json.loads(diff("--paired", "base", "new", "--format", "json", "--values", status=5).stdout)
        values = [row["value"] for row in plot["values"] if row["metric"] == "duration p50" and row["side"] == "new"]
        check(len(values) == PAIRS and min(values) > 5e5 and plot["metrics"] == rows["metrics"], "values:", values)
        counts = {side: sum(row["count"] for row in plot["distributions"] if row["side"] == side) for side in ("base", "new")}
        check(counts == {"base": 120 * PAIRS, "new": 120 * PAIRS}, "distributions:", counts)
        table = list(csv.DictReader(io.StringIO(diff("--paired", "base", "new", "--format", "csv", status=5).stdout.split("\n# ")[0])))
        check([row["verdict"] for row in table] == [row["verdict"] for row in rows["metrics"]], "csv:", table)

        page = diff("--paired", "base", "new", "--html", "-o", "-", status=5).stdout
        data = json.loads(gzip.decompress(base64.b64decode(re.search(r"id=data>([^<]*)<", page)[1])))
        check(data["tables"] == [plot], "the page has other numbers than --format json --values")
        check("WORSE      span control:step" in page and len(data["rows"]) == len(plot["metrics"]), "page:", page[:3000])
        step = data["rows"][next(i for i, row in enumerate(plot["metrics"]) if row["metric"] == "duration p50")]
        check(abs(step["limit"] - 0.1) < 1e-9, "the limit of p50:", step)

        junit = diff("base", "new", "--format", "junit", status=5).stdout
        suite = tree.fromstring(junit)
        failed = [case.get("name") for case in suite if case.find("failure") is not None]
        check("duration p50" in failed and int(suite.get("failures")) == len(failed), "junit:", failed)
        check(junit == diff("base", "new", "--format", "junit", status=5).stdout, "the same input gives other bytes")

        text = diff("base", "new", "--junit", "diff.xml", "--annotate", "github", status=5).stdout
        with open(os.path.join(place, "runs/diff.xml"), encoding="utf-8") as file:
            check(file.read() == junit, "--junit writes other XML than --format junit")
        commands = [line for line in text.splitlines() if line.startswith("::error title=kymo diff::span control:step duration p")]
        check(len(commands) == len(failed), "annotations:", commands, failed)
        diff("base", "new", "--annotate", "gitlab", status=5)
        with open(os.path.join(place, "runs/gl-code-quality-report.json"), encoding="utf-8") as file:
            report = json.load(file)
        check(len(report) == len(failed) and all(row["location"] == {"path": "new", "lines": {"begin": 1}} for row in report), report)

        check("better" in diff("new", "base", status=0).stdout, "the other way round nothing is better")
        runs = [f"base/{i:03}" for i in range(1, PAIRS + 1)]
        text = diff(*runs, "--", *runs, status=0).stdout
        check(text.startswith(f"{PAIRS} runs each   base/001 and {PAIRS - 1} more -> base/001 and {PAIRS - 1} more"), "operands:", text)
        text = diff("base/001", "new/001", status=0).stdout
        check("One run a side does not show" in text and "suspect    span control:step" in text, "one run:", text)
        blocks(place, environment)

        for path in ("base/001", "new/001"):
            run(KYMO, "report", "--format", "summary", "-o", path.replace("/", "-") + ".summary", path, env=environment,
                cwd=os.path.join(place, "runs"))
        summaries = json.loads(diff("base-001.summary", "new-001.summary", "--format", "json", status=0).stdout)
        check(any(row["metric"] == "duration p50" and row["change"] > 5 for row in summaries["metrics"]), "summaries:", summaries)

        renamed(os.path.join(place, "runs"), diff)
        machines(os.path.join(place, "runs"), diff)
        for words, status, said in (
                (("base",), 2, "which runs are the new ones"), (("base", "new", "new"), 2, "which runs are the new ones"),
                (("base", "--"), 2, "has no runs"), (("base", "nothing"), 3, "nothing"),
                (("--paired", "base", "new/001"), 2, "cannot be pairs"),
                (("base", "new", "--values"), 2, "--format json"),
                (("base", "new", "-o", "x.html"), 2, "--html"), (("base", "new", "--html", "-o", "no/where.html"), 1, "no/where.html"),
                (("base", "new", "--html", "-o", "base-001.summary"), 1, "--force"), (("base", "new", "--force"), 2, "--html"),
                (("base", "new", "-f", "json", "--annotate", "github"), 2, "leave one out")):
            error = diff(*words, status=status).stderr
            check(said in error and error.startswith("kymo diff: "), words, "says", error)


main()
