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
from lib_test import KYMO, TESTS, check, in_directory, record, run

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


@in_directory
def main(work):
    trace = os.path.join(work, "swarm trace")
    record(trace, "-q", "--", os.path.join(TESTS, "swarm"), "3", "60")
    seen = set()
    for verb, *words in NOTHING:
        text = run(KYMO, verb, "swarm trace", *words, cwd=work, status=6).stdout
        found = commands(text)
        check(found or "What ran: " in text, verb, words, "names no command:", text)
        for operand in re.findall(r"'[^']* \(swarm \d+\)'", text.partition("What ran: ")[2]):
            found.append(f"kymo {verb} 'swarm trace' {operand}")
        for command in set(found) - seen:
            typed(work, command)
        seen |= set(found)
    check(len(seen) > 8, "commands:", seen)
    flow = re.search(r"chains?: (kymo flow .*?)\. ", " ".join(run(KYMO, "report", "swarm trace", cwd=work).stdout.split()) + " ")
    if flow:
        typed(work, flow[1])
    os.symlink("swarm trace", os.path.join(work, "session-20260101000000"))
    # Without a trace, commands name none, as they read the newest one.
    text = run(KYMO, "why", "99999999", env=dict(os.environ, KYMO_DIR=os.path.join(work, "run"), HOME=work, ROS_TRACE_DIR=work), status=6).stdout
    check("`kymo report --section messages " in text, text)
