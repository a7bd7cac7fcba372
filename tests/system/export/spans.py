#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Spans, instants and counters of include/kymo/kymo.h: what babeltrace2 reads in the trace, what the
report counts and what a real Perfetto trace processor finds in the export are the same."""
import collections
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_reader
from lib_test import KYMO, TESTS, compiled, record, report, run


# What user_events does not do: ends and begins that are missing, tracks below tracks, two threads
# that share a flow, a thread that is renamed later, and more events than a small ring holds.
MISUSE = r"""
#include <pthread.h>
#include <stdio.h>
#include <kymo/kymo.h>

static void *worker(void *track)
{
	kymo_thread_name("first name");
	KYMO_INSTANT("use", "before");
	kymo_thread_name("second name");
	KYMO_BEGIN("use", "receive", ("flow", 77));
	KYMO_END("use", "receive", ("result", -1));
	KYMO_BEGIN("use", "job", ("track", *(uint64_t *)track));
	KYMO_BEGIN("use", "never ends");
	return NULL;
}

static void loop(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		KYMO_SPAN("loop", "outside");
		for (int j = 0; j < 3; j++) {
			KYMO_SPAN("loop", "inside");
		}
		KYMO_BEGIN("loop", "open");
	}
}

int main(int argc, char **argv)
{
	uint64_t top = kymo_track("jobs", 0), track = kymo_track("robot arm", top);
	uint64_t big = UINT64_MAX, t0 = kymo_now();
	pthread_t thread;

	(void)argv;
	KYMO_END("use", "never began");
	KYMO_BEGIN("use", "outer", ("big", big), ("text", "a \"text\""), ("ratio", 0.5));
	KYMO_BEGIN("use", "inner");
	KYMO_END("use", "outer");
	KYMO_END("use", "inner");
	KYMO_BEGIN("use", "send", ("flow", 77));
	KYMO_END("use", "send");
	KYMO_BEGIN("use", "slot", ("track", track), ("at_ns", t0 + 1000000));
	KYMO_END("use", "slot", ("track", track), ("at_ns", t0 + 3000000));
	{ KYMO_SPAN("use", "scoped on a track", ("track", track)); }
	for (int i = -5; i <= 5; i++)
		KYMO_COUNTER("use", "level", i);
	if (pthread_create(&thread, NULL, worker, &track) == 0)
		pthread_join(thread, NULL);
	if (argc > 1) {
		KYMO_BEGIN("loop", "held");
		loop(20000);
		printf("filled\n");
		fflush(stdout);
		getchar();
		loop(200);
		KYMO_END("loop", "held");
	}
	return 0;
}
"""


class Recording:
    def __init__(self, scratch, name, options, command):
        self.path, self.out = os.path.join(scratch, name), os.path.join(scratch, name + ".pftrace")
        record(self.path, "-q", *options, "--", *command)
        self.said = run(KYMO, "export", self.path, "--force", "-o", self.out).stderr
        self.report = report(self.path)
        self.begins, self.events, self.lines = collections.Counter(), collections.Counter(), []
        for line in run("babeltrace2", self.path).stdout.splitlines():
            found = re.search(r"\) (?:\S+ )?([^ :]+):([^{]+): \{", line)
            if not found or found[1] == "ros2":
                continue
            self.lines.append((found[1], found[2], line))
            if found[1] != "kymo" and found[2].endswith("_begin"):
                self.begins[found[1], found[2][:-len("_begin")]] += 1
            elif found[1] != "kymo" and not found[2].endswith("_end"):
                self.events[found[1], found[2]] += 1
            elif found[2] == "begin_begin":
                self.begins[tuple(re.search(r'category = "(.*)", name = "(.*)"', line).groups())] += 1


def counted(rows):
    return collections.Counter({(category, name): count for category, name, count in rows})


def slices_are_begins(check, reader, what, recording):
    """Spans by category and name: trace, report and trace processor."""
    total, spans, = reader.query(
        recording.out,
        "select category, name, count(*) from slice where name != 'TRACE DATA LOST' group by 1, 2",
        "select category, name, count(*), sum(dur), min(dur), max(dur) from slice "
        "where extract_arg(arg_set_id, 'debug.unfinished') is null and dur >= 0 group by 1, 2")
    known = counted(total)
    check.equal(f"{what}: a slice per begin", {k: known[k] for k in recording.begins}, dict(recording.begins))
    check.equal(f"{what}: the report counts all begins",
                counted((r["category"], r["name"], r["count"] + r["unfinished"])
                        for r in recording.report["spans"]), recording.begins)
    got = {(r[0], r[1]): r[2:] for r in spans if (r[0], r[1]) in recording.begins}
    want = {(r["category"], r["name"]): [r["count"], r["total_ns"], r["min_ns"], r["max_ns"]]
            for r in recording.report["spans"] if r["count"]}
    check.equal(f"{what}: finished spans last as long as the report says", got, want)
    (nested,) = reader.query(
        recording.out,
        "select count(*) from slice c join slice p on c.parent_id = p.id "
        "where c.ts < p.ts or c.ts + c.dur > p.ts + p.dur")
    check.equal(f"{what}: slices nest", nested, [[0]])


def user_events(check, reader, scratch):
    rec = Recording(scratch, "user", [], [os.path.join(TESTS, "user_events")])
    check.ok("user_events: there are spans", sum(rec.begins.values()) == 6, rec.begins)
    slices_are_begins(check, reader, "user_events", rec)
    at = next(re.search(r"at_ns = (\d+)", line)[1] for _, name, line in rec.lines if name == "on a track")
    instants, counters, flows, track, threads, args = reader.query(
        rec.out,
        "select category, name, count(*) from slice where dur = 0 group by 1, 2",
        "select t.name, value from counter c join process_counter_track t on c.track_id = t.id order by 1",
        "select o.name, i.name, o.category from flow join slice o on slice_out = o.id "
        "join slice i on slice_in = i.id where o.ts < i.ts",
        "select t.name, s.ts, p.name from slice s join process_track t on s.track_id = t.id "
        "join process p using (upid) where s.name = 'on a track'",
        "select t.name, s.name from slice s join thread_track k on s.track_id = k.id "
        "join thread t using (utid) where s.name = 'from a thread'",
        "select s.name, key, display_value from slice s join args using (arg_set_id) "
        "where s.name in ('outer', 'inner', 'step', 'nothing') order by s.ts, key")
    declared = {k: n for k, n in rec.events.items() if k[1] not in ("depth", "load")}
    check.equal("user_events: an instant per event", {k: counted(instants)[k] for k in declared}, declared)
    check.ok("user_events: an instant named at run time",
             counted(instants)["test", "a name made at run time"] == 1, instants)
    check.ok("user_events: a switched off event is not there",
             not any("must not" in row[1] for row in instants), instants)
    check.equal("user_events: counters", counters,
                [["a counter made at run time", 2.5], ["depth", 7], ["load", 0.5]])
    check.equal("user_events: the flow is connected", flows, [["step", "step", "test"]])
    check.equal("user_events: the custom track is named, at the event's own time", track,
                [["my track", int(at), "user_events"]])
    check.equal("user_events: the thread has the name it gave itself", threads,
                [["worker", "from a thread"]])
    shown = [(n, k, v) for n, k, v in args if k in ("debug.n", "debug.i", "debug.s", "debug.flow")]
    check.equal("user_events: fields are arguments", shown,
                [("nothing", "debug.s", "(null)"), ("outer", "debug.n", "1"), ("inner", "debug.i", "0"),
                 ("step", "debug.flow", "42"), ("inner", "debug.i", "1"), ("step", "debug.flow", "42")])


def misuse(check, reader, scratch, program):
    rec = Recording(scratch, "misuse", [], [program])
    slices_are_begins(check, reader, "misuse", rec)
    check.ok("misuse: export tells what did not end", "3 spans did not end" in rec.said, rec.said)
    unfinished, track, inner, flows, counters, threads, args = reader.query(
        rec.out,
        "select name from slice where extract_arg(arg_set_id, 'debug.unfinished') order by name",
        "select s.name, t.name, p.name, iif(s.name = 'slot', dur, 0) from slice s join track t "
        "on s.track_id = t.id join track p on t.parent_id = p.id where t.name != 'level' "
        "and p.name = 'jobs' order by s.name",
        "select count(*) from slice i join slice o on i.parent_id = o.id "
        "where i.name = 'inner' and o.name = 'outer' and i.ts + i.dur = o.ts + o.dur",
        "select o.name, i.name from flow join slice o on slice_out = o.id join slice i on slice_in = i.id",
        "select group_concat(value, ' ') from (select value from counter c join process_counter_track t "
        "on c.track_id = t.id where t.name = 'level' order by ts)",
        "select distinct t.name from slice s join thread_track k on s.track_id = k.id "
        "join thread t using (utid) where s.name = 'receive'",
        "select key, display_value from slice s join args using (arg_set_id) "
        "where name in ('outer', 'receive') order by key")
    check.equal("misuse: what did not end", unfinished, [["inner"], ["job"], ["never ends"]])
    check.equal("misuse: tracks below tracks, times of their own", track,
                [["job", "robot arm", "jobs", 0], ["scoped on a track", "robot arm", "jobs", 0],
                 ["slot", "robot arm", "jobs", 2000000]])
    check.equal("misuse: the inner span ends with the outer one", inner, [[1]])
    check.equal("misuse: a flow between threads", flows, [["send", "receive"]])
    check.equal("misuse: counter values in order", counters,
                [[" ".join(f"{i}.0" for i in range(-5, 6))]])
    check.equal("misuse: the thread's last name", threads, [["second name"]])
    known = dict((k, v) for k, v in args)
    check.equal("misuse: arguments keep sign, size and text",
                [known.get("debug." + k) for k in ("big", "ratio", "result", "text")],
                ["18446744073709551615", "0.5", "-1", 'a "text"'])


# Stops the recorder, which is its parent, until the program's ring has run over; then has all of the ring read before the rest.
STOPPED = """
import json, os, signal, subprocess, sys, time
kymo, program = sys.argv[1:]
recorder = os.getppid()
os.kill(recorder, signal.SIGSTOP)
while open(f"/proc/{recorder}/stat").read().rpartition(")")[2].split()[0] != "T":
    time.sleep(0.01)
