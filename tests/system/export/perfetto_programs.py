#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, shared
"""Every kind of event of include/kymo/kymo.h and loop.h, from two processes, as a real Perfetto trace
processor finds it in the export; and its nesting when begins and ends are switched off or overwritten."""
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_reader
from lib_test import compiled, kymo, private, record, run


PROGRAM = r"""
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <kymo/loop.h>

static uint64_t track;

static void kinds(void)
{
	const uint64_t now = kymo_now();

	{
		KYMO_SPAN("all", "scope", ("step", 1));
		KYMO_INSTANT("all", "in the scope", ("cost", 1.5));
	}
	KYMO_BEGIN("all", "by hand", ("n", (short)-2));
	KYMO_END("all", "by hand", ("result", true));
	KYMO_COUNTER("all", "whole", 3);
	KYMO_COUNTER("all", "fraction", 0.25);
	KYMO_COUNTER("all", "on a track", -7, ("track", track));
	KYMO_TRACEPOINT("vendor", "grip", ("i", -5ll), ("u", UINT64_MAX), ("f", 2.5f), ("ok", (bool)true),
			("p", (void *)0x1234), ("s", "a text"));
	KYMO_TRACEPOINT("vendor", "elsewhere", ("track", track), ("at_ns", now), ("flow", (uint64_t)5));
	KYMO_BEGIN("all", "slot", ("track", track), ("at_ns", now + 1000000));
	KYMO_END("all", "slot", ("track", track), ("at_ns", now + 3000000));
	if (kymo_begin_named("all", "named"))
		kymo_end_named();
	kymo_instant_named("all", "named instant");
	kymo_counter_named("all", "named counter", 1e6);
	kymo_counter_named("units", "load_percent", 50);
	KYMO_COUNTER("units", "current [A]", 1.5);
}

static void *thread_main(void *nothing)
{
	(void)nothing;
	kymo_thread_name("second");
	KYMO_SPAN("all", "thread takes", ("flow", (uint64_t)1));
	return NULL;
}

static void flows(void)
{
	pthread_t thread;

	{
		KYMO_SPAN("all", "thread gives", ("flow", (uint64_t)1));
	}
	if (pthread_create(&thread, NULL, thread_main, NULL) == 0)
		pthread_join(thread, NULL);
	{
		KYMO_SPAN("all", "process gives", ("flow", (uint64_t)2));
	}
	if (fork() == 0) {
		{
			KYMO_SPAN("all", "process takes", ("flow", (uint64_t)2));
			KYMO_TRACEPOINT("vendor", "child", ("track", track));
		}
		_exit(0);
	}
	(void)wait(NULL);
}

/* Off: what began before still ends, what ends later has not begun; and one never ends. */
static void switched(void)
{
	KYMO_BEGIN("switch", "outer");
	KYMO_BEGIN("switch", "ends while off");
	kymo_set_category("switch", false);
	KYMO_END("switch", "ends while off");
	KYMO_BEGIN("switch", "loses its begin");
	kymo_set_category("switch", true);
	KYMO_END("switch", "loses its begin");
	KYMO_BEGIN("switch", "whole");
	KYMO_END("switch", "whole");
	KYMO_BEGIN("switch", "never ends");
	KYMO_END("switch", "outer");
}

static void looping(void)
{
	struct kymo_loop loop;

	KYMO_LOOP_INIT(&loop, "all", "loop", 2000000, 1000000);
	for (int i = 1; i <= 5; i++) {
		kymo_loop_wait(&loop);
		KYMO_SPAN("all", "act");
		while (i == 3 && kymo_now() < loop.due_ns + 5000000)
			;
	}
	kymo_loop_end(&loop);
}

/* More than the ring holds: what is left begins in the middle of it. */
static void overwriting(void)
{
	for (int i = 0; i < 3000; i++) {
		KYMO_SPAN("flight", "outer");
		for (int j = 0; j < 3; j++) {
			KYMO_SPAN("flight", "inner");
			KYMO_INSTANT("flight", "point");
		}
	}
	KYMO_BEGIN("flight", "last");
	(void)raise(SIGKILL);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		overwriting();
	track = kymo_track("arm", kymo_track("robot", 0));
	kinds();
	flows();
	switched();
	looping();
	return 0;
}
"""

