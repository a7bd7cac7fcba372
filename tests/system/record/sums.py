#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""produced = recorded + dropped, to the event and per thread, in situations that a generator combines.

Programs count what they produce (tests/tools/sums.c). From a seed, a round draws how they and the recorders begin, and then what
happens to them: pauses, filters, sinks, forks, threads that begin and end, kills, recorders that stand still or follow one another.
Programs are in namespaces of their own, some of them; one in another time namespace is in no trace.
At the end, three things are compared: what the programs produced, what kymo reports, and what two readers count.

usage: sums.py [--rounds N] [--seed S] [--keep]     N rounds (5), from seed S on; --keep: leave the files of a round that failed"""
import argparse
import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from lib_sums import PROGRAMS, Orders, Program, Trace, Wrong, check
from lib_test import KYMO, stop, until


class Round:
    """One situation. Its files and processes vanish with it."""

    def __init__(self, seed, directory, namespaces):
        self.draw, self.directory = random.Random(seed), directory
        self.namespaces = [[]] * 3 + namespaces
        self.run = tempfile.mkdtemp(prefix="kymo-test-", dir="/dev/shm")
        ring_size = self.draw.choice(("16K", "64K", "1M"))
        self.environment = dict(os.environ, KYMO_DIR=self.run, KYMO_RING_SIZE=ring_size, TZ="UTC")
        for name in "KYMO_SESSION", "KYMO_FLIGHT", "KYMO_FILTER":
            self.environment.pop(name, None)
        self.orders = Orders(os.path.join(directory, "orders"))
        self.orders.write(3, self.draw.choice((1, 10, 40, 200)))
        self.orders.write(4, self.draw.choice((100, 1000, 3000)))
        self.options = self.draw.choice(([], ["--rotate-size", "64K"], ["--streams", "process"], ["--compress"]))
        self.copies = self.draw.random() < 0.3
        self.started, self.programs, self.log = [], [], ["rings of " + ring_size, " ".join(self.options)]
        self.main, self.copy, self.sinks, self.present = [], [], [], []
        self.dead, self.recorder, self.standing = set(), None, False
        self.killed = 0

    # ---- what happens ----

    def start(self, *command):
        process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def kymo(self, *words):
        done = subprocess.run([KYMO, *words], env=self.environment, capture_output=True, text=True, check=False, timeout=300)
        check(done.returncode == 0, "kymo %s: status %d: %s", " ".join(words), done.returncode, done.stderr)

    def alive(self):
        return [(number, slot) for number, slot in self.orders.slots() if not slot.ended and number not in self.dead]

    def settle(self):
        """All threads that were asked for exist, and all of them have seen the turn."""
        until("the programs' threads", lambda: all(one.killed or one.is_complete() or one.process.poll() for one in self.programs), 20)
        until("all threads to see the turn", lambda: all(slot.turn == self.orders.turn for _, slot in self.alive()))

    def set_turn(self, emits):
        if self.orders.turn % 2 != emits:
            self.orders.turn += 1
            self.orders.write(0, self.orders.turn)
        self.settle()

    def emit(self):
        """Each thread emits for a while."""
        self.set_turn(True)
        self.orders.step()
        before = {number: slot.noted for number, slot in self.alive()}
        least = self.draw.choice((1, 50, 400))
        until("events", lambda: all(slot.noted >= before.get(number, 0) + least for number, slot in self.alive()))

    def begin_recorder(self):
        number = len(self.main)
        paths = [os.path.join(self.directory, "%s%d" % (name, number)) for name in (["main", "copy"] if self.copies else ["main"])]
        words = [word for path in paths for word in ("-o", path)]
        paused = ["--paused"] if self.draw.random() < 0.1 else []
        self.recorder = self.start(KYMO, "record", *words, *self.options, *paused)
        self.paused, self.standing, self.present = bool(paused), False, []
        for path, traces in zip(paths, (self.main, self.copy)):
            traces.append(Trace(path))
        ready = [KYMO, "sink", "list"]
        until("the recorder", lambda: self.recorder.poll() is not None or not subprocess.run(
            ready, env=self.environment, capture_output=True, check=False).returncode)
        check(self.recorder.poll() is None, "the recorder ended: %s", self.recorder.poll())

    def end_recorder(self):
        self.go_on()
        self.recorder.send_signal(signal.SIGINT)
        said = self.recorder.communicate(timeout=300)[1]
        empty = "nothing" in said and self.recorder.returncode == 6
        check(self.recorder.returncode == 0 or empty, "the recorder ended with %d: %s", self.recorder.returncode, said)
        for trace in self.present:
            trace.until = self.orders.counts()
        self.recorder, self.present = None, []

    def kill_recorder(self):
        self.recorder.kill()
        self.recorder.wait()
        self.recorder = None
        self.killed += 1
        for trace in [self.main[-1], *self.copy[-1:], *self.present]:
            trace.killed = True
        self.present = []

    def next_recorder(self):
        self.begin_recorder()

    def pause(self):
        self.go_on()
        self.kymo("resume" if self.paused else "pause", "-q")
        self.paused = not self.paused

    def stand_still(self):
        """Meanwhile, rings run over."""
        if not self.standing:
            stop(self.recorder.pid)
        self.standing = True

    def go_on(self):
        if self.standing:
            self.recorder.send_signal(signal.SIGCONT)
        self.standing = False

    def add_sink(self):
        if len(self.present) == 3:
            return
        self.go_on()
        trace = Trace(os.path.join(self.directory, "sink%d" % len(self.sinks)))
        trace.since = [self.orders.counts()]
        self.kymo("sink", "add", "-q", trace.path, *self.draw.choice(([], ["--rotate-size", "64K"])))
        trace.since.append(self.orders.counts())
        self.sinks.append(trace)
        self.present.append(trace)

    def remove_sink(self):
        if not self.present:
            return
        self.go_on()
        trace = self.present.pop(self.draw.randrange(len(self.present)))
        trace.until = self.orders.counts()
        self.kymo("sink", "remove", "-q", trace.path)
        trace.after = self.orders.counts()

    has_filtered = False

    def filter(self):
        """By event at any time; by topic only while nothing is produced: the programs count what is left out."""
        self.go_on()
        self.has_filtered = True
        rule = self.draw.choice(("clear", "--topic", "--event", "--node"))
        if rule == "--topic":
            self.set_turn(False)
            self.kymo("filter", "set", "-q", rule, "!/topic1")
        elif rule != "clear":
            if self.left_out:
                self.set_turn(False)
            self.kymo("filter", "set", "-q", rule, "!*publish" if rule == "--event" else "!/none")
        else:
            if self.left_out:
                self.set_turn(False)
            self.kymo("filter", "clear", "-q")
        self.leave_out(rule == "--topic")

    left_out = False

    def leave_out(self, is_left_out):
        if is_left_out != self.left_out:
            self.left_out = is_left_out
            self.orders.write(2, 2 if is_left_out else 0)

    def begin_program(self):
        if len(self.programs) < PROGRAMS:
            self.programs.append(Program(self, len(self.programs)))
            self.settle()

    def running(self):
        return [program for program in self.programs if not program.killed]

    def kill_program(self):
        if len(self.running()) > 1:
            self.draw.choice(self.running()).kill()

    def fork(self):
        self.draw.choice(self.running()).fork()
        self.settle()

    def begin_thread(self):
        self.draw.choice(self.running()).begin_thread()
        self.settle()

    def end_thread(self):
        number, _ = self.draw.choice(self.alive() or [(0, None)])
        self.orders.end_thread(number)
        until("the end of a thread", lambda: self.orders.slot(number).ended)

    BESIDE = ("emit", "emit", "begin_program", "kill_program", "fork", "begin_thread", "end_thread")
    WITH_RECORDER = BESIDE + ("pause", "pause", "stand_still", "go_on", "add_sink", "remove_sink", "filter", "kill_recorder",
                              "end_recorder")
    WITHOUT = BESIDE + ("next_recorder",) * 4

    def step(self):
        self.orders.step()
        what = self.draw.choice(self.WITH_RECORDER if self.recorder else self.WITHOUT)
        if self.draw.random() < 0.3:
            self.set_turn(False)
        elif self.draw.random() < 0.7:
            self.set_turn(True)
        self.log.append(what + ("" if self.orders.turn % 2 else " (quiet)"))
        if what in ("kill_recorder", "end_recorder"):
            self.set_turn(False) if self.left_out else None
            getattr(self, what)()
            self.leave_out(False)
        else:
            before = {number for number, _ in self.orders.slots()} if self.left_out else None
            getattr(self, what)()
            if before is not None:
                self.orders.undecided |= {number for number, _ in self.orders.slots()} - before

    def happen(self):
        if self.draw.random() < 0.6:
            self.begin_program()
            self.begin_recorder()
        else:
            self.begin_recorder()
            self.begin_program()
        self.emit()
        for _ in range(self.draw.randint(6, 14)):
            self.step()
        if not self.recorder:
            self.next_recorder()
        self.go_on()
        self.emit()
        if self.draw.random() < 0.5:
            self.end_recorder()
            self.end_programs()
        else:
            self.end_programs()
            self.end_recorder()
        strangers = tuple("%d-" % slot.pid for number, slot in self.orders.slots() if self.orders.is_strange(number))
        left = [name for name in os.listdir(self.run) if name.endswith(".region") and not name.startswith(strangers)]
        check(not left, "regions are left: %s", left)

    def end_programs(self):
        self.orders.write(1, 1)
        for program in self.running():
            program.process.communicate(timeout=300)
            check(program.process.returncode == 0, "a program ended with %d", program.process.returncode)

    # ---- what it must have come to ----

    def check(self):
        slots = self.orders.slots()
        produced = self.orders.counts()
        for traces in self.main, self.copy:
            if traces:
                self.check_line([trace.read() for trace in traces if trace.is_begun()], slots, produced)
        for sink in self.sinks:
            if sink.is_begun():
                self.check_sink(sink.read(), slots)
        return sum(least for least, _ in produced.values())

    def check_line(self, traces, slots, produced):
        """Recorders one after the other: all that was produced is in one of their traces, once, or counted."""
        dropped, no_ring, filtered = collections.Counter(), collections.Counter(), collections.Counter()
        seen = collections.defaultdict(set)
        for trace in traces:
            for number, numbers in trace.numbers.items():
                check(not self.orders.is_strange(number), "slot %d is in another time namespace, and recorded", number)
                check(not seen[number].intersection(numbers), "events of slot %d are in two traces", number)
                seen[number].update(numbers)
            if not trace.killed:
                trace.check_accounts(slots)
                for sum_, of_trace in zip((dropped, no_ring, filtered), trace.not_recorded()):
                    sum_.update(of_trace)
        lost, recorded = sum(trace.lost for trace in traces), sum(map(len, seen.values()))
        least, most = (sum(counts[which] for counts in produced.values()) for which in (0, 1))
        killed = any(trace.killed for trace in traces)
        unknown = least if killed and self.has_filtered else sum(filtered.values())     # that were killed, did not say how many
        check(least - unknown <= recorded + lost <= most, "%d to %d events were produced, but %d are recorded and %d counted as dropped",
              least, most, recorded, lost)
        for number, (_, most) in produced.items():
            check(len(seen[number]) <= most, "slot %d produced at most %d events, %d are recorded", number, most, len(seen[number]))
        if killed:
            return
        keys = collections.defaultdict(list)
        for number, slot in slots:
            if number in produced:
                keys[slot.pid, slot.tid].append(number)
        for key, numbers in keys.items():
            least, most = (sum(produced[number][which] for number in numbers) for which in (0, 1))
            here = sum(len(seen[number]) for number in numbers)
            check(least - no_ring[key[0]] - filtered[key] <= here + dropped[key] <= most,
                  "thread %s produced %d to %d events: %d are recorded, %d are counted as dropped (and %d of its process without a ring)",
                  key, least, most, here, dropped[key], no_ring[key[0]])

    def check_sink(self, trace, slots):
        """A trace that was added: all from then on until it was removed."""
        missing = 0
        for numbers in trace.numbers.values():
            missing += numbers[-1] - numbers[0] + 1 - len(numbers) if numbers else 0
        if trace.killed:
            return
        trace.check_accounts(slots)
        begun, ended, none = trace.since, getattr(trace, "after", trace.until), (0, 0)
        least = sum(max(0, count[0] - begun[1].get(number, none)[1]) for number, count in trace.until.items())
        most = sum(count[1] - begun[0].get(number, none)[0] for number, count in ended.items())
        filtered = sum(trace.not_recorded()[2].values())
        check(least - filtered <= trace.recorded() + trace.lost <= most, "%s: %d to %d events were produced, %d are recorded, %d dropped",
              trace.path, least, most, trace.recorded(), trace.lost)

    def close(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stderr.close()
        shutil.rmtree(self.run, ignore_errors=True)


def namespaces():
    """Return: the ways to start a program apart that are allowed here."""
    ways = [["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"], ["unshare", "--mount"],
            ["unshare", "--time", "--monotonic", "1000", "--boottime", "1000", "--fork", "--kill-child"]]
    allowed = [way for way in ways if not subprocess.run([*way, "true"], capture_output=True, check=False).returncode]
    if not allowed:
        print("skipped in part: programs in namespaces of their own, which this user may not make")
    return allowed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=time.time_ns() // 1000000 % 1000000)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    ways, failed = namespaces(), 0
    for seed in range(options.seed, options.seed + options.rounds):
        directory = tempfile.mkdtemp(prefix="kymo-sums.")
        round_ = Round(seed, directory, ways)
        try:
            try:
                round_.happen()
            finally:
                round_.close()
            produced = round_.check()
            print("seed %d: %d produced, %d dropped, %d recorders (%d killed), %d programs, %d sinks" % (
                seed, produced, sum(trace.lost for trace in round_.main), len(round_.main), round_.killed, len(round_.programs),
                len(round_.sinks)), flush=True)
        except (Wrong, AssertionError, OSError) as wrong:
            failed += 1
            print("seed %d: %s\n   after: %s" % (seed, wrong, ", ".join(round_.log)), flush=True)
            if options.keep:
                print("   kept:", directory)
                continue
        shutil.rmtree(directory, ignore_errors=True)
    return 1 if failed else 0


if not shutil.which("babeltrace2"):
    print("skipped: no babeltrace2")
    sys.exit(77)
sys.exit(main())
