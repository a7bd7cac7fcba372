#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The kernel's events in Perfetto: a real trace processor makes the same slices of CPUs, the same states of threads and the same
interrupts of them as kymo does, row by row; also where other threads' events are left out, and Chrome's JSON has nothing of them."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib_perfetto import BUILD, KYMO, Checks, Reader, kymo, skip, table

ROBOT = os.path.join(BUILD, "robot/robot")
OFFSET = "(select int_value from metadata where name = 'trace_attribute.epoch_offset_ns')"
SCHED = f"select s.ts + {OFFSET} ts, s.dur, s.cpu, t.tid from sched s join thread t using (utid) where t.tid != 0 and s.dur > 0"
STATES = f"""select s.ts + {OFFSET} ts, s.dur, t.tid, s.state from thread_state s join thread t using (utid)
             where t.tid != 0 and s.dur > 0"""
IRQS = f"""select s.ts + {OFFSET} ts, s.dur, t.name track, s.name from slice s join track t on s.track_id = t.id
           where t.name glob '*Irq Cpu *' and s.dur >= 0"""
SOFTIRQS = "HI TIMER NET_TX NET_RX BLOCK IRQ_POLL TASKLET SCHED HRTIMER RCU".split()


def record(directory, how):
    """A trace in which nothing is lost: on a busy machine some page faults may be."""
    env = dict(os.environ, KYMO_DIR=os.path.join(directory, "run"))
    for attempt in range(5):
        trace = os.path.join(directory, f"trace{attempt}")
        done = subprocess.run([KYMO, "record", how, "-o", trace, "--", ROBOT, "--seconds", "1", "--domain",
                               str(100 + os.getpid() % 100)], capture_output=True, text=True, env=env, check=True)
        if not os.path.isdir(os.path.join(trace, "kernel")):
            break
        if "were lost" not in done.stderr:
            return trace
    skip(done.stderr)
    return None


def events(trace):
    """As babeltrace2 shows them."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", os.path.join(trace, "kernel")], capture_output=True, text=True, check=True)
    for line in text.stdout.splitlines():
        seconds, fraction = re.match(r"\[(\d+)\.(\d+)\]", line).groups()
        yield int(seconds) * 10 ** 9 + int(fraction), line


def slices(trace):
    """Of threads on CPUs, by the plainest reading; and threads of which a switch is missing (some virtual machines hide a few)."""
    on, found, odd = {}, set(), set()
    for ns, line in events(trace):
        event = re.search(r"sched_switch: { cpu_id = (\d+) }.* prev_tid = (\d+),.* next_tid = (\d+),", line)
        if not event:
            continue
        cpu, off, to = map(int, event.groups())
        since, tid = on.get(cpu, (ns, off))
        if tid != off:
            odd |= {tid, off}
        elif tid and cpu in on:
            found.add((since, ns - since, cpu, tid))
        on[cpu] = ns, to
    return found, odd


def woken_while_on(trace):
    """(thread, when it was switched off) where it was woken before that: whether it is ready then, readers see differently.
    And when each thread exited: what it waits for behind that only one of them tells."""
    on, woken, found, ended = set(), set(), set(), {}
    for ns, line in events(trace):
        event = re.search(r"sched_switch: .* prev_tid = (\d+),.* next_tid = (\d+),", line)
        if event:
            off, to = map(int, event.groups())
            if off in woken:
                found.add((off, ns))
            on.discard(off)
            woken.discard(off)
            on.add(to)
        elif "sched_waking" in line:
            tid = int(re.search(r" tid = (\d+),", line)[1])
            if tid in on:
                woken.add(tid)
        elif "sched_process_exit" in line:
            ended[int(re.search(r" tid = (\d+),", line)[1])] = ns
    return found, ended


def off_cpu(rows):
    """(thread, since when it is off) -> its states, of those that were on before and come on again."""
    found, open_parts, before = {}, [], None
    for ns, dur, tid, state in sorted(rows, key=lambda row: (row[2], row[0])):
        if before != tid:
            open_parts = None
        before = tid
        if state != "Running":
            if open_parts is not None:
                open_parts.append((ns, dur, state))
            continue
        if open_parts:
            found[tid, open_parts[0][0]] = open_parts
        open_parts = []
    return found


def interrupts(trace):
    """Pairs of entry and exit on a CPU."""
    began, found = {}, collections.Counter()
    for ns, line in events(trace):
        event = re.search(r"irq_(handler|softirq)_(entry|exit): { cpu_id = (\d+) }, { (?:irq|vec) = (\d+)(?:, name = \"(.*)\")?", line)
        if not event:
            continue
        kind, what, cpu, number, name = event.groups()
        if what == "entry":
            began[kind, cpu] = ns, f"IRQ ({name})" if name else SOFTIRQS[int(number)]
        elif (kind, cpu) in began:
            begin, text = began.pop((kind, cpu))
            found[begin, ns - begin, ("Irq Cpu " if kind == "handler" else "SoftIrq Cpu ") + cpu, text] += 1
    return found


def merged(rows):
    """Rows of one state that follow each other are one: kymo's say who had the CPU meanwhile."""
    found, last = set(), None
    for row in [*rows, None]:
        if last and row and row[2:] == last[2:] and row[0] == last[0] + last[1]:
            last = (last[0], last[1] + row[1], *last[2:])
            continue
        if last:
            found.add(last)
        last = row
    return found


