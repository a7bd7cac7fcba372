# SPDX-License-Identifier: Apache-2.0
"""Call logs and CTF traces as per-thread sequences of events, so that they can be compared.

A lane is one thread: its key (pid, tid), its name, and its events in order. An event is
(name, fields) with fields a tuple of (field name, value); times are kept beside it."""
import collections
import csv
import os
import re
import subprocess
import sys

import bt2

import lib_bt2
from lib_test import SOURCE, waited

PROVIDER = 'ros2:'
GID_REAL = 16       # bytes of a gid that mean something; LTTng records surplus memory behind them

Event = collections.namedtuple('Event', 'name fields')
Lane = collections.namedtuple('Lane', 'procname events times')
Point = collections.namedtuple('Point', 'phase fields')


class Mismatch(Exception):
    pass


def points(version):
    """{tracepoint: Point} of a tracetools version (major, minor), from tracepoints.def."""
    text = open(os.path.join(SOURCE, 'src/abi/tracepoints.def')).read()
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    number = r'KYMO_V\((\d+), (\d+)\)|KYMO_V_LAST'
    row = re.compile(r'POINT\((\w+), \w+, (\w+), (\w+), \w+,\s*(%s), (%s),\s*"[^"]*"(.*?)\)\n'
                     % (number, number), re.S)
    table = {}
    for m in row.finditer(text):
        low = (int(m[5]), int(m[6])) if m[5] else (255, 255)
        high = (int(m[8]), int(m[9])) if m[8] else (255, 255)
        if m[1] != 'ros2' or not low <= version <= high:
            continue
        fields = []
        for f in re.finditer(r'\((\w+), (\w+)(?:, (\w+))?\)', m[10]):
            fields.append((f[1], f[3] or f[2]))
        table[m[2]] = Point(m[3], fields)
    return table


def value(kind, text):
    if kind == 'STR':
        return text     # a NULL is recorded as the same five letters and two brackets
    if kind.startswith('GID'):
        return tuple(bytes.fromhex(text)[:GID_REAL])
    return int(text, 0)


def rows(path):
    """The rows of a call log, without its header."""
    with open(path, newline='') as f:
        reader = csv.reader(f)
        next(reader)
        yield from reader


def read_calllog(path, table, version, wanted=None):
    """{(pid, tid): Lane} of the events that the calls of a log must give; of those for which
    wanted(key, event) is true, asked in the order of the log."""
    lanes = {}
    for ts, pid, tid, comm, _, fn, *args in rows(path):
        key = int(pid), int(tid)
        lane = lanes.setdefault(key, Lane(comm[:15], [], []))
        if fn.startswith('ros_trace_enabled_'):
            continue
        name = re.sub('^ros_trace_(do_)?', '', fn)
        fields = []
        args = iter(args)
        for kind, field in table[name].fields:
            if kind == 'VERSION':
                fields.append((field, version))
            elif kind == 'SKIP':
                next(args)
            else:
                fields.append((field, value(kind, next(args))))
        event = Event(PROVIDER + name, tuple(fields))
        if wanted and not wanted(key, event):
            continue
        lane.events.append(event)
        lane.times.append(int(ts))
    return lanes


def plain(name, found):
    """A value; of a gid its real bytes."""
    return found[:GID_REAL] if name.endswith('gid') and isinstance(found, tuple) else found


def read_trace(path, prefix=PROVIDER):
    """{(vpid, vtid): Lane} of a CTF trace. Of events with the context field init_timestamp
    that is the time. Events whose name does not start with prefix are left out."""
    lanes = {}
    for event in lib_bt2.read(path):
        if isinstance(event, (bt2._DiscardedEventsMessageConst, bt2._DiscardedPacketsMessageConst)):
            raise Mismatch('%s: the trace says that events were discarded' % path)
        if not isinstance(event, lib_bt2.Event) or not event.name.startswith(prefix):
            continue
        key = event['vpid'], event['vtid']
        lane = lanes.get(key)
        if not lane:
            lane = lanes[key] = Lane(event['procname'], [], [])
        fields = tuple((name, plain(name, found)) for name, found in event.payload().items())
        lane.events.append(Event(event.name, fields))
        lane.times.append(event['init_timestamp'] if 'init_timestamp' in event else event.cycles())
    return lanes


