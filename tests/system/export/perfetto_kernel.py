#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: answers, kernel, shared
"""The kernel's events in Perfetto: of a made-up schedule a real trace processor makes the slices of CPUs, the states of threads and
the interrupts that were made up; of a recording those that the tables have and that the events tell, row by row."""
import collections
import json
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_events import Events, merged, traced
from lib_kernel import lossless_tasks, skip_without, with_tracefs
from lib_perfetto import table, with_reader
from lib_sched import BLOCKED, ON, beside
from lib_test import SHARED, Lost, kymo, query, record, robot

DATA = os.path.join(SHARED, "data", "ros2-traces", "pair_basic_st")
OFFSET = "(select int_value from metadata where name = 'trace_attribute.epoch_offset_ns')"
SCHED = f"select s.ts + {OFFSET} ts, s.dur, s.cpu, t.tid from sched s join thread t using (utid) where t.tid != 0 and s.dur > 0"
STATES = f"""select s.ts + {OFFSET} ts, s.dur, t.tid, case when s.state = 'Running' then 'on' when s.state glob 'R*' then 'ready'
             else 'asleep' end from thread_state s join thread t using (utid) where t.tid != 0 and s.dur > 0"""
OURS = """select start_ns, duration_ns, tid, case state when 'running' then 'on' when 'blocked' then 'asleep' else 'ready' end
          from thread_states where tid != 0"""
IRQS = f"""select s.ts + {OFFSET} ts, s.dur, t.name track, s.name from slice s join track t on s.track_id = t.id
           where t.name glob '*Irq Cpu *' and s.dur >= 0"""
CPU_TIMES = "select start_ns, duration_ns, cpu_id, tid from cpu_times where tid != 0"
FEW = 50    # stretches of threads; where less of them are whole in a recording, there is another one
ATTEMPTS = 10
MOST = 30000    # events of a recording that are looked at: with others' page faults there may be many more


def differences(got, want):
    """To be empty; the first few rows are enough to see why it is not."""
    return sorted(got - want)[:5], sorted(want - got)[:5]


# ---- made up ----

def made_up(check, reader, directory):
    trace, scene = beside(DATA, os.path.join(directory, "trace"), 7, query, mean_ns=200_000)
    kymo("export", trace, "-o", trace + ".pftrace")
    sched, states, irqs = reader.query(trace + ".pftrace", SCHED, STATES, IRQS)
    last = {cpu: its[-1][1] for cpu, its in scene.slices.items()}
    want = {(begin, end - begin, cpu, tid) for cpu, its in scene.slices.items() for begin, end, tid in its if tid}
    # Who is on a CPU at the end stays there until the last event of all.
    check.equal("slices of CPUs, made up", differences({tuple(row) for row in sched if row[0] < last[row[2]]}, want), ([], []))
    kind = {ON: "on", BLOCKED: "asleep"}
    want = merged((s.begin, s.end - s.begin, tid, kind.get(s.state, "ready")) for tid, its in scene.spells.items() for s in its)
    got = merged(map(tuple, states))
    until = {tid: scene.spells[tid][-1].end for tid in want}
    got = {tid: [(begin, min(ns, until[tid] - begin), state) for begin, ns, state in got[tid] if begin < until[tid]] for tid in want}
    check.equal("states of threads, made up", [(tid, *differences(set(got[tid]), set(want[tid]))) for tid in want if got[tid] != want[tid]], [])
    want = collections.Counter((begin, end - begin, f"{'Soft' * soft}Irq Cpu {cpu}", name if soft else f"IRQ ({name})")
                               for begin, end, cpu, name, soft in scene.irqs)
    got = collections.Counter(map(tuple, irqs))
    check.equal("interrupts, made up", sorted((want - got) + (got - want))[:5], [])
    check.ok("there is enough of each", len(sched) > 500 and len(states) > 1500 and len(irqs) > 100, (len(sched), len(states), len(irqs)))
    kymo("export", trace, "--format", "chrome", "-o", trace + ".json")
    with open(trace + ".json", encoding="utf-8") as file:
        check.ok("none in Chrome's JSON", "Irq Cpu" not in json.dumps(json.load(file)))


# ---- recorded ----

def longest(directory, how):
    """Return: a recording in which no event of a task is lost; of a few such, the one in which the most is whole."""
    best = None
    for attempt in range(ATTEMPTS):
        trace = os.path.join(directory, f"trace{attempt}")
        said = record(trace, how, "--kernel=if-possible", "--", *robot(0.3)).stderr
        skip_without(said)
        events = Events(trace, MOST)
        try:
            lossless_tasks(len(events.gaps), said)
        except Lost as lost:
            print(f"# {how}: {lost}; once more")
            continue
        quality = min(len(events.slices), FEW) + min(sum(map(len, events.off.values())), FEW)
        if best is None or quality > best[0]:
            best = quality, trace, events
        if quality == 2 * FEW:
            break
    assert best, f"{how}: events were lost in each of {ATTEMPTS} recordings"
    return best[1:]


def recorded(check, reader, directory, how, whose=None):
    """@whose: trace -> the threads that are compared; all, if None."""
    trace, events = longest(directory, how)
    end = events.last + 10 ** 6     # who is on a CPU then may be there for longer
    kymo("export", trace, "--end", f"{end // 10 ** 9}.{end % 10 ** 9:09}", "-o", trace + ".pftrace")
    sched, states, irqs = reader.query(trace + ".pftrace", SCHED, STATES, IRQS, lossy=True)
    tids = whose(trace) if whose else None

    def chosen(rows, at):
        return {row for row in map(tuple, rows) if tids is None or row[at] in tids}

    truth, theirs, ours = (chosen(rows, 3) for rows in (events.slices, sched, table(trace, f"{CPU_TIMES} and start_ns < {end}")))
    check.ok(f"{how}: there are slices of CPUs", truth, (len(theirs), len(ours)))
    check.equal(f"{how}: all are in the tables", sorted(truth - ours)[:5], [])
    check.equal(f"{how}: and in Perfetto", sorted(truth - theirs)[:5], [])
    told, seen = (events.parts(chosen(rows, 2)) for rows in (table(trace, f"{OURS} and start_ns < {end}"), states))
    differ = [(key, told[key], seen[key]) for key in told if told[key] != seen[key]]
    check.equal(f"{how}: states of threads in {len(told)} times off their CPU", differ[:5], [])
    want, got = (collections.Counter(row for row in rows if sum(row[:2]) < events.last and events.is_whole(row[0], row[0] + row[1]))
                 for rows in (events.irqs.elements(), map(tuple, irqs)))
    check.ok(f"{how}: there are interrupts", want)
    check.equal(f"{how}: interrupts", sorted((want - got) + (got - want))[:5], [])
    print(f"# {how}: {len(truth)} slices, {len(told)} times off, {sum(want.values())} interrupts")


def main(check, reader, scratch):
    with_tracefs(__file__)
    places = [os.path.join(scratch, name) for name in ("made-up", "all", "chosen")]
    for place in places:
        os.mkdir(place)
    made_up(check, reader, places[0])
    recorded(check, reader, places[1], "--kernel-all")
    recorded(check, reader, places[2], "--kernel", traced)


with_reader(main)
