#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""The call logs and the LTTng traces recorded beside them say the same, read with our table of
tracepoints: names, fields and values. So does the comparison itself notice every difference."""
import glob
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import libctf
from lib_test import SHARED

DATA = os.path.join(SHARED, 'data/ros2-traces')
JAZZY = (8, 2)


def must_differ(what, lanes, key, change, table):
    changed = dict(lanes)
    changed[key] = change(lanes[key])
    try:
        libctf.compare(what, lanes, changed, table)
    except libctf.Mismatch:
        return
    libctf.fail('calllog.py', 'a trace with %s passed as equal' % what)


def check_comparison(table):
    """Every way to be wrong must be seen."""
    lanes = libctf.read_calllog(os.path.join(libctf.SOURCE, 'tests/fixtures/calllog_small.csv'),
                                table, '8.2.2')
    libctf.compare('itself', lanes, lanes, table)
    key = (700, 705)

    def swapped(lane):
        events = list(lane.events)
        events[4], events[5] = events[5], events[4]
        return lane._replace(events=events)

    def altered(lane):
        events = list(lane.events)
        events[4] = events[4]._replace(fields=events[4].fields[:-1] + (('taken', 0),))
        return lane._replace(events=events)

    def late_init(lane):
        return lane._replace(times=[t + 10**9 if e.name.endswith('_init') else t
                                    for e, t in zip(lane.events, lane.times)])

    must_differ('two events swapped', lanes, key, swapped, table)
    must_differ('a value altered', lanes, key, altered, table)
    must_differ('an event missing', lanes, key, lambda lane: lane._replace(
        events=lane.events[:-1], times=lane.times[:-1]), table)
    must_differ('an init event moved', lanes, key, late_init, table)
    must_differ('another procname', lanes, key, lambda lane: lane._replace(procname='x'), table)


def main():
    table = libctf.points(JAZZY)
    if len(table) != 35:
        libctf.fail('calllog.py', '%d tracepoints in the table for Jazzy, not 35' % len(table))
    check_comparison(table)
    logs = sorted(glob.glob(os.path.join(DATA, 'calllog_*.csv')))
    for log in logs:
        name = os.path.basename(log)[len('calllog_'):-len('.csv')]
        calls = libctf.read_calllog(log, table, '8.2.2')
        trace = libctf.read_trace(os.path.join(DATA, 'pair_' + name, 'ctf'))
        # The process that loads components was recorded by LTTng only.
        trace = {key: lane for key, lane in trace.items() if key[0] in {k[0] for k in calls}}
        libctf.compare(name, calls, trace, table)
    print('%d call logs equal their LTTng traces' % len(logs))


try:
    main()
except libctf.Mismatch as error:
    libctf.fail('calllog.py', error)
