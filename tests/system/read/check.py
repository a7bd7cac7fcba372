#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""kymo check: a first file of budgets passes on its own runs; a span that is too long, and a name that does not exist, fail in text, JSON,
JUnit and annotations; a base line of runs judges relative budgets. So do the recipes of examples/ci."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, ROBOT, SOURCE, TESTS, check, private, run

SPANS = os.path.join(TESTS, "spans_for")

BUDGETS = """spans:
  control:step:
    - duration p50 <= 0.5 ms
    - duration p50 >= 0.1 ms
    - duration p99.99 <= 10 s
  control:stop:
    - rate >= 1 Hz
loss:
  - events = 0
"""


def recipe(place, environment):
    """examples/ci: the script in a shell and as a job of GitHub and of GitLab, the jobs' files, and the test for pytest."""
    recipes = os.path.join(SOURCE, "examples", "ci")
    path = f"{os.path.dirname(KYMO)}:{os.environ['PATH']}"

    def script(budgets, status, *command, **more):
        return run(os.path.join(recipes, "check.sh"), budgets, *(command or (SPANS, "1000000", "30")), status=status, cwd=place,
                   env={**environment, "PATH": path, "PLACE": f"ci-{len(os.listdir(place))}", **more})

    with open(os.path.join(place, "kept.yaml"), "w", encoding="utf-8") as file:
        file.write("spans: {'control:*': p50 >= 0.5 ms}\n")
    check("Nothing is violated: 0 of 1 budget." in script("kept.yaml", 0).stdout, "check.sh fails though all is kept")
    said = script("mine.yaml", 5, GITHUB_ACTIONS="true", RUNS="1").stdout
    check("::error file=mine.yaml,line=3," in said, "check.sh for GitHub:", said)
    os.remove(os.path.join(place, "gl-code-quality-report.json"))
    script("mine.yaml", 5, GITLAB_CI="true", RUNS="1", PLACE="kymo-runs")
    for made in ("gl-code-quality-report.json", "kymo-runs/check.xml"):
        check(os.path.exists(os.path.join(place, made)), "check.sh for GitLab does not write", made)
        with open(os.path.join(recipes, "gitlab-ci.yml"), encoding="utf-8") as file:
            check(made in file.read(), "the job does not name", made)
    with open(os.path.join(place, "unsure.yaml"), "w", encoding="utf-8") as file:
        file.write("spans: {'control:*': p99.99 <= 10 s}\n")
    script("unsure.yaml", 6, RUNS="1", REQUIRE="1")
    # A command that is ended after a time has the status of its signal; one that fails ends the script.
    script("unsure.yaml", 0, "sh", "-c", f"{SPANS} 100000 30; exit 130", RUNS="1", DURATION="1h")
    script("unsure.yaml", 130, "sh", "-c", f"{SPANS} 100000 30; exit 130", RUNS="1")
    script("unsure.yaml", 9, "sh", "-c", f"{SPANS} 100000 30; exit 9", RUNS="1", DURATION="1h")

    if subprocess.run([sys.executable, "-c", "import pytest, yaml"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("skipped in part: no pytest or yaml")
        return
    import yaml		# pylint: disable=import-outside-toplevel
    for name in ("github.yml", "gitlab-ci.yml"):
        with open(os.path.join(recipes, name), encoding="utf-8") as file:
            check("ci/check.sh ci/budgets.yaml" in str(yaml.safe_load(file)["jobs" if name == "github.yml" else "budgets"]), name)
    tested = dict(environment, PATH=path, KYMO=KYMO, PYTHONPATH=os.path.join(SOURCE, "ros2", "kymo_py"), PYTHONDONTWRITEBYTECODE="1")
    for command, status, says in ((f"{ROBOT} --seconds 1", (0, 1), ""), (f"{SPANS} 100000 30", 1, "topic /scan: rate >= 30 Hz")):
        done = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "kymo.pytest_plugin", "--basetemp",
                   os.path.join(place, "pytest"), os.path.join(recipes, "test_budgets.py"), status=status, cwd=place,
                   env={**tested, "ROBOT": command})
        check(says in done.stdout and ("1 passed" in done.stdout or "violated budgets" in done.stdout), command, done.stdout)


def real_time(kymo, write):
    """What must be real-time needs the events of the trace, and that they were recorded."""
    write("real-time.yaml", "real-time: ['control:step']\n")
    check("not known  real-time control:step" in kymo("check", "-c", "real-time.yaml", "new/0").stdout, "real-time without --malloc")
    check("a summary has no single events" in kymo("check", "-c", "real-time.yaml", "0.summary", status=6).stdout, "of a summary")
    if not os.path.exists(os.path.join(BUILD, "lib", "libkymo-malloc.so")):
        print("skipped in part: libkymo-malloc is not built with a sanitizer")
        return
    kymo("record", "-q", "--malloc", "-o", "malloc", "--", SPANS, "100000", "30")
    check("looked at: allocations, mutexes" in kymo("check", "-c", "real-time.yaml", "malloc", "--all", "--require").stdout, "real-time")
    write("real-time.yaml", "real-time: 'control:*'\nspans: {'*': rate >= 1 Hz}\n")
    kymo("record", "-q", "--malloc", "-o", "costs", "--", "sh", "-c", f"echo | {TESTS}/nested_costs")
    said = kymo("check", "-c", "real-time.yaml", "costs", status=5).stdout
    check("no callback or span of this name ran" in said and "(real-time.yaml:1)" in said, "real-time, another name:", said)
    write("real-time.yaml", "real-time: '*'\n")
    said = kymo("check", "-c", "real-time.yaml", "costs", status=5).stdout
    check("allocation in " in said, "real-time, with allocations:", said)


def main():
    with tempfile.TemporaryDirectory() as place:
        environment = private(place)

        def kymo(*words, status=0):
            return run(KYMO, *words, status=status, env=environment, cwd=place)

        def write(name, text):
            with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                file.write(text)

        # Spans of 0.1 ms and of 1 ms: no load makes these alike.
        for i in range(4):
            kymo("record", "-q", "-o", f"base/{i}", "--", SPANS, "100000", "120")
            kymo("record", "-q", "-o", f"new/{i}", "--", SPANS, "1000000", "120")
            kymo("report", f"base/{i}", "--format", "summary", "-o", f"{i}.summary")

        check("no budgets" in kymo("check", "new/0", status=3).stderr, "without a file")
        said = kymo("check", "--init", "-o", "budgets.yaml", "base").stdout
        check("next:  kymo check -c budgets.yaml TRACE" in said, "init:", said)
        check("Nothing is violated" in kymo("check", "base").stdout, "its own runs do not keep them")
        check("Nothing is violated" in kymo("check", "0.summary", "1.summary").stdout, "nor do summaries of them")
        check("choose another file" in kymo("check", "--init", "-o", "budgets.yaml", "base", status=1).stderr, "overwritten")
        # What the first file has as limits depends on the load; a span of 1 ms is never below 0.5 ms.
        with open(os.path.join(place, "budgets.yaml"), encoding="utf-8") as file:
            text, edited = re.subn(r"duration p90 <= [\d.]+ \w+", "duration p90 <= 0.5 ms", file.read())
        check(edited == 1, "the first file has no p90 of the span:", text)
        write("budgets.yaml", text)
        said = kymo("check", "new/0", status=5).stdout
        check(" VIOLATED   span control:step\n            duration p90 <= 0.5 ms" in said, "too long:", said)

        write("mine.yaml", BUDGETS)
        said = kymo("check", "-c", "mine.yaml", "new/0", "new/1", "--junit", "check.xml", "--annotate", "github", status=5).stdout
        check(all(len(line) <= 80 for line in said.splitlines() if not line.startswith("::")), "wider than 80 columns:", said)
        check("did you mean 'control:step'?" in said and "(mine.yaml:7)" in said, "a name that is missing:", said)
        check("at least" in said and "not known  span control:step" in said, "too few instances:", said)
        commands = [line for line in said.splitlines() if line.startswith("::")]
        check(len(commands) == 2 and commands[1].startswith("::error file=mine.yaml,line=3,title=kymo check::span control:step"), commands)
        suite = tree.parse(os.path.join(place, "check.xml")).getroot()
        results = [(case.get("name"), [child.tag for child in case]) for case in suite]
        check(sorted(results) == [("duration p50 <= 0.5 ms", ["failure"]), ("duration p50 >= 0.1 ms", []),
                                  ("duration p99.99 <= 10 s", ["skipped"]), ("events = 0", []), ("rate >= 1 Hz", ["failure"])], results)
        rows = json.loads(kymo("check", "-c", "mine.yaml", "new", "--format", "json", "--annotate", "gitlab", status=5).stdout)["budgets"]
        half = next(row for row in rows if row["line"] == 3)
        check(half["verdict"] == "violated" and half["value"] > half["limit"] == 500000 and half["runs_violated"] == 4, half)
        with open(os.path.join(place, "gl-code-quality-report.json"), encoding="utf-8") as file:
            report = json.load(file)
        check([(row["location"]["path"], row["location"]["lines"]["begin"], row["severity"]) for row in report] ==
              [("mine.yaml", 7, "major"), ("mine.yaml", 3, "major")] and len({row["fingerprint"] for row in report}) == 2, report)

        real_time(kymo, write)

        # Against a base line. Four runs a side tell; one does not, and says so.
        os.mkdir(os.path.join(place, "lines"))
        for i in range(4):
            shutil.move(os.path.join(place, f"{i}.summary"), os.path.join(place, "lines"))
        write("lines/relative.yaml", "base: [0.summary, 1.summary, 2.summary, 3.summary]\nspans: {'*': duration p50 within 10 %}\n")
        said = kymo("check", "-c", "lines/relative.yaml", "new", status=5).stdout
        check("VIOLATED   span control:step" in said and "against the base line" in said, "against a base line:", said)
        check("not known: 1" in kymo("check", "-c", "lines/relative.yaml", "new/0").stdout, "one run proved something")
        kymo("check", "-c", "lines/relative.yaml", "new/0", "--require", status=6)

        recipe(place, environment)
        for words, status, says in (
                (("-c", "nothing.yaml", "new/0"), 3, "nothing.yaml"), (("-c", "mine.yaml", "nothing"), 3, "nothing"),
                (("--init", "-c", "mine.yaml", "new/0"), 2, "leave out"), (("-o", "x", "new/0"), 2, "--output is for --init"),
                (("-c", "mine.yaml", "-f", "csv", "--annotate", "github", "new/0"), 2, "leave one out")):
            error = kymo("check", *words, status=status).stderr
            check(says in error and error.startswith("kymo check: "), words, "says", error)


main()
