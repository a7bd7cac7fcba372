#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain, quick
"""docs/comparison/seeds.md: five tables of requirements, numbered without a hole; each row gives a plain answer, and what is claimed names tests that exist,
or a command. That the commands' verbs and options exist, options_docs.py checks.

usage: seeds.py                                    these checks
       seeds.py --run [--ros DIR] [ROW...]         run the tests and the commands that rows name ("make seeds"); ROW is B7, or B for all of B

The commands read a recording of the example robot. With --ros DIR (DIR has setup.bash of a ROS 2 installation) they record and read programs of
ROS 2, $SEEDS_LAUNCH (default: tests/ros2/seeds.launch.py, a talker and a listener), and the tests of ros2/ use the real launch and ros2cli."""
import argparse
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_skips import reasons
from lib_test import BUILD, SOURCE, check

PAGE = os.path.join(SOURCE, "docs", "comparison", "seeds.md")
ROWS = {"A": 47, "B": 19, "C": 25, "D": 34, "E": 75}			# so many requirements has each document
ANSWERS = "yes|differs: |no: |not yet\\b"
Row = collections.namedtuple("Row", "name requirement answer tests commands")


def rows():
    """Return: the rows of all tables. A command is (the line, the text that it must print, or "")."""
    found = []
    with open(PAGE, encoding="utf-8") as file:
        for line in file:
            if re.match(r"\| [A-Z]\d+ \|", line):
                cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
                check(len(cells) == 4, f"docs/comparison/seeds.md: {cells[0]} has {len(cells)} cells, not 4")
                name, requirement, answer, shown = (cells + [""] * 4)[:4]
                tests = re.findall(r"`((?:unit|system|ros2)/[\w]+)`", shown)
                found.append(Row(name, requirement, answer, tests, re.findall(r"`(kymo [^`]+)`(?: prints `([^`]+)`)?", shown)))
    return found


def sources_of(test):
    kind, name = test.split("/")
    return glob.glob({"unit": f"{SOURCE}/tests/unit/*/{name}.c", "system": f"{SOURCE}/tests/system/*/{name}.*",
                      "ros2": f"{SOURCE}/tests/ros2/test_{name}.py"}[kind])


def check_page():
    found = rows()
    expected = [f"{letter}{number}" for letter, count in ROWS.items() for number in range(1, count + 1)]
    names = [row.name for row in found]
    check(names == expected, "docs/comparison/seeds.md: rows are missing, twice or out of order, first:",
          next((pair for pair in zip(names + ["none"], expected + ["none"]) if pair[0] != pair[1]), ""))
    for row in found:
        claimed = re.match("yes|differs", row.answer)
        check(row.requirement and re.match(ANSWERS, row.answer), f"docs/comparison/seeds.md: {row.name} answers '{row.answer}', which begins with none of", ANSWERS)
        check(row.tests or row.commands or not claimed, f"docs/comparison/seeds.md: nothing shows {row.name}")
        check("partly" not in row.answer, f"docs/comparison/seeds.md: {row.name} says 'partly'")
        for test in row.tests:
            check(len(sources_of(test)) == 1, f"docs/comparison/seeds.md: {row.name} names {test}, which does not exist")
    print(f"{len(found)} rows:", dict(collections.Counter(re.match("[a-z ]*", row.answer)[0] for row in found)))


def run_tests(names, environment):
    """Return: of each test what became of it: OK, skipped, or FAILED; and why it was skipped, also in part. What fails has a second
    try, as in test.sh."""
    if not names:
        return {}
    with tempfile.NamedTemporaryFile(suffix=".xml") as file:
        subprocess.run(["ctest", "--test-dir", BUILD, "-R", f"^({'|'.join(names)})$", "--repeat", "until-pass:2", "--output-on-failure",
                        "--test-output-size-passed", "1000000", "--output-junit", file.name], env=environment, check=False)
        words = {"run": "OK", "notrun": "skipped", "disabled": "skipped"}
        ended = {case.get("name"): (words.get(case.get("status"), "FAILED"), [why for _, why in reasons(case)])
                 for case in xml.etree.ElementTree.parse(file.name).iter("testcase")}
    return {name: ended.get(name, ("FAILED", ["ctest has no such test"])) for name in names}


