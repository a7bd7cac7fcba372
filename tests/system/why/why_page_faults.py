#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, kernel
"""`kymo why` names page faults, as many as there were, where a callback touched pages that were not there; and each thread's
faults in the kernel's events are those that the kernel counts."""
import os
import re
import resource
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_events import Events, traced, unless_hidden
from lib_kernel import skip_without, with_tracefs
from why import adds_up

from lib_test import BUILD, KYMO, Lost, answer, lossless, private, until_lossless

COSTS = os.path.join(BUILD, "tests", "costs")
ROUNDS, PAGES, TRIES = 20, 2048, 30
LEAKS = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"      # one of its callbacks is there to leak
KINDS = "minor-faults", "major-faults", "page_fault_user"
NOTHING = "import os, sys; b = bytearray(int(sys.argv[1])); print(os.getpid())"


class Outside(Exception):
    """The time of page faults is not the kernel's."""


def record(directory, name, option):
    trace = os.path.join(directory, name)
    # Where that is permitted, nothing else has its CPU meanwhile.
    alone = ["chrt", "-f", "1"] if subprocess.run(["chrt", "-f", "1", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0 else []
    with subprocess.Popen([KYMO, "record", option, "--kernel=if-possible", "-o", trace, "--", *alone, COSTS, str(ROUNDS)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=private(directory, ASAN_OPTIONS=LEAKS)) as recorder:
        assert recorder.stdout.readline() == "ready\n"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        pid = int(subprocess.run([sys.executable, "-S", "-c", NOTHING, "3000000"], stdout=subprocess.PIPE, check=True).stdout)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        _, said = recorder.communicate("go\n", 300)
    assert recorder.returncode == 0, said
    return trace, said, (pid, after.ru_minflt - before.ru_minflt, after.ru_majflt - before.ru_majflt)


def counted(directory):
    """The faults of a process of one thread are those that the kernel counted; from its first switch on."""
    trace, said, (pid, minor, major) = record(directory, "trace", "--kernel-all")
    skip_without(said)
    events = Events(trace)
    lossless(len(events.gaps), "stretches of the kernel's events")
    for kind, count in ("minor-faults", minor), ("major-faults", major):
        least = events.faults[pid, kind]
        most = least + events.more_faults[pid, kind]
        # What a child has before it is a process of its own is counted with it, and what it has in its last moments is not.
        with unless_hidden(trace, [pid]):
            assert least <= 1.06 * count + 2 and most >= 0.94 * count - 2, (kind, least, most, count, events.faults[pid, "page_fault_user"])


def explained(directory):
    """In each run that faults, `kymo why` takes the faults for the cause, or what took even longer; in one, the faults."""
    trace, said, (pid, *_) = record(directory, "trace", "--kernel")
    events = Events(trace)
    lossless(len(events.gaps), "stretches of the kernel's events")
    # Of what is not traced.
    assert not any(events.faults[pid, kind] for kind in KINDS)
    why = answer("why", trace, "/costly timer 4 s", "--all", "--worst", str(ROUNDS))
    parts = adds_up(why)
    # Some may be behind a switch that is hidden.
    faulting = {r: sum(p["faults"] for p in its) for r, its in parts.items() if sum(p["faults"] for p in its) >= 0.98 * PAGES}
    with unless_hidden(trace, traced(trace)):
        assert len(faulting) == ROUNDS // 10, [(i["sentence"], parts[i["rank"]]) for i in why["instances"][:3]]
        assert all(any(p["kind"] == "page_fault" for p in parts[rank]) for rank in faulting), faulting
    causes = [is_cause(next(p for p in parts[rank] if p["kind"] == "page_fault"),
                       next(i for i in why["instances"] if i["rank"] == rank)) for rank in faulting]
    if not any(causes):
        if all(executing_ns(parts[rank]) > 2 * PAGES * 1000 for rank in faulting):
            raise Outside(why["sentence"])
        raise Lost(f"something took longer than the faults did: {why['sentence']}")
    print(why["sentence"])


def executing_ns(parts):
    return sum(part["ns"] for part in parts if part["kind"] == "executing")


def explained_or_outside(directory):
    """In these runs, a callback touches pages and does nothing else. Where that takes several microseconds a page beside the time of
    the kernel's faults, the virtual machine has them outside of the kernel."""
    try:
        explained(directory)
    except Outside as outside:
        print(f"skipped in part: this machine spends page faults outside of its kernel: {outside}")


def is_cause(part, instance):
    """On a machine with other work something else may take longer than the faults did."""
    assert part["faults"] <= PAGES * 1.25, part       # a sanitizer touches pages, too
    if instance["cause"] == "page_fault":
        assert re.search(rf"/costly timer 4 s spent .* in {part['faults']} page faults", instance["sentence"]), instance
        return True
    assert instance["cause_ns"] - (instance["cause_usual_ns"] or 0) >= part["ns"] - (part["usual_ns"] or 0), (part, instance)
    return False


if __name__ == "__main__":
    with_tracefs(__file__)
    # The counters of perf_event_open(2) often lack a few faults.
    until_lossless(counted, TRIES)
    until_lossless(explained_or_outside, TRIES)