def all_of_them(check, reader, directory):
    trace = record(directory, "--kernel-all")
    kymo("export", trace, "-o", trace + ".pftrace")
    sched, states, irqs = reader.query(trace + ".pftrace", SCHED, STATES, IRQS)
    ours = set(table(trace, "select start_ns, duration_ns, cpu_id, tid from cpu_times where tid != 0"))
    theirs = {tuple(row) for row in sched}
    check.ok("there are slices of CPUs", len(ours) > 500, len(ours))
    truth, odd = slices(trace)
    theirs, ours = ({row for row in rows if row[3] not in odd} for rows in (theirs, ours))
    truth = {row for row in truth if row[3] not in odd}
    check.equal("slices of CPUs", (sorted(theirs - ours), sorted(ours - theirs)), ([], []))
    check.equal("and those of the events", (sorted(theirs - truth), sorted(truth - theirs)), ([], []))
    told = merged(table(trace, "select start_ns, duration_ns, tid, case state when 'preempted' then 'R' when 'waiting' then 'R' "
                            "when 'running' then 'Running' else 'asleep' end from thread_states where tid != 0 order by tid, start_ns"))
    seen = {(ns, dur, tid, state if state == "Running" else "R" if state[0] == "R" else "asleep") for ns, dur, tid, state in states}
    crossed, ended = woken_while_on(trace)
    told, seen = ({key: parts for key, parts in off_cpu(rows).items()
                   if key[0] not in odd and key not in crossed and key[1] < ended.get(key[0], key[1] + 1)}
                  for rows in (told, seen))
    check.ok("there are states of threads", len(told) > 500, len(told))
    differ = {key: (told[key], seen.get(key)) for key in told if told[key] != seen.get(key)}
    check.equal("states of threads", differ, {})
    check.ok("of all kinds", {state for parts in told.values() for *_, state in parts} == {"R", "asleep"})
    want, got = interrupts(trace), collections.Counter(map(tuple, irqs))
    check.ok("there are interrupts", len(want) > 20, len(want))
    check.equal("interrupts", sorted((want - got) + (got - want)), [])
    kymo("export", trace, "--format", "chrome", "-o", trace + ".json")
    with open(trace + ".json", encoding="utf-8") as file:
        check.ok("none in Chrome's JSON", "Irq Cpu" not in json.dumps(json.load(file)))


def chosen(check, reader, directory):
    """With others left out: what is told of the traced threads is the same, and the reader finds nothing odd."""
    trace = record(directory, "--kernel")
    kymo("export", trace, "-o", trace + ".pftrace")
    with open(os.path.join(trace, "kymo.json"), encoding="utf-8") as file:
        tids = {thread["tid"] for process in json.load(file)["processes"] for thread in process["threads"]}
    sched, = reader.query(trace + ".pftrace", SCHED)
    ours = {row for row in table(trace, "select start_ns, duration_ns, cpu_id, tid from cpu_times") if row[3] in tids}
    theirs = {tuple(row) for row in sched if row[3] in tids}
    check.ok("there are slices of the traced threads", len(ours) > 100, len(ours))
    odd = slices(trace)[1]
    theirs, ours = ({row for row in rows if row[3] not in odd} for rows in (theirs, ours))
    check.equal("slices of the traced threads", (sorted(theirs - ours), sorted(ours - theirs)), ([], []))


def main():
    check = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        reader = Reader(scratch)
        for test in all_of_them, chosen:
            directory = os.path.join(scratch, test.__name__)
            os.mkdir(directory)
            test(check, reader, directory)
    check.end()


main()