def environment_of(ros):
    """Return: the environment that DIR/setup.bash makes."""
    if not ros:
        return dict(os.environ)
    done = subprocess.run(["bash", "-c", '. "$1"/setup.bash && env -0', "bash", ros], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"seeds.py: cannot use {ros}: {ros}/setup.bash fails; --ros takes a directory as /opt/ros/jazzy")
    return dict(item.split("=", 1) for item in done.stdout.decode().split("\0") if "=" in item)


class Place:
    """A directory for the commands of rows, with a recording in it."""

    def __init__(self, work, ros):
        self.work = work
        self.environment = environment_of(ros)
        self.environment.update(KYMO_DIR=os.path.join(work, "run"), ROS_TRACE_DIR=os.path.join(work, "traces"), TERM="dumb", LC_ALL="C",
                                PATH=f"{BUILD}/bin:{self.environment['PATH']}")
        self.launch = os.environ.get("SEEDS_LAUNCH", f"ros2 launch {SOURCE}/tests/ros2/seeds.launch.py") if ros else ""
        os.mkdir(os.path.join(work, "run"), 0o700)
        os.mkdir(os.path.join(work, "traces"))
        for name, target in (("build", BUILD), ("tests", f"{SOURCE}/tests"), ("docs", f"{SOURCE}/docs"), ("examples", f"{SOURCE}/examples")):
            os.symlink(target, os.path.join(work, name))
        failed = self.run("kymo record --ring-size 1M -- build/robot/robot --seconds 3")
        if failed:
            sys.exit(f"seeds.py: no recording to read: {failed}")

    def run(self, line, text=""):
        """Return: what is wrong with a command, or ""."""
        if self.launch:
            line = re.sub(r"kymo record (.*)-- build/robot/robot --seconds (\d+)", rf"kymo record \1--duration \2s -- {self.launch}", line)
        try:
            done = subprocess.run(["bash", "-c", line], cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300, check=False)
        except subprocess.TimeoutExpired:
            return f"{line}: did not end within 120 s"
        if done.returncode or text not in done.stdout:
            return f"{line}: status {done.returncode}, " + (f"no '{text}' in: " if not done.returncode else "") + done.stdout[-500:]
        return ""


def run_rows(ros, wanted):
    chosen = [row for row in rows() if not wanted or row.name in wanted or row.name[0] in wanted]
    if not chosen:
        sys.exit(f"seeds.py: no such row: {' '.join(wanted)}")
    with tempfile.TemporaryDirectory(prefix="kymo-seeds-", dir="/dev/shm") as work:
        place = Place(work, ros)
        lines = {command: "" for row in chosen for command in row.commands}
        for command in lines:
            lines[command] = place.run(*command)
        tests = run_tests(sorted({test for row in chosen for test in row.tests}), place.environment)
    return print_rows(chosen, tests, lines)


def print_rows(chosen, tests, lines):
    """Each row with what it did, and what it did not do because something is not here. Return: the number of rows that failed."""
    words = collections.Counter()
    for row in chosen:
        ended = [tests[test][0] for test in row.tests] + ["FAILED" if lines[command] else "OK" for command in row.commands]
        word = next((word for word in ("FAILED", "OK", "skipped") if word in ended), row.answer.split(":")[0])
        words[word] += 1
        print(f"{row.name:4} {word:8} {row.requirement}")
        for test in row.tests:
            result, why = tests[test]
            for reason in why or ([""] if result != "OK" else []):
                print(f"       {result if result != 'OK' else 'skipped in part'}: {test}" + (f": {reason}" if reason else ""))
        for command in row.commands:
            if lines[command]:
                print(f"       FAILED: {lines[command]}")
    count = collections.Counter(result for result, _ in tests.values())
    in_part = sum(result == "OK" and bool(why) for result, why in tests.values())
    print(f"{len(chosen)} rows: " + ", ".join(f"{words[word]} {word}" for word in sorted(words)))
    print(f"{len(tests)} tests: {count['OK']} passed, {in_part} of them skipped in part, {count['skipped']} skipped, {count['FAILED']} failed; "
          f"{len(lines)} commands, {sum(map(bool, lines.values()))} failed")
    return words["FAILED"]


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--run", action="store_true")
    words.add_argument("--ros", metavar="DIR")
    words.add_argument("rows", nargs="*", metavar="ROW")
    given = words.parse_args()
    if given.run or given.ros:
        sys.exit(1 if run_rows(given.ros, given.rows) else 0)
    check_page()


main()
