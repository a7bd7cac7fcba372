#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whoever is killed, the trace opens without a warning and holds every event that was committed.

The traced program emits numbered events and notes each number in a file after the call. So for
each thread the trace must hold 1, 2, 3 ... without a gap up to the noted number, or one more."""
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

import libctf

BUILD = os.environ['KYMO_BUILD']
KYMO = os.path.join(BUILD, 'bin/kymo')
THREADS = 3
EVENT = 'ros2:rcl_publish'


def numbers_command(directory, *options):
    return [os.path.join(BUILD, 'tests/numbers'), '--threads', str(THREADS), *options,
            os.path.join(directory, 'noted')]


def noted(directory):
    with open(os.path.join(directory, 'noted'), 'rb') as f:
        return struct.unpack('<%dQ' % THREADS, f.read(8 * THREADS))


def read_numbers(trace):
    """{thread number: [numbers in trace order]}; babeltrace2 must have nothing to say."""
    reader = subprocess.run(['babeltrace2', '-o', 'dummy', trace], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    if reader.returncode or reader.stdout:
        raise libctf.Mismatch('babeltrace2 ended with %d and said:\n%s'
                              % (reader.returncode, reader.stdout))
    found = {t: [] for t in range(THREADS)}
    for lane in libctf.read_trace(trace).values():
        for event in lane.events:
            if event.name == EVENT:
                found[event.fields[0][1]].append(event.fields[1][1])
    return found


def contiguous(what, found, first, least, most):
    if not found or found[0] != first:
        raise libctf.Mismatch('%s: begins with %s, not %d' % (what, found[:1], first))
    for expected, number in enumerate(found, first):
        if number != expected:
            raise libctf.Mismatch('%s: %d follows %d' % (what, number, expected - 1))
    if not least <= found[-1] <= most:
        raise libctf.Mismatch('%s: ends with %d, expected %d to %d' % (what, found[-1], least, most))


def process_killed(directory, environment):
    """The traced process kills itself in the middle; its recorder finishes the trace."""
    trace = os.path.join(directory, 'trace')
    done = subprocess.run([KYMO, 'record', '-o', trace, '--', *numbers_command(
        directory, '--die-at', '7000')], env=environment, capture_output=True, text=True, timeout=60)
    if done.returncode != 128 + signal.SIGKILL:
        raise libctf.Mismatch('record gave %d, not the status of the killed command:\n%s'
                              % (done.returncode, done.stderr))
    found = read_numbers(trace)
    for thread, last in enumerate(noted(directory)):
        contiguous('process killed, thread %d' % thread, found[thread], 1, last, last + 1)


def start_recorder(trace, environment):
    recorder = subprocess.Popen([KYMO, 'record', '-o', trace], env=environment,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    libctf.wait_for('the recorder', lambda: os.path.exists(trace) and os.listdir(trace))
    return recorder


def recorder_killed(directory, environment):
    """The recorder is killed; the next one goes on where it stopped."""
    first, second = os.path.join(directory, 'trace1'), os.path.join(directory, 'trace2')
    recorder = start_recorder(first, environment)
    program = subprocess.Popen([KYMO, 'run', '--', *numbers_command(directory, '--seconds', '20')],
                               env=environment)
    try:
        libctf.wait_for('events', lambda: os.path.exists(os.path.join(directory, 'noted')) and
                 os.path.getsize(os.path.join(directory, 'noted')) and min(noted(directory)) > 5000)
        recorder.kill()
        recorder.wait()
        at_kill = noted(directory)
        recorder = start_recorder(second, environment)
        libctf.wait_for('more events', lambda: min(noted(directory)) > max(at_kill) + 5000)
        program.terminate()
        program.wait(timeout=20)
        recorder.send_signal(signal.SIGINT)
        if recorder.wait(timeout=30):
            raise libctf.Mismatch('the second recorder ended with %d' % recorder.returncode)
    finally:
        for process in (program, recorder):
            if process.poll() is None:
                process.kill()
    before, after = read_numbers(first), read_numbers(second)
    for thread, last in enumerate(noted(directory)):
        what = 'recorder killed, thread %d' % thread
        contiguous(what, before[thread], 1, 1, at_kill[thread] + 1)
        # What the dead recorder had written but not yet given free may come a second time.
        if not after[thread] or after[thread][0] > before[thread][-1] + 1:
            raise libctf.Mismatch('%s: events between %d and %s are lost'
                                  % (what, before[thread][-1], after[thread][:1]))
        contiguous(what + ', second trace', after[thread], after[thread][0], last, last + 1)


def main(root):
    # Rings large enough that nothing is dropped on a busy machine.
    for scenario in process_killed, recorder_killed:
        directory = tempfile.mkdtemp(dir=root)
        runtime = os.path.join(directory, 'run')
        os.mkdir(runtime, 0o700)
        scenario(directory, dict(os.environ, KYMO_DIR=runtime, KYMO_RING_SIZE='2M'))


scratch = tempfile.mkdtemp(prefix='kymo-kills-')
try:
    main(scratch)
except libctf.Mismatch as error:
    libctf.fail('kills.py', error)
finally:
    shutil.rmtree(scratch)
