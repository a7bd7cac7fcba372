#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Where report, why and flow have nothing to show, or not all of it, they name a command. Each can be typed as it stands: it names the trace,
and does something with it."""
import os
import re
import shlex
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, SHARED, TESTS, check, in_directory, record, run

NOTHING = (("why", "/nobody"), ("why", "/drone -> /nobody"), ("why", "99999999"), ("why", "--at", "+100s", "/nobody"),
           ("why", "/drone -> /drone", "--begin", "+100s"), ("why", "nobody (swarm 1)"), ("why", "/drone timer* (swarm 1)"),
           ("flow", "/drone -> /nobody"), ("flow", "/drone -> /drone", "--begin", "+100s"), ("flow", "--message", "99999999"),
           ("flow", "--at", "+100s"), ("flow", "swarm:step", "--at", "+100s"), ("flow", "/drone"),
           ("report", "--node", "/nobody"))


def commands(text):
    """The commands in quotes, without those that have a word to be replaced or that need no trace."""
    found = re.findall(r"[`\"](kymo (?:report|why|flow|info|events|dump|query)[^`\"]*)[`\"]", " ".join(text.split()))
    return [command.replace("--begin TIME", "--begin +0s") for command in found]


def typed(work, command):
    words = shlex.split(command)
    done = run(KYMO, *words[1:], cwd=work, status=None)
    check(done.returncode == 0 and "swarm trace" in words, command, done.returncode, done.stderr)


def screen_commands(work, trace):
    """The commands of the first screen, each in one line of 80 columns."""
    text = run(KYMO, "report", trace, cwd=work).stdout
    check(max(map(len, text.split("\n"))) <= 80 and not re.search(r": --|(?<!kymo report) --section", re.sub("kymo report '[^']*'( --section [a-z]+)*", "", text)),
          "a long line, or an option without its command:", text)
    return [command for line in text.split("\n") for command in re.findall(r"kymo (?:report|flow|why|events|info) .*?(?=`|\.? *$|\. |  )", line)]


def first_screen(work):
    """What the tables leave out, what was lost, and all findings."""
    for command in screen_commands(work, "swarm trace"):
        typed(work, command)
    cut = os.path.join(work, "cut")
    os.mkdir(cut)
    os.symlink(os.path.join(SHARED, "data", "ros2-traces", "pair_basic_st"), os.path.join(cut, "swarm trace"))
    found = screen_commands(cut, "swarm trace")
    check({"kymo flow 'swarm trace'", "kymo report 'swarm trace' --section callbacks"} <= set(found), "what was left out:", found)
    for command in found:
        typed(cut, command)
    lossy = os.path.join(work, "lost")
    os.mkdir(lossy)
    record(os.path.join(lossy, "swarm trace"), "-q", "--", os.path.join(TESTS, "spans_for"), "0", "200000", env=dict(os.environ, KYMO_RING_SIZE="16K"))
    found = screen_commands(lossy, "swarm trace")
    check("kymo report 'swarm trace' --section loss" in found, "events were lost:", found)
    for command in found:
        typed(lossy, command)
    for path in "/nope.yaml", "nope.yaml":
        said = run(KYMO, "check", "-c", path, "swarm trace", cwd=lossy, status=3).stderr
        check(said.endswith(f"write a first one: kymo check --init -o {path} 'swarm trace'\n"), said)
    typed(work, said.rpartition("one: ")[2])


def long_names(work):
    """A long path is in the commands all the same, each in a line of its own that nothing breaks; a path below the directory or the home is shorter."""
    place = os.path.join(work, *["a-directory-with-a-long-name"] * 4)
    os.makedirs(place)
    for name in "pair_basic_st", "discarded":
        trace = os.path.join(place, name)
        os.symlink(os.path.join(SHARED, "data", "ros2-traces", name), trace)
        for cwd, home, operand in ("/", "/", trace), (place, "/", name), ("/", place, "~/" + name):
            text = run(KYMO, "report", trace, cwd=cwd, env=dict(os.environ, HOME=home)).stdout
            found = re.findall(r"kymo (?:report|flow|why|events|info) (?:.*?(?=`)|[^`]*?(?=  |$))", text, re.M)
            check(len(found) > 2 and "TRACE" not in text and all(f" {operand}" in command for command in found), found, text)
            if operand == trace:
                check(any(command.startswith("kymo why ") for command in found) or name == "discarded", found, text)
            for command in found:
                words = command.replace("kymo", shlex.quote(KYMO), 1)
                run("/bin/sh", "-c", words, cwd=cwd, env=dict(os.environ, HOME=home))
                check(f"{command}" in text, command)
            for line in re.split(r"\n", text):
                check(len(line) <= 80 or "kymo " in line, line)


@in_directory
def main(work):
    long_names(work)
    trace = os.path.join(work, "swarm trace")
    record(trace, "-q", "--", os.path.join(TESTS, "swarm"), "3", "60")
    seen = set()
    for verb, *words in NOTHING:
        text = run(KYMO, verb, "swarm trace", *words, cwd=work, status=6).stdout
        # Of a chain that does not exist, no count stands before the reason.
        check(verb != "flow" or not any("->" in word for word in words) or text.startswith("Nothing to show: "), verb, words, text)
        found = commands(text)
        check(found or "What ran: " in text, verb, words, "names no command:", text)
        for operand in re.findall(r"'[^']* \(swarm \d+\)'", text.partition("What ran: ")[2]):
            found.append(f"kymo {verb} 'swarm trace' {operand}")
        for command in set(found) - seen:
            typed(work, command)
        seen |= set(found)
    check(len(seen) > 8, "commands:", seen)
    first_screen(work)
    os.symlink("swarm trace", os.path.join(work, "session-20260101000000"))
    # Without a trace, commands name none, as they read the newest one.
    text = run(KYMO, "why", "99999999", env=dict(os.environ, KYMO_DIR=os.path.join(work, "run"), HOME=work, ROS_TRACE_DIR=work), status=6).stdout
    check("`kymo report --section messages " in text, text)