def shape(field_class):
    """What a reader sees of a field's type: kind, signedness, bits, base, length."""
    c = field_class
    if isinstance(c, bt2._IntegerFieldClassConst):
        signed = isinstance(c, bt2._SignedIntegerFieldClassConst)
        return ('signed' if signed else 'unsigned', c.field_value_range, int(c.preferred_display_base))
    if isinstance(c, bt2._StaticArrayFieldClassConst):
        return 'array', c.length, shape(c.element_field_class)
    return type(c).__name__


def read_shapes(path):
    """{event name: ((field name, shape), ...)} of all events that a trace's metadata declares."""
    shapes = {}
    for message in bt2.TraceCollectionMessageIterator(path):
        if isinstance(message, bt2._StreamBeginningMessageConst):
            for event_class in message.stream.cls.values():
                payload = event_class.payload_field_class
                shapes[event_class.name] = tuple(
                    (name, shape(payload[name].field_class)) for name in payload or ())
    return shapes


def compare_shapes(what, expected, got):
    """Every event that both declare must have the same fields of the same types."""
    common = [name for name in got if name in expected]
    if not common:
        raise Mismatch('%s: no event in common' % what)
    for name in common:
        if expected[name] != got[name]:
            raise Mismatch('%s: %s is declared as\n  %s\nnot as\n  %s'
                           % (what, name, got[name], expected[name]))


def compare_lane(what, expected, got, table):
    """Raises Mismatch unless both lanes hold the same events in the same order.

    Init events and runtime events may come from different streams, which a reader merges by
    time; where two have the same time, either order is right. So each kind is taken in its own
    order, and the times along the expected order must not run backwards."""
    if len(expected.events) != len(got.events):
        raise Mismatch('%s: %d events expected, %d found%s' % (what, len(expected.events),
                       len(got.events), first_difference(expected.events, got.events)))
    queue = {'INIT': collections.deque(), 'RUN': collections.deque()}
    for event, time in zip(got.events, got.times):
        queue[table[event.name[len(PROVIDER):]].phase].append((time, event))
    queue['INIT'] = collections.deque(sorted(queue['INIT'], key=lambda pair: pair[0]))
    last = 0
    for i, event in enumerate(expected.events):
        phase = queue[table[event.name[len(PROVIDER):]].phase]
        if not phase:
            raise Mismatch('%s: event %d: %s expected, none left' % (what, i, event))
        time, found = phase.popleft()
        if found != event:
            raise Mismatch('%s: event %d:\n  expected %s\n  found    %s' % (what, i, event, found))
        if time < last:
            raise Mismatch('%s: event %d (%s) is %d ns too early: order lost'
                           % (what, i, event.name, last - time))
        last = time
    if expected.procname != got.procname:
        raise Mismatch('%s: procname %s expected, %s found'
                       % (what, expected.procname, got.procname))


def first_difference(a, b):
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return '; first difference at %d:\n  expected %s\n  found    %s' % (i, x, y)
    return ''


def compare(what, expected, got, table, mapping=None):
    """Both must hold the same lanes; mapping translates expected keys into those of got."""
    mapping = mapping or {key: key for key in expected}
    expected = {mapping[key]: lane for key, lane in expected.items() if lane.events}
    if set(expected) != set(got):
        raise Mismatch('%s: threads expected %s, found %s' % (what, sorted(expected), sorted(got)))
    for key, lane in expected.items():
        compare_lane('%s, thread %d' % (what, key[1]), lane, got[key], table)


def wait_for(what, condition, seconds=300, least=0.01):
    """Waits until condition() is true, five minutes on a slow machine."""
    if not waited(condition, seconds, least):
        raise Mismatch('waited in vain for ' + what)


def readable(what, trace):
    """babeltrace2 reads all of the trace and says nothing."""
    reader = subprocess.run(['babeltrace2', '-o', 'dummy', trace], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if reader.returncode or reader.stdout:
        raise Mismatch('%s: babeltrace2 ended with %d and said:\n%s' % (what, reader.returncode, reader.stdout))


def fail(script, message):
    print('%s: %s' % (script, message), file=sys.stderr)
    sys.exit(1)