with subprocess.Popen([program, "loop"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
    line = child.stdout.readline()
    os.kill(recorder, signal.SIGCONT)
    assert line == "filled\\n", line
    end = time.monotonic() + 300
    while True:
        said = json.loads(subprocess.run([kymo, "status", "--format", "json"], stdout=subprocess.PIPE, check=True).stdout)
        its = next(p for p in said["processes"] if p["pid"] == child.pid)
        if its["recorded"] and not its["unread_bytes"]:
            break
        assert time.monotonic() < end, its
        time.sleep(0.01)
    child.communicate("go on\\n")
sys.exit(child.returncode)
"""


def lossy(check, reader, scratch, program):
    """The command stops its own recorder for a while; the ring runs over."""
    rec = Recording(scratch, "lossy", ["--ring-size", "128K"], [sys.executable, "-c", STOPPED, KYMO, program])
    check.ok("lossy: something was lost", rec.report["lost_events"] > 1000, rec.report["lost_events"])
    slices_are_begins(check, reader, "lossy", rec)
    # The reader cannot tell more than that the loss began where the span "held" had to end.
    over, held, after, marks = reader.query(
        rec.out,
        "select count(*) from slice c, slice h where c.category = 'loop' and h.name = 'held' "
        "and c.ts < h.ts + h.dur and c.ts + c.dur > h.ts + h.dur",
        "select count(*) from slice where name = 'held' and extract_arg(arg_set_id, 'debug.unfinished')",
        "select count(*) from slice c, slice h where c.name = 'outside' and h.name = 'held' "
        "and c.dur >= 0 and c.ts > h.ts + h.dur",
        "select sum(extract_arg(arg_set_id, 'debug.lost_events')) from slice "
        "where name = 'TRACE DATA LOST'")
    check.equal("lossy: no slice reaches over a loss", over, [[0]])
    check.equal("lossy: what was open then did not end", held, [[1]])
    check.equal("lossy: what came later is whole", after, [[200]])
    check.equal("lossy: the loss is marked", marks, [[rec.report["lost_events"]]])


def main(check, reader, scratch):
    program = compiled(scratch, MISUSE)
    user_events(check, reader, scratch)
    misuse(check, reader, scratch, program)
    lossy(check, reader, scratch, program)


with_reader(main)
