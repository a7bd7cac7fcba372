#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Recording for as long as one asks, which checks itself exactly and says each minute what it needs.

One program emits numbered events all the time, others come and go. The recorder is ended or killed at random moments and the next
one begins at once. What each trace holds is read: every thread's numbers go on where the trace before left off, none
twice, and as many are missing as are counted as lost. Memory is that of the recorder (its own), of the steady program, and
of all shared memory; the drift is how far CLOCK_REALTIME moved against CLOCK_MONOTONIC.

usage: soak.py [SECONDS [BUILD]]     KYMO_SOAK_SEED=N draws the same moments again"""
import collections
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 60
BUILD = os.path.realpath(sys.argv[2] if len(sys.argv) > 2 else os.environ.get('KYMO_BUILD', 'build'))
KYMO, NUMBERS = os.path.join(BUILD, 'bin/kymo'), os.path.join(BUILD, 'tests/numbers')
THREADS, RATE = 3, 3000         # of the steady program, of each thread; those that come and go have two
SEED = int(os.environ.get('KYMO_SOAK_SEED', time.time_ns() % 1000000))
EVENT = re.compile(r'ros2:rcl_publish: .*vpid = (\d+)\b.*publisher_handle = 0x([0-9A-F]+), message = 0x([0-9A-F]+)')
DISCARDED = re.compile(r'Tracer discarded (\d+) event')


class Wrong(Exception):
    pass


class Soak:
    def __init__(self):
        self.scratch = tempfile.mkdtemp(prefix='kymo-soak-')
        self.run = tempfile.mkdtemp(prefix='kymo-soak-', dir='/dev/shm')
        self.environment = dict(os.environ, KYMO_DIR=self.run)
        self.random = random.Random(SEED)
        self.between = 0                # events between a recorder that ended and the next one
        self.traces, self.killed, self.events, self.lost, self.missing = 0, 0, 0, 0, 0
        self.last = collections.defaultdict(int)        # number by (pid, thread)
        self.pids = set()               # that programs had
        self.again = collections.Counter()      # (pid, thread): programs that got the pid of an earlier one
        self.peak = {}
        self.threads = 0                # of programs whose pid another one got
        self.steady, self.others = None, []
        self.recorder = None
        self.offset = self.wall_offset()

    @staticmethod
    def wall_offset():
        return time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def start(self, *command):
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def program(self, name, threads, seconds):
        program = self.start(KYMO, 'run', '--', NUMBERS, '--threads', str(threads), '--rate', str(RATE), '--seconds',
                             str(seconds), os.path.join(self.scratch, name))
        if program.pid in self.pids:    # on a busy machine they come round within minutes
            self.again.update((program.pid, thread) for thread in range(threads))
        self.pids.add(program.pid)
        return program

    def begin_trace(self):
        self.trace = os.path.join(self.scratch, f'trace-{self.traces}')
        self.traces += 1
        self.recorder = self.start(KYMO, 'record', '-q', '-o', self.trace)

    def end_trace(self, kill):
        self.recorder.send_signal(signal.SIGKILL if kill else signal.SIGINT)
        _, said = self.recorder.communicate()
        if not kill and self.recorder.returncode:
            raise Wrong(f'the recorder ended with {self.recorder.returncode}: {said}')
        self.killed += kill
        return self.trace

    def read(self, trace, goes_on):
        """babeltrace2 gives the events; the trace is removed. @goes_on: the recorder before was killed."""
        met = set()
        if not os.path.exists(os.path.join(trace, 'ust/metadata')):
            return              # killed before it had begun
        errors = open(os.path.join(self.scratch, 'errors'), 'w+')
        reader = subprocess.Popen(['babeltrace2', trace], stdout=subprocess.PIPE, stderr=errors, text=True)
        for line in reader.stdout:
            event = EVENT.search(line)
            if not event:
                continue
            key, number = (int(event[1]), int(event[2], 16)), int(event[3], 16)
            if number <= self.last[key] and self.again[key]:
                self.again[key] -= 1
                self.last[key] = 0
                self.threads += 1
            if number <= self.last[key]:
                raise Wrong(f'{trace}: {key}: {number} comes behind {self.last[key]}')
            # A program that begins between a killed recorder and the next one is in WAIT: nobody counts its first events.
            if key in met or (goes_on and self.last[key]):
                self.missing += number - self.last[key] - 1
            else:
                self.between += number - self.last[key] - 1
            met.add(key)
            self.last[key] = number
            self.events += 1
        status = reader.wait()
        errors.seek(0)
        for line in errors:
            discarded = DISCARDED.search(line)
            if not discarded and line.strip():
                raise Wrong(f'babeltrace2 about {trace}: {line}')
            self.lost += int(discarded[1]) if discarded else 0
        if status:
            raise Wrong(f'babeltrace2 ended with {status}, reading {trace}')
        shutil.rmtree(trace)

    def memory(self):
        def kib(pid, what):
            try:
                with open(f'/proc/{pid}/status') as file:
                    return int(re.search(what + r':\s+(\d+)', file.read())[1])
            except (OSError, TypeError):
                return 0
        shared = sum(os.stat(os.path.join(self.run, name)).st_blocks // 2 for name in os.listdir(self.run))
        now = {'recorder': kib(self.recorder.pid, 'RssAnon'), 'program': kib(self.steady.pid, 'RssAnon'), 'shared': shared}
        for what, size in now.items():
            self.peak[what] = max(size, self.peak.get(what, 0))
        return now

    def line(self, begin):
        now = self.memory()
        print(f'{time.monotonic() - begin:8.0f} s  {self.traces:4} traces, {self.killed:4} by a killed recorder  '
              f'{self.events:10} events, {self.lost} lost, {self.between} between  KiB: recorder {now["recorder"]}, program {now["program"]}, '
              f'shared {now["shared"]}  drift {(self.wall_offset() - self.offset) / 1e6:+.3f} ms', flush=True)

    def go(self):
        begin = told = time.monotonic()
        self.begin_trace()
        self.steady = self.program('steady', THREADS, int(SECONDS) + 3600)
        change, goes_on = begin + 5, False
        while time.monotonic() < begin + SECONDS:
            time.sleep(0.5)
            self.others = [one for one in self.others if one.poll() is None]
            if len(self.others) < 3 and self.random.random() < 0.5:
                self.others.append(self.program('other', 2, self.random.choice((1, 2, 5))))
            if time.monotonic() >= change:
                kill = self.random.random() < 0.5
                trace = self.end_trace(kill)
                self.begin_trace()
                self.read(trace, goes_on)
                goes_on = kill
                change = time.monotonic() + self.random.uniform(1, 15)
            if time.monotonic() >= told + 60:
                told += 60
                self.line(begin)
        self.line(begin)
        for one in [self.steady, *self.others]:
            one.terminate()
            one.communicate()
        with open(os.path.join(self.scratch, 'steady'), 'rb') as file:
            noted = struct.unpack(f'<{THREADS}Q', file.read(8 * THREADS))
        steady = self.steady.pid
        self.read(self.end_trace(kill=False), goes_on)
        for thread, number in enumerate(noted):
            if self.last[steady, thread] != number:
                raise Wrong(f'thread {thread} emitted {number}, the traces end with {self.last[steady, thread]}')
        if self.missing > self.lost:
            raise Wrong(f'{self.missing} events are missing, {self.lost} are counted as lost')

    def clean(self):
        for one in [self.recorder, self.steady, *self.others]:
            if one and one.poll() is None:
                one.kill()
                one.wait()
        shutil.rmtree(self.run, ignore_errors=True)
        shutil.rmtree(self.scratch, ignore_errors=True)


def main():
    soak = Soak()
    print(f'seed {SEED}; one program of {THREADS} threads and up to three short ones, {RATE} events/s of each thread', flush=True)
    try:
        soak.go()
    except Wrong as wrong:
        print(f'soak: {wrong}', file=sys.stderr)
        return 1
    finally:
        soak.clean()
    print(f'exact: {soak.events} events of {soak.threads + len(soak.last)} threads in {soak.traces} traces, each once; {soak.missing} missing, '
          f'{soak.lost} counted as lost; at most KiB: ' + ', '.join(f'{what} {size}' for what, size in soak.peak.items()))
    return 0


if __name__ == '__main__':
    sys.exit(main())
