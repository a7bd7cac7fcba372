# SPDX-License-Identifier: Apache-2.0
"""A program that emits numbered events, a recorder beside it, and what traces have of the numbers.

Nothing here depends on how fast anything is: what is waited for comes or the test fails after five minutes."""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

from lib_test import BUILD, KYMO, accounts, waited     # accounts: for tests that import this file as lib

THREADS = 3
EVENT = 'ros2:rcl_publish'
TORN = 'indexed size != stream file size'      # a relay was killed between the two files
MAYBE = 'WARNING: Tracer may have discarded events'    # before the first packet: of a piece of a trace
DISCARDED = re.compile(r'WARNING: Tracer discarded (\d+) event')
BODY = re.compile(r'publisher_handle = 0x([0-9A-F]+), message = 0x([0-9A-F]+)')


class Failure(Exception):
    pass


def check(condition, message, *values):
    if not condition:
        raise Failure(message % values if values else message)


def wait_for(what, condition, seconds=300):
    value = waited(condition, seconds)
    check(value, 'waited in vain for %s', what)
    return value


class Place:
    """A private directory with a runtime directory in it; what was started is ended at the end."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix='kymo-test.')
        self.run = tempfile.mkdtemp(prefix='kymo-test-', dir='/dev/shm')
        self.environment = dict(os.environ, KYMO_DIR=self.run, TZ='UTC')
        self.started = []
        return self

    def __exit__(self, *_):
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self.run, ignore_errors=True)
        shutil.rmtree(self.path, ignore_errors=True)

    def at(self, *names):
        return os.path.join(self.path, *names)

    def start(self, *command, **options):
        process = subprocess.Popen(command, env=self.environment, **options)
        self.started.append(process)
        return process

    def kymo(self, *arguments, status=0):
        done = subprocess.run([KYMO, *arguments], env=self.environment, capture_output=True, text=True,
                              timeout=300)
        check(done.returncode == status, 'kymo %s gave %d instead of %d:\n%s', ' '.join(arguments),
              done.returncode, status, done.stderr)
        return done.stdout

    def recorder(self, *options):
        process = self.start(KYMO, 'record', '-q', *options, stderr=subprocess.PIPE, text=True)
        # One that was killed leaves its socket behind, but does not answer there.
        wait_for('the recorder', lambda: process.poll() is not None or
                 not subprocess.run([KYMO, 'sink', 'list'], env=self.environment, capture_output=True).returncode)
        check(process.poll() is None, 'the recorder ended: %s: %s', process.poll(), process.poll() is not None and process.stderr.read())
        return process

    def numbers(self, rate=20000, name='noted'):
        process = self.start(KYMO, 'run', '--', os.path.join(BUILD, 'tests/numbers'), '--threads',
                             str(THREADS), '--rate', str(rate), '--seconds', '300', self.at(name))
        wait_for('events', lambda: min(self.noted(name)) > 100)
        return process

    def noted(self, name='noted'):
        try:
            with open(self.at(name), 'rb') as f:
                return struct.unpack('<%dQ' % THREADS, f.read(8 * THREADS))
        except (OSError, struct.error):
            return (0,) * THREADS

    def sinks(self):
        return json.loads(self.kymo('sink', 'list', '--format', 'json'))['sinks']


def end(process, number=signal.SIGINT):
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    return process.returncode, err


def end_well(process, number=signal.SIGINT):
    status, err = end(process, number)
    check(status == 0, '%s ended with %d and said:\n%s', ' '.join(process.args[:4]), status, err)


def chunks(trace):
    """Complete ones and the present one, by number; without one that was only just being made."""
    archives = os.path.join(trace, 'archives')
    names = [name for name in os.listdir(archives) if not name.startswith('.') and
             os.path.exists(os.path.join(archives, name, 'ust/metadata'))]
    names.sort(key=lambda name: int(name.rsplit('-', 1)[1]))
    return [os.path.join(trace, 'archives', name) for name in names]


def numbers_in(text):
    found = [[] for _ in range(THREADS)]
    for match in BODY.finditer(text):
        found[int(match[1], 16)].append(int(match[2], 16))
    return found


def babeltrace(trace, torn=False):
    """(numbers of each thread in order, events lost, other events). Complains of anything but loss, and @torn files."""
    done = subprocess.run(['babeltrace2', '--no-delta', trace], capture_output=True, text=True, timeout=300)
    rest = [line for line in done.stderr.splitlines() if line and not DISCARDED.match(line) and not line.startswith(MAYBE) and
            not (torn and TORN in line)]
    check(not done.returncode and not rest, 'babeltrace2 %s: %d\n%s', trace, done.returncode, '\n'.join(rest[:5]))
    lines = done.stdout.splitlines()
    return (numbers_in(done.stdout), sum(map(int, DISCARDED.findall(done.stderr))),
            [line for line in lines if EVENT not in line])


def dump(place, trace, *options):
    text = place.kymo('dump', trace, *options)
    return numbers_in(text), [line for line in text.splitlines() if EVENT not in line]


def once(what, found, lost=0):
    """Each number once and in order; as many missing in between as were lost."""
    missing = 0
    for thread, numbers in enumerate(found):
        for before, number in zip(numbers, numbers[1:]):
            check(number > before, '%s, thread %d: %d behind %d', what, thread, number, before)
        if numbers:
            missing += numbers[-1] - numbers[0] + 1 - len(numbers)
    check(missing <= lost, '%s: %d events are missing, %d are counted as lost', what, missing, lost)


def main(script, *tests):
    for program in ('tests/numbers',):
        if not os.path.exists(os.path.join(BUILD, program)):
            print(f'skipped: {program} is not built')
            sys.exit(77)
    if not shutil.which('babeltrace2'):
        print('skipped: babeltrace2 is not installed')
        sys.exit(77)
    for test in tests:
        try:
            with Place() as place:
                test(place)
        except Failure as failure:
            print('%s: %s: %s' % (script, test.__name__, failure), file=sys.stderr)
            sys.exit(1)
