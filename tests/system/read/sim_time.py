#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: answers
"""`--clock sim`: a real trace beside pairs of system time and simulation time, with changes of rate, a pause and a jump
back. What each verb and export says is compared with a conversion written here a second time, in fractions."""
import bisect
import csv
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from fractions import Fraction

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, SHARED, answer, check, in_directory, run

REAL = os.path.join(SHARED, "data", "ros2-traces", "pair_basic_st", "ctf")
S = 10**9


def kymo(*words, status=0):
    done = run(KYMO, *words, status=status)
    return done.stdout if status == 0 else done.stderr


class Clock:
    """The pieces between pairs; `elapsed` never goes back, `stamp` is what the clock says."""

    def __init__(self, pairs):
        self.pairs, self.start, self.rate = pairs, [Fraction(pairs[0][0])], []
        for (t, s), (u, r) in zip(pairs, pairs[1:]):
            rate = Fraction(r - s, u - t) if r >= s else self.rate[-1]
            self.rate.append(rate)
            self.start.append(self.start[-1] + max(rate * (u - t), 1))
        self.rate.append(self.rate[-1])

    def piece(self, ns):
        return max(bisect.bisect_right([t for t, _ in self.pairs], ns) - 1, 0)

    def elapsed(self, ns):
        i = self.piece(ns)
        # Before the first pair the clock is never below 0.
        return max(self.start[i] + self.rate[i] * (ns - self.pairs[i][0]), self.start[0] - self.pairs[0][1])

    def stamp(self, ns):
        i = self.piece(ns)
        return self.pairs[i][1] + self.elapsed(ns) - self.start[i]


def near(left, right):
    return abs(left - right) <= 2


