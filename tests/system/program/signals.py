#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Signals that land inside spans, instants and hooks while a recorder drains: every event is recorded
or counted as dropped, none twice, and what is recorded nests as it was."""
import json
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_checks
from lib_test import TESTS, accounts, record, run

EVENTS = os.environ.get("KYMO_TEST_EVENTS", "250000")


class Reading:
    """The main thread's events in order; spans as a stack."""

    def __init__(self, trace):
        self.events = self.begins = self.discarded = self.skipped = self.strays = 0
        self.handled = self.inside = self.backwards = self.last = 0
        self.stack = []
        # As text: that is faster than its Python module.
        reader = run("babeltrace2", "--clock-cycles", "--no-delta", trace)
        self.discarded = sum(int(n) for n in re.findall(r"discarded (\d+) events?", reader.stderr))
        line = re.compile(r"\[(\d+)\] (?:\S+ )?(\w+):(\w+): ")
        for text in reader.stdout.splitlines():
            self.take(*line.match(text).groups())

    def take(self, time, category, name):
        if name == "rcl_init":
            return
        self.events += 1
        self.backwards += int(time) < self.last
        self.last = int(time)
        if name.endswith("_begin"):
            self.begins += 1
            self.stack.append((category, name[:-len("_begin")]))
            if category == "handler" and name == "outer_begin":
                self.handled += 1
                self.inside += len(self.stack) > 1
        elif name.endswith("_end"):
            self.end((category, name[:-len("_end")]))

    def end(self, key):
        while self.stack and self.stack[-1] != key:
            self.skipped += 1       # its own end was dropped
            self.stack.pop()
        self.strays += not self.stack
        if self.stack:
            self.stack.pop()


def main(check, scratch):
    trace = os.path.join(scratch, "trace")
    said = json.loads(record(trace, "-q", "--ring-size", "16M", "--", os.path.join(TESTS, "signal_storm"), EVENTS).stdout)
    totals = accounts(trace)["totals"]
    read = Reading(trace)
    recorded, lost = totals["recorded"], totals["dropped"] + totals["unwritten"]
    print(f"  # {said}, recorded {recorded}, lost {lost}; {read.handled} handlers, {read.inside} of them in a span")

    check.ok("handlers landed", read.handled >= 500 and read.inside > 100, vars(read))
    # Each begin that was recorded has tried an end.
    check.equal("emitted = recorded + dropped", recorded + lost,
                said["thread"] + said["handler"] + read.begins)
    check.equal("babeltrace2 reads what is recorded", [read.events, read.discarded], [recorded, lost])
    check.equal("no end without its begin", read.strays, 0)
    check.ok("a begin lacks its end only where that was dropped", read.skipped + len(read.stack) <= lost,
             [read.skipped, read.stack, lost])
    check.equal("time does not go back", read.backwards, 0)


with_checks(main)
