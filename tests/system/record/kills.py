#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Whoever is killed at whatever moment, the traces open without a complaint and hold every event that
was committed, once; what they do not hold they count as dropped.

The traced program emits numbered events and notes each number in a file after the call. So what all
traces together hold of a thread must be 1, 2, 3 ... up to the noted number, or one more where the
program was killed, but for as many as babeltrace2 says were discarded.

KYMO_KILLS=1000 kills as often in each scenario; else each takes some seconds. KYMO_KILLS_SEED=N
draws the same moments again, as far as the machine allows, KYMO_KILLS_ONLY=NAME runs one scenario."""
import collections
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

sys.path.append(os.path.dirname(__file__) + "/../lib")
import libctf
from lib_test import BUILD, KYMO

THREADS = 3
RATE = 30000
DEADLINE = 60
ROUNDS = int(os.environ.get('KYMO_KILLS', '0'))
SECONDS = 1.5         # of a scenario, without KYMO_KILLS
SEED = int(os.environ.get('KYMO_KILLS_SEED', str(time.time_ns() % 1000000)))
STATE_RECORD = 3

EVENT = re.compile(r'ros2:rcl_publish: .*publisher_handle = 0x([0-9A-F]+), message = 0x([0-9A-F]+)')
DISCARDED = re.compile(r'Tracer discarded (\d+) event')


def wait_for(what, condition):
    libctf.wait_for(what, condition, DEADLINE, least=0.002)


class Traces:
    """What all traces of a scenario hold."""

    def __init__(self):
        self.seen = collections.defaultdict(lambda: bytearray(1))     # by publisher: how often each number
        self.discarded = 0
        self.count = 0

    def add(self, trace):
        metadata = [os.path.join(at, 'metadata') for at, _, files in os.walk(trace) if 'metadata' in files]
        if not metadata:        # killed before it had begun: nothing can be in it
            for at, _, files in os.walk(trace):
                if any(name not in ('metadata.part', 'kymo.json.part') for name in files):
                    raise libctf.Mismatch('%s has no metadata, but %s' % (at, files))
            return
        reader = subprocess.run(['babeltrace2', trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in reader.stderr.splitlines():
            discarded = DISCARDED.search(line)
            if not discarded:
                raise libctf.Mismatch('babeltrace2 about %s:\n%s' % (trace, reader.stderr))
            self.discarded += int(discarded[1])
        if reader.returncode:
            raise libctf.Mismatch('babeltrace2 ended with %d, reading %s' % (reader.returncode, trace))
        for line in reader.stdout.splitlines():
            event = EVENT.search(line)
            if event:
                self.event(int(event[1], 16), int(event[2], 16))
        self.count += 1

    def event(self, publisher, number):
        seen = self.seen[publisher]
        if number >= len(seen):
            seen.extend(bytes(max(number + 1 - len(seen), 4096)))
        if seen[number]:
            raise libctf.Mismatch('event %d of publisher %d is in the traces twice' % (number, publisher))
        seen[number] = 1

    def check(self, programs):
        """programs: [(first publisher, noted numbers, whether it was killed)]"""
        missing = more = 0
        for first, noted, killed in programs:
            for publisher, last in enumerate(noted, first):
                seen = self.seen.get(publisher, bytearray(1))
                found = sum(seen[1:last + 1])
                behind = sum(seen[last + 1:])
                if behind > killed or (behind and not seen[last + 1]):
                    raise libctf.Mismatch('publisher %d: %d events behind %d, the last one' % (
                        publisher, behind, last))
                missing += last - found
                more += killed - behind     # it may have been dropped before it was noted
        if not missing <= self.discarded <= missing + more:
            raise libctf.Mismatch('%d events are missing, babeltrace2 says that %d were discarded' % (
                missing, self.discarded))


class Program:
    """Emits numbers until it is told to end, or killed. Its publishers are its own: a pid may come again."""

    def __init__(self, directory, environment, number, rate):
        self.path = os.path.join(directory, 'noted%d' % number)
        self.first = number * THREADS
        self.process = subprocess.Popen([KYMO, 'run', '--', os.path.join(BUILD, 'tests/numbers'), '--threads',
                                         str(THREADS), '--rate', str(rate), '--seconds', '100000',
                                         '--first', str(self.first), self.path],
                                        env=environment)
        self.killed = False

    def noted(self):
        try:
            with open(self.path, 'rb') as f:
                content = f.read(8 * THREADS)
        except FileNotFoundError:
            content = b''
        return struct.unpack('<%dQ' % THREADS, content) if len(content) == 8 * THREADS else (0,) * THREADS

    def wait_for_events(self, least=1):
        wait_for('events', lambda: min(self.noted()) >= least)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.killed = True

    def end(self):
        self.process.terminate()
        if self.process.wait(timeout=DEADLINE):
            raise libctf.Mismatch('the program ended with %d' % self.process.returncode)

    def account(self):
        return self.first, self.noted(), self.killed


class Place:
    """A runtime directory, and traces that are numbered."""

    def __init__(self, directory, ring_size):
        self.directory = directory
        self.runtime = os.path.join(directory, 'run')
        os.mkdir(self.runtime, 0o700)
        self.environment = dict(os.environ, KYMO_DIR=self.runtime, KYMO_RING_SIZE=ring_size)
        self.traces = 0
        self.processes = []
        self.options = []       # of recorders
        self.rate = RATE
        self.copies = False     # each writes a second trace

    def program(self):
        program = Program(self.directory, self.environment, len(self.processes), self.rate)
        self.processes.append(program.process)
        return program

    def trace(self, number, name='trace'):
        return os.path.join(self.directory, '%s%d' % (name, number))

    def recorder(self):
        copy = ['-o', self.trace(self.traces, 'copy')] if self.copies else []
        recorder = subprocess.Popen([KYMO, 'record', '-o', self.trace(self.traces), *copy, *self.options],
                                    env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.traces += 1
        self.processes.append(recorder)
        return recorder

    def wait_for_recorder(self, recorder):
        def records():
            if recorder.poll() is not None:
                raise libctf.Mismatch('the recorder ended: ' + recorder.stderr.read())
            try:
                with open(os.path.join(self.runtime, 'domain'), 'rb') as f:
                    domain = struct.unpack('<QIIII', f.read(24))
            except (FileNotFoundError, struct.error):
                return False
            return domain[2] == STATE_RECORD and domain[4] == recorder.pid
        wait_for('the recorder', records)

    def check(self, programs):
        """Each sink by itself: what all its traces hold."""
        for name in ('trace', 'copy') if self.copies else ('trace',):
            traces = Traces()
            for i in range(self.traces):
                traces.add(self.trace(i, name))
            traces.check([program.account() for program in programs])
        left = [name for name in os.listdir(self.runtime) if name.endswith('.region')]
        if left:
            raise libctf.Mismatch('regions are left: %s' % left)
        return traces

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
            if process.stderr:
                process.stderr.close()


def kill(process):
    process.kill()
    process.wait()


def end_recorder(recorder, may_be_empty=False):
    recorder.send_signal(signal.SIGINT)
    said = recorder.communicate(timeout=DEADLINE)[1]
    if recorder.returncode and not (may_be_empty and recorder.returncode == 6):
        raise libctf.Mismatch('the last recorder ended with %d: %s' % (recorder.returncode, said))


def rounds():
    end = time.monotonic() + SECONDS
    done = 0
    while done < ROUNDS if ROUNDS else time.monotonic() < end or done < 3:
        yield done
        done += 1


def command(place, draw):
    """The traced process kills itself in the middle; its recorder finishes the trace."""
    trace = place.trace(0)
    place.traces = 1
    path = os.path.join(place.directory, 'noted')
    done = subprocess.run([KYMO, 'record', '-o', trace, '--', os.path.join(BUILD, 'tests/numbers'), '--threads',
                           str(THREADS), '--die-at', str(draw.randrange(5000, 9000)), path],
                          env=place.environment, capture_output=True, text=True, timeout=2 * DEADLINE)
    if done.returncode != 128 + signal.SIGKILL:
        raise libctf.Mismatch('record gave %d, not the status of the killed command:\n%s'
                              % (done.returncode, done.stderr))
    traces = Traces()
    traces.add(trace)
    with open(path, 'rb') as f:
        noted = struct.unpack('<%dQ' % THREADS, f.read(8 * THREADS))
    traces.check([(0, noted, True)])
    return traces, 1


def recorder(place, draw):
    """Recorders die, one after the other, while the program goes on."""
    killed = 0
    doomed = place.recorder()
    place.wait_for_recorder(doomed)
    program = place.program()
    program.wait_for_events()
    for killed in rounds():
        time.sleep(draw.uniform(0, 0.1))
        kill(doomed)
        doomed = place.recorder()
    place.wait_for_recorder(doomed)
    program.end()
    end_recorder(doomed)
    return place.check([program]), killed + 1


def chunks(place, draw):
    """They begin a new chunk many times a second."""
    place.rate = 100000
    place.options = ['--rotate-size', '64K']
    return recorder(place, draw)


def merged(place, draw):
    """A packet is of several rings."""
    place.options = ['--streams', 'process']
    return recorder(place, draw)


def sinks(place, draw):
    """They write two traces, and each has all."""
    place.copies = True
    return recorder(place, draw)


def merged_sinks(place, draw):
    place.copies = True
    return merged(place, draw)


def process(place, draw):
    """Programs die, one after the other, under one recorder."""
    programs = []
    lasting = place.recorder()
    place.wait_for_recorder(lasting)
    for _ in rounds():
        programs.append(place.program())
        if draw.random() < 0.5 or len(programs) == 1:
            programs[-1].wait_for_events()
        time.sleep(draw.uniform(0, 0.1))
        programs[-1].kill()
    end_recorder(lasting)
    return place.check(programs), len(programs)


def both(place, draw):
    """A recorder and a program die, in either order; the next ones come."""
    programs = []
    for _ in rounds():
        doomed = place.recorder()
        place.wait_for_recorder(doomed)
        programs.append(place.program())
        programs[-1].wait_for_events()      # so that it was told to record
        time.sleep(draw.uniform(0, 0.06))
        for victim in draw.sample([doomed.kill, programs[-1].kill], 2):
            victim()
            time.sleep(draw.uniform(0, 0.02))
        doomed.wait()
        if draw.random() < 0.3:             # one more dies over what they left
            doomed = place.recorder()
            time.sleep(draw.uniform(0, 0.05))
            kill(doomed)
    last = place.recorder()
    place.wait_for_recorder(last)
    end_recorder(last, may_be_empty=True)
    return place.check(programs), len(programs)


def both_sinks(place, draw):
    """As both, with two traces."""
    place.copies = True
    return both(place, draw)


def main(root):
    only = os.environ.get('KYMO_KILLS_ONLY')
    for scenario in command, recorder, merged, chunks, sinks, merged_sinks, process, both, both_sinks:
        if only and scenario.__name__ != only:
            continue
        # Rings that hold what comes while nobody reads, or do not.
        place = Place(tempfile.mkdtemp(dir=root), '16K' if scenario in (both, both_sinks) else '1M')
        try:
            traces, killed = scenario(place, random.Random('%d %s' % (SEED, scenario.__name__)))
            print('%s: killed %d times; %d traces, %d events, %d dropped' % (
                scenario.__name__, killed, traces.count, sum(sum(seen) for seen in traces.seen.values()),
                traces.discarded))
        except libctf.Mismatch as error:
            raise libctf.Mismatch('%s, KYMO_KILLS_SEED=%d: %s' % (scenario.__name__, SEED, error)) from error
        finally:
            place.close()
        shutil.rmtree(place.directory)


scratch = tempfile.mkdtemp(prefix='kymo-kills-')
failed = True
try:
    main(scratch)
    failed = False
except libctf.Mismatch as error:
    libctf.fail('kills.py', error)
finally:
    if failed and 'KYMO_KILLS_KEEP' in os.environ:
        print('kept: ' + scratch)
    else:
        shutil.rmtree(scratch)