def recorded(trace, lines):
    """A trace of what tests/tools/sim_events says; `lines` gets what it prints first."""
    program = subprocess.Popen([KYMO, "record", "-q", "-o", trace, "--", f"{BUILD}/tests/sim_events"], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    base = int(program.stdout.readline())
    program.communicate("".join(f"{line}\n" for line in lines(base)), timeout=300)
    check(program.returncode == 0, "record gave", program.returncode)


def offset_of(trace):
    return answer("info", trace)["traces"][0]["clock_offset_ns"]


# ---- spans at exact times ----

def spans(work):
    """Durations over a pause, a change of rate and a jump, to the nanosecond."""
    pairs = [(0, 100), (10, 110), (12, 110), (15, 110), (20, 120), (30, 115), (40, 125)]
    # (begin, end) in system seconds -> seconds of the simulation: begin, duration
    wanted = {(1, 3): (101, 2), (9, 13): (109, 1), (12.5, 14.5): (110, 0), (14, 17): (110, 4), (16, 18): (112, 4),
              (19, 31): (118, 2 + 20 + 1), (39, 41): (124, 2)}

    def lines(_):
        for t, s in pairs:
            yield f"pair {t * S} {s * S}"
        for begin, end in wanted:
            yield f"begin {int(begin * S)}"
            yield f"end {int(end * S)}"

    trace = f"{work}/spans"
    recorded(trace, lines)
    rows = answer("query", "-q", trace, "--clock", "sim", "SELECT begin_ns, duration_ns FROM spans ORDER BY id")["rows"]
    seen = [(row["begin_ns"] / S, row["duration_ns"] / S) for row in rows]
    check(seen == [tuple(map(float, w)) for w in wanted.values()], "spans", seen)
    span = answer("report", trace, "--clock", "sim", "--section", "spans")
    check(span["clock"] == "7 pairs, rate 1 to 2, 1 pause, 1 jump back", "clock", span["clock"])
    whole = answer("report", trace)
    check(whole["processes"] == 0 and "callbacks" not in whole, "who recorded a clock is no ROS 2 process", whole)
    span = span["spans"][0]
    durations = [d for _, d in wanted.values()]
    check((span["count"], span["min_ns"], span["max_ns"]) == (len(wanted), 0, max(durations) * S) and
          near(span["total_ns"], sum(durations) * S), "report of spans", span)
    check(answer("report", trace, "--section", "spans")["spans"][0]["max_ns"] == 12 * S, "of the system")
    # Where the clock goes back, what is sorted is sorted by its stamps.
    ordered = answer("query", "-q", trace, "--clock", "sim",
                      "SELECT timestamp_ns AS t FROM events WHERE name = 'work:step_begin' ORDER BY timestamp_ns")["rows"]
    check([row["t"] for row in ordered] == sorted(row["t"] for row in ordered), "order", ordered)


def caret(work):
    """As CARET has pairs, with the event's own time; one is enough, and it goes on at the rate of the system."""
    trace = f"{work}/caret"
    recorded(trace, lambda base: [f"now {50 * S}"])
    events = answer("query", "-q", trace, "SELECT timestamp_ns AS t FROM sim_times")["rows"]
    stamps = answer("query", "-q", trace, "--clock", "sim", "SELECT timestamp_ns AS t, sim_ns FROM sim_times")["rows"]
    check(len(events) == 1 and stamps == [{"t": 50 * S, "sim_ns": 50 * S}], "one pair", events, stamps)


# ---- a real trace ----

def moved(work, to_ns):
    """A copy of the real trace that began at another time."""
    real = f"{work}/real"
    shutil.copytree(REAL, real)
    offset, begin = offset_of(REAL), answer("info", REAL)["begin_ns"]
    for folder, _, files in os.walk(real):
        if "metadata" not in files:
            continue
        with open(f"{folder}/metadata", "r+b") as file:
            text = file.read()
            check(text.count(str(offset).encode()) == 1, "the offset in the metadata")
            file.seek(0)
            file.write(text.replace(str(offset).encode(), str(offset + to_ns - begin).encode()))
    return real


def with_pairs(work):
    """The real trace and a recorded one whose pairs are of its time, in one directory."""
    folder = f"{work}/both"
    os.mkdir(folder)
    recorded(f"{work}/first", lambda _: ["pair 0 1"])    # to learn the offset of this host's clock
    offset = offset_of(f"{work}/first")
    real = moved(folder, offset + time.monotonic_ns() - 30 * S)
    info = answer("info", real)
    begin, end = info["begin_ns"], info["end_ns"]
    parts = [(0.1, 7), (0.3, 7.25), (0.5, 7.25), (0.6, 7.25), (0.75, 9), (0.8, 6), (0.95, 6.5)]
    pairs = [(begin + int(part * (end - begin)), int(sim * S)) for part, sim in parts]
    recorded(f"{folder}/sim", lambda base: [f"pair {(t - offset - base) % 2**64} {s}" for t, s in pairs])
    # Each recording measures the offset; what was recorded counts.
    drift = offset_of(f"{folder}/sim") - offset
    return folder, real, Clock([(t + drift, s) for t, s in pairs])


def tables(folder, clock, work):
    """Every point in time of every table; durations from their two ends."""
    files = {}
    for name in "system", "sim":
        kymo("export", "-q", folder, "--format", "sqlite", "-o", f"{work}/{name}.sqlite", "--clock", name)
        files[name] = sqlite3.connect(f"{work}/{name}.sqlite")
    columns = [(c["table"], c["column"]) for c in answer("query", "--schema")["columns"] if c["type"] == "time"]
    points = 0
    for table, column in columns:
        # When an event was recorded beside it is not the real trace's; blocked_by has the times of callback_waits; windows are
        # of the clock that was asked for.
        if table in ("events", "sim_times", "blocked_by", "windows"):
            continue
        # When a timer is due is told by no event: it is a period, of the clock that was asked for, after its run before.
        told = "WHERE callback NOT LIKE '% timer %'" if table == "callback_waits" else ""
        sql = f'SELECT id, "{column}" FROM {table} {told} ORDER BY id'
        was, now = (files[name].execute(sql).fetchall() for name in ("system", "sim"))
        check([r[0] for r in was] == [r[0] for r in now], table, "rows", len(was), len(now))
        for (_, t), (_, s) in zip(was, now):
            points += t is not None
            check((t is None) == (s is None) and (t is None or near(s, clock.stamp(t))), table, column, t, s)
    check(points > 5000, "points compared", points)
    was, now = (files[name].execute("SELECT kind, name, sum(count) FROM windows GROUP BY 1, 2").fetchall() for name in ("system", "sim"))
    check(was == now and sum(row[2] for row in was) > 500, "windows count", was, now)
    for table, start, end, duration in (("callback_instances", "start_ns", "end_ns", "duration_ns"),
                                        ("messages", "publish_ns", "callback_start_ns", "latency_ns"),
                                        ("messages", "send_ns", "take_ns", "transport_ns")):
        sql = f"SELECT {start}, {end}, {duration} FROM {table} ORDER BY id"
        was, now = (files[name].execute(sql).fetchall() for name in ("system", "sim"))
        paused = 0
        for (begin, until, real), (_, _, sim) in zip(was, now):
            if real is None:
                continue
            wanted = clock.elapsed(until) - clock.elapsed(begin)
            paused += sim == 0 and real > 0
            check(near(sim, wanted), table, duration, begin, until, sim, float(wanted))
        check(len(was) > 200 and paused > 10, table, "durations", len(was), paused)


def reports(folder, work):
    """The report's numbers are those of its instances in simulation time."""
    sim = sqlite3.connect(f"{work}/sim.sqlite")
    whole = answer("report", folder, "--clock", "sim", "--section", "callbacks", "--section", "topics")
    for row in whole["callbacks"]:
        wanted = sim.execute("SELECT count(*), min(duration_ns), max(duration_ns), sum(duration_ns) FROM callback_instances "
                             "i JOIN callbacks c ON c.id = i.callback_id JOIN processes p ON p.id = c.process_id "
                             "WHERE c.callback_object = ? AND p.pid = ?", (int(row["callback"], 16), row["pid"])).fetchone()
        check(wanted == (row["count"], row["min_ns"], row["max_ns"], row["total_ns"]), "callback", row, wanted)
    check(len(whole["callbacks"]) > 5, "callbacks", len(whole["callbacks"]))
    for row in whole["topics"]:
        worst = sim.execute("SELECT max(latency_ns) FROM messages WHERE topic_name = ?", (row["topic"],)).fetchone()[0]
        check((worst or 0) == (row["latency_max_ns"] or 0), "topic", row, worst)
    lines = kymo("report", folder, "--clock", "sim", "--section", "callback_instances", "--format", "csv").splitlines()
    rows = list(csv.DictReader(line for line in lines if line and not line.startswith("#")))
    wanted = sim.execute("SELECT start_ns, duration_ns FROM callback_instances").fetchall()
    check(sorted((int(r["start_ns"]), int(r["duration_ns"])) for r in rows) == sorted(wanted), "instances", len(rows))


def others(folder, whole, clock, work):
    """flow, list, dump and the exports that draw."""
    was, now = (answer("flow", folder, "--worst", "1000", "--clock", name)["worst"] for name in ("system", "sim"))
    starts = sorted(round(clock.stamp(row["begin_ns"])) for row in was)
    check(len(was) == len(now) > 20 and all(map(near, starts, sorted(r["begin_ns"] for r in now))), "flow", len(was), len(now))
    why = answer("why", folder, "--clock", "sim")
    check(float(why["at"].split()[0]) < 10 and why["latency_ns"] > 0, "why", why.get("at"))
    events = [json.loads(line) for line in kymo("dump", f"{folder}", "--format", "json", "--clock", "sim").splitlines()]
    real = {(e["clock_ns"], e["name"]): e["ts_ns"] for e in map(json.loads, kymo("dump", whole, "--format", "json").splitlines())}
    dumped = [e for e in events if (e["clock_ns"], e["name"]) in real]
    check(len(dumped) >= len(real) > 7000, "dumped", len(dumped), len(real))
    for event in dumped:
        check(near(event["ts_ns"], clock.stamp(real[event["clock_ns"], event["name"]])), "dump", event)
    text = kymo("dump", folder, "--clock", "sim", "-n", "3")
    check(text.startswith(f"[{events[0]['ts_ns'] // S}.{events[0]['ts_ns'] % S:09d}] (+?"), "dump as text", text)
    listed = {r["name"]: r["count"] for r in answer("list", folder, "--clock", "sim")["events"]}
    check(listed == {r["name"]: r["count"] for r in answer("list", folder)["events"]}, "list", listed)
    file = f"{work}/chrome.json"
    kymo("export", "-q", folder, "--format", "chrome", "-o", file, "--clock", "sim")
    with open(file, encoding="utf-8") as opened:
        slices = [e for e in json.load(opened)["traceEvents"] if e.get("cat") == "callback" and e["ph"] == "X"]
    sim = sqlite3.connect(f"{work}/system.sqlite")
    rows = sim.execute("SELECT start_ns, end_ns FROM callback_instances").fetchall()
    shift = clock.start[0] - clock.pairs[0][1]
    wanted = sorted(((clock.elapsed(a) - shift) / 1000, (clock.elapsed(b) - clock.elapsed(a)) / 1000) for a, b in rows)
    seen = sorted((e["ts"], e["dur"]) for e in slices)
    check(len(seen) == len(wanted) and all(abs(s[0] - w[0]) < 1 for s, w in zip(seen, wanted)),
          "chrome", len(seen), len(wanted), seen[:3], [tuple(map(float, w)) for w in wanted[:3]])
    for form in "perfetto", "dot":
        kymo("export", "-q", folder, "--format", form, "-o", f"{work}/drawn.{form}", "--clock", "sim")
        check(os.path.getsize(f"{work}/drawn.{form}") > 1000, form)


def windows(folder, real, clock, work):
    """--begin and --end: what the clock said, for the first time; +DURATION passes in the simulation."""
    sim = sqlite3.connect(f"{work}/system.sqlite")
    starts = [clock.elapsed(t) for t, in sim.execute("SELECT start_ns FROM callback_instances")]
    first = clock.elapsed(answer("info", real)["begin_ns"])
    # Both laps have 7.1 s; the first counts. Behind 9 s there is the rest up to the jump and all of the second lap.
    for begin, end in (("7.1", "7.2"), ("7.1", "7.251"), ("8", "9")):
        low, high = (clock.start[0] + Fraction(text) * S - clock.pairs[0][1] for text in (begin, end))
        wanted = sum(low <= t <= high for t in starts)
        for command, where in ((["report", folder, "--section", "callback_instances"], "callback_instances"),
                               (["query", "-q", folder, "SELECT id FROM callback_instances"], "rows")):
            seen = len(answer(*command, "--clock", "sim", "--begin", begin, "--end", end)[where])
            check(abs(seen - wanted) <= 1 and wanted > 5, where, begin, end, seen, wanted)
    wanted = sum(t >= first + S for t in starts)
    seen = len(answer("report", folder, "--section", "callback_instances", "--clock", "sim", "--begin", "+1s")["callback_instances"])
    check(abs(seen - wanted) <= 1 and wanted > 5, "+1s", seen, wanted)


def refusals(folder, work):
    for verb in "report", "flow", "why", "list", "dump":
        check("kymo agent" in kymo(verb, REAL, "--clock", "sim", status=3), verb, "without pairs")
    check("kymo agent" in kymo("query", REAL, "SELECT 1", "--clock", "sim", status=3), "query without pairs")
    for form in "sqlite", "perfetto", "svg":
        said = kymo("export", REAL, "--format", form, "-o", f"{work}/none", "--clock", "sim", status=3)
        check("kymo agent" in said and not os.path.exists(f"{work}/none"), form, "without pairs", said)
    for form in "ctf", "caret", "caret-architecture":
        check("--clock" in kymo("export", folder, "--format", form, "-o", f"{work}/none", "--clock", "sim", status=2), form)
    check("--clock" in kymo("export", folder, "--follow", "-o", f"{work}/none", "--clock", "sim", status=2), "--follow")
    check("--clock" in kymo("dump", folder, "--follow", "--clock", "sim", status=2), "dump --follow")
    check("system" in kymo("report", folder, "--clock", "moon", status=2), "--clock moon")


def main(work):
    os.environ["KYMO_DIR"] = f"{work}/run"
    spans(work)
    caret(work)
    if os.path.isdir(REAL):
        folder, real, clock = with_pairs(work)
        tables(folder, clock, work)
        reports(folder, work)
        others(folder, real, clock, work)
        windows(folder, real, clock, work)
        refusals(folder, work)


in_directory(main)