QUERIES = {
    "slices": "select category, name, count(*), sum(dur < 0) from slice where dur != 0 group by 1, 2",
    "instants": "select category, name, count(*) from slice where dur = 0 group by 1, 2",
    "counters": "select t.name, c.value from counter c join process_counter_track t on c.track_id = t.id "
                "where t.name not glob 'lo*_*' order by t.name",
    "units": "select name, unit from process_counter_track where name glob '*_percent' or name glob '*latency_ns' or name like 'current%' order by name",
    "latencies": "select count(*), sum(value > 0) from counter c join process_counter_track t "
                 "on c.track_id = t.id where t.name = 'loop_latency_ns'",
    "args": "select s.name, replace(key, 'debug.', ''), display_value from slice s join args "
            "using (arg_set_id) where key glob 'debug.*' order by s.name, key",
    "flows": "select o.name, i.name from flow join slice o on slice_out = o.id "
             "join slice i on slice_in = i.id order by 1",
    "processes": "select count(distinct upid) from slice s join thread_track k on s.track_id = k.id "
                 "join thread using (utid) where s.name in ('process gives', 'process takes')",
    "tracks": "select s.name, t.name, p.name, s.dur from slice s join track t on s.track_id = t.id "
              "join track p on t.parent_id = p.id where p.name = 'robot' order by 1",
    "threads": "select t.name from slice s join thread_track k on s.track_id = k.id "
               "join thread t using (utid) where s.name = 'thread takes'",
    "nesting": "select c.name, p.name from slice c join slice p on c.parent_id = p.id "
               "where c.category in ('switch', 'all') and c.name not glob 'loop*' and c.name != 'act' order by c.ts",
    "acts": "select count(*) from slice c join slice p on c.parent_id = p.id "
            "where c.name = 'act' and p.name = 'loop'",
    "crossing": "select count(*) from slice c join slice p on c.parent_id = p.id "
                "where c.ts < p.ts or (p.dur >= 0 and c.ts + c.dur > p.ts + p.dur)",
    "unfinished": "select name from slice where extract_arg(arg_set_id, 'debug.unfinished')",
    "alternate": "select count(*) from slice l, slice s where l.name = 'loop' and s.name = 'loop_sleep' "
                 "and s.ts < l.ts + l.dur and s.ts + s.dur > l.ts",
}


def exported(scratch, program):
    trace, out = os.path.join(scratch, "trace"), os.path.join(scratch, "out.pftrace")
    record(trace, "-q", "--", program)
    kymo("export", "-q", trace, "-o", out)
    return out


def overwritten(check, reader, scratch, program):
    trace, out = os.path.join(scratch, "flight"), os.path.join(scratch, "flight.pftrace")
    run(program, "flight", status=-9, env=private(scratch, KYMO_FLIGHT="1", KYMO_RING_SIZE="16K"))
    kymo("snapshot", "-q", "-o", trace, env=private(scratch))
    kymo("export", "-q", trace, "-o", out)
    crossing, unfinished, nested, counts = reader.query(
        out, QUERIES["crossing"], QUERIES["unfinished"],
        "select count(*) from slice c where c.name in ('inner', 'point') and not exists (select 1 from slice p "
        "where p.id = c.parent_id and p.name = iif(c.name = 'inner', 'outer', 'inner')) and c.ts > "
        "(select min(ts) from slice where name = 'outer')",
        "select sum(name = 'outer'), sum(name = 'inner'), sum(name = 'point') from slice")
    outer, inner, point = counts[0]
    check.ok("overwritten: the latest are there", 50 < outer < 3000 and point > 150, counts)
    check.ok("overwritten: as many as belong together", 0 <= inner - 3 * outer <= 3 and 0 <= point - inner <= 1, counts)
    check.equal("overwritten: no slice reaches over its parent", crossing, [[0]])
    check.equal("overwritten: behind the first span all are nested", nested, [[0]])
    check.equal("overwritten: only the last did not end", unfinished, [["last"]])


