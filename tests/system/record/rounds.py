#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""A recorder begins, pauses, goes on and ends again and again while programs emit: each trace is complete in itself, and
nothing grows: no memory, no descriptor, no file. KYMO_TEST_ROUNDS says how often (20)."""
import functools
import json
import os
import struct
import subprocess
import sys
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
import libctf
from lib_test import BUILD, KYMO, in_directory, lossless, until_lossless

ROUNDS = int(os.environ.get('KYMO_TEST_ROUNDS', '20'))
THREADS = 2
PROGRAMS = 2
LOOK = 5            # every so many rounds, the events are looked at one by one; such a round is repeated until no event is lost


def check(what, condition, *seen):
    if not condition:
        raise libctf.Mismatch('%s: %s' % (what, ' '.join(map(str, seen))))


class Rounds:
    def __init__(self, root):
        self.root = root
        self.runtime = os.path.join(root, 'run')
        os.mkdir(self.runtime, 0o700)
        # Rings large enough that nothing is dropped on a busy machine.
        self.environment = dict(os.environ, KYMO_DIR=self.runtime, KYMO_RING_SIZE='2M')
        for name in 'KYMO_SESSION', 'KYMO_FLIGHT':
            self.environment.pop(name, None)
        self.programs = []

    def kymo(self, *arguments):
        done = subprocess.run([KYMO, *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)
        check('kymo ' + ' '.join(arguments), done.returncode == 0, done.returncode, done.stderr)
        return done.stdout

    def begin(self):
        for i in range(PROGRAMS):
            self.programs.append(subprocess.Popen(
                [KYMO, 'run', '--', os.path.join(BUILD, 'tests/numbers'), '--threads', str(THREADS), '--rate', '20000',
                 '--seconds', '36000', self.noted_path(i)], env=self.environment))
        libctf.wait_for('the programs', lambda: sum(self.noted()) > 0 and len(self.processes()) == PROGRAMS)

    def end(self):
        subprocess.run([KYMO, 'stop', '-q'], env=self.environment, stderr=subprocess.DEVNULL)
        for program in self.programs:
            program.kill()
            program.wait()

    def noted_path(self, i):
        return os.path.join(self.root, 'noted%d' % i)

    def noted(self):
        """What each thread has emitted."""
        counts = []
        for i in range(PROGRAMS):
            try:
                with open(self.noted_path(i), 'rb') as f:
                    counts += struct.unpack('<%dQ' % THREADS, f.read(8 * THREADS))
            except (OSError, struct.error):
                return [0] * (PROGRAMS * THREADS)
        return counts

    def further(self):
        before = self.noted()
        libctf.wait_for('more events', lambda: all(now > then for now, then in zip(self.noted(), before)))

    def processes(self):
        return json.loads(self.kymo('status', '--interval', '0', '--format', 'json'))['processes']

    def sizes(self):
        """What must not grow."""
        sizes = {'regions': [process['memory_bytes'] for process in self.processes()],
                 'rings': [process['rings'] for process in self.processes()],
                 'files': sorted(os.listdir(self.runtime))}
        for program in self.programs:
            proc = '/proc/%d/' % program.pid
            sizes['files of %d' % program.pid] = len(os.listdir(proc + 'fd'))
            sizes['mappings of %d' % program.pid] = sum(1 for line in open(proc + 'maps') if '.region' in line)
        return sizes

    def whole(self, trace, look):
        account = json.load(open(os.path.join(trace, 'kymo.json')))
        totals = account['totals']
        check(trace, account['ended'] and account['state'] == 'wait', account['ended'], account['state'])
        check(trace, totals['processes'] == PROGRAMS and totals['init_events'] == PROGRAMS and
              totals['unwritten'] == totals['corrupt_bytes'] == totals['init_dropped'] == 0, totals)
        info = json.loads(self.kymo('info', trace, '--format', 'json'))
        check(trace, info['events'] == totals['recorded'] + totals['init_events'] and totals['recorded'] > 0 and
              info['lost'] == totals['dropped'], info['events'], info['lost'], totals)
        if not look:
            return
        lossless(totals['dropped'])
        missing, found = 0, 0
        for lane in libctf.read_trace(trace, 'ros2:rcl_publish').values():
            numbers = [event.fields[1][1] for event in lane.events]
            found += len(numbers)
            missing += numbers[-1] - numbers[0] + 1 - len(numbers)
            check(trace, all(a < b for a, b in zip(numbers, numbers[1:])), 'not in order')
        check(trace, found == totals['recorded'] and (missing == 0 or 'pauses' in account), found, missing, totals)

    def one(self, directory, i):
        trace = os.path.join(directory, 'trace')
        self.kymo('start', '-q', '-o', trace, *(['--paused'] if i % 3 == 2 else []))
        if i % 3 == 2:
            self.kymo('resume', '-q')
        self.further()
        if i % 4 == 3:
            self.kymo('pause', '-q')
            self.further()
            self.kymo('resume', '-q')
            self.further()
        self.kymo('stop', '-q')
        self.whole(trace, i % LOOK == 0)

    def recorder(self):
        """The one that runs: descriptors, and kilobytes of memory."""
        pid = json.loads(self.kymo('status', '--interval', '0', '--format', 'json'))['recorder_pid']
        status = open('/proc/%d/status' % pid).read()
        return len(os.listdir('/proc/%d/fd' % pid)), int(status.split('VmRSS:')[1].split()[0])

    def open_files(self):
        """Until the recorder has opened its files: a stream's with the first packet, some time after the first event."""
        self.further()
        files = []
        while len(files) < 4 or len(set(files[-4:])) > 1:
            files.append(self.recorder()[0])
            time.sleep(0.3)

    def pauses(self):
        """In one session."""
        trace = os.path.join(self.root, 'pauses')
        self.kymo('start', '-q', '-o', trace)
        self.open_files()
        for i in range(ROUNDS):
            self.kymo('pause', '-q')
            self.kymo('resume', '-q')
            if i == ROUNDS // 2:
                before = self.recorder()
        self.further()
        # The last client's socket is open for a moment longer.
        libctf.wait_for('the descriptors of before (%d)' % before[0], lambda: self.recorder()[0] <= before[0])
        after = self.recorder()
        self.kymo('stop', '-q')
        self.whole(trace, False)
        account = json.load(open(os.path.join(trace, 'kymo.json')))
        check('pauses', account['pause_count'] == ROUNDS == len(account['pauses']), account['pause_count'])
        print('recorder with %d pauses: %d files, %d KiB; at half of them %d files, %d KiB'
              % (ROUNDS, *after, *before))


def main(root):
    rounds = Rounds(root)
    try:
        rounds.begin()
        for i in range(ROUNDS):
            until_lossless(functools.partial(rounds.one, i=i))
            if i == 1:
                before = rounds.sizes()
        after = rounds.sizes()
        check('something grows', after == before, before, after)
        rounds.pauses()
        check('something grows with pauses', rounds.sizes() == before, before)
    finally:
        rounds.end()


in_directory(main)
