# SPDX-License-Identifier: Apache-2.0
"""The kernel's events of a recording, as babeltrace2 shows them, read in the plainest way and only as far as they are whole: some virtual
machines hide switches (all those from some threads, and those from an idle CPU now and then), and what does not fit into the rings is lost."""
import bisect
import collections
import contextlib
import itertools
import json
import os
import re
import subprocess
import tempfile

from lib_sched import SOFTIRQS
from lib_test import Lost

SWITCH = re.compile(r"sched_switch: { cpu_id = (\d+) }.* prev_tid = (\d+),.* next_tid = (\d+),")
INTERRUPT = re.compile(r"irq_(handler|softirq)_(entry|exit): { cpu_id = (\d+) }, { (?:irq|vec) = (\d+)(?:, name = \"(.*)\")?")
FAULT = re.compile(r"(minor-faults|major-faults|page_fault_user): { cpu_id = (\d+) }(?:.* tid = (\d+))?")
DISCARDED = re.compile(r"discarded \d+ events? between \[(\d+)\.(\d+)\] and \[(\d+)\.(\d+)\]")


def merged(rows):
    """tid -> its rows (begin, ns, state), in order of time; of those that follow each other with one state, one row."""
    found = collections.defaultdict(list)
    for begin, ns, tid, state in sorted(rows, key=lambda row: (row[2], row[0])):
        its = found[tid]
        if its and its[-1][2] == state and sum(its[-1][:2]) == begin:
            begin, before, _ = its.pop()
            ns += before
        its.append((begin, ns, state))
    return found


def text(trace, most):
    """Return: the first lines of babeltrace2, and what it complains about."""
    with tempfile.TemporaryFile("w+") as complaints:
        with subprocess.Popen(["babeltrace2", "--clock-seconds", os.path.join(trace, "kernel")], stdout=subprocess.PIPE, stderr=complaints,
                              text=True) as reader:
            lines = list(itertools.islice(reader.stdout, most))
            cut = len(lines) == most
            if cut:
                reader.kill()
        complaints.seek(0)
        said = complaints.read()
        assert cut or reader.returncode == 0, said
    return lines, said


class Events:
    """@most: so many events are read; what comes behind them is not looked at."""

    def __init__(self, trace, most=None):
        lines, said = text(trace, most)
        self.slices = set()                         # (begin, ns, cpu, tid)
        self.off = collections.defaultdict(list)    # tid -> [(from the switch off the CPU, to the next one to a CPU)]
        self.irqs = collections.Counter()           # (begin, ns, track of Perfetto, name)
        self.at_most = collections.Counter()        # tid -> ns that it can have been on CPUs, if no event is lost
        self.hidden = collections.Counter()         # tid -> switches to or from it that must have been, and are not among the events
        self.faults = collections.Counter()         # (tid, kind): while it is certainly on that CPU
        self.more_faults = collections.Counter()    # (tid, kind): while it may be
        self.gaps = [(int(a) * 10 ** 9 + int(b), int(c) * 10 ** 9 + int(d)) for a, b, c, d in DISCARDED.findall(said)]
        if len(self.gaps) < said.count("iscarded"):
            self.gaps.append((0, 1 << 63))
        self.on, self.left, self.entered, self.first, self.last = {}, {}, {}, None, None
        self.here = collections.defaultdict(collections.Counter)    # cpu -> faults since its last switch
        for line in lines:
            at = line[1:line.index("]")].split(".")
            self.last = ns = int(at[0]) * 10 ** 9 + int(at[1])
            self.first = ns if self.first is None else self.first
            name = line[:line.index(": { ")].rsplit(" ", 1)[1]
            if name == "sched_switch":
                self.switch(ns, *map(int, SWITCH.search(line).groups()))
            elif name.startswith("irq_"):
                self.interrupt(ns, *INTERRUPT.search(line).groups())
            elif "fault" in name:
                self.fault(*FAULT.search(line).groups())

    def switch(self, ns, cpu, prev, following):
        since, tid = self.on.get(cpu, (self.first, None))
        if tid not in (None, prev):
            self.hidden.update((tid, prev))
        self.at_most[prev] += ns - (since if tid == prev else max(self.left.get(prev, since), since))
        if prev and tid == prev and self.is_whole(since, ns):
            self.slices.add((since, ns - since, cpu, prev))
        for kind, count in self.here.pop(cpu, {}).items():
            if tid == prev:
                self.faults[prev, kind] += count
            else:
                for it in {tid, prev}:
                    self.more_faults[it, kind] += count
        since = self.left.pop(following, None)
        if following and since is not None and self.is_whole(since, ns):
            self.off[following].append((since, ns))
        self.on[cpu], self.left[prev] = (ns, following), ns

    def interrupt(self, ns, kind, what, cpu, number, name):
        if what == "entry":
            self.entered[kind, cpu] = ns, f"IRQ ({name})" if name else SOFTIRQS[int(number)]
        elif (kind, cpu) in self.entered:
            begin, text = self.entered.pop((kind, cpu))
            if self.is_whole(begin, ns):
                self.irqs[begin, ns - begin, ("Irq Cpu " if kind == "handler" else "SoftIrq Cpu ") + cpu, text] += 1

    def fault(self, kind, cpu, tid):
        if tid:
            self.faults[int(tid), kind] += 1
        else:
            self.here[int(cpu)][kind] += 1

    def is_whole(self, begin, end):
        """What comes late to the recorder has the time of what came before it, and takes none."""
        return begin < end and not any(begin <= gap[1] and gap[0] <= end for gap in self.gaps)

    def parts(self, rows):
        """(tid, from, to) -> its rows there, cut, for each time that it was off its CPU. @rows: (begin, ns, tid, state)"""
        found, states = {}, merged(rows)
        for tid, times in self.off.items():
            its = states.get(tid, [])
            for begin, end in times:
                first = max(bisect.bisect_right(its, (begin + 1,)) - 1, 0)
                last = bisect.bisect_left(its, (end,))
                found[tid, begin, end] = [(max(b, begin), min(b + ns, end), state) for b, ns, state in its[first:last] if b + ns > begin]
        return found


def traced(trace):
    """Return: the threads whose own events were recorded."""
    with open(os.path.join(trace, "kymo.json"), encoding="utf-8") as file:
        return {thread["tid"] for process in json.load(file)["processes"] for thread in process["threads"]}


@contextlib.contextmanager
def unless_hidden(trace, tids=None):
    """For assertions about switches. One that fails proves nothing where the trace shows that the machine hid switches (of these
    threads): who was switched off a CPU is not who had been switched to it. Then the run is repeated, as after a loss."""
    try:
        yield
    except AssertionError as error:
        counts = Events(trace).hidden
        hidden = sum(counts.values() if tids is None else (counts[int(tid)] for tid in tids))
        if not hidden:
            raise
        raise Lost(f"the machine hid {hidden} switches, and: {error!r}") from error