def main(check, reader, scratch):
    program = compiled(scratch, PROGRAM)
    rows = dict(zip(QUERIES, reader.query(exported(scratch, program), *QUERIES.values())))
    overwritten(check, reader, scratch, program)

    slices = {(category, name): count for category, name, count, _ in rows["slices"]}
    # A span that takes no time is as wide as an instant.
    both = dict(slices)
    for category, name, count in rows["instants"]:
        both[category, name] = both.get((category, name), 0) + count
    for name in ("scope", "by hand", "slot", "named", "thread gives", "thread takes", "process gives",
                 "process takes"):
        check.equal(f"span '{name}'", both.get(("all", name)), 1)
    check.equal("no slice stays open", [row for row in rows["slices"] if row[3]], [])
    for key in (("all", "in the scope"), ("all", "named instant"), ("vendor", "grip"),
                ("vendor", "elsewhere"), ("vendor", "child")):
        check.equal(f"instant {key[0]}:{key[1]}", both.get(key), 1)
    check.equal("counters, integer, double, named, on a track", rows["counters"],
                [["current [A]", 1.5], ["fraction", 0.25], ["named counter", 1e6], ["on a track", -7], ["whole", 3]])
    args = {}
    for name, key, value in rows["args"]:
        args.setdefault(name, {})[key] = value
    check.equal("a tracepoint's fields are arguments", args.get("grip"),
                {"f": "2.5", "i": "-5", "ok": "1", "p": "0x1234", "s": "a text", "u": "18446744073709551615"})
    check.equal("arguments of begin and end", args.get("by hand"), {"n": "-2", "result": "1"})
    check.equal("arguments of a scope, an instant",
                [args.get("scope"), args.get("in the scope")], [{"step": "1"}, {"cost": "1.5"}])
    check.equal("flows between threads and processes", rows["flows"],
                [["process gives", "process takes"], ["thread gives", "thread takes"]])
    check.equal("two processes", rows["processes"], [[2]])
    check.equal("tracks of their own, also from another process, times of their own", rows["tracks"],
                [["child", "arm", "robot", 0], ["elsewhere", "arm", "robot", 0],
                 ["slot", "arm", "robot", 2000000]])
    check.equal("thread name", rows["threads"], [["second"]])

    check.equal("what never ends did not end", rows["unfinished"], [["never ends"]])
    check.ok("what lost its begin is not there", not any("begin" in key[1] for key in both), both)
    check.equal("nesting where ends and begins are missing", rows["nesting"],
                [["in the scope", "scope"], ["ends while off", "outer"], ["whole", "outer"], ["never ends", "outer"]])
    check.equal("no slice reaches over its parent", rows["crossing"], [[0]])

    check.equal("loop: five cycles", slices.get(("all", "loop")), 5)
    check.equal("loop: an act in each", rows["acts"], [[5]])
    check.ok("loop: it sleeps in between", 1 <= slices.get(("all", "loop_sleep"), 0) <= 4, slices)
    check.equal("loop: cycles and sleeps alternate", rows["alternate"], [[0]])
    check.equal("loop: latencies", rows["latencies"][0][0], 5)
    check.equal("units of counters", rows["units"], [["current [A]", "A"], ["load_percent", "percent"], ["loop_latency_ns", "ns"]])
    check.ok("loop: an overrun and a missed deadline",
             both.get(("all", "loop_overrun"), 0) >= 1 and both.get(("all", "loop_missed"), 0) >= 1, both)
    check.ok("loop: how late", int(args.get("loop_overrun", {}).get("late_ns", 0)) > 0 and
             int(args.get("loop_overrun", {}).get("skipped", 0)) >= 0, args.get("loop_overrun"))


with_reader(main)
