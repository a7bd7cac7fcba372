#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Call logs replayed through the preload and recorded: the trace holds exactly the log's calls,
field by field and in each thread's order, and equals, time apart, the LTTng trace that was
recorded beside the log, types of the fields included. babeltrace2 reads it without a warning."""
import csv
import glob
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
import libctf
from lib_test import BUILD, SHARED, fewer, in_directory

DATA = os.path.join(SHARED, 'data/ros2-traces')
FIXTURE = os.path.join(libctf.SOURCE, 'tests/fixtures/calllog_small.csv')
JAZZY, JAZZY_TEXT = (8, 2), '8.2.2'


class Run:
    """One call log at one speed, in a runtime directory of its own. The rings hold a whole log, so
    that nothing is dropped at full speed however late the recorder gets its turn."""

    def __init__(self, root, log, speed):
        self.log = log
        self.what = '%s at %s speed' % (os.path.basename(log), speed)
        self.dir = tempfile.mkdtemp(dir=root)
        self.trace = os.path.join(self.dir, 'trace')
        self.map = os.path.join(self.dir, 'map')
        environment = dict(os.environ, KYMO_DIR=os.path.join(self.dir, 'run'))
        os.mkdir(os.path.join(self.dir, 'run'), 0o700)
        self.output = open(os.path.join(self.dir, 'output'), 'w+')
        self.process = subprocess.Popen(
            [os.path.join(BUILD, 'bin/kymo'), 'record', '-o', self.trace, '--ring-size', '4M', '--',
             os.path.join(BUILD, 'tests/replay'), '--speed', speed, '--map', self.map, log],
            env=environment, stdout=self.output, stderr=self.output)

    def finish(self):
        status = self.process.wait(timeout=300)
        if status:
            self.output.seek(0)
            raise libctf.Mismatch('%s: kymo record ended with %d:\n%s'
                                  % (self.what, status, self.output.read()))

    def mapping(self):
        with open(self.map, newline='') as f:
            return {(int(r['pid']), int(r['tid'])): (int(r['new_pid']), int(r['new_tid']))
                    for r in csv.DictReader(f)}

    def check(self, table):
        self.finish()
        libctf.readable(self.what, self.trace)
        trace = libctf.read_trace(self.trace, '')
        calls = libctf.read_calllog(self.log, table, JAZZY_TEXT)
        libctf.compare(self.what, calls, trace, table, self.mapping())
        pair = os.path.join(os.path.dirname(self.log),
                            os.path.basename(self.log).replace('calllog_', 'pair_')[:-4], 'ctf')
        if os.path.isdir(pair):
            lttng = libctf.read_trace(pair)
            pids = {pid for pid, _ in calls}
            lttng = {key: lane for key, lane in lttng.items() if key[0] in pids}
            libctf.compare(self.what + ', against LTTng', lttng, trace, table, self.mapping())
            libctf.compare_shapes(self.what, libctf.read_shapes(pair), libctf.read_shapes(self.trace))


def unrecorded(root):
    """A process whose first event is a runtime event, while nobody records: it keeps nothing, so it
    leaves nothing behind either."""
    log = os.path.join(root, 'one.csv')
    with open(log, 'w') as f:
        f.write('ts_ns,pid,tid,comm,caller,fn,a0,a1\n1,7,7,one,x,ros_trace_callback_start,0x1,0\n')
    runtime = tempfile.mkdtemp(dir=root)
    subprocess.run([os.path.join(BUILD, 'bin/kymo'), 'run', '--', os.path.join(BUILD, 'tests/replay'),
                    log], check=True, env=dict(os.environ, KYMO_DIR=runtime))
    if os.listdir(runtime):
        raise libctf.Mismatch('a process that nobody recorded left %s' % os.listdir(runtime))


def main(root):
    unrecorded(root)
    table = libctf.points(JAZZY)
    logs = [FIXTURE] + fewer(sorted(glob.glob(os.path.join(DATA, 'calllog_*.csv'))), 2)
    slow = [Run(root, log, 'recorded') for log in logs]
    for run in slow:
        run.finish()
    for log in logs:
        Run(root, log, 'full').check(table)
    for run in slow:
        run.check(table)
    print('%d call logs, each at both speeds' % len(logs))


in_directory(main, "/dev/shm")
